"""`tritaudit selftest`: plant faults, run the search on them, and tell how many it found."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console

from tritaudit.commands import FINDINGS, INTERRUPTED, NOTHING_UNEXPECTED, TERMINATED, UNABLE, Usage
from tritaudit.commands.options import BackendChoice
from tritaudit.commands.reports import ReportWriteError
from tritaudit.commands.session import cases_of, open_backend, output
from tritaudit.model import CaseInfo, CaseResult, Coverage, Event, Outcome, UnitFinished
from tritaudit.report.live import LiveProgress
from tritaudit.report.terminal import show
from tritaudit.selftest.mutants import QUICK_RIGHT, Mutant, all_mutants, quick
from tritaudit.selftest.report import Figures, figures_of, plain_figures, render, render_line
from tritaudit.selftest.runner import Journal, Measured, Subject, is_right, run, subjects_of
from tritaudit.supervisor import Supervisor, default_jobs

__all__ = ["SelfTest", "selftest"]

#: seconds for one search, more than for one of `run`: a busy machine must not make a miss.
TIMEOUT = 240.0


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What to measure, and where to put it. `jobs` 0: as many as cores; `only` empty: all."""

    quick: bool = False
    jobs: int = 0
    seed: int = 0
    only: tuple[str, ...] = ()
    resume: str | None = None
    json: str | None = None
    fast_interpreter: bool = False


def selftest(backend: BackendChoice | None, plan: SelfTest) -> int:
    """Measure and print; the exit code.

    Raises:
        Usage: a pattern matches nothing, the file to resume is none of this command, or both
            backends were asked for.
        BackendError: the backend does not start.
        ReportWriteError: after everything is printed.
    """
    if backend is BackendChoice.BOTH:
        raise Usage("selftest measures one backend at a time")
    console = output()
    journal = _journal(plan.resume)
    folder = Path(tempfile.mkdtemp(prefix="tritaudit-selftest-"))
    keep = True
    try:
        with open_backend(backend or BackendChoice.AUTO) as supervisor:
            right, mutants = _subjects(supervisor, plan)
            subjects = subjects_of(supervisor, right, mutants, folder)
            measured = _measure(supervisor, subjects, journal, plan, console)
        figures = figures_of(subjects, measured)
        keep = not _flawless(figures)
        console.print()
        show(console, render(figures, folder))
        _write_json(plan.json, figures, folder if keep else None)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return _exit_code(figures, supervisor.stopped)


def _journal(path: str | None) -> Journal:
    try:
        return Journal(Path(path) if path else None)
    except (ValueError, OSError) as error:
        raise Usage(f"--resume: {error}") from error


def _subjects(
    supervisor: Supervisor, plan: SelfTest
) -> tuple[Sequence[CaseInfo], Sequence[Mutant]]:
    """The right kernels and the mutants that were asked for."""
    triton = supervisor.environment().triton
    cases = cases_of(supervisor, ()).cases
    right = [c for c in cases if is_right(c, triton, str(supervisor.backend))]
    mutants: Sequence[Mutant] = all_mutants(right)
    if plan.only:
        names = [*(c.name for c in right), *(m.name for m in mutants)]
        for pattern in plan.only:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise Usage(f"--only {pattern!r} matches no right kernel and no mutant")
        right = [c for c in right if _matches(c.name, plan.only)]
        mutants = [m for m in mutants if _matches(m.name, plan.only)]
    if plan.quick:
        mutants = quick(mutants, plan.seed)
        right = random.Random(plan.seed).sample(right, min(QUICK_RIGHT, len(right)))
    return right, mutants


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _measure(
    supervisor: Supervisor,
    subjects: Sequence[Subject],
    journal: Journal,
    plan: SelfTest,
    console: Console,
) -> list[Measured]:
    """Run all searches, a line for each as it ends."""
    by_name = {subject.info.name: subject for subject in subjects}
    measured: list[Measured] = []
    events = run(
        supervisor,
        subjects,
        journal,
        seed=plan.seed,
        jobs=plan.jobs or default_jobs(supervisor.backend, supervisor.devices()),
        timeout=TIMEOUT,
        fast=plan.fast_interpreter,
    )
    with LiveProgress(console, list(by_name), quiet=True) as progress:
        for event in events:
            if isinstance(event, Measured):
                measured.append(event)
                show(console, render_line(by_name[event.name], event))
                progress.handle(_finished(event))
            else:
                progress.handle(event)
    return measured


def _finished(measured: Measured) -> Event:
    """What moves the bar on; the line of the kernel is one of this command."""
    coverage = Coverage(examples=measured.examples)
    return UnitFinished(
        CaseResult(measured.name, measured.backend, Outcome.PASS, coverage=coverage)
    )


def _flawless(figures: Figures) -> bool:
    """Whether nobody will want to look at a mutant."""
    wrong = (figures.missed, figures.misnamed, figures.not_equivalent, figures.errors)
    return not any(wrong) and not figures.left


def _write_json(path: str | None, figures: Figures, folder: Path | None) -> None:
    if path is None:
        return
    try:
        text = json.dumps(plain_figures(figures, folder), indent=1)
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise ReportWriteError(f"{path} cannot be written: {error.strerror or error}") from error


def _exit_code(figures: Figures, stopped: str) -> int:
    if stopped:
        return TERMINATED if stopped == "terminated" else INTERRUPTED
    if figures.errors:
        return UNABLE
    return NOTHING_UNEXPECTED if figures.good else FINDINGS
