"""Which findings are owed to the strict interpreter, and to which part of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tritaudit.examine import Counter, examine, repeat
from tritaudit.faults.diagnosis import MISMATCH, diagnose
from tritaudit.interpreter import Part, is_strict, strict_in
from tritaudit.model import Case, Example, Finding

__all__ = ["named"]


def named(case: Case, finding: Finding, announce: Callable[[Example], None]) -> Finding:
    """The finding, with evidence that the strict interpreter found it where that is so.

    Its example is launched once more on the stock interpreter. Where that is right, or goes wrong
    in another way that has a name, it is launched with each part of the strict one by itself.

    Args:
        announce: told of each launch before it happens.
    """
    if not is_strict():
        return finding
    stock = _faults(case, finding.example, announce)
    if stock and (finding.fault in (*stock, MISMATCH) or MISMATCH in stock):
        return finding
    parts = [part for part in Part if _faults(case, finding.example, announce, part)]
    told = "; ".join(part.value for part in parts) or "it takes all that differs there"
    sentence = f"found by the strict interpreter: {told}"
    return replace(finding, evidence=(*finding.evidence, sentence))


def _faults(
    case: Case, example: Example, announce: Callable[[Example], None], *parts: Part
) -> tuple[str, ...]:
    """What an example shows with these parts of the strict interpreter alone."""
    announce(example)
    with strict_in(*parts):
        trial = examine(case, example, Counter())
        repeat(trial, Counter())
    return () if trial.faultless else diagnose(trial, exhaustive=True).faults
