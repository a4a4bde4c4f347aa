"""Which findings are owed to the strict interpreter, and to which part of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tritaudit.examine import Counter, examine, repeat
from tritaudit.faults.diagnosis import diagnose
from tritaudit.interpreter import Part, is_strict, strict_in
from tritaudit.model import Case, Example, Finding
from tritaudit.trial import Trial

__all__ = ["named"]


def named(case: Case, finding: Finding, announce: Callable[[Example], None]) -> Finding:
    """The finding, with evidence that the strict interpreter found it where that is so.

    Its example is launched once more on the stock interpreter. Where that is right, or goes wrong
    in other elements and in another way, it is launched with each part of the strict one by itself.

    Args:
        announce: told of each launch before it happens.
    """
    if not is_strict():
        return finding

    def launched(*parts: Part) -> Trial:
        announce(finding.example)
        with strict_in(*parts):
            trial = examine(case, finding.example, Counter())
            repeat(trial, Counter())
        return trial

    strict = launched(*Part)
    if _as_wrong(launched(), strict, finding.fault):
        return finding
    parts = [part for part in Part if _as_wrong(launched(part), strict, finding.fault)]
    told = "; ".join(part.value for part in parts) or "it takes all that differs there"
    sentence = f"found by the strict interpreter: {told}"
    return replace(finding, evidence=(*finding.evidence, sentence))


def _as_wrong(trial: Trial, strict: Trial, fault: str) -> bool:
    """Whether a trial is wrong where the strict one is, or shows the fault."""
    if trial.faultless:
        return False
    alike = trial.wrong.shape == strict.wrong.shape and bool((trial.wrong == strict.wrong).all())
    return alike or fault in diagnose(trial, exhaustive=True).faults
