"""The life of a unit, with this test in the part of the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tritaudit.acceptance import Acceptance, Ignore
from tritaudit.forkserver import Call, Died, Ended, Limit, Overdue, Raised, Returned
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


def hung(size: int, seconds: float = 20.4, tile: int = 8) -> Overdue:
    return Overdue("", (), seconds, token(size, tile), Limit.PROCESSOR)


def late(size: int | None = None) -> Overdue:
    """Killed at the limit of the call, perhaps with a launch in flight."""
    return Overdue("", (), 60.2, None if size is None else token(size), Limit.CALL)


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


def replayed(calls: list[Call]) -> list[str | None]:
    """The token of each replay, None for each search."""
    return [asked(c).repro for c in calls if c.function == "audit"]


def shrinking(calls: list[Call]) -> list[tuple[list[str], str]]:
    """Which examples were known to die at each search for a smaller one, and what was tried."""
    found = []
    for call in calls:
        if call.function == "smaller":
            assert isinstance(call.data, dict)
            found.append((call.data["known"], call.data["after"]))
    return found  # type: ignore[return-value]


def scripted(
    *ends: Ended, smaller: tuple[Ended, ...] = (), again: Ended | None = None
) -> Callable[[Call], Ended]:
    """Searches end as listed, and so do replays of what they died of (or as `again`); others pass.

    Nothing smaller is fatal unless it is given, and then it is so again in a replay.
    """
    left, fatal = list(ends), list(smaller)
    deaths = {end.token: end for end in (*ends, *smaller) if isinstance(end, (Died, Overdue))}

    def worker(call: Call) -> Ended:
        if call.function == "smaller":
            return fatal.pop(0) if fatal else returned(7)
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


def test_a_crash_is_made_smaller_until_nothing_smaller_crashes() -> None:
    ends = scripted(died(100), returned(PASS), smaller=(died(30), died(25)))
    result, calls = live(ends)
    assert [f.repro for f in result.findings] == [token(25)]
    assert replayed(calls) == [None, token(30), token(25), None]
    assert shrinking(calls) == [
        ([token(100)], ""),
        ([token(100), token(30)], ""),
        ([token(100), token(30), token(25)], ""),
    ]
    assert asked(calls[-1]).avoid == (token(100), token(25))


def test_a_smaller_crash_that_needs_those_before_it_is_none() -> None:
    end = died(100)
    fatal = [died(30), died(31), returned(7)]

    def worker(call: Call) -> Ended:
        if call.function == "smaller":
            return fatal.pop(0)
        if asked(call).repro is None:
            return returned(PASS) if asked(call).avoid else end
        return end if asked(call).repro == token(100) else returned(PASS)

    result, calls = live(worker)
    assert [(f.fault, f.repro) for f in result.findings] == [("crash", token(100))]
    assert replayed(calls) == [None, token(30), token(31), token(100), None]
    known = [token(100)]
    assert shrinking(calls) == [(known, ""), (known, token(30)), (known, token(31))]


def test_a_smaller_crash_is_looked_for_four_times_at_most() -> None:
    ends = scripted(died(100), returned(PASS), smaller=tuple(died(n) for n in range(50, 40, -1)))
    result, calls = live(ends)
    assert [f.repro for f in result.findings] == [token(47)]
    assert len(shrinking(calls)) == 4


def test_another_kind_of_death_is_not_a_smaller_crash() -> None:
    ends = scripted(died(9), returned(PASS), smaller=(died(3, "killed by SIGABRT"),))
    result, calls = live(ends)
    assert [f.repro for f in result.findings] == [token(9)]
    assert shrinking(calls) == [([token(9)], ""), ([token(9)], token(3))]


def test_a_hang_is_made_smaller_with_less_time_for_each_launch() -> None:
    result, calls = live(scripted(hung(9), returned(PASS), smaller=(hung(3, 2.6),)))
    [found] = result.findings
    assert (found.fault, found.repro) == ("timeout", token(3))
    limits = [(c.function, c.launch_limit, c.processor) for c in calls]
    assert limits[:3] == [("audit", 20, True), ("smaller", 2.5, True), ("audit", 20, True)]


def test_a_slow_launch_is_no_smaller_hang() -> None:
    slow, end = hung(3, 2.6), hung(9)
    fatal = [slow, returned(7)]

    def worker(call: Call) -> Ended:
        if call.function == "smaller":
            return fatal.pop(0)
        if asked(call).repro is None:
            return returned(PASS) if asked(call).avoid else end
        return end if asked(call).repro == token(9) else returned(PASS)

    result, _ = live(worker)
    assert [(f.fault, f.repro) for f in result.findings] == [("timeout", token(9))]


def test_an_example_with_a_larger_tile_is_avoided_as_well_as_the_smaller_one_found() -> None:
    end = Died("", (), "killed by SIGSEGV", token(9, tile=64))
    _, calls = live(scripted(end, returned(PASS), smaller=(died(4),)))
    assert asked(calls[-1]).avoid == (token(9, tile=64), token(4))


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
    result, calls = live(scripted(hung(9, 20.6), hung(7, 20.4)))
    [found] = result.findings
    assert (found.fault, found.repro, found.seen) == ("timeout", token(7), 2)
    assert found.summary == "The kernel had not ended after 20 s of processor time."
    assert replayed(calls) == [None, token(9), None, token(7)]
    assert result.coverage.cut_short == "the search ended after 2 processes died or hung"


def test_a_launch_on_a_gpu_has_its_time_by_the_clock() -> None:
    unit = Unit(info(), request_for(info(), "gpu"), "3.9.0", 60.0, 20.0)
    assert not next(unit.steps()).processor


def test_a_restart_has_the_time_that_is_left() -> None:
    clock = Clock()
    ends = scripted(hung(9), returned(PASS))

    def worker(call: Call) -> Ended:
        clock.now += 20 if call.function == "audit" else 1
        return ends(call)

    result, calls = live(worker, clock=clock)
    assert [(c.limit, c.function) for c in calls if c.function == "audit"] == [
        (60, "audit"),
        (pytest.approx(33), "audit"),  # the replay leaves a tenth for a restart
        (19, "audit"),
    ]
    assert result.seconds == 61.0


@pytest.mark.parametrize("seconds", [0.2, 1.0, 3.0, 7.0, 100.0])
@pytest.mark.parametrize("end", [died(9), hung(9)])
@pytest.mark.parametrize("limit", [60.0, 25.0, 5.0])
@pytest.mark.parametrize("backend", ["interpreter", "gpu"])
def test_whatever_happens_a_unit_ends_in_its_time(
    seconds: float, end: Ended, limit: float, backend: str
) -> None:
    clock, size = Clock(), [500]

    def worker(call: Call) -> Ended:
        assert call.limit <= limit - (clock.now - 100.0) + 1e-6
        clock.now += min(seconds, call.limit)
        if seconds > call.limit:
            return late(9)
        size[0] -= 1
        return replace(end, token=token(size[0]))

    request = request_for(info(), backend, strict_interpreter=backend == "interpreter")
    unit = Unit(info(), request, "3.9.0", limit, limit / 3, clock)
    steps, result = unit.steps(), None
    call = next(steps)
    while result is None:
        try:
            call = steps.send(worker(call))
        except StopIteration as stop:
            result = stop.value
    assert clock.now - 100.0 <= limit + 1e-6
    assert result.outcome is (Outcome.ERROR if seconds > limit else Outcome.FAIL)


def test_without_time_there_is_no_restart() -> None:
    clock = Clock()

    def worker(call: Call) -> Ended:
        clock.now += 58
        return hung(9)

    result, calls = live(worker, clock=clock)
    assert len(calls) == 1
    assert result.coverage.cut_short == "no time was left after a process died or hung"


def test_a_launch_that_the_end_of_the_unit_cut_off_is_no_hang() -> None:
    result, calls = live(scripted(late(9)))
    assert (result.outcome, result.findings, len(calls)) == (Outcome.ERROR, (), 1)
    told = "the unit had not ended after 60 s; its last launch had not had its 20 s yet"
    assert result.reason == told


def test_what_was_found_before_the_time_was_up_is_reported() -> None:
    result, _ = live(scripted(died(9), late(3)))
    assert (result.outcome, [f.repro for f in result.findings]) == (Outcome.FAIL, [token(9)])
    assert result.coverage.cut_short == "no time was left after a process died or hung"


@pytest.mark.parametrize("first", [hung(9), died(9, "exit code 76", output="x")])
def test_a_batch_that_ends_the_process_is_found_or_told_as_far_as_it_is_known(first: Ended) -> None:
    told = "several examples were on their way: it may have been an earlier one"
    steps = Unit(info(), request_for(info(), "gpu"), "3.9.0", 60.0, 20.0).steps()
    careful = steps.send(first) if next(steps) else None
    assert careful is not None and asked(careful).careful
    with pytest.raises(StopIteration) as stop:
        steps.send(late(3))
    [found] = stop.value.value.findings
    assert (found.repro, told in found.evidence) == (token(9), True)


@pytest.mark.parametrize(
    ("first", "faults", "notes"),
    [
        (
            hung(9),
            [],
            [
                "The kernel had not ended after 20 s of processor time. Launched again, one batch "
                "at a time, all ended."
            ],
        ),
        (died(9, "exit code 76", output="x"), ["nondeterministic"], []),
    ],
)
def test_a_batch_that_ends_the_process_once_does_not_vanish(
    first: Ended, faults: list[str], notes: list[str]
) -> None:
    steps = Unit(info(), request_for(info(), "gpu"), "3.9.0", 60.0, 20.0).steps()
    assert next(steps) and steps.send(first)
    with pytest.raises(StopIteration) as stop:
        steps.send(returned(PASS))
    result = stop.value.value
    assert ([f.fault for f in result.findings], list(result.notes)) == (faults, notes)


def test_a_replay_that_is_cut_off_does_not_make_a_crash_flaky() -> None:
    result, _ = live(scripted(died(9), returned(PASS), again=late(9)))
    assert [f.fault for f in result.findings] == ["crash"]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (Died("", (), "exit code 3", None), "the process ended (exit code 3) while no kernel ran"),
        (late(), "the unit had not ended after 60 s, and no kernel ran"),
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


def test_a_probe_that_dies_is_not_the_example_that_is_replayed() -> None:
    ends = scripted(died(9), returned(PASS), smaller=(died(3),), again=died(50))
    result, _ = live(ends)
    assert [(f.fault, f.repro) for f in result.findings] == [("nondeterministic", token(9))]


@pytest.mark.parametrize("first", [died(9), hung(9)])
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
    steps.send(died(3))
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
            return returned(7)
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
