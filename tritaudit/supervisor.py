"""Processes, time limits and parallelism: runs units and yields what happens.

One thread, one loop over sockets. Everything that a unit decides is in `tritaudit.unit`.
"""

from __future__ import annotations

import math
import os
import select
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Generic, TypeVar

from tritaudit.acceptance import Acceptance
from tritaudit.catalogue import Listing
from tritaudit.forkserver import (
    BackendError,
    Call,
    Died,
    Ended,
    ForkServer,
    Job,
    Overdue,
    Raised,
    Returned,
)
from tritaudit.model import (
    Backend,
    CallSpec,
    CaseInfo,
    Environment,
    Event,
    Progress,
    UnitFinished,
    UnitRequest,
    UnitStarted,
)
from tritaudit.plain import from_plain, to_plain
from tritaudit.targets import LoadProblem, shown_path
from tritaudit.unit import Unit
from tritaudit.verdict import NOTHING, so_far

__all__ = ["Supervisor", "default_jobs", "launch_limit_of"]

R = TypeVar("R")

#: seconds for loading all case files, and for a single one.
_LIST_LIMIT, _FILE_LIMIT = 600.0, 60.0
#: units that share a device.
_JOBS_A_DEVICE = 16
#: seconds for asking a device what it is.
_ENVIRONMENT_LIMIT = 60.0
#: seconds in which units tell what they have found when the run is ended.
_GRACE = 6.0
#: seconds for a single launch; the share of the unit's time that it may take, so that a launch that
#: hangs is told from a unit that is slow; and seconds that this share is not less than.
_LAUNCH_LIMIT = 20.0
_LAUNCH_SHARE = {Backend.INTERPRETER: 1 / 6, Backend.GPU: 1 / 3}
_LAUNCH_LEAST = 2.0


def default_jobs(backend: Backend, devices: int = 1) -> int:
    """How many units run at a time: the cores that this process may use, at most 16 a GPU."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most = _JOBS_A_DEVICE * max(1, devices) if backend is Backend.GPU else math.inf
    return int(max(1, min(cores or 1, most)))


def launch_limit_of(backend: Backend, timeout: float) -> float:
    """Seconds for a single launch of a unit: of processor time on the interpreter.

    Processor time passes more slowly than the unit's own on a machine that has other things to do.
    """
    share = max(_LAUNCH_SHARE[backend] * timeout, min(_LAUNCH_LEAST, timeout / 3))
    return min(share, _LAUNCH_LIMIT)


class _Task(Generic[R]):
    """A generator of calls, its current call, and in the end its result."""

    def __init__(self, steps: Generator[Call, Ended, R]) -> None:
        self._steps = steps
        self.result: R | None = None
        #: the number of the only device that its processes see (None: all).
        self.device: int | None = None

    def begin(self) -> Call:
        """The first call."""
        return next(self._steps)

    def resume(self, ended: Ended) -> Call | None:
        """The next call, now that the last one ended so; None once there is a result."""
        try:
            return self._steps.send(ended)
        except StopIteration as stop:
            self.result = stop.value
            return None


class Supervisor:
    """Runs what one backend is asked. A context manager: leaving it ends every process.

    Args:
        backend: interpreter or GPU.
        functions: modules that take the place of the real worker functions (for tests).
        path: a folder whose packages come before the installed ones, such as another Triton.
    """

    def __init__(
        self, backend: Backend, functions: Sequence[str] = (), path: Path | None = None
    ) -> None:
        self.backend = backend
        #: the signal that ended `run_units` early: "" , "interrupted" or "terminated".
        self.stopped = ""
        self._at_once = False
        self._server = ForkServer(backend, functions, path)
        #: what a worker has said of versions, and how many devices it sees.
        self._told: tuple[Environment, int] | None = None

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()

    def environment(self) -> Environment:
        """Versions and devices, from a worker.

        Raises:
            BackendError: the backend does not start or does not answer.
        """
        return self._surroundings()[0]

    def devices(self) -> int:
        """How many devices units are spread over; 0 on the interpreter.

        Raises:
            BackendError: the backend does not start or does not answer.
        """
        return self._surroundings()[1]

    def _surroundings(self) -> tuple[Environment, int]:
        if self._told is None:
            ended = self.call(Call("environment", str(self.backend), _ENVIRONMENT_LIMIT))
            if not isinstance(ended, Returned):
                raise BackendError(f"the {self.backend} does not answer ({_reason(ended)})")
            told: Any = ended.value
            self._told = (from_plain(Environment, told["environment"]), told["devices"])
        return self._told

    def check_interpreter(self, *, fast: bool, strict: int | None) -> None:
        """Ask a worker whether the interpreter can run as it is to (see `interpreter.use`).

        Raises:
            BackendError: it cannot, or the backend does not start.
        """
        ended = self.call(Call("interpreter", {"fast": fast, "strict": strict}, _ENVIRONMENT_LIMIT))
        if not isinstance(ended, Returned):
            raise BackendError(f"the {self.backend} does not answer ({_reason(ended)})")
        if ended.value:
            raise BackendError(str(ended.value))

    def list_cases(self, targets: Sequence[str], calls: Sequence[CallSpec] = ()) -> Listing:
        """The cases of targets, or of functions.

        A file that ends or hangs the process is a problem like others.

        Raises:
            BackendError: the backend does not start.
        """
        return self._run(_listing(targets, calls))

    def run_units(
        self,
        units: Sequence[tuple[CaseInfo, UnitRequest]],
        jobs: int,
        timeout: float,
        launch_limit: float | None = None,
        *,
        acceptance: Acceptance = NOTHING,
        until: float | None = None,
    ) -> Iterator[Event]:
        """Run units, `jobs` at a time; yields UnitStarted, Progress and UnitFinished as they come.

        Where there are several devices, a unit begins on the one with the fewest units and stays
        there to its end, replays included: whether what was seen shows again is asked of the device
        on which it was seen, which may differ from the others, or be the only broken one.

        Ctrl-C or SIGTERM (or a caller that sets `stopped`) ends it: units that run are asked for
        what they have found so far, and get a moment to answer; `stopped` says why. A second one
        does not wait for the answers.

        Args:
            timeout: seconds for a unit.
            launch_limit: seconds for a single launch (None: by `timeout`).
            acceptance: findings that are no news though the case does not expect them.
            until: the time.monotonic() from which no unit is started and searches stop.

        Raises:
            BackendError: the backend does not start.
        """
        limit = launch_limit or launch_limit_of(self.backend, timeout)
        triton = self.environment().triton
        lives = [
            Unit(info, request, triton, timeout, limit, acceptance=acceptance, until=until)
            for info, request in units
        ]
        unit_of = {_Task(unit.steps()): unit for unit in lives}
        with self._listening():
            for task, event in self._drive(list(unit_of), jobs, until, self.devices()):
                unit = unit_of[task]
                if isinstance(event, Progress):
                    yield unit.note(event)
                elif event is None and task.result is None:
                    yield UnitStarted(unit.info.name, unit.request.backend)
                elif task.result is not None:
                    result = so_far(task.result) if self.stopped else task.result
                    if result is not None:
                        yield UnitFinished(result)
            unfinished = [unit for task, unit in unit_of.items() if task.result is None]
            for partial in (unit.interrupted() for unit in unfinished):
                if partial is not None:
                    yield UnitFinished(partial)

    def call(self, call: Call) -> Ended:
        """What became of one call, in a process of its own.

        Raises:
            BackendError: the backend does not start.
        """

        def only() -> Generator[Call, Ended, Ended]:
            return (yield call)

        return self._run(only())

    # ----------------------------------------------------------------- the loop

    def _run(self, steps: Generator[Call, Ended, R]) -> R:
        task = _Task(steps)
        for _ in self._drive([task], 1):
            pass
        assert task.result is not None
        return task.result

    def _drive(
        self, tasks: Sequence[_Task[R]], jobs: int, until: float | None = None, devices: int = 0
    ) -> Iterator[tuple[_Task[R], Event | None]]:
        """Yields each event of a task, and None when a task has begun and when it has a result."""
        waiting, running = deque(tasks), dict[Job, _Task[R]]()
        last = math.inf  # when those that run after `stopped` are killed
        try:
            while (waiting or running) and time.monotonic() < last:
                if self._at_once:
                    break
                if self.stopped and last == math.inf:
                    last = time.monotonic() + _GRACE
                    for job in running:
                        job.hurry()
                if self.stopped or (until is not None and time.monotonic() > until):
                    waiting.clear()
                while waiting and len(running) < jobs:
                    task = waiting.popleft()
                    task.device = _least_used(devices, running.values())
                    running[self._server.submit(task.begin(), task.device)] = task
                    yield task, None
                if not running:
                    break
                for job, events, ended in self._wait(list(running)):
                    task = running[job]
                    for event in events:
                        yield task, event
                    if ended is None:
                        continue
                    del running[job]
                    call = task.resume(ended)
                    if call is None:
                        yield task, None
                    elif not self.stopped:
                        running[self._server.submit(call, task.device)] = task
        finally:
            for job in running:
                job.kill()

    def _wait(self, jobs: list[Job]) -> Iterator[tuple[Job, list[Event], Ended | None]]:
        """Wait for news of jobs or for the next limit; yields events, and how jobs ended."""
        server = self._server
        pause = max(0.0, min(job.next_check() for job in jobs) - time.monotonic())
        watched: list[ForkServer | Job] = [server, *(job for job in jobs if job.open)]
        readable, _, _ = select.select(watched, [], [], pause)
        for job in jobs:
            if job in readable:
                yield job, job.receive(), None
        if server in readable:
            for job, status in server.ended():
                if job in jobs:
                    yield job, job.receive(), job.end(status)
                    jobs.remove(job)
        for job in jobs:
            job.check(time.monotonic())

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """The first Ctrl-C or SIGTERM ends the loop, and the next one at once.

        Further ones are treated as ever.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        words = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
        before = {number: signal.getsignal(number) for number in words}

        def stop(number: int, frame: FrameType | None) -> None:
            if self.stopped:
                self._at_once = True
                restore()
            self.stopped = words[signal.Signals(number)]

        def restore() -> None:
            for number, handler in before.items():
                signal.signal(number, handler)

        for number in words:
            signal.signal(number, stop)
        try:
            yield
        finally:
            restore()


def _least_used(devices: int, running: Iterable[_Task[Any]]) -> int | None:
    """The device with the fewest tasks, the first of them; None where there is no choice."""
    if devices < 2:
        return None
    load = Counter(task.device for task in running)
    return min(range(devices), key=lambda device: load[device])


def _listing(targets: Sequence[str], calls: Sequence[CallSpec]) -> Generator[Call, Ended, Listing]:
    """Ask for the cases; where a file ends the process, ask again without it."""
    fatal: list[LoadProblem] = []
    without: list[str] = []
    while True:
        data = {"targets": list(targets), "calls": to_plain(calls), "without": list(without)}
        ended = yield Call("list", data, _LIST_LIMIT, _FILE_LIMIT)
        match ended:
            case Returned():
                listing = from_plain(Listing, ended.value)
                return replace(listing, problems=(*listing.problems, *fatal))
            case Died(token=str(path)) | Overdue(token=str(path)):
                fatal.append(_fatal_problem(ended, path))
                without.append(path)
            case _:
                raise BackendError(f"the cases cannot be listed: {_reason(ended)}")


def _fatal_problem(ended: Died | Overdue, path: str) -> LoadProblem:
    place = ended.location(path)
    message = f"loading this file ended the process ({_reason(ended)})"
    if isinstance(ended, Overdue):
        message = f"loading this file had not ended after {ended.seconds:.0f} s"
    return LoadProblem(shown_path(path), place.line if place else 0, message)


def _reason(ended: Ended) -> str:
    match ended:
        case Raised():
            return ended.message
        case Died():
            return ended.how
        case Overdue():
            return f"no answer after {ended.seconds:.0f} s"
        case Returned():
            return "no reason"
