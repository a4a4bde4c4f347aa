"""Runs side by side: which findings appeared, vanished or changed from each run to the next.

A unit (a case on a backend) is a row and a run is a column. Where every run has one backend, a row
is a case, so that the interpreter can be set against a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tritaudit.model import CaseResult, Environment, Finding, Outcome, Report

__all__ = ["Change", "Comparison", "Row", "Run", "compare", "differences"]

#: outcomes that ask for attention; getting there from any other is a regression.
_BAD = (Outcome.FAIL, Outcome.STALE, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Run:
    """A column: the name of a report, and where it was made."""

    name: str
    environment: Environment


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a unit from one run to a later one.

    `before` and `after` are columns. `appeared`, `vanished` and `changed` are fault ids; `changed`
    ones show in other dtypes, at another smallest example, or are news now (or no longer). The
    outcome changes along with them, or by itself. `regression`: a fault that is news appeared, or
    the outcome asks for attention and did not before.
    """

    before: int
    after: int
    appeared: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    regression: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A unit, with its result in every run (None: the run has none) and its changes."""

    case: str
    backend: str  # "" where rows are cases
    cells: tuple[CaseResult | None, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All units of all runs, sorted by name."""

    runs: tuple[Run, ...]
    rows: tuple[Row, ...]

    def changed(self) -> tuple[Row, ...]:
        """The rows in which something changed, or where a run has no result."""
        return tuple(r for r in self.rows if r.changes or None in r.cells)

    def regressions(self) -> tuple[Row, ...]:
        """The rows that got worse from one run to the next."""
        return tuple(r for r in self.rows if any(c.regression for c in r.changes))


def compare(reports: Sequence[tuple[str, Report]]) -> Comparison:
    """Set reports side by side, in their order; each with the name of its column."""
    by_case = all(len({r.backend for r in report.results}) < 2 for _, report in reports)
    found: dict[tuple[str, str], list[CaseResult | None]] = {}
    for column, (_, report) in enumerate(reports):
        for result in report.results:
            key = (result.case, "" if by_case else result.backend)
            found.setdefault(key, [None] * len(reports))[column] = result
    rows = [
        Row(case, backend, tuple(cells), _changes(cells))
        for (case, backend), cells in sorted(found.items())
    ]
    runs = tuple(Run(name, report.environment) for name, report in reports)
    return Comparison(runs, tuple(rows))


def _changes(cells: Sequence[CaseResult | None]) -> tuple[Change, ...]:
    """From each run that has a result to the next one that has."""
    there = [(column, cell) for column, cell in enumerate(cells) if cell is not None]
    changes = []
    for (before, a), (after, b) in pairwise(there):
        change = _change(before, a, after, b)
        if change is not None:
            changes.append(change)
    return tuple(changes)


def _change(before: int, a: CaseResult, after: int, b: CaseResult) -> Change | None:
    old, new = _by_fault(a), _by_fault(b)
    appeared = tuple(f for f in new if f not in old)
    news = any(not new[f].expected for f in appeared)
    change = Change(
        before,
        after,
        appeared,
        tuple(f for f in old if f not in new),
        tuple(f for f in new if f in old and differences(old[f], new[f])),
        news or (b.outcome in _BAD and a.outcome not in _BAD),
    )
    quiet = not (change.appeared or change.vanished or change.changed)
    return None if quiet and a.outcome is b.outcome else change


def _by_fault(result: CaseResult) -> dict[str, Finding]:
    return {f.fault: f for f in sorted(result.findings, key=lambda f: f.fault)}


def differences(a: Finding, b: Finding) -> tuple[str, ...]:
    """What became of a finding that shows in two runs, in words; how often it showed is nothing."""
    out = []
    if a.expected != b.expected:
        out.append("now expected" if b.expected else "no longer expected")
    old, new = a.dtypes or (a.dtype,), b.dtypes or (b.dtype,)
    more, fewer = [d for d in new if d not in old], [d for d in old if d not in new]
    out += [f"also in {', '.join(more)}"] if more else []
    out += [f"not in {', '.join(fewer)}"] if fewer else []
    if a.example != b.example:
        sizes = f"{a.example.label()} → {b.example.label()}"
        alike = a.example.label() == b.example.label()
        out.append("another smallest example" if alike else sizes)
    return tuple(out)
