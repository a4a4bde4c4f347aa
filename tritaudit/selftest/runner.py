"""Runs the search on right kernels and on mutants, and remembers what was measured."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritaudit.faults import FAULT_IDS
from tritaudit.model import CaseInfo, CaseResult, Event, Outcome, UnitFinished, UnitRequest
from tritaudit.plain import from_plain, to_plain
from tritaudit.report.wording import example_label, line
from tritaudit.selftest.mutants import Mutant, write
from tritaudit.supervisor import Supervisor
from tritaudit.unit import request_for

__all__ = ["Journal", "Measured", "Subject", "is_right", "measured_of", "run", "subjects_of"]

#: seconds for a launch of a mutant that does not end, and of all others.
_ENDLESS_LIMIT, _LAUNCH_LIMIT = 3.0, 20.0


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel to measure: its case, and the mutant that it is (None: a right kernel)."""

    info: CaseInfo
    digest: str
    mutant: Mutant | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What the search found in one kernel.

    Attributes:
        name, digest: of the subject.
        seed, backend, versions: what the result may depend on.
        found: unexpected faults, in the order of all faults.
        smallest: the smallest example of each of them.
        error: why the search could not do its work, "" if it could.
        cut_short: why it ended before its budget, "" if it did not.
        examples, launches, seconds: what it cost.
    """

    name: str
    digest: str
    seed: int
    backend: str
    versions: str
    found: tuple[str, ...] = ()
    smallest: tuple[str, ...] = ()
    error: str = ""
    cut_short: str = ""
    examples: int = 0
    launches: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str, int, str, str]:
        """What has to be the same for a measurement to hold again."""
        return self.name, self.digest, self.seed, self.backend, self.versions


def is_right(info: CaseInfo, triton: str, backend: str) -> bool:
    """Whether a case is not known to show any fault on a backend and version."""
    return not any(known.applies(triton, backend) for known in info.expect)


# --------------------------------------------------------------------------- journal


class Journal:
    """Measurements in a file, a line of JSON each, so that a run can be taken up again.

    Args:
        path: the file, which need not be there; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known = {m.key: m for m in _read(path)} if path is not None else {}
        if path is not None and path.exists() and not path.read_bytes().endswith(b"\n"):
            self._append("\n")

    def known(self, key: tuple[str, str, int, str, str]) -> Measured | None:
        """An earlier measurement of the same thing."""
        return self._known.get(key)

    def add(self, measured: Measured) -> None:
        """Remember a measurement at once."""
        if self._path is not None:
            self._append(json.dumps(to_plain(measured)) + "\n")

    def _append(self, text: str) -> None:
        assert self._path is not None
        with self._path.open("a", encoding="utf-8") as file:
            file.write(text)


def _read(path: Path) -> Iterator[Measured]:
    """The measurements of a file. A line that was cut off is no JSON, and is left out.

    Raises:
        ValueError: a line is another kind of JSON.
    """
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, text in enumerate(lines, 1):
        with contextlib.suppress(json.JSONDecodeError):
            data = json.loads(text)
            try:
                yield from_plain(Measured, data)
            except ValueError as error:
                raise ValueError(f"{path}:{number} is no measurement: {error}") from error


# --------------------------------------------------------------------------- running


def subjects_of(
    supervisor: Supervisor, right: Iterable[CaseInfo], mutants: Sequence[Mutant], folder: Path
) -> list[Subject]:
    """Right kernels as they are, and mutants as files in a folder.

    Raises:
        ValueError: a mutant does not load.
        BackendError: the backend does not start.
    """
    subjects = [Subject(info, _digest(info)) for info in right]
    write(mutants, folder)
    if mutants:
        listing = supervisor.list_cases([str(folder)])
        if listing.problems:
            raise ValueError("a mutant does not load: " + "; ".join(map(str, listing.problems)))
        infos = {info.name: info for info in listing.cases}
        subjects += [Subject(infos[m.name], m.digest, m) for m in mutants]
    return subjects


def _digest(info: CaseInfo) -> str:
    text = Path(info.path).read_text(encoding="utf-8")
    return Mutant(info.name, "", "", (), text).digest


def run(
    supervisor: Supervisor,
    subjects: Sequence[Subject],
    journal: Journal,
    *,
    seed: int,
    jobs: int,
    timeout: float,
    fast: bool = False,
) -> Iterator[Event | Measured]:
    """Measure subjects, `jobs` at a time; yields events, and each measurement when it is there.

    What the journal knows is yielded first, and not run again. `fast`: on the interpreter, replace
    what is slow in it.

    Raises:
        BackendError: the backend does not start.
    """
    blank = _blank(supervisor, seed)
    left: list[Subject] = []
    for subject in subjects:
        known = journal.known(replace(blank, name=subject.info.name, digest=subject.digest).key)
        if known is not None:
            yield known
        else:
            left.append(subject)
    for endless in (False, True):
        group = [s for s in left if (s.mutant is not None and s.mutant.hangs) is endless]
        digests = {s.info.name: s.digest for s in group}
        limit = _ENDLESS_LIMIT if endless else _LAUNCH_LIMIT
        units = [(s.info, _request(s.info, supervisor, seed, fast)) for s in group]
        for event in supervisor.run_units(units, jobs, timeout, launch_limit=limit):
            if isinstance(event, UnitFinished):
                digest = digests[event.result.case]
                measured = measured_of(event.result, replace(blank, digest=digest))
                journal.add(measured)
                yield measured
            else:
                yield event


def _request(info: CaseInfo, supervisor: Supervisor, seed: int, fast: bool) -> UnitRequest:
    return request_for(info, str(supervisor.backend), seed=seed, fast_interpreter=fast)


def _blank(supervisor: Supervisor, seed: int) -> Measured:
    e = supervisor.environment()
    versions = f"tritaudit {e.tritaudit}, triton {e.triton}, torch {e.torch}, {e.gpu or 'CPU'}"
    return Measured("", "", seed, str(supervisor.backend), versions)


def measured_of(result: CaseResult, blank: Measured) -> Measured:
    """What a unit found; `blank` says of what and under which circumstances."""
    findings = [f for f in result.findings if not f.expected]
    findings.sort(key=lambda f: FAULT_IDS.index(f.fault))
    faults = tuple(dict.fromkeys(f.fault for f in findings))
    error = result.reason if result.outcome in (Outcome.ERROR, Outcome.SKIP) else ""
    return replace(
        blank,
        name=result.case,
        found=faults,
        smallest=tuple(f"{f.fault} {example_label(f.example)} {f.dtype}" for f in findings),
        error=line(error),
        cut_short=result.coverage.cut_short,
        examples=result.coverage.examples,
        launches=result.coverage.launches,
        seconds=round(result.seconds, 2),
    )
