"""From findings and expectations to a verdict. Pure: no process, no clock, no torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tritaudit.acceptance import Acceptance
from tritaudit.model import CaseResult, Coverage, Finding, Known, Outcome

__all__ = ["RUN_ENDED", "conclude", "is_expected", "so_far", "was_ended"]

NOTHING = Acceptance()
#: how the reason begins why a search came to no end: the whole run was ended, by Ctrl-C say.
RUN_ENDED = "the run was ended"


def is_expected(
    expect: Iterable[Known], fault: str, triton_version: str, backend: str, dtypes: Iterable[str]
) -> bool:
    """Whether a fault that showed in these dtypes is one that the case is known to show.

    Every dtype has to be covered: a fault that is known in float32 is news in int32.
    """
    known = [k for k in expect if k.fault == fault and k.applies(triton_version, backend)]
    return bool(known) and all(
        any(k.applies(triton_version, backend, dtype) for k in known) for dtype in dtypes
    )


def conclude(
    result: CaseResult,
    expect: tuple[Known, ...],
    triton_version: str,
    *,
    replay: bool = False,
    narrowed: bool = False,
    acceptance: Acceptance = NOTHING,
) -> CaseResult:
    """The result with each finding marked as expected or not, and with its outcome.

    Args:
        result: what a unit saw. An outcome of ERROR says that the unit could not do its work, and
            one of SKIP that nothing was to be done: both stay, unless there are findings.
        expect: the faults that the case is known to show.
        triton_version: the installed version.
        replay: one stored example was run, so that the faults that did not show are no news.
        narrowed: only some dtypes or faults were looked for, so that neither are those.
        acceptance: findings that are no news though the case does not expect them.
    """
    findings = tuple(_marked(f, expect, triton_version, acceptance) for f in result.findings)
    result = replace(result, findings=findings, missing=())
    unexpected = [f for f in findings if not f.expected]
    if unexpected:
        silent = () if replay or narrowed else _silent(result, expect, triton_version)
        stale = [k for k in silent if result.coverage.launches and _reached(k, result.coverage)]
        return replace(result, outcome=Outcome.FAIL, missing=_names(stale))
    if result.outcome is Outcome.ERROR:
        return result
    empty = _nothing_ran(result)
    if empty is not None:
        return empty
    if replay or narrowed:
        return replace(result, outcome=Outcome.KNOWN if findings else Outcome.PASS)
    return _against_expectations(result, expect, triton_version, acceptance)


def was_ended(result: CaseResult) -> bool:
    """Whether a search came to no end because the whole run was ended."""
    return result.coverage.cut_short.startswith(RUN_ENDED)


def so_far(result: CaseResult) -> CaseResult | None:
    """What a search tells that may have been ended with the run; None where it has seen nothing.

    Without a finding it has no verdict: what it had yet to try may be wrong.
    """
    if result.findings or not was_ended(result):
        return result if result.findings or result.outcome is not Outcome.ERROR else None
    if not result.coverage.examples:
        return None
    reason = "not finished, nothing found yet"
    return replace(result, outcome=Outcome.SKIP, missing=(), reason=reason)


def _marked(
    finding: Finding, expect: tuple[Known, ...], triton_version: str, acceptance: Acceptance
) -> Finding:
    dtypes = finding.dtypes or (finding.dtype,)
    if is_expected(expect, finding.fault, triton_version, finding.backend, dtypes):
        return replace(finding, expected=True, accepted="")
    if finding.because and all(
        is_expected(expect, fault, triton_version, backend, dtypes)
        for fault, backend in finding.because
    ):
        # The backends disagree where one of them shows what the case is known to show there.
        return replace(finding, expected=True, accepted="")
    reason = acceptance.reason(finding)
    return replace(finding, expected=bool(reason), accepted=reason)


def _nothing_ran(result: CaseResult) -> CaseResult | None:
    """The result of a unit that judged nothing; None where something was judged or found."""
    if result.findings:
        return None
    if result.outcome is Outcome.SKIP:
        return result
    if result.coverage.launches and (result.coverage.examples or not result.coverage.skipped):
        return None
    reasons = tuple(dict.fromkeys(s.reason for s in result.coverage.skipped))
    if reasons:
        return replace(result, outcome=Outcome.SKIP, reason=result.reason or "; ".join(reasons))
    reason = result.reason or result.coverage.cut_short or "nothing was launched"
    return replace(result, outcome=Outcome.ERROR, reason=reason)


def _against_expectations(
    result: CaseResult, expect: tuple[Known, ...], triton_version: str, acceptance: Acceptance
) -> CaseResult:
    silent = _silent(result, expect, triton_version)
    stale = [k for k in silent if _reached(k, result.coverage)]
    if stale:
        missing = _names(stale)
        reason = f"expected {', '.join(missing)}, which no longer shows"
        if not all(acceptance.was_stale(result.case, result.backend, f) for f in missing):
            return replace(result, outcome=Outcome.STALE, missing=missing, reason=reason)
        result = replace(result, missing=missing, reason=f"{reason}, as in the baseline")
    elif silent:
        unreached = ", ".join(_names(silent))
        result = replace(result, reason=f"{unreached} not reached")
    return replace(result, outcome=Outcome.KNOWN if result.findings else Outcome.PASS)


def _silent(result: CaseResult, expect: tuple[Known, ...], triton_version: str) -> list[Known]:
    """The expectations that apply and did not show."""
    applying = [k for k in expect if k.applies(triton_version, result.backend)]
    # Two backends are compared only where a run has both.
    single = [k for k in applying if k.fault != "backend-divergence"]
    return [k for k in single if not _showed(k, result.findings)]


def _names(known: Iterable[Known]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(k.fault for k in known))


def _showed(known: Known, findings: tuple[Finding, ...]) -> bool:
    return any(
        f.fault == known.fault
        and (known.dtypes is None or not set(known.dtypes).isdisjoint((*f.dtypes, f.dtype)))
        for f in findings
    )


def _reached(known: Known, coverage: Coverage) -> bool:
    """Whether the search went far enough that the fault had to show."""
    if coverage.cut_short:
        return False
    ran = {dtype for dtype, count in coverage.dtypes if count}
    return known.dtypes is None or not ran.isdisjoint(known.dtypes)
