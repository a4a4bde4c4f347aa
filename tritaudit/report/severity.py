"""The one table of severities and the one table of outcomes, for every renderer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tritaudit.model import Outcome, Severity


@dataclass(frozen=True, slots=True)
class SeverityLook:
    """How a severity shows: rich style, symbol, SARIF level, GitHub annotation command."""

    word: str
    symbol: str
    style: str
    sarif: str
    annotation: str
    #: GitHub's security severity, 0.0 to 10.0, for the ordering of alerts.
    rank: float


@dataclass(frozen=True, slots=True)
class OutcomeLook:
    """How an outcome shows, and whether it asks for the reader's attention."""

    word: str
    symbol: str
    style: str
    plural: str
    attention: bool


SEVERITIES: Mapping[Severity, SeverityLook] = MappingProxyType(
    {
        Severity.ERROR: SeverityLook("error", "✗", "red", "error", "error", 8.0),
        Severity.WARNING: SeverityLook("warning", "!", "yellow", "warning", "warning", 5.0),
        Severity.NOTE: SeverityLook("note", "i", "cyan", "note", "notice", 2.0),
    }
)

#: in the order in which a summary counts them.
OUTCOMES: Mapping[Outcome, OutcomeLook] = MappingProxyType(
    {
        Outcome.PASS: OutcomeLook("pass", "✓", "green", "passed", False),
        Outcome.KNOWN: OutcomeLook("known", "≈", "blue", "known", False),
        Outcome.FAIL: OutcomeLook("FAIL", "✗", "bold red", "FAILED", True),
        Outcome.STALE: OutcomeLook("stale", "?", "bold yellow", "stale", True),
        Outcome.ERROR: OutcomeLook("error", "!", "bold magenta", "in error", True),
        Outcome.SKIP: OutcomeLook("skip", "-", "dim", "skipped", False),
    }
)


def severity_look(severity: Severity) -> SeverityLook:
    """The row of the severity table."""
    return SEVERITIES[severity]


def outcome_look(outcome: Outcome) -> OutcomeLook:
    """The row of the outcome table."""
    return OUTCOMES[outcome]
