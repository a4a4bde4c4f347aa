"""The supervisor's side of the fork server: start it, give it orders, watch its children.

Nothing here blocks for long and nothing here imports torch or triton. `ForkServer` is one process
for one backend; each `Job` is a child of it that runs one function of `tritaudit.worker`.
"""

from __future__ import annotations

import contextlib
import enum
import itertools
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tritaudit.inflight import Flight, InFlight
from tritaudit.model import (
    Backend,
    Event,
    Location,
    Progress,
    UnitFinished,
    UnitStarted,
)
from tritaudit.plain import Plain, from_plain
from tritaudit.report.wording import block, line
from tritaudit.targets import shown_path

__all__ = [
    "BackendError",
    "Call",
    "Died",
    "Ended",
    "ForkServer",
    "Job",
    "Limit",
    "Overdue",
    "Raised",
    "Returned",
]

_EVENTS: dict[str, type[Any]] = {e.__name__: e for e in (UnitStarted, Progress, UnitFinished)}
#: starts the worker of this very package, installed or not.
_BOOT = """
import sys
package = sys.argv.pop(1)
if package not in sys.path:
    sys.path.insert(0, package)
from tritaudit.worker import main
main()
"""
#: seconds that importing torch and triton may take on a slow disk.
_START_LIMIT = 180.0
#: bytes of a capture file that are kept, and characters of it that a result holds.
_CAPTURE_LIMIT = 1 << 20
_OUTPUT_LIMIT = 20_000
#: a launch whose limit is one of processor time ends after so many times that limit in any case,
#: less what it has waited for a processor: it may be waiting for something that does not come.
BLOCKED = 2.0
#: seconds to wait for the traceback of a process that hangs.
_TRACE_WAIT = 1.0


class BackendError(RuntimeError):
    """The backend could not do its work. The message is one sentence, with a remedy if any."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request: a function of the worker, its data, and its limits in seconds.

    `launch_limit` bounds the time of a single launch (None: only `limit` holds). `processor`: it is
    one of processor time, which does not depend on what else the machine has to do.
    """

    function: str
    data: Plain
    limit: float
    launch_limit: float | None = None
    processor: bool = False


class Limit(enum.Enum):
    """Which limit a process was killed at."""

    CALL = "the time of the whole call"
    LAUNCH = "the time of one launch"
    PROCESSOR = "the processor time of one launch"


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a job ended. `output` is what it printed; `frames` (path, line) of its last traceback."""

    output: str
    frames: tuple[tuple[str, int], ...]

    def location(self, path: str) -> Location | None:
        """The innermost place in a file at which the process was, if that is known."""
        for frame, number in self.frames:
            if frame == path:
                return Location(shown_path(path), number, _source_line(path, number))
        return None


@dataclass(frozen=True, slots=True)
class Returned(_Ended):
    """The function returned."""

    value: Plain


@dataclass(frozen=True, slots=True)
class Raised(_Ended):
    """The function raised: one line, and the traceback."""

    message: str
    trace: str


@dataclass(frozen=True, slots=True)
class Died(_Ended):
    """The process ended without an answer. `how` is "killed by SIGSEGV" or "exit code 3"."""

    how: str
    token: str | None


@dataclass(frozen=True, slots=True)
class Overdue(_Ended):
    """The process was killed at a limit. `seconds`: of the launch in flight, or of the whole call.

    Where it was the limit of the call, a launch in flight has not had its time.
    """

    seconds: float
    token: str | None
    limit: Limit = Limit.LAUNCH

    @property
    def hung(self) -> bool:
        """Whether it was a launch that did not end in its time."""
        return self.token is not None and self.limit is not Limit.CALL


Ended = Returned | Raised | Died | Overdue


def _source_line(path: str, number: int) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        rows = Path(path).read_text(encoding="utf-8").splitlines()
        if 0 < number <= len(rows):
            return rows[number - 1].strip()
    return ""


class Job:
    """A child of the fork server that runs one call."""

    def __init__(self, number: int, call: Call, channel: socket.socket, folder: Path) -> None:
        self.call = call
        self.number = number
        self.channel = channel
        self.pid: int | None = None
        self.started = time.monotonic()
        #: whether more can come from the channel.
        self.open = True
        self._folder = folder
        self._inflight = InFlight.create(folder / "inflight")
        self._received = b""
        self._answer: dict[str, Any] | None = None
        self._late: tuple[float, str | None, Limit] | None = None
        #: the start of the launch in flight, and how long the process had waited for a processor.
        self._launch: tuple[float, float] = (0.0, 0.0)

    @property
    def paths(self) -> dict[str, Plain]:
        """The files that the child is told of."""
        return {name: str(self._folder / name) for name in ("inflight", "capture", "trace")}

    def fileno(self) -> int:
        return self.channel.fileno()

    def receive(self) -> list[Event]:
        """The events that have come; the answer is kept for `end`. Call when readable."""
        while True:
            try:
                body = self.channel.recv(1 << 16)
            except BlockingIOError:
                break
            except ConnectionResetError:
                body = b""
            if not body:
                self.open = False
                break
            self._received += body
        *complete, self._received = self._received.split(b"\n")
        events: list[Event] = []
        for text in complete:
            message = json.loads(text)
            if "event" in message:
                events.append(from_plain(_EVENTS[message["kind"]], message["event"]))
            else:
                self._answer = message
        return events

    def check(self, now: float) -> None:
        """Kill the process if it is over a limit; cut off what it prints without end."""
        self._cut_capture()
        if self.pid is None or self._late is not None:
            return
        flying = self._inflight.read()
        late = self._launch_is_late(flying, now) if flying else None
        if flying and late:
            self._stop(late[0], flying.token, late[1])
        elif now - self.started > self.call.limit:
            self._stop(now - self.started, flying.token if flying else None, Limit.CALL)

    def _launch_is_late(self, flying: Flight, now: float) -> tuple[float, Limit] | None:
        """How long the launch in flight has run and the limit that this is over, if it is."""
        limit, lasted = self.call.launch_limit, now - flying.started
        if self._launch[0] != flying.started:
            self._launch = (flying.started, _kept_waiting(self.pid))
        if limit is None or lasted <= limit:
            return None
        used = _processor_time(self.pid) if self.call.processor else None
        if used is None:
            return lasted, Limit.LAUNCH
        if used - flying.used > limit:
            return used - flying.used, Limit.PROCESSOR
        asleep_or_at_work = lasted - (_kept_waiting(self.pid) - self._launch[1])
        return (lasted, Limit.LAUNCH) if asleep_or_at_work > BLOCKED * limit else None

    def next_check(self) -> float:
        """The time.monotonic() before which `check` has nothing to do."""
        return min(self.started + self.call.limit, time.monotonic() + 0.25)

    def hurry(self) -> None:
        """Ask the process to launch nothing more and to answer with what it has found."""
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGUSR2)

    def kill(self) -> None:
        """Kill the process and all that it started."""
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)

    def end(self, status: int | None) -> Ended:
        """What became of the call, once the process has ended and all is received.

        Args:
            status: exit code, or minus a signal number; None where the fork server went away.
        """
        flying = self._inflight.read()
        token = flying.token if flying else None
        base = (self._output(), self._frames())
        answer = self._answer
        self._release()
        if answer is not None and "result" in answer:
            return Returned(*base, answer["result"])
        if answer is not None:
            return Raised(*base, answer["error"], answer["trace"])
        if self._late is not None:
            seconds, late_token, limit = self._late
            return Overdue(*base, seconds, late_token, limit)
        if status is None:
            return Died(*base, "the process that starts units ended", None)
        return Died(*base, _how(status), token)

    def _stop(self, seconds: float, token: str | None, limit: Limit) -> None:
        """Ask for a traceback, then kill."""
        self._late = (seconds, token, limit)
        assert self.pid is not None
        trace = self._folder / "trace"
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if trace.exists():
                os.kill(self.pid, signal.SIGUSR1)
            until = time.monotonic() + _TRACE_WAIT
            while trace.exists() and not trace.stat().st_size and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.05)  # it is written frame by frame
        self.kill()

    def _cut_capture(self) -> None:
        capture = self._folder / "capture"
        with contextlib.suppress(FileNotFoundError):
            if capture.stat().st_size > 2 * _CAPTURE_LIMIT:
                os.truncate(capture, _CAPTURE_LIMIT)

    def _output(self) -> str:
        try:
            with (self._folder / "capture").open("rb") as file:
                text = block(file.read(_CAPTURE_LIMIT).decode(errors="replace"))
        except FileNotFoundError:
            return ""
        if len(text) > _OUTPUT_LIMIT:
            text = f"{text[:_OUTPUT_LIMIT]}\n[{len(text) - _OUTPUT_LIMIT} more characters]"
        return text

    def _frames(self) -> tuple[tuple[str, int], ...]:
        """The traceback that faulthandler wrote, innermost frame first."""
        try:
            text = (self._folder / "trace").read_text(errors="replace")
        except FileNotFoundError:
            return ()
        found = re.findall(r'^  File "(.+)", line (\d+) in ', text, re.MULTILINE)
        return tuple((path, int(number)) for path, number in found)

    def _release(self) -> None:
        self.channel.close()
        self._inflight.close()
        for file in self._folder.iterdir():
            file.unlink(missing_ok=True)
        self._folder.rmdir()


def _processor_time(pid: int | None) -> float | None:
    """Seconds of processor time that a process has used; None where the system does not tell."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    _, _, fields = told.rpartition(")")  # the name in the second field may hold anything
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _kept_waiting(pid: int | None) -> float:
    """Seconds that a process could have run and had no processor; 0 where Linux does not tell."""
    try:
        _, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return int(waited) / 1e9


def _how(status: int) -> str:
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


class ForkServer:
    """One preloaded process for one backend. A context manager; `start` is called on demand.

    Args:
        backend: fixed in the environment of the process before it imports anything.
        functions: modules whose FUNCTIONS take the place of the preload (for tests).
        path: a folder whose packages come before the installed ones.
    """

    def __init__(
        self, backend: Backend, functions: Sequence[str] = (), path: Path | None = None
    ) -> None:
        self._backend = backend
        self._functions = tuple(functions)
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="tritaudit-", ignore_cleanup_errors=True)

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the process and wait until it has imported everything; again if it has ended.

        Raises:
            BackendError: it did not start.
        """
        if self._control is not None:
            return
        if not hasattr(os, "fork"):
            raise BackendError("kernels are run in forked processes, which this system has not")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = Path(self._folder.name) / "server.log"
        with theirs, log.open("wb") as output:
            self._process = subprocess.Popen(
                self._command(theirs.fileno()),
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._control = ours
        try:
            self._await_ready(log)
        except BaseException:
            self.stop()
            raise

    def _command(self, control: int) -> list[str]:
        # -P: no file of the working directory takes the place of a module that torch imports.
        command = [sys.executable, "-P", "-c", _BOOT, str(Path(__file__).resolve().parents[1])]
        command += ["--backend", str(self._backend)]
        command += ["--control", str(control), "--parent", str(os.getpid())]
        for module in self._functions:
            command += ["--functions", module]
        return command

    def _environment(self) -> dict[str, str]:
        variables = dict(os.environ)
        variables.pop("TRITON_INTERPRET", None)
        if self._backend is Backend.INTERPRETER:
            variables["TRITON_INTERPRET"] = "1"
        if self._path is not None:
            before = variables.get("PYTHONPATH")
            variables["PYTHONPATH"] = os.pathsep.join(filter(None, [str(self._path), before]))
        # A thread pool does not survive a fork, and N units share the cores anyway.
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            variables[name] = "1"
        variables["PYTHONHASHSEED"] = "0"  # the same seed gives the same report
        variables["HYPOTHESIS_STORAGE_DIRECTORY"] = str(Path(self._folder.name) / "hypothesis")
        return variables

    def _await_ready(self, log: Path) -> None:
        assert self._control is not None
        readable, _, _ = select.select([self._control], [], [], _START_LIMIT)
        if not readable:
            raise BackendError(f"the {self._backend} did not start within {_START_LIMIT:.0f} s")
        body = self._control.recv(1 << 16)
        if not body:
            last = block(log.read_text(errors="replace")).strip().rpartition("\n")[2]
            raise BackendError(f"the {self._backend} did not start: {last or 'no reason given'}")
        message = json.loads(body)
        if "refused" in message:
            raise BackendError(line(message["refused"]))

    def submit(self, call: Call, device: int | None = None) -> Job:
        """Start a child for a call.

        Args:
            call: what it does.
            device: the number of the only device that it sees (None: all).

        Raises:
            BackendError: the server does not start.
        """
        self.start()
        assert self._control is not None
        number = next(self._numbers)
        folder = Path(self._folder.name) / str(number)
        folder.mkdir()
        ours, theirs = socket.socketpair()
        job = Job(number, call, ours, folder)
        self._jobs[number] = job
        order = json.dumps({"id": number, "device": device, **job.paths}).encode()
        request = json.dumps({"function": call.function, "data": call.data}).encode() + b"\n"
        with theirs, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._control, [order], [theirs.fileno()])
            theirs.close()
            ours.sendall(request)
        ours.setblocking(False)
        return job

    def fileno(self) -> int:
        """The socket that becomes readable when `ended` has news; -1 where nothing runs."""
        return -1 if self._control is None else self._control.fileno()

    def ended(self) -> list[tuple[Job, int | None]]:
        """The jobs whose processes have ended, with their status. Call when readable."""
        out: list[tuple[Job, int | None]] = []
        while self._control is not None:
            readable, _, _ = select.select([self._control], [], [], 0)
            if not readable:
                break
            try:
                body = self._control.recv(1 << 16)
            except ConnectionResetError:
                body = b""
            if not body:
                self.stop()
                out += [(job, None) for job in self._jobs.values()]
                self._jobs.clear()
                break
            message = json.loads(body)
            if "pid" in message:
                self._jobs[message["id"]].pid = message["pid"]
            else:
                out.append((self._jobs.pop(message["id"]), message["status"]))
        return out

    def stop(self) -> None:
        """End the server and every child."""
        for job in self._jobs.values():
            job.kill()
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def close(self) -> None:
        """As `stop`, and remove all files."""
        self.stop()
        self._folder.cleanup()
