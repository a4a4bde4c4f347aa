from __future__ import annotations

import pytest

from tritaudit.model import (
    CaseResult,
    Coverage,
    Example,
    Finding,
    Known,
    Outcome,
    Severity,
    Skipped,
)
from tritaudit.verdict import conclude, is_expected

RAN = Coverage(examples=9, launches=9, dtypes=(("float32", 5), ("int32", 4), ("int8", 0)))


def finding(fault: str, *dtypes: str, backend: str = "interpreter") -> Finding:
    dtypes = dtypes or ("float32",)
    example = Example(sizes=(("N", 1),), dtypes=(("x", dtypes[0]),))
    return Finding(
        case="a",
        fault=fault,
        severity=Severity.ERROR,
        expected=False,
        backend=backend,
        dtype=dtypes[0],
        example=example,
        repro="t",
        summary="",
        dtypes=dtypes,
    )


def result(*findings: Finding, coverage: Coverage = RAN, **fields: object) -> CaseResult:
    return CaseResult(
        "a",
        "interpreter",
        fields.pop("outcome", Outcome.PASS),  # type: ignore[arg-type]
        coverage=coverage,
        findings=findings,
        **fields,  # type: ignore[arg-type]
    )


def outcome(seen: CaseResult, *expect: Known, triton: str = "3.9.0") -> Outcome:
    return conclude(seen, expect, triton).outcome


LEAK, CRASH = Known("padding-leak"), Known("crash")


def test_nothing_found_and_nothing_expected_is_a_pass() -> None:
    assert outcome(result()) is Outcome.PASS


def test_an_expected_finding_is_known_and_marked() -> None:
    seen = conclude(result(finding("padding-leak")), (LEAK,), "3.9.0")
    assert seen.outcome is Outcome.KNOWN
    assert [f.expected for f in seen.findings] == [True]


def test_an_unexpected_finding_fails_beside_expected_ones() -> None:
    seen = conclude(result(finding("padding-leak"), finding("crash")), (LEAK,), "3.9.0")
    assert seen.outcome is Outcome.FAIL
    assert [f.expected for f in seen.findings] == [True, False]


def test_an_unexpected_finding_weighs_more_than_a_missing_one() -> None:
    assert outcome(result(finding("crash")), LEAK) is Outcome.FAIL


def test_a_missing_fault_is_told_beside_an_unexpected_one() -> None:
    seen = conclude(result(finding("crash")), (LEAK,), "3.9.0")
    assert (seen.outcome, seen.missing) == (Outcome.FAIL, ("padding-leak",))
    for limits in ({"replay": True}, {"narrowed": True}):
        assert conclude(result(finding("crash")), (LEAK,), "3.9.0", **limits).missing == ()
    short = Coverage(launches=1, dtypes=(("float32", 1),), cut_short="no time was left")
    assert conclude(result(finding("crash"), coverage=short), (LEAK,), "3.9.0").missing == ()
    nothing = result(finding("crash"), coverage=Coverage())
    assert conclude(nothing, (LEAK,), "3.9.0").missing == ()


def test_an_expected_fault_that_does_not_show_is_stale() -> None:
    seen = conclude(result(finding("crash")), (LEAK, CRASH), "3.9.0")
    assert seen.outcome is Outcome.STALE
    assert seen.missing == ("padding-leak",)
    assert seen.reason == "expected padding-leak, which no longer shows"


@pytest.mark.parametrize(
    ("known", "triton"),
    [
        (Known("padding-leak", triton="<3.4"), "3.9.0"),
        (Known("padding-leak", triton=">=3.4,<3.9"), "3.9.0"),
        (Known("padding-leak", backend="gpu"), "3.9.0"),
    ],
)
def test_an_expectation_for_elsewhere_is_neither_stale_nor_an_excuse(
    known: Known, triton: str
) -> None:
    assert outcome(result(), known, triton=triton) is Outcome.PASS
    assert outcome(result(finding("padding-leak")), known, triton=triton) is Outcome.FAIL


def test_an_expectation_holds_in_its_range_of_versions() -> None:
    known = Known("api-rejects", triton=">=3.4,<3.9")
    assert outcome(result(finding("api-rejects")), known, triton="3.4.0") is Outcome.KNOWN
    assert outcome(result(), known, triton="3.8.0") is Outcome.STALE


def test_a_fault_has_to_be_known_in_every_dtype_in_which_it_shows() -> None:
    known = Known("sign-kept", dtypes=("float32",))
    assert outcome(result(finding("sign-kept", "float32")), known) is Outcome.KNOWN
    assert outcome(result(finding("sign-kept", "float32", "int32")), known) is Outcome.FAIL
    both = (known, Known("sign-kept", dtypes=("int32",)))
    assert outcome(result(finding("sign-kept", "float32", "int32")), *both) is Outcome.KNOWN
    assert not is_expected(both, "sign-kept", "3.9.0", "gpu", ["int8"])


def test_an_expectation_for_one_dtype_is_stale_where_only_another_shows_the_fault() -> None:
    expect = (Known("sign-kept", dtypes=("float32",)), Known("sign-kept", dtypes=("int32",)))
    assert outcome(result(finding("sign-kept", "float32")), *expect) is Outcome.STALE


def test_a_search_that_was_cut_short_makes_nothing_stale() -> None:
    coverage = Coverage(launches=1, dtypes=(("float32", 1),), cut_short="no time was left")
    seen = conclude(result(coverage=coverage), (LEAK,), "3.9.0")
    assert seen.outcome is Outcome.PASS
    assert seen.reason == "padding-leak not reached"
    assert seen.missing == ()


def test_a_fault_of_dtypes_that_did_not_run_is_not_stale() -> None:
    seen = conclude(result(), (Known("padding-leak", dtypes=("int8", "int16")),), "3.9.0")
    assert seen.outcome is Outcome.PASS
    assert seen.reason == "padding-leak not reached"


def test_nothing_launched_is_an_error_and_not_a_pass() -> None:
    seen = conclude(result(coverage=Coverage()), (), "3.9.0")
    assert (seen.outcome, seen.reason) == (Outcome.ERROR, "nothing was launched")


def test_everything_skipped_is_a_skip_with_the_reasons() -> None:
    skipped = (Skipped("bf16 arithmetic", 4), Skipped("no fp8", 2), Skipped("no fp8", 1))
    seen = conclude(result(coverage=Coverage(skipped=skipped)), (LEAK,), "3.9.0")
    assert (seen.outcome, seen.reason) == (Outcome.SKIP, "bf16 arithmetic; no fp8")


def test_a_finding_without_a_counted_launch_is_a_finding() -> None:
    assert outcome(result(finding("crash"), coverage=Coverage())) is Outcome.FAIL
    assert outcome(result(finding("crash"), coverage=Coverage()), CRASH) is Outcome.KNOWN


def test_an_error_stays_unless_there_is_an_unexpected_finding() -> None:
    broken = {"outcome": Outcome.ERROR, "reason": "no memory"}
    assert outcome(result(**broken)) is Outcome.ERROR
    assert outcome(result(finding("crash"), **broken), CRASH) is Outcome.ERROR
    assert outcome(result(finding("crash"), **broken)) is Outcome.FAIL


def test_a_replay_says_nothing_of_faults_that_it_did_not_show() -> None:
    seen = conclude(result(), (LEAK,), "3.9.0", replay=True)
    assert (seen.outcome, seen.missing) == (Outcome.PASS, ())
    seen = conclude(result(finding("crash")), (LEAK, CRASH), "3.9.0", replay=True)
    assert seen.outcome is Outcome.KNOWN
