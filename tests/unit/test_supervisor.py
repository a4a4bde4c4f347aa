"""Real processes that crash, hang and exit, with the functions of toy_worker."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritaudit import forkserver
from tritaudit.forkserver import BackendError, Call, Died, ForkServer, Overdue, Raised, Returned
from tritaudit.model import (
    Backend,
    CaseInfo,
    CaseResult,
    Event,
    Known,
    Outcome,
    Progress,
    UnitFinished,
    UnitStarted,
)
from tritaudit.repro import decode
from tritaudit.supervisor import Supervisor, launch_limit_of
from tritaudit.unit import request_for

#: seconds that ending a process takes, on a machine that has other things to do.
GRACE = 3.0


@pytest.fixture(autouse=True)
def _toys_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), str(root)]))


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    with Supervisor(Backend.INTERPRETER, ["toy_worker"]) as running:
        yield running


def info(name: str, *expect: Known) -> CaseInfo:
    return CaseInfo(name, f"/x/{name}.py", 1, "case", "Abs()", "", "", (), (), (), expect)


def run(
    supervisor: Supervisor, *cases: CaseInfo, jobs: int = 2, timeout: float = 20, limit: float = 0.5
) -> list[Event]:
    units = [(case, request_for(case, "interpreter")) for case in cases]
    return list(supervisor.run_units(units, jobs, timeout, limit))


def results(events: list[Event]) -> dict[str, CaseResult]:
    return {e.result.case: e.result for e in events if isinstance(e, UnitFinished)}


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_events_come_in_order_and_every_unit_gets_a_verdict(supervisor: Supervisor) -> None:
    events = run(supervisor, info("ok"), info("leak", Known("padding-leak")))
    of_ok = [e for e in events if not isinstance(e, UnitFinished) and e.case == "ok"]
    assert isinstance(of_ok[0], UnitStarted)
    assert [e.examples for e in of_ok if isinstance(e, Progress)] == list(range(1, 15))
    assert {n: r.outcome for n, r in results(events).items()} == {
        "ok": Outcome.PASS,
        "leak": Outcome.KNOWN,
    }


@pytest.mark.parametrize(
    ("name", "size", "summary"),
    [
        ("segfault-4", 4, "The process was killed by SIGSEGV while the kernel ran."),
        ("abort-1", 1, "The process was killed by SIGABRT while the kernel ran."),
        ("exit-2", 2, "The process ended with exit code 7 while the kernel ran."),
    ],
)
def test_a_death_is_a_finding_with_a_small_example_and_others_go_on(
    supervisor: Supervisor, name: str, size: int, summary: str
) -> None:
    seen = results(run(supervisor, info(name), info("ok")))
    assert seen["ok"].outcome is Outcome.PASS
    [found] = seen[name].findings
    assert (found.fault, found.summary) == ("crash", summary)
    assert decode(found.repro).size("N") == size
    assert found.example == decode(found.repro)


def test_what_a_process_printed_is_kept_without_control_codes(supervisor: Supervisor) -> None:
    seen = results(run(supervisor, info("segfault-4")))["segfault-4"]
    assert seen.findings[0].output == "about to fall\n"
    assert seen.output == ""  # the finding shows it


def test_a_hanging_launch_ends_at_its_own_limit(supervisor: Supervisor) -> None:
    begun = time.monotonic()
    seen = results(run(supervisor, info("hang-4"), info("ok")))
    assert time.monotonic() - begun < 10
    assert [f.fault for f in seen["hang-4"].findings] == ["timeout"]
    assert seen["ok"].outcome is Outcome.PASS


def test_a_launch_that_computes_without_end_has_so_much_processor_time(
    supervisor: Supervisor,
) -> None:
    [found] = results(run(supervisor, info("spin-4"), limit=1.0))["spin-4"].findings
    assert found.summary == "The kernel had not ended after 1 s of processor time."
    assert decode(found.repro).size("N") == 4


@pytest.mark.parametrize("told", [True, False])
def test_a_launch_that_is_kept_waiting_is_not_late_where_processor_time_is_known(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    if not told:
        monkeypatch.setattr(forkserver, "_processor_time", lambda pid: None)
    result = results(run(supervisor, info("nap-40"), limit=0.4))["nap-40"]
    assert [f.fault for f in result.findings] == ([] if told else ["timeout"])


def test_a_launch_on_a_gpu_has_its_time_by_the_clock(
    supervisor: Supervisor,
) -> None:
    units = [(info("nap-40"), request_for(info("nap-40"), "gpu"))]
    result = results(list(supervisor.run_units(units, 1, 20, 0.4)))["nap-40"]
    assert "timeout" in [f.fault for f in result.findings]


def test_waiting_for_a_processor_is_not_counted(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = time.monotonic()
    monkeypatch.setattr(forkserver, "_kept_waiting", lambda pid: time.monotonic() - begun)
    monkeypatch.setattr(forkserver, "BLOCKED", 1.0)
    result = results(run(supervisor, info("doze-40"), limit=0.9))["doze-40"]
    assert result.findings == ()


def test_a_launch_has_a_share_of_the_time_of_its_unit() -> None:
    seconds = (0.3, 3, 12, 60, 1800)
    of_interpreter = [launch_limit_of(Backend.INTERPRETER, t) for t in seconds]
    assert of_interpreter == pytest.approx([0.1, 1, 2, 10, 20])
    of_gpu = [launch_limit_of(Backend.GPU, t) for t in seconds]
    assert of_gpu == pytest.approx([0.1, 1, 4, 20, 20])


def test_processor_time_is_that_of_the_process_and_grows_with_its_work() -> None:
    before, own = forkserver._processor_time(os.getpid()), time.process_time()
    assert before is not None and abs(before - own) < 0.2
    while time.process_time() - own < 0.1:
        pass
    after = forkserver._processor_time(os.getpid())
    assert after is not None and after - before > 0.05
    assert forkserver._processor_time(1 << 30) is None


@pytest.mark.parametrize("name", ["spin-2", "hang-2", "segfault-2"])
def test_a_unit_ends_in_its_time_with_what_it_has_found(supervisor: Supervisor, name: str) -> None:
    supervisor.environment()
    case = info(name)
    begun = time.monotonic()
    events = list(supervisor.run_units([(case, request_for(case, "interpreter"))], 1, 4.0, 0.3))
    assert time.monotonic() - begun < 4.0 + GRACE
    assert results(events)[name].outcome is Outcome.FAIL


def test_what_a_function_raises_is_an_error(supervisor: Supervisor) -> None:
    seen = results(run(supervisor, info("raise")))["raise"]
    assert (seen.outcome, seen.reason) == (Outcome.ERROR, "RuntimeError: no such thing")
    assert "misbehave" in seen.output


def test_units_run_side_by_side_as_many_as_there_are_jobs(supervisor: Supervisor) -> None:
    cases = [info(f"sleep-{n}") for n in (20, 21, 22, 23)]
    running, most = 0, 0
    for event in run(supervisor, *cases, jobs=3):
        running += isinstance(event, UnitStarted)
        running -= isinstance(event, UnitFinished)
        most = max(most, running)
    assert most == 3


def test_ctrl_c_ends_the_units_and_keeps_what_was_found(supervisor: Supervisor) -> None:
    before = signal.getsignal(signal.SIGINT)
    units = [
        (c, request_for(c, "interpreter")) for c in (info("ok"), info("hang-1"), info("raise"))
    ]
    events = []
    for event in supervisor.run_units(units, 1, 30, 30):
        events.append(event)
        if isinstance(event, UnitStarted) and event.case == "hang-1":
            os.kill(os.getpid(), signal.SIGINT)
    assert supervisor.stopped == "interrupted"
    assert {n: r.outcome for n, r in results(events).items()} == {
        "ok": Outcome.PASS,
        "hang-1": Outcome.SKIP,
    }
    hung = results(events)["hang-1"]
    assert (hung.reason, hung.coverage.examples) == ("not finished, nothing found yet", 1)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_waits_for_nothing(supervisor: Supervisor) -> None:
    before = signal.getsignal(signal.SIGINT)
    units = [(c, request_for(c, "interpreter")) for c in (info("ok"), info("hang-1"))]
    events, asked = [], math.inf
    for event in supervisor.run_units(units, 1, 30, 30):
        events.append(event)
        if isinstance(event, UnitStarted) and event.case == "hang-1":
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            asked = time.monotonic()
    assert time.monotonic() - asked < 2
    assert "ok" in results(events)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_unit_that_runs_when_all_is_ended_tells_what_it_has_found(
    supervisor: Supervisor,
) -> None:
    units = [(c, request_for(c, "interpreter")) for c in (info("patient"), info("ok"))]
    events = []
    for event in supervisor.run_units(units, 1, 30, 30):
        events.append(event)
        if isinstance(event, Progress) and event.phase == "waiting":
            supervisor.stopped = "enough"
    assert {n: [f.fault for f in r.findings] for n, r in results(events).items()} == {
        "patient": ["off-by-one"]
    }


def test_no_unit_is_started_after_the_budget(supervisor: Supervisor) -> None:
    units = [(c, request_for(c, "interpreter")) for c in (info("sleep-1"), info("ok"))]
    supervisor.environment()
    events = list(supervisor.run_units(units, 1, 20, until=time.monotonic() + 0.3))
    assert list(results(events)) == ["sleep-1"]
    assert supervisor.stopped == ""
    assert list(supervisor.run_units(units, 1, 20, until=time.monotonic() - 1)) == []


def call(server: ForkServer, function: str, data: object = None, limit: float = 10) -> object:
    supervisor = Supervisor(Backend.INTERPRETER, ["toy_worker"])
    supervisor._server.close()
    supervisor._server = server
    return supervisor.call(Call(function, data, limit, limit))  # type: ignore[arg-type]


@pytest.fixture
def server() -> Iterator[ForkServer]:
    with ForkServer(Backend.INTERPRETER, ["toy_worker"]) as running:
        yield running


def test_a_large_answer_comes_whole(server: ForkServer) -> None:
    ended = call(server, "echo", ["x" * 1000] * 2000)
    assert isinstance(ended, Returned)
    assert ended.value == ["x" * 1000] * 2000


@pytest.mark.parametrize("backend", list(Backend))
def test_the_backend_is_fixed_in_the_environment(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "1" if backend is Backend.GPU else "0"
    monkeypatch.setenv("TRITON_INTERPRET", wrong)
    with ForkServer(backend, ["toy_worker"]) as server:
        ended = call(server, "surroundings")
    assert isinstance(ended, Returned) and isinstance(ended.value, dict)
    assert ended.value["interpret"] == ("1" if backend is Backend.INTERPRETER else None)
    assert ended.value["session"] is True
    assert ended.value["stdin"] == ""


def test_an_end_without_a_launch_has_no_token(server: ForkServer) -> None:
    assert call(server, "die_before") == Died("", (), "exit code 3", None)
    late = call(server, "hang_before", limit=0.3)
    assert isinstance(late, Overdue) and late.token is None
    assert any(path.endswith("toy_worker.py") for path, _ in late.frames)


def test_an_unknown_function_is_an_error(server: ForkServer) -> None:
    ended = call(server, "no_such")
    assert isinstance(ended, Raised) and ended.message == "KeyError: 'no_such'"


def test_a_process_that_prints_without_end_fills_no_disk(server: ForkServer) -> None:
    ended = call(server, "talk", limit=1.0)
    assert isinstance(ended, Overdue)
    assert ended.output.startswith("first words\nxxx")
    assert len(ended.output) < 25_000


def test_what_a_unit_started_itself_ends_with_it(server: ForkServer) -> None:
    ended = call(server, "leave_a_child")
    assert isinstance(ended, Returned) and isinstance(ended.value, int)
    limit = time.monotonic() + 5
    while alive(ended.value) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not alive(ended.value)


def test_when_the_fork_server_is_killed_the_unit_is_an_error_and_the_next_call_works(
    server: ForkServer,
) -> None:
    server.start()
    process = server._process
    assert process is not None
    killer = threading.Timer(0.3, process.kill)
    killer.start()
    ended = call(server, "hang_before")
    killer.join()
    assert isinstance(ended, Died) and ended.how == "the process that starts units ended"
    assert call(server, "echo", 1) == Returned("", (), 1)


def test_closing_leaves_no_process_and_no_file(server: ForkServer) -> None:
    job = server.submit(Call("hang_before", None, 60))
    while job.pid is None:
        server.ended()
    folder = Path(server._folder.name)
    server.close()
    limit = time.monotonic() + 5
    while alive(job.pid) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not alive(job.pid)
    assert not folder.exists()


def test_a_server_that_cannot_start_says_why() -> None:
    with (
        ForkServer(Backend.INTERPRETER, ["no_such_module"]) as server,
        pytest.raises(BackendError, match=r"did not start: ModuleNotFoundError: .*no_such_module"),
    ):
        server.start()
