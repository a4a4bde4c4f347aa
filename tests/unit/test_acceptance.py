"""Ignores and baselines: what they cover, when they expire, and when they are of no use."""

from __future__ import annotations

import datetime

import pytest
from made import RAN, finding, report, result

from tritaudit.acceptance import Acceptance, Ignore, baseline_of
from tritaudit.model import Coverage, Known, Outcome
from tritaudit.verdict import conclude

TODAY = datetime.date(2030, 6, 1)
LEAK = Ignore("flip/*", "padding-leak", "one tile is all we use", line=7)


def accepting(*ignores: Ignore) -> Acceptance:
    return Acceptance(ignores, today=TODAY)


@pytest.mark.parametrize(
    ("case", "fault", "covered"),
    [
        ("flip/a", "padding-leak", True),
        ("flip/b/c", "padding-leak", True),
        ("flip/a", "crash", False),
        ("abs/a", "padding-leak", False),
    ],
)
def test_an_ignore_covers_a_fault_in_the_cases_of_its_glob(
    case: str, fault: str, covered: bool
) -> None:
    reason = accepting(LEAK).reason(finding(case, fault))
    assert reason == ("ignored: one tile is all we use" if covered else "")


def test_an_ignore_holds_through_its_last_day() -> None:
    last = Ignore("flip/a", "padding-leak", "soon", TODAY)
    assert accepting(last).reason(finding("flip/a")) == "ignored until 2030-06-01: soon"
    after = Acceptance((last,), today=TODAY + datetime.timedelta(days=1))
    assert after.reason(finding("flip/a")) == ""


def test_an_ignored_finding_is_known_and_says_why() -> None:
    seen = conclude(result("flip/a", finding("flip/a")), (), "3.9.0", acceptance=accepting(LEAK))
    assert seen.outcome is Outcome.KNOWN
    assert seen.findings[0].expected
    assert seen.findings[0].accepted == "ignored: one tile is all we use"


def test_what_the_case_expects_itself_needs_no_acceptance() -> None:
    expect = (Known("padding-leak"),)
    seen = conclude(
        result("flip/a", finding("flip/a")), expect, "3.9.0", acceptance=accepting(LEAK)
    )
    assert (seen.findings[0].expected, seen.findings[0].accepted) == (True, "")


def test_beside_an_ignored_finding_another_one_still_fails_and_a_missing_one_is_stale() -> None:
    both = result("flip/a", finding("flip/a"), finding("flip/a", "crash"))
    assert conclude(both, (), "3.9.0", acceptance=accepting(LEAK)).outcome is Outcome.FAIL
    one = result("flip/a", finding("flip/a"))
    seen = conclude(one, (Known("crash"),), "3.9.0", acceptance=accepting(LEAK))
    assert (seen.outcome, seen.missing) == (Outcome.STALE, ("crash",))


def test_a_baseline_accepts_what_it_holds_whatever_the_dtypes() -> None:
    old = baseline_of(report(result("flip/a", finding("flip/a"))), "old.json")
    acceptance = Acceptance(baseline=old)
    again = finding("flip/a", dtypes=("int8", "float16"), size=3)
    assert acceptance.reason(again) == "in the baseline old.json"
    assert acceptance.reason(finding("flip/a", backend="gpu")) == ""
    assert acceptance.reason(finding("flip/a", "crash")) == ""
    assert acceptance.reason(finding("flip/b")) == ""


def test_what_was_stale_in_the_baseline_is_no_news() -> None:
    stale = result("flip/a", outcome=Outcome.STALE, missing=("crash",))
    acceptance = Acceptance(baseline=baseline_of(report(stale), "old.json"))
    seen = conclude(result("flip/a"), (Known("crash"),), "3.9.0", acceptance=acceptance)
    assert (seen.outcome, seen.missing) == (Outcome.PASS, ("crash",))
    assert seen.reason.endswith("as in the baseline")
    other = conclude(result("flip/b"), (Known("crash"),), "3.9.0", acceptance=acceptance)
    assert other.outcome is Outcome.STALE
    more = (Known("crash"), Known("timeout"))
    seen = conclude(result("flip/a"), more, "3.9.0", acceptance=acceptance)
    assert seen.outcome is Outcome.STALE


def remarks(*ignores: Ignore, whole: bool = False, **cases: Coverage) -> list[str]:
    seen = report(*(result(f"flip/{name}", coverage=ran) for name, ran in cases.items()))
    return list(accepting(*ignores).remarks(seen, whole=whole))


def test_an_ignore_that_matches_nothing_is_told_where_its_cases_ran() -> None:
    told = "the ignore of padding-leak in flip/* (line 7 of the configuration) matches nothing"
    assert remarks(LEAK, a=RAN) == [f"{told}: remove it"]
    assert remarks(LEAK) == []
    assert remarks(LEAK, whole=True) == [f"{told}: remove it"]
    assert remarks(LEAK, a=Coverage(launches=9, cut_short="the time limit was reached")) == []


def test_an_expired_ignore_that_would_still_match_is_told_apart() -> None:
    old = Ignore("flip/a", "padding-leak", "soon", datetime.date(2030, 5, 31))
    seen = report(result("flip/a", finding("flip/a")))
    assert list(accepting(old).remarks(seen, whole=True)) == [
        "the ignore of padding-leak in flip/a expired after 2030-05-31: soon"
    ]
    assert list(accepting(LEAK).remarks(seen, whole=True)) == []
