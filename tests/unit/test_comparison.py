"""Runs side by side: what changed, and what of it is a regression."""

from __future__ import annotations

from dataclasses import replace

from made import finding, report, result

from tritaudit.comparison import Change, compare
from tritaudit.model import CaseResult, Outcome


def changes(*results: CaseResult | None) -> tuple[Change, ...]:
    """The changes of one case from run to run."""
    runs = [(str(k), report(*([r] if r else []))) for k, r in enumerate(results)]
    [row] = compare(runs).rows
    return row.changes


LEAK, CRASH = finding("a"), finding("a", "crash")


def test_the_same_twice_is_no_change() -> None:
    assert changes(result("a", LEAK), result("a", replace(LEAK, seen=99))) == ()
    assert changes(result("a")) == ()


def test_a_finding_that_appears_is_a_regression_and_one_that_vanishes_is_not() -> None:
    assert changes(result("a"), result("a", LEAK)) == (
        Change(0, 1, appeared=("padding-leak",), regression=True),
    )
    assert changes(result("a", LEAK), result("a")) == (Change(0, 1, vanished=("padding-leak",)),)
    both = changes(result("a", LEAK), result("a", CRASH))
    assert both == (Change(0, 1, ("crash",), ("padding-leak",), (), True),)


def test_a_known_fault_that_appears_is_a_change_and_no_regression() -> None:
    known = replace(LEAK, expected=True)
    assert changes(result("a"), result("a", known)) == (Change(0, 1, ("padding-leak",)),)


def test_other_dtypes_and_another_smallest_example_are_changes() -> None:
    for other in (
        finding("a", size=2),
        finding("a", dtypes=("float32", "int8")),
    ):
        assert changes(result("a", LEAK), result("a", other)) == (
            Change(0, 1, changed=("padding-leak",)),
        )
    a, b = (finding("a", dtypes=d) for d in (("int8", "float32"), ("int8", "float32")[::-1]))
    assert changes(result("a", replace(b, example=a.example)), result("a", a)) == ()


def test_an_outcome_that_asks_for_attention_is_a_regression() -> None:
    passed = result("a")
    for bad in (Outcome.STALE, Outcome.ERROR):
        assert changes(passed, result("a", outcome=bad)) == (Change(0, 1, regression=True),)
        assert changes(result("a", outcome=bad), passed) == (Change(0, 1),)
    assert changes(passed, result("a", outcome=Outcome.SKIP)) == (Change(0, 1),)
    news, expected = result("a", LEAK), result("a", replace(LEAK, expected=True))
    assert changes(expected, news) == (Change(0, 1, changed=("padding-leak",), regression=True),)


def test_a_gap_is_bridged() -> None:
    broke = Change(0, 2, appeared=("padding-leak",), regression=True)
    assert changes(result("a"), None, result("a", LEAK)) == (broke,)
    assert changes(None, result("a", LEAK)) == ()


def test_rows_are_cases_or_units() -> None:
    interpreted = report(result("b"), result("a"))
    on_gpu = report(replace(result("a"), backend="gpu"), backend="gpu")
    told = compare([("i", interpreted), ("g", on_gpu)])
    assert [(r.case, r.backend) for r in told.rows] == [("a", ""), ("b", "")]
    assert told.rows[0].cells == (interpreted.results[1], on_gpu.results[0])
    both = replace(on_gpu, results=(*on_gpu.results, *interpreted.results))
    told = compare([("i", interpreted), ("both", both)])
    assert [(r.case, r.backend) for r in told.rows] == [
        ("a", "gpu"),
        ("a", "interpreter"),
        ("b", "interpreter"),
    ]


def test_the_rows_to_look_at() -> None:
    before = report(result("a"), result("b"), result("c", LEAK), result("only"))
    after = report(result("a"), result("b", LEAK), result("c"))
    told = compare([("before", before), ("after", after)])
    assert [r.case for r in told.changed()] == ["b", "c", "only"]
    assert [r.case for r in told.regressions()] == ["b"]
    assert [run.name for run in told.runs] == ["before", "after"]
