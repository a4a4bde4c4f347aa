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
        Severity.ERROR: SeverityLook("error", "✗", "red", "error", "error"),
        Severity.WARNING: SeverityLook("warning", "!", "yellow", "warning", "warning"),
        Severity.NOTE: SeverityLook("note", "i", "cyan", "note", "notice"),
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
