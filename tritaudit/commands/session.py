"""What `run`, `explain` and `list` begin with: a backend, the cases, and consoles to print on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import typer
from rich.console import Console

from tritaudit.catalogue import Listing
from tritaudit.commands import Usage
from tritaudit.commands.options import BackendChoice
from tritaudit.forkserver import BackendError
from tritaudit.model import Backend, CallSpec, CaseInfo, CaseResult, Location, Outcome
from tritaudit.report.wording import line
from tritaudit.supervisor import Supervisor
from tritaudit.targets import LoadProblem, nearest, resolve

__all__ = [
    "Output",
    "cases_of",
    "complain",
    "open_backend",
    "output",
    "selected",
    "skipped_results",
]


class Output(Console):
    """The console of results. Nothing is highlighted and no markup is read.

    A stream that cannot be written any more (a closed pipe, a full disk) is told once in `lost`,
    and nothing more is printed: what a run has found is stored before it ends.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, stderr=stderr)
        self.lost: OSError | None = None

    def _check_buffer(self) -> None:
        if self.lost is not None:
            self._buffer.clear()
            return
        try:
            super()._check_buffer()
        except OSError as error:
            self.lost = error

    def on_broken_pipe(self) -> None:
        """In place of rich's way out, which is the exit code of findings."""
        raise BrokenPipeError


class _Strict(Output):
    """A console that ends the program as soon as nobody reads it."""

    def _check_buffer(self) -> None:
        super()._check_buffer()
        if self.lost is not None:
            raise self.lost


def output() -> Console:
    """The console of a command that only prints."""
    return _Strict()


def complain(problem: object) -> None:
    """Say on standard error what is wrong, a line for each sentence."""
    for sentence in str(problem).splitlines():
        typer.echo(f"tritaudit: {line(sentence)}", err=True)


@contextmanager
def open_backend(choice: BackendChoice, path: Path | None = None) -> Iterator[Supervisor]:
    """A supervisor of the backend that was chosen; packages in `path` come first (an overlay).

    Raises:
        BackendError: it does not start, or the GPU was asked for and there is none.
    """
    if choice is BackendChoice.BOTH:
        raise Usage("--backend both goes with `tritaudit run` alone")
    if choice is BackendChoice.INTERPRETER or (
        choice is BackendChoice.AUTO and not _may_have_gpu()
    ):
        with Supervisor(Backend.INTERPRETER, path=path) as supervisor:
            yield supervisor
        return
    with Supervisor(Backend.GPU, path=path) as supervisor:
        if supervisor.environment().gpu:
            yield supervisor
            return
    if choice is BackendChoice.GPU:
        raise BackendError("no GPU is visible to torch: try --backend interpreter")
    with Supervisor(Backend.INTERPRETER, path=path) as supervisor:
        yield supervisor


def _may_have_gpu() -> bool:
    """Whether it is worth asking torch, which takes seconds."""
    if os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes", "y"):
        return False
    devices = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
    return any(Path(d).exists() for d in devices) or shutil.which("nvidia-smi") is not None


def cases_of(
    supervisor: Supervisor, targets: Sequence[str], calls: Sequence[CallSpec] = ()
) -> Listing:
    """The cases of targets, or of the functions that they name.

    Raises:
        Usage: a target names nothing, or a file does not load.
        BackendError: the backend does not start.
    """
    if not calls:
        _, unknown = resolve(targets)
        _stop_for(unknown)  # no need to wait for torch
    listing = supervisor.list_cases(targets, calls)
    _stop_for(listing.problems)
    if not listing.cases and not listing.skipped:
        raise Usage(f"no case in {', '.join(targets) or 'the catalogue'}")
    return listing


def _stop_for(problems: Sequence[LoadProblem]) -> None:
    if problems:
        raise Usage("\n".join(str(problem) for problem in problems))


def selected(cases: Sequence[CaseInfo], patterns: Sequence[str]) -> tuple[CaseInfo, ...]:
    """The cases whose names match one of the patterns, all where there are none.

    Raises:
        Usage: a pattern matches nothing.
    """
    names = [case.name for case in cases]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise Usage(f"--select {pattern!r} matches no case{nearest(pattern, names)}")
    if not patterns:
        return tuple(cases)
    return tuple(c for c in cases if any(fnmatchcase(c.name, p) for p in patterns))


def skipped_results(listing: Listing, backend: str) -> list[CaseResult]:
    """The files that need a module that is not there, as results."""
    return [
        CaseResult(
            case=problem.case,
            backend=backend,
            outcome=Outcome.SKIP,
            reason=problem.message,
            location=Location(problem.path, problem.line),
        )
        for problem in listing.skipped
    ]
