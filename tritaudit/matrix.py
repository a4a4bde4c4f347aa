"""Cases on several versions of Triton: what each cell shows, and where that changes.

Expectations tell a known fault from news; here both are facts. So it is not verdicts that are
compared but what was seen: the faults with their dtypes, what Triton said where it refused, and
what could not be judged. Pure: no process, no console.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tritaudit.model import CaseResult, Environment, Finding, Outcome, Report

__all__ = ["Cell", "Kind", "Matrix", "Row", "Shown", "Step", "Word", "matrix"]

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")


class Word(enum.StrEnum):
    """A cell in a word."""

    RIGHT = "right"
    WRONG = "wrong"
    REFUSED = "refused"
    DIES = "dies"
    HANGS = "hangs"
    SKIPPED = "not run"
    ERROR = "error"


class Kind(enum.StrEnum):
    """What a change is: the first two are between right and not right."""

    BROKE = "broke"
    REPAIRED = "repaired"
    CHANGED = "changed"
    REWORDED = "reworded"


@dataclass(frozen=True, slots=True)
class Shown:
    """A fault in a cell: the dtypes in which it shows, and Triton's words where it refused."""

    fault: str
    dtypes: tuple[str, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a case shows on a version. `remarks`: what is no finding, such as a dtype not judged."""

    word: Word
    outcome: Outcome
    shown: tuple[Shown, ...] = ()
    remarks: tuple[str, ...] = ()
    #: why the search ended early; "" where it did not.
    cut_short: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A change from a version to the next one that was looked at. All fields are in order."""

    before: str
    after: str
    kind: Kind
    appeared: tuple[Shown, ...] = ()
    vanished: tuple[Shown, ...] = ()
    #: faults that show in other dtypes, as they were and as they are.
    moved: tuple[tuple[Shown, Shown], ...] = ()
    #: refusals in other words, as they were and as they are.
    reworded: tuple[tuple[Shown, Shown], ...] = ()
    remarks_new: tuple[str, ...] = ()
    remarks_gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A case on all versions (None: no result), and its changes from left to right."""

    case: str
    cells: tuple[Cell | None, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All cases on all versions, both in order."""

    versions: tuple[str, ...]
    environments: tuple[Environment, ...]
    rows: tuple[Row, ...]
    seed: int = 0

    def changed(self) -> tuple[Row, ...]:
        """The cases that are not the same on all versions."""
        return tuple(row for row in self.rows if row.steps)


def matrix(reports: Sequence[Report]) -> Matrix:
    """Set runs of the same cases on different versions side by side, in their order."""
    found: dict[str, list[Cell | None]] = {}
    for column, report in enumerate(reports):
        for result in report.results:
            found.setdefault(result.case, [None] * len(reports))[column] = _cell(result)
    versions = tuple(report.environment.triton for report in reports)
    rows = (Row(case, tuple(cells), _steps(versions, cells)) for case, cells in found.items())
    return Matrix(
        versions,
        tuple(report.environment for report in reports),
        tuple(sorted(rows, key=lambda row: row.case)),
        reports[0].seed if reports else 0,
    )


def _cell(result: CaseResult) -> Cell:
    shown = tuple(sorted(map(_shown, result.findings), key=lambda s: s.fault))
    remarks = [f"{s.reason} ({', '.join(s.dtypes)})" for s in result.coverage.skipped]
    remarks += result.notes
    if result.outcome in (Outcome.ERROR, Outcome.SKIP) and result.reason:
        remarks.append(result.reason)
    word = _word(result, {s.fault for s in shown})
    cut_short = result.coverage.cut_short
    return Cell(word, result.outcome, shown, tuple(dict.fromkeys(remarks)), cut_short)


def _shown(finding: Finding) -> Shown:
    words = ""
    if finding.fault == "api-rejects" and finding.evidence:
        words = _ADDRESS.sub("0x…", finding.evidence[0])
    return Shown(finding.fault, tuple(sorted(finding.dtypes or (finding.dtype,))), words)


def _word(result: CaseResult, faults: set[str]) -> Word:
    if faults == {"api-rejects"}:
        return Word.REFUSED
    if faults == {"timeout"}:
        return Word.HANGS
    if faults == {"crash"}:
        return Word.DIES
    if faults:
        return Word.WRONG
    match result.outcome:
        case Outcome.ERROR:
            return Word.ERROR
        case Outcome.SKIP:
            return Word.SKIPPED
        case Outcome.PASS | Outcome.KNOWN | Outcome.STALE | Outcome.FAIL:
            return Word.RIGHT


def _steps(versions: Sequence[str], cells: Sequence[Cell | None]) -> tuple[Step, ...]:
    """From each version that has a result to the next one that has."""
    there = [(version, c) for version, c in zip(versions, cells, strict=True) if c is not None]
    steps = (_step(before, a, after, b) for (before, a), (after, b) in pairwise(there))
    return tuple(step for step in steps if step is not None)


def _step(before: str, a: Cell, after: str, b: Cell) -> Step | None:
    old, new = {s.fault: s for s in a.shown}, {s.fault: s for s in b.shown}
    both = [(old[fault], new[fault]) for fault in old if fault in new]
    step = Step(
        before,
        after,
        _kind(a, b),
        appeared=tuple(s for s in b.shown if s.fault not in old),
        vanished=tuple(s for s in a.shown if s.fault not in new),
        moved=tuple((x, y) for x, y in both if x.dtypes != y.dtypes),
        reworded=tuple((x, y) for x, y in both if x.words != y.words),
        remarks_new=tuple(r for r in b.remarks if r not in a.remarks),
        remarks_gone=tuple(r for r in a.remarks if r not in b.remarks),
    )
    facts = (step.appeared, step.vanished, step.moved, step.remarks_new, step.remarks_gone)
    if not any(facts) and a.word is b.word and not step.reworded:
        return None
    return step


def _kind(a: Cell, b: Cell) -> Kind:
    if (a.word is Word.RIGHT) != (b.word is Word.RIGHT):
        return Kind.REPAIRED if b.word is Word.RIGHT else Kind.BROKE
    alike = [(s.fault, s.dtypes) for s in a.shown] == [(s.fault, s.dtypes) for s in b.shown]
    return Kind.REWORDED if alike and a.remarks == b.remarks else Kind.CHANGED
