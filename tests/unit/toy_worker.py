"""Functions that misbehave as a kernel can, for the tests of the processes. No torch here."""

# ruff: noqa: T201
from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tritaudit.inflight import DEVICE_UNSURE
from tritaudit.model import (
    CaseResult,
    Coverage,
    Environment,
    Example,
    Finding,
    Outcome,
    Progress,
    Severity,
    UnitRequest,
)
from tritaudit.plain import Plain, from_plain, to_plain
from tritaudit.repro import decode, encode
from tritaudit.worker import Link


def segfault() -> None:
    ctypes.string_at(0)


def token_of(size: int) -> str:
    return encode(Example(sizes=(("N", size),), dtypes=(("x", "float32"),)), "interpreter")


def size_of(token: str) -> int:
    return decode(token).size("N")


def finding(request: UnitRequest, fault: str) -> Finding:
    example = Example(sizes=(("N", 1),), dtypes=(("x", "float32"),))
    return Finding(
        case=request.case,
        fault=fault,
        severity=Severity.ERROR,
        expected=False,
        backend=request.backend,
        dtype="float32",
        example=example,
        repro=token_of(1),
        summary=fault,
    )


def audit(data: Any, link: Link) -> Plain:
    """Sizes 1, 2, 3, ... of a case that is named after what it does, from `limit` on.

    An avoided size is skipped, and so is every larger one.
    """
    request = from_plain(UnitRequest, data)
    note_device(request.case)
    if request.case == "patient":
        return to_plain(be_patient(request, link))
    what, _, limit = request.case.partition("-")
    first_bad = int(limit or 1)
    sizes = range(40, 0, -3) if request.repro is None else [size_of(request.repro)]
    tallest = min((size_of(token) for token in request.avoid), default=1000)
    done = 0
    for size in sizes:
        if size >= tallest:
            continue
        done += 1
        link.emit(Progress(request.case, request.backend, done, "sweep", f"N={size}"))
        link.inflight.write(token_of(size))
        if size >= first_bad and not (what == "unsure" and request.careful):
            misbehave(what)
        link.inflight.clear()
    findings = [finding(request, "padding-leak")] if what == "leak" else []
    coverage = Coverage(examples=done, launches=done, dtypes=(("float32", done),))
    result = CaseResult(
        request.case, request.backend, Outcome.PASS, coverage=coverage, findings=tuple(findings)
    )
    return to_plain(result)


def note_device(case: str) -> None:
    """Write down what this process sees of the devices, where a test wants to know."""
    if "TOY_LOG" in os.environ:
        with Path(os.environ["TOY_LOG"]).open("a") as log:
            log.write(f"{case} {os.environ.get('CUDA_VISIBLE_DEVICES')}\n")


def be_patient(request: UnitRequest, link: Link) -> CaseResult:
    """Find something, and search on until told to hurry."""
    told = []
    signal.signal(signal.SIGUSR2, lambda *_: told.append(True))
    link.emit(Progress(request.case, request.backend, 1, "waiting"))
    while not told:
        time.sleep(0.01)
    found = (finding(request, "off-by-one"),)
    ran = Coverage(examples=1, launches=1, cut_short="told to hurry")
    return CaseResult(request.case, request.backend, Outcome.FAIL, coverage=ran, findings=found)


def misbehave(what: str) -> None:
    match what:
        case "segfault":
            print("\x1b[31mabout to\x07 fall")
            segfault()
        case "abort":
            os.abort()
        case "exit":
            os._exit(7)
        case "unsure":
            os._exit(DEVICE_UNSURE)
        case "hang":
            time.sleep(1000)
        case "spin":
            while True:
                pass
        case "nap":
            time.sleep(0.7)
        case "doze":
            time.sleep(1.6)
        case "raise":
            raise RuntimeError("no such thing")
        case "sleep":
            time.sleep(0.05)


def smaller(data: Any, link: Link) -> Plain:
    """Launch sizes below the last that is known to be bad, those that were not tried yet."""
    request = from_plain(UnitRequest, data["request"])
    what, _, limit = request.case.partition("-")
    first = size_of(data["after"]) + 1 if data["after"] else 1
    sizes = range(first, size_of(data["known"][-1]))
    for size in sizes:
        link.inflight.write(token_of(size))
        if size >= int(limit or 1):
            misbehave(what)
        link.inflight.clear()
    return len(sizes)


def environment(data: Any, link: Link) -> Plain:
    told = to_plain(Environment(triton="3.9.0", backend=str(data)))
    return {"environment": told, "devices": int(os.environ.get("TOY_DEVICES", "0"))}


def hang_before(data: Any, link: Link) -> Plain:
    """Hang without a launch in flight."""
    time.sleep(1000)
    return None


def die_before(data: Any, link: Link) -> Plain:
    os._exit(3)


def echo(data: Any, link: Link) -> Plain:
    return data  # type: ignore[no-any-return]


def surroundings(data: Any, link: Link) -> Plain:
    """What a child finds around itself."""
    return {
        "interpret": os.environ.get("TRITON_INTERPRET"),
        "session": os.getsid(0) == os.getpid(),
        "stdin": sys.stdin.read(),
        "pid": os.getpid(),
    }


def leave_a_child(data: Any, link: Link) -> Plain:
    """Start a process that would outlive this one."""
    return subprocess.Popen(["sleep", "1000"]).pid


def talk(data: Any, link: Link) -> Plain:
    """Print without end."""
    print("first words")
    while True:
        print("x" * 1000)


FUNCTIONS = {
    "audit": audit,
    "smaller": smaller,
    "environment": environment,
    "hang_before": hang_before,
    "die_before": die_before,
    "echo": echo,
    "surroundings": surroundings,
    "leave_a_child": leave_a_child,
    "talk": talk,
}
