"""The life of a unit, with this test in the part of the worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tritaudit.acceptance import Acceptance, Ignore
from tritaudit.forkserver import Call, Died, Ended, Overdue, Raised, Returned
from tritaudit.model import (
    CaseInfo,
    CaseResult,
    Coverage,
    Example,
    Known,
    Outcome,
    Progress,
    UnitRequest,
)
from tritaudit.plain import from_plain, to_plain
from tritaudit.repro import encode
from tritaudit.unit import Unit, request_for
from tritaudit.verdict import NOTHING

BASE: tuple[str, tuple[tuple[str, int], ...]] = ("", ())
PASS = CaseResult(
    "k",
    "interpreter",
    Outcome.PASS,
    coverage=Coverage(examples=9, launches=9, dtypes=(("float32", 9),)),
)


def token(size: int, tile: int = 8) -> str:
    example = Example((("N", size),), (("BLOCK", tile),), (), (("x", "float32"),))
    return encode(example, "interpreter")


def info(*expect: Known) -> CaseInfo:
    return CaseInfo(
        "k",
        "/somewhere/k.py",
        4,
        "case",
        "Abs()",
        "",
        "",
        ("float32",),
        (),
        (),
        expect,
        None,
        "k.py",
    )


def returned(value: object) -> Returned:
    return Returned("", (), to_plain(value))


def died(size: int, how: str = "killed by SIGSEGV", **fields: Any) -> Died:
    return Died(fields.get("output", ""), fields.get("frames", ()), how, token(size))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def live(
    worker: Callable[[Call], Ended],
    *expect: Known,
    timeout: float = 60.0,
    clock: Clock | None = None,
    acceptance: Acceptance = NOTHING,
    until: float | None = None,
    **asked_for: Any,
) -> tuple[CaseResult, list[Call]]:
    """Run a unit against a worker; its result and all calls that it made."""
    case = info(*expect)
    request = request_for(case, "interpreter", **asked_for)
    unit = Unit(
        case, request, "3.9.0", timeout, 20.0, clock or Clock(), acceptance=acceptance, until=until
    )
    steps, calls = unit.steps(), []
    call = next(steps)
    while True:
        calls.append(call)
        try:
            call = steps.send(worker(call))
        except StopIteration as stop:
            return stop.value, calls


def asked(call: Call) -> UnitRequest:
    return from_plain(UnitRequest, call.data)


def scripted(
    *ends: Ended, smaller: tuple[str, ...] = (), again: Ended | None = None
) -> Callable[[Call], Ended]:
    """Searches end as listed, and so do replays of what they died of (or as `again`); others pass.

    There is nothing smaller unless it is given.
    """
    left = list(ends)
    deaths = {end.token: end for end in ends if isinstance(end, (Died, Overdue))}

    def worker(call: Call) -> Ended:
        if call.function == "smaller":
            return returned(smaller)
        token = asked(call).repro
        if token is None:
            return left.pop(0)
        return again or deaths.get(token, returned(PASS)) if token in deaths else returned(PASS)

    return worker


def test_a_search_that_returns_is_the_verdict() -> None:
    result, calls = live(scripted(returned(PASS)))
    assert result.outcome is Outcome.PASS
    assert (result.case, result.target, result.location and result.location.line) == (
        "k",
        "k.py",
        4,
    )
    assert len(calls) == 1
    assert calls[0].limit == 60.0 and calls[0].launch_limit == 20.0
    assert asked(calls[0]).deadline == 45.0


def test_the_root_of_a_case_is_found_from_its_name() -> None:
    case = CaseInfo("flip/a:b", "/c/flip/a.py", 1, "b", "", "", "", (), (), (), ())
    assert request_for(case, "gpu").root == "/c"


def test_a_death_in_flight_is_a_finding_and_the_search_goes_on_without_it() -> None:
    end = died(7, frames=(("/other.py", 3), ("/somewhere/k.py", 12)), output="last words")
    result, calls = live(scripted(end, returned(PASS)))
    [found] = result.findings
    assert (result.outcome, found.fault, found.repro) == (Outcome.FAIL, "crash", token(7))
    assert found.summary == "The process was killed by SIGSEGV while the kernel ran."
    assert found.location is not None and found.location.line == 12
    assert (found.output, found.dtypes, found.target) == ("last words", ("float32",), "k.py")
    assert asked(calls[-1]).avoid == (token(7),)
    assert result.coverage.cut_short == ""


def test_a_crash_is_shrunk_in_further_processes() -> None:
    def worker(call: Call) -> Ended:
        if call.function == "smaller":
            assert isinstance(call.data, dict)
            sizes = {token(100): (10, 50), token(50): (5, 25), token(25): (13, 24)}
            return returned(tuple(token(n) for n in sizes[call.data["token"]]))
        request = asked(call)
        if request.repro is not None:
            sizes = {token(n): n for n in (25, 50, 100)}
            size = sizes.get(request.repro, 0)
            return died(size) if size else returned(PASS)
        return returned(PASS) if request.avoid else died(100)

    result, calls = live(worker)
    assert [f.repro for f in result.findings] == [token(25)]
    replayed = [asked(c).repro for c in calls if c.function == "audit"]
    assert replayed == [None, *map(token, (10, 50, 5, 25, 13, 24)), None]
    assert asked(calls[-1]).avoid == (token(25),)


def test_shrinking_tries_twelve_examples_at_most() -> None:
    many = tuple(token(n) for n in range(1, 40))
    _, calls = live(scripted(died(100), returned(PASS), smaller=many))
    replayed = [asked(c).repro for c in calls if c.function == "audit" and asked(c).repro]
    assert replayed == [*many[:12], token(100)]


def test_another_kind_of_death_is_not_a_smaller_crash() -> None:
    def worker(call: Call) -> Ended:
        if call.function == "smaller":
            return returned((token(3),))
        if asked(call).repro == token(3):
            return died(3, "killed by SIGABRT")
        return returned(PASS) if asked(call).avoid else died(9)

    result, _ = live(worker)
    assert [f.repro for f in result.findings] == [token(9)]


def test_after_three_restarts_the_result_is_what_there_is() -> None:
    result, calls = live(scripted(died(40), died(30), died(20), died(10)))
    assert sum(c.function == "audit" and not asked(c).repro for c in calls) == 4
    [found] = result.findings
    assert (found.repro, found.seen) == (token(10), 4)
    assert result.coverage.cut_short == "the search ended after 4 processes died or hung"


def test_deaths_of_different_kinds_are_different_findings() -> None:
    result, _ = live(scripted(died(9), died(8, "exit code 3"), returned(PASS)))
    assert [f.summary for f in result.findings] == [
        "The process was killed by SIGSEGV while the kernel ran.",
        "The process ended with exit code 3 while the kernel ran.",
    ]


def test_a_launch_that_does_not_end_is_a_finding_and_is_tried_once_more() -> None:
    hung = [Overdue("", (), 20.4, token(n)) for n in (9, 7)]
    result, calls = live(scripted(*hung))
    [found] = result.findings
    assert (found.fault, found.repro) == ("timeout", token(7))
    assert found.summary == "The kernel had not ended after 20 s."
    assert [asked(c).repro for c in calls] == [None, token(9), None, token(7)]
    assert result.coverage.cut_short == "the search ended after 2 processes died or hung"


def test_a_restart_has_the_time_that_is_left() -> None:
    clock = Clock()
    ends = scripted(Overdue("", (), 20, token(9)), returned(PASS))

    def worker(call: Call) -> Ended:
        clock.now += 20
        return ends(call)

    result, calls = live(worker, clock=clock)
    assert [(c.limit, asked(c).repro) for c in calls] == [(60, None), (40, token(9)), (20, None)]
    assert result.seconds == 60.0


def test_without_time_there_is_no_restart() -> None:
    clock = Clock()

    def worker(call: Call) -> Ended:
        clock.now += 58
        return Overdue("", (), 20, token(9))

    result, calls = live(worker, clock=clock)
    assert len(calls) == 1
    assert result.coverage.cut_short == "no time was left after a process died or hung"


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (Died("", (), "exit code 3", None), "the process ended (exit code 3) while no kernel ran"),
        (Overdue("", (), 60, None), "the unit had not ended after 60 s, and no kernel ran"),
        (Raised("", (), "KeyError: 'x'", "Traceback ..."), "KeyError: 'x'"),
    ],
)
def test_an_end_without_a_launch_is_an_error_and_not_a_finding(end: Ended, reason: str) -> None:
    result, calls = live(scripted(end))
    assert (result.outcome, result.reason, result.findings) == (Outcome.ERROR, reason, ())
    assert len(calls) == 1


def test_an_error_keeps_the_findings_before_it() -> None:
    result, _ = live(scripted(died(9), Died("", (), "exit code 3", None)))
    assert (result.outcome, len(result.findings)) == (Outcome.FAIL, 1)
    assert result.reason == "the process ended (exit code 3) while no kernel ran"


def test_an_expected_crash_is_known() -> None:
    ends = (died(9), returned(PASS))
    assert live(scripted(*ends), Known("crash"))[0].outcome is Outcome.KNOWN
    assert live(scripted(*ends), Known("crash", triton="<3.4"))[0].outcome is Outcome.FAIL


def test_a_replay_that_dies_is_told_as_it_is() -> None:
    ends = [died(9)]
    result, calls = live(lambda call: ends.pop(), repro=token(9))
    assert [f.repro for f in result.findings] == [token(9)]
    assert len(calls) == 1


@pytest.mark.parametrize("first", [died(9), Overdue("", (), 20.0, token(9))])
def test_a_death_that_does_not_happen_again_is_nondeterministic(first: Ended) -> None:
    result, _ = live(scripted(first, returned(PASS), again=returned(PASS)))
    [found] = result.findings
    assert (found.fault, found.repro) == ("nondeterministic", token(9))
    assert found.evidence[0].endswith("Launched again, the same example ended well.")


def test_faults_that_were_not_asked_for_are_only_noted() -> None:
    ends = (died(9), returned(PASS))
    result, _ = live(scripted(*ends), Known("padding-leak"), faults=("timeout",))
    assert (result.outcome, result.findings) == (Outcome.PASS, ())
    assert result.notes == ("crash showed as well, which was not asked for",)
    result, _ = live(scripted(*ends), faults=("crash",))
    assert (result.outcome, result.notes) == (Outcome.FAIL, ())
    result, _ = live(scripted(returned(PASS)), Known("crash"), faults=("crash",))
    assert result.outcome is Outcome.STALE


def test_with_some_dtypes_only_nothing_is_stale() -> None:
    result, calls = live(scripted(returned(PASS)), Known("crash"), dtypes=("float32",))
    assert result.outcome is Outcome.PASS
    assert asked(calls[0]).dtypes == ("float32",)


def test_what_is_accepted_is_known() -> None:
    acceptance = Acceptance((Ignore("k", "crash", "old"),))
    result, _ = live(scripted(died(9), returned(PASS)), acceptance=acceptance)
    assert (result.outcome, result.findings[0].accepted) == (Outcome.KNOWN, "ignored: old")


def test_a_search_stops_by_itself_when_the_budget_of_the_run_ends() -> None:
    _, calls = live(scripted(returned(PASS)), until=107.0)
    assert (asked(calls[0]).deadline, calls[0].limit) == (7.0, 60.0)
    result, _ = live(scripted(died(9)), until=99.0)
    assert result.coverage.cut_short == "no time was left after a process died or hung"


def test_progress_counts_for_a_unit_whose_processes_all_died() -> None:
    case = info()
    unit = Unit(case, request_for(case, "interpreter"), "3.9.0", 60.0, 20.0)
    steps = unit.steps()
    next(steps)
    assert unit.interrupted() is None
    unit.note(Progress("k", "interpreter", 17, "sweep"))
    call = steps.send(died(9))
    assert call.function == "smaller"
    steps.send(returned((token(3),)))
    shown = unit.note(Progress("k", "interpreter", 1, "replay"))
    assert (shown.phase, shown.examples) == ("shrink", 17)
    stopped = unit.interrupted()
    assert stopped is not None and stopped.findings[0].repro == token(9)
    steps.send(returned(PASS))
    stopped = unit.interrupted()
    assert stopped is not None
    assert (stopped.coverage.examples, stopped.coverage.cut_short) == (
        17,
        "the run was ended after 17 examples",
    )


@pytest.mark.parametrize("survives", [True, False])
def test_a_death_says_whether_it_takes_the_strict_interpreter(survives: bool) -> None:
    def worker(call: Call) -> Ended:
        if call.function == "smaller":
            return returned(())
        request = asked(call)
        if request.repro is None and request.avoid:
            return returned(PASS)
        if survives and not request.strict_interpreter:
            return returned(PASS)
        return died(9)

    result, _ = live(worker, seed=5, strict_interpreter=True)
    [finding] = result.findings
    assert finding.fault == "crash"
    assert finding.options == ("--strict-interpreter", "--seed", "5")
    told = "found by the strict interpreter: the process survives on the stock one"
    assert (told in finding.evidence) == survives
