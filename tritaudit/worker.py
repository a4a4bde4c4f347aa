"""The fork server: a process with everything imported, which forks a child for each request.

    python -m tritaudit.worker --backend interpreter --control 5

It is started by `tritaudit.forkserver`, with TRITON_INTERPRET already fixed in its environment:
Triton reads it when it is imported. The server only imports, forks and reaps. It starts no thread
and never touches a device, because a child could not use either after the fork.

Orders come over a socket of packets, one JSON object each, together with one end of a socket pair
for the child. The child reads its request from there, and answers with lines of JSON: events, then
a result or an error. Where an order names a device, the child sees that device alone.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import importlib
import importlib.util
import json
import os
import platform
import random
import resource
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import tritaudit
from tritaudit.devices import in_words, only
from tritaudit.inflight import InFlight
from tritaudit.model import Backend, CallSpec, Environment, Event, UnitRequest
from tritaudit.plain import Plain, from_plain, to_plain
from tritaudit.report.wording import line
from tritaudit.verdict import RUN_ENDED

__all__ = ["FUNCTIONS", "Link", "main"]

#: bytes of the longest order; the requests themselves go over the child's own socket.
ORDER_SIZE = 64 * 1024
_PR_SET_PDEATHSIG = 1


class Link:
    """What a function of the registry gets beside its data: a way to report, and the record."""

    def __init__(self, channel: socket.socket, inflight: InFlight) -> None:
        self._channel = channel
        self.inflight = inflight

    def emit(self, event: Event) -> None:
        """Send an event to the supervisor."""
        self.send({"event": to_plain(event), "kind": type(event).__name__})

    def send(self, message: dict[str, Plain]) -> None:
        self._channel.sendall(json.dumps(message).encode() + b"\n")


# --------------------------------------------------------------------------- functions


def _list(data: Any, link: Link) -> Plain:
    """Load the files of targets, or functions.

    Data: targets, calls, and the paths and functions that are not to be loaded again.
    """
    from tritaudit.calls import describe_calls
    from tritaudit.catalogue import find_cases
    from tritaudit.targets import resolve

    if data["calls"]:
        calls = from_plain(tuple[CallSpec, ...], data["calls"])
        wanted_calls = [call for call in calls if call.target not in data["without"]]
        return to_plain(describe_calls(wanted_calls, announce=link.inflight.write))
    sources, problems = resolve(data["targets"])
    left_out = set(data["without"])
    wanted = [s for s in sources if s.path not in left_out]
    return to_plain(find_cases(wanted, problems, announce=link.inflight.write))


def _audit(data: Any, link: Link) -> Plain:
    from tritaudit.search import audit_unit, end_soon

    signal.signal(signal.SIGUSR2, lambda *_: end_soon(RUN_ENDED))
    return to_plain(audit_unit(from_plain(UnitRequest, data), link.emit, link.inflight))


def _smaller(data: Any, link: Link) -> Plain:
    """Launch examples smaller than one. Data: the request, and the tokens `known` and `after`."""
    from tritaudit.search import launch_smaller

    request = from_plain(UnitRequest, data["request"])
    return launch_smaller(request, data["known"], data["after"], link.emit, link.inflight)


def _interpreter(data: Any, link: Link) -> Plain:
    """Why the interpreter cannot run so, "" where it can. Data: the arguments of `use`."""
    from tritaudit.backend import BackendUnavailableError
    from tritaudit.interpreter import use

    try:
        use(**data)
    except BackendUnavailableError as reason:
        return str(reason)
    return ""


def _draft(data: Any, link: Link) -> Plain:
    """The text of a case file for a function, or what is wrong with it. Data: the call."""
    from tritaudit.draft import draft
    from tritaudit.targets import CatalogueError

    try:
        return {"text": draft(from_plain(CallSpec, data))}
    except CatalogueError as error:
        return {"problem": str(error)}


def _accelerator() -> Any:
    """The part of torch for the devices that it sees, None where it sees none. ROCm is `cuda`."""
    import torch

    parts = (torch.cuda, getattr(torch, "xpu", None))
    return next((part for part in parts if part is not None and part.is_available()), None)


def _environment(data: Any, link: Link) -> Plain:
    """Versions, and how many devices torch sees. Data: the backend."""
    import numpy
    import torch
    import triton

    from tritaudit.doctor.look import driver_version

    api = _accelerator() if data == Backend.GPU else None
    names = [] if api is None else [api.get_device_name(k) for k in range(api.device_count())]
    environment = Environment(
        tritaudit=tritaudit.__version__,
        python=platform.python_version(),
        triton=triton.__version__,
        torch=torch.__version__,
        numpy=numpy.__version__,
        gpu=in_words(names),
        driver=driver_version() if names else "",
        backend=str(data),
        platform=platform.platform(),
    )
    return {"environment": to_plain(environment), "devices": len(names)}


def _compile(data: Any, link: Link) -> Plain:
    """Compile the kernels of a case. Data: a Question. The answer, or a problem in a sentence."""
    from tritaudit.ir.compile import answer
    from tritaudit.ir.model import Question
    from tritaudit.model import CaseError
    from tritaudit.targets import CatalogueError

    try:
        return {"answer": to_plain(answer(from_plain(Question, data), link.inflight.write))}
    except (CaseError, CatalogueError) as error:
        return {"problem": str(error)}


def _bench(data: Any, link: Link) -> Plain:
    """Measure the rows of a case. Data: a Work."""
    from tritaudit.bench.measure import work
    from tritaudit.bench.model import Work

    return to_plain(work(from_plain(Work, data)))


def _trial(data: Any, link: Link) -> Plain:
    """Run a trivial kernel. What is wrong with it, "" if nothing is."""
    from tritaudit.doctor.trial import trial

    return trial()


Function = Callable[[Any, Link], Plain]

#: what can be asked of a worker, by name: plain data in, plain data out.
FUNCTIONS: dict[str, Function] = {
    "list": _list,
    "audit": _audit,
    "smaller": _smaller,
    "draft": _draft,
    "environment": _environment,
    "compile": _compile,
    "bench": _bench,
    "trial": _trial,
    "interpreter": _interpreter,
}

# --------------------------------------------------------------------------- preload


class Refusal(Exception):  # noqa: N818 - not an error of the program
    """Why this installation cannot run kernels, and what to do about it: one sentence."""


def _require(module: str, distribution: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise Refusal(f"{module} is not installed: pip install {distribution}")


def preload(backend: Backend) -> None:
    """Import all that a unit needs, without touching a device.

    Raises:
        Refusal: something is missing, or the versions give wrong results together.
    """
    _require("numpy", "numpy")
    _require("torch", "torch")
    _require("triton", "triton-windows" if os.name == "nt" else "triton")
    try:
        for module in ("numpy", "torch", "triton", "triton.language", "hypothesis"):
            importlib.import_module(module)
        if backend is Backend.INTERPRETER:
            importlib.import_module("triton.runtime.interpreter")
            importlib.import_module("tritaudit.tuning").install(measured=False)
    except Exception as error:
        raise Refusal(f"triton or torch cannot be imported: {line(repr(error))}") from error
    import numpy
    import triton

    refuse_versions(triton.__version__, numpy.__version__, backend)
    importlib.import_module("tritaudit.search")
    _spare_distributed()


def _spare_distributed() -> None:
    """Keep assert_close from importing torch.distributed and sympy, a second in every process.

    It does so to look for distributed tensors, which are never here.
    """
    comparison = importlib.import_module("torch.testing._comparison")
    if hasattr(comparison, "_HAS_DTENSOR"):
        setattr(comparison, "_HAS_DTENSOR", False)  # noqa: B010 - torch does not declare it


def refuse_versions(triton: str, numpy: str, backend: Backend) -> None:
    """Refuse Triton 3.0 and 3.1 with numpy 2 on the interpreter: every output stays as it was.

    Raises:
        Refusal: the pair is that one.
    """
    old = triton.split(".")[:2] in (["3", "0"], ["3", "1"])
    if backend is Backend.INTERPRETER and old and int(numpy.partition(".")[0]) >= 2:
        raise Refusal(
            f"the interpreter of triton {triton} writes no output with numpy {numpy}: "
            'pip install "numpy<2", or a newer triton'
        )


# --------------------------------------------------------------------------- the server


def die_with_parent(parent: int) -> None:
    """Ask Linux to kill this process when its parent ends; elsewhere nothing."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        os._exit(1)


class Server:
    """Takes orders from the control socket, forks, and tells how each child ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: dict[int, int] = {}  # pid -> id of the order
        self._woken, self._waker = socket.socketpair()
        for end in (self._woken, self._waker):
            end.setblocking(False)

    def serve(self) -> None:
        """Work until the supervisor closes its end."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # a child that can hurry takes it itself
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._woken in ready:
                    self._woken.recv(4096)
                    self._reap()
                if self._control in ready and not self._take_order():
                    break
        for pid in self._children:
            _kill_group(pid)

    def _take_order(self) -> bool:
        body, descriptors, _, _ = socket.recv_fds(self._control, ORDER_SIZE, 1)
        if not body:
            return False
        order = json.loads(body)
        with socket.socket(fileno=descriptors[0]) as channel:
            server = os.getpid()
            pid = os.fork()
            if pid == 0:
                self._control.close()
                self._woken.close()
                self._waker.close()
                _child(channel, order, server)
        self._children[pid] = order["id"]
        self._tell({"id": order["id"], "pid": pid})
        return True

    def _reap(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            number = self._children.pop(pid, None)
            if number is not None:
                _kill_group(pid)  # what it started itself
                self._tell({"id": number, "status": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, Plain]) -> None:
        try:
            self._control.sendall(json.dumps(message).encode())
        except BrokenPipeError:
            os._exit(0)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


# --------------------------------------------------------------------------- a child


def _child(channel: socket.socket, order: dict[str, Any], server: int) -> NoReturn:
    """Run one request and end this process, whatever happens."""
    code = 1
    try:
        _settle(order, server)
        link = Link(channel, InFlight(order["inflight"]))
        try:
            request = _read_line(channel)
            result = FUNCTIONS[request["function"]](request["data"], link)
            link.send({"result": result})
        except BaseException as error:
            link.send({"error": line(f"{type(error).__name__}: {error}"), "trace": _trace(error)})
        code = 0
    except BrokenPipeError:
        pass  # the supervisor does not listen any more
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _settle(order: dict[str, Any], server: int) -> None:
    """Make the forked process one of its own: session, device, limits, output, threads, seeds."""
    os.setsid()
    die_with_parent(server)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _redirect(order["capture"])
    dump = Path(order["trace"]).open("w")  # noqa: SIM115 - open for the life of the process
    faulthandler.enable(dump, all_threads=False)
    faulthandler.register(signal.SIGUSR1, dump, all_threads=False)
    random.seed(0)
    torch = sys.modules.get("torch")
    if order["device"] is not None:
        name, value = only(_build(torch), order["device"], os.environ)
        os.environ[name] = value  # the server has touched no device, so it is still read
    if torch is not None:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        sys.modules["numpy"].random.seed(0)


def _build(torch: Any) -> str:
    """Which devices this torch is built for."""
    built = getattr(torch, "version", None)
    return next((kind for kind in ("hip", "xpu") if getattr(built, kind, None)), "cuda")


def _redirect(capture: str) -> None:
    """Send what this process prints to a file, line by line, so that a crash loses nothing."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    file = os.open(capture, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(nothing, 0)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(nothing)
    os.close(file)


def _read_line(channel: socket.socket) -> dict[str, Any]:
    with channel.makefile("rb") as lines:
        read = json.loads(lines.readline())
    assert isinstance(read, dict)
    return read


# --------------------------------------------------------------------------- start


def main() -> None:
    """Start a server on an inherited socket."""
    parser = argparse.ArgumentParser(prog="tritaudit.worker")
    parser.add_argument("--backend", type=Backend, required=True)
    parser.add_argument("--control", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--functions", action="append", default=[], metavar="MODULE")
    options = parser.parse_args()
    die_with_parent(options.parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    control = socket.socket(fileno=options.control)
    try:
        if not options.functions:
            preload(options.backend)
        for module in options.functions:
            FUNCTIONS.update(importlib.import_module(module).FUNCTIONS)
    except Refusal as refusal:
        control.sendall(json.dumps({"refused": str(refusal)}).encode())
        return
    sys.path.append(str(Path.cwd()))  # a case may import the project that it lies in
    gc.collect()
    gc.freeze()  # keeps the pages of what is imported shared with the children
    control.sendall(json.dumps({"ready": True}).encode())
    Server(control).serve()


if __name__ == "__main__":
    main()
