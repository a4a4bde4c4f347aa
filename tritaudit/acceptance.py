"""What a project has decided to live with: ignores of its configuration, and an earlier report.

A finding that one of them covers is no news, like one that its case expects. Pure: the day is
given, nothing is read.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tritaudit.model import CaseResult, Finding, Outcome, Report

__all__ = ["Acceptance", "Baseline", "Ignore", "baseline_of"]


@dataclass(frozen=True, slots=True)
class Ignore:
    """Findings that do not count: a glob of case names, a fault, and why; until a day, inclusive.

    `line` is where it stands in the configuration, 0 where that is not known.
    """

    case: str
    fault: str
    reason: str
    expires: datetime.date | None = None
    line: int = 0

    def covers(self, finding: Finding) -> bool:
        """Whether it is about a finding, expired or not."""
        return finding.fault == self.fault and fnmatchcase(finding.case, self.case)

    def expired(self, today: datetime.date) -> bool:
        """Whether its last day has passed."""
        return self.expires is not None and today > self.expires

    def text(self) -> str:
        """What it is about: `padding-leak in flip/*`."""
        return f"{self.fault} in {self.case}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What an earlier report showed: (case, backend, fault) of findings and of stale ones.

    The dtypes do not matter, because which of them a search comes to may differ between machines.
    """

    path: str
    found: frozenset[tuple[str, str, str]]
    stale: frozenset[tuple[str, str, str]]


def baseline_of(report: Report, path: str) -> Baseline:
    """The baseline that a report makes."""
    return Baseline(
        path,
        frozenset((f.case, f.backend, f.fault) for r in report.results for f in r.findings),
        frozenset((r.case, r.backend, fault) for r in report.results for fault in r.missing),
    )


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Ignores and a baseline, on a certain day."""

    ignores: tuple[Ignore, ...] = ()
    baseline: Baseline | None = None
    today: datetime.date = datetime.date.min

    def reason(self, finding: Finding) -> str:
        """Why a finding is no news; "" where it is."""
        for ignore in self.ignores:
            if ignore.covers(finding) and not ignore.expired(self.today):
                until = f" until {ignore.expires}" if ignore.expires else ""
                return f"ignored{until}: {ignore.reason}"
        key = (finding.case, finding.backend, finding.fault)
        if self.baseline is not None and key in self.baseline.found:
            return f"in the baseline {self.baseline.path}"
        return ""

    def was_stale(self, case: str, backend: str, fault: str) -> bool:
        """Whether an expected fault was missing in the baseline as well."""
        return self.baseline is not None and (case, backend, fault) in self.baseline.stale

    def remarks(self, report: Report, *, whole: bool) -> Iterator[str]:
        """Sentences on ignores that matched nothing or have expired.

        Args:
            report: the run; it has to have looked for every fault in every dtype.
            whole: all cases were to be run, so that an ignore of none of them is wrong.
        """
        for ignore in self.ignores:
            place = f"the ignore of {ignore.text()}"
            if ignore.line:
                place += f" (line {ignore.line} of the configuration)"
            covered = any(ignore.covers(f) for r in report.results for f in r.findings)
            if covered and ignore.expired(self.today):
                yield f"{place} expired after {ignore.expires}: {ignore.reason}"
            elif not covered and (whole or _ran(ignore, report.results)):
                yield f"{place} matches nothing: remove it"


def _ran(ignore: Ignore, results: Iterable[CaseResult]) -> bool:
    """Whether a case that an ignore names came to a verdict, and no limit ended its search."""
    verdicts = (Outcome.PASS, Outcome.KNOWN, Outcome.FAIL, Outcome.STALE)
    return any(
        fnmatchcase(r.case, ignore.case) and r.outcome in verdicts and not r.coverage.cut_short
        for r in results
    )
