"""One launch of a case's kernel to one Observation. Nothing else runs kernels.

The backend is fixed when triton is imported: the interpreter needs TRITON_INTERPRET=1 in the
environment before that. This module is imported in processes where that has been decided.

Limits of the stock interpreter, which are no fault of a kernel, are noted while it runs: arithmetic
and comparisons of bfloat16 and float8 work on raw bits, and a conversion to bfloat16 truncates
(Triton 3.0 to 3.9), and which zero the maximum of +0.0 and -0.0 gives is left to numpy. An
observation carries their names.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy
import torch
import triton
import triton.language as tl

from tritaudit import tuning
from tritaudit.allocation import Allocated, Allocations
from tritaudit.contracts import form_of
from tritaudit.dtypes import DType, dtype_of
from tritaudit.model import Backend, Case, Example
from tritaudit.tensors import (
    GUARD,
    POISON,
    Buffer,
    bits_of,
    from_bits,
    guarded,
    guarded_copy,
    logical_values,
)
from tritaudit.trial import LaunchError, Observation, Started

__all__ = [
    "ZEROS_LIMIT",
    "BackendUnavailableError",
    "DeviceLostError",
    "current",
    "device",
    "device_lives",
    "explain_error",
    "launch",
    "prepare",
    "triton_version",
]


class DeviceLostError(RuntimeError):
    """The device cannot be used any more by this process (an illegal address, say)."""


class BackendUnavailableError(RuntimeError):
    """This process cannot run kernels on the backend; the message says why and what helps."""


def triton_version() -> str:
    """The version of the installed Triton."""
    return str(triton.__version__)


def current() -> Backend:
    """The backend that this process was started with."""
    return Backend.INTERPRETER if os.environ.get("TRITON_INTERPRET") == "1" else Backend.GPU


@cache
def device() -> str:
    """The torch device that tensors live on: "cpu" for the interpreter, else the accelerator.

    Raises:
        BackendUnavailableError: torch sees no accelerator.
    """
    if current() is Backend.INTERPRETER:
        return "cpu"
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is not None and accelerator.is_available():
        return str(accelerator.current_accelerator().type)
    if torch.cuda.is_available():
        return "cuda"
    raise BackendUnavailableError("torch sees no GPU; use --backend interpreter")


# --------------------------------------------------------------------------- limits


class _Limits:
    """The limits that the running launch has met."""

    def __init__(self) -> None:
        self.met: set[str] = set()
        self.installed = False


_LIMITS = _Limits()
_BITWISE = (numpy.bitwise_and, numpy.bitwise_or, numpy.bitwise_xor)
_EXTREMES = (numpy.maximum, numpy.minimum, numpy.fmax, numpy.fmin)
#: numpy gives either zero; a GPU takes +0.0 for the larger one (PTX ISA, max and min).
ZEROS_LIMIT = "maximum or minimum of +0.0 and -0.0 in the interpreter"


def _raw(dtype: Any) -> str | None:
    """The name of a Triton dtype that the interpreter holds as raw bits, None for the others."""
    scalar = getattr(dtype, "scalar", dtype)
    if scalar == tl.bfloat16:
        return "bfloat16"
    is_fp8 = getattr(scalar, "is_fp8", None)
    return "float8" if is_fp8 is not None and is_fp8() else None


def _has_both_zeros(a: Any, b: Any) -> bool:
    """Whether a zero of one sign stands beside a zero of the other in two arrays."""
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return False
    return bool(((a == 0) & (b == 0) & (numpy.signbit(a) != numpy.signbit(b))).any())


def _watch(owner: type, method: str, note: Callable[..., str | None]) -> None:
    original = getattr(owner, method, None)
    if original is None:
        return

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        name = note(*args, **kwargs)
        if name is not None:
            _LIMITS.met.add(name)
        return original(self, *args, **kwargs)

    setattr(owner, method, watched)


def _watch_interpreter() -> None:
    """Note bfloat16 and float8 arithmetic in the interpreter, which computes it on raw bits."""
    from triton.runtime import interpreter

    def arithmetic(value: Any, *rest: Any) -> str | None:
        raw = _raw(getattr(value, "dtype", None))
        if raw is None and len(rest) == 2 and rest[1] in _EXTREMES:
            return ZEROS_LIMIT if _has_both_zeros(value.data, rest[0].data) else None
        if raw is None or (rest and rest[-1] in _BITWISE):
            return None
        return f"{raw} arithmetic in the interpreter"

    def narrowing(value: Any, target: Any, *rest: Any) -> str | None:
        del rest
        if _raw(target) == "bfloat16" and _raw(value.dtype) is None:
            return "conversion to bfloat16 in the interpreter (truncates)"
        return None

    def reduction(values: Any, *rest: Any, **named: Any) -> str | None:
        first = values[0] if isinstance(values, tuple) else values
        raw = _raw(getattr(first, "dtype", None))
        del rest, named
        return None if raw is None else f"{raw} arithmetic in the interpreter"

    builder = interpreter.InterpreterBuilder
    _watch(builder, "binary_op", arithmetic)
    _watch(builder, "unary_op", arithmetic)
    _watch(builder, "cast_impl", narrowing)
    _watch(builder, "create_fp_to_fp", narrowing)
    for name, methods in (("ReduceOps", ("sum", "min_max")), ("ScanOps", ("cumsum", "cumprod"))):
        owner: Any = getattr(interpreter, name, None)
        for method in methods if owner is not None else ():
            _watch(owner, method, reduction)


def prepare() -> None:
    """Set this process up for launches; idempotent.

    Raises:
        BackendUnavailableError: Triton 3.0 or 3.1 with numpy 2, whose interpreter stores nothing.
    """
    if _LIMITS.installed:
        return
    major_minor = tuple(int(x) for x in triton_version().split(".")[:2])
    if current() is Backend.INTERPRETER:
        if major_minor < (3, 2) and int(numpy.__version__.split(".")[0]) >= 2:
            raise BackendUnavailableError(
                f"the interpreter of Triton {triton_version()} silently stores nothing with numpy "
                f"{numpy.__version__}; run: pip install 'numpy<2'"
            )
        _watch_interpreter()
        tuning.install(measured=False)
        numpy.seterr(all="ignore")
    else:
        tuning.install(measured=True)
    device()
    _LIMITS.installed = True


# --------------------------------------------------------------------------- errors


@cache
def _foreign() -> tuple[str, ...]:
    """Folders whose frames are not the author's code."""
    packages = [Path(m.__file__ or "").parent for m in (torch, triton, numpy)]
    stdlib = [Path(sysconfig.get_path(k)) for k in ("stdlib", "platstdlib")]
    return tuple(str(p) + os.sep for p in (*packages, *stdlib))


def is_authors(path: str) -> bool:
    """Whether a source file is the author's: not torch, triton, numpy, Python or tritaudit."""
    if path.startswith("<"):
        return False
    own = str(Path(__file__).parent) + os.sep
    if path.startswith(own):
        return path.startswith(own + "_cases" + os.sep)
    if "site-packages" in path or "dist-packages" in path:
        return not any(path.startswith(p) for p in _foreign()[:3])
    return not any(path.startswith(p) for p in _foreign())


def _chain(error: BaseException) -> list[BaseException]:
    """An error and what it was raised from, outermost first."""
    out: list[BaseException] = []
    current_error: BaseException | None = error
    while current_error is not None and current_error not in out:
        out.append(current_error)
        current_error = current_error.__cause__ or current_error.__context__
    return out


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    yield from traceback.walk_tb(trace)


#: what the interpreter says where it lacks an operation, or hands a kernel a bare Python float,
#: which has none of a tensor's methods.
_INTERPRETER_GAPS = (
    "'InterpreterBuilder' object has no attribute",
    "'float' object has no attribute",
    "not supported in interpreter mode",
    # Hardware asks for aligned bases and strides, but takes any coordinate.
    "block offset start must be 16-byte aligned",
)
#: a launch function that asks for a GPU, in its error or in the line that raised it.
_WANTS_GPU = re.compile(r"\b(is_)?cuda\b|\bnvidia\b|\bgpus?\b", re.IGNORECASE)
#: what Triton says where a launch function asks its driver for something and no GPU is there.
_NO_DRIVER = "0 active drivers"


def explain_error(error: BaseException) -> LaunchError:
    """What an exception of a launch means."""
    chain = _chain(error)
    place, in_triton = ("", 0), False
    # Innermost first: the place deepest in the author's code is the offending call.
    for link in reversed(chain):
        frames = list(_frames(link.__traceback__))
        in_triton = in_triton or any(
            f.f_code.co_filename.startswith(_foreign()[1]) for f, _ in frames
        )
        if not place[1]:
            files = [(f.f_code.co_filename, n) for f, n in frames]
            mine = [(path, n) for path, n in files if is_authors(path)]
            place = mine[-1] if mine else place
    root = chain[-1]
    name, text = type(root).__name__, str(root).strip()
    message = " ".join(f"{name}: {text}".split()) if text else name
    names = {c.__name__ for link in chain for c in type(link).__mro__}
    gap = in_triton and any(text in message for text in _INTERPRETER_GAPS)
    interpreted = current() is Backend.INTERPRETER
    if interpreted and in_triton and _calls_extra(chain):
        kind, message = (
            "limit",
            f"a function of triton.language.extra in the interpreter ({message})",
        )
    elif (
        interpreted
        and not in_triton
        and _WANTS_GPU.search(f"{message} {linecache.getline(*place)}")
    ):
        kind, message = "limit", f"the launch function wants a GPU ({message})"
    elif in_triton and _NO_DRIVER in message:
        kind, message = "limit", "the driver of a GPU was asked for, and there is none"
    elif gap or {"OutOfMemoryError", "OutOfResources", "MemoryError", "UntunedError"} & names:
        kind = "limit"
        message = message.removeprefix("UntunedError: ")
    elif "AcceleratorError" in names or "CUDA error" in message or "Triton Error" in message:
        kind = "device"
    elif {"CompilationError", "InterpreterError"} & names or in_triton:
        kind = "rejected"
        place, message = _compile_place(chain, place, message)
    else:
        kind = "raised"
    return LaunchError(kind, message, *place)


def _calls_extra(chain: list[BaseException]) -> bool:
    """Whether a kernel that raised on a None uses libdevice, whose functions give None here."""
    if "NoneType" not in str(chain[-1]):
        return False
    for link in chain:
        for frame, _ in _frames(link.__traceback__):
            if not is_authors(frame.f_code.co_filename):
                continue
            for name in frame.f_code.co_names:
                used = frame.f_globals.get(name)  # a module of it, or a function from there
                homes = (getattr(used, "__name__", ""), getattr(used, "__module__", ""))
                if any(str(home).startswith("triton.language.extra") for home in homes):
                    return True
    return False


def _compile_place(
    chain: list[BaseException], place: tuple[str, int], message: str
) -> tuple[tuple[str, int], str]:
    """The kernel line of a compilation error, which has it in its AST node, not in a frame."""
    for link in reversed(chain):
        node, source = getattr(link, "node", None), getattr(link, "src", None)
        if node is None or source is None:
            continue
        text = source.split("\n")[node.lineno - 1] if node.lineno <= source.count("\n") + 1 else ""
        detail = getattr(link, "error_message", None)
        if detail and str(detail) != "None" and link is chain[-1]:
            message = " ".join(f"{type(link).__name__}: {detail}".split())
        found = _find_line(place[0], source, node.lineno)
        return ((place[0], found) if found else place), message or text
    return place, message


def _find_line(path: str, source: str, offset: int) -> int:
    """The line of a file where line `offset` of a function's source stands, 0 if it does not."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except OSError:
        return 0
    wanted = [line.strip() for line in source.split("\n")]
    for start, line in enumerate(lines):
        if line.strip() == wanted[0] and start + offset <= len(lines):
            here = [x.strip() for x in lines[start : start + offset]]
            if here == wanted[:offset]:
                return start + offset
    return 0


def reach_of(case: Case, example: Example, shape: tuple[int, ...]) -> int:
    """How far beside a tensor a mistake in a mask usually goes: a tile, in each axis."""
    row = shape[-1] if shape else 1
    tile = max((size for _, size in example.tiles), default=1)
    return min(1 << 15, max(512, 2 * tile, 2 * tile * row if len(shape) > 1 else 0))


# --------------------------------------------------------------------------- the launch


@contextlib.contextmanager
def _noting_starts() -> Iterator[dict[Started, None]]:
    """Note which kernels are started meanwhile, and where from."""
    found: dict[Started, None] = {}
    owner, method = _starter()
    original = getattr(owner, method)

    def started(self: Any, *args: Any, **kwargs: Any) -> Any:
        code = self.fn.__code__
        found.setdefault(Started(code.co_filename, code.co_name, *_author_above()))
        return original(self, *args, **kwargs)

    setattr(owner, method, started)
    try:
        yield found
    finally:
        setattr(owner, method, original)


def _starter() -> tuple[type, str]:
    """What every launch of a kernel goes through."""
    if current() is Backend.INTERPRETER:
        from triton.runtime.interpreter import GridExecutor

        return GridExecutor, "__call__"
    from triton.runtime.jit import JITFunction

    return JITFunction, "run"


def _author_above() -> tuple[str, int]:
    """The innermost place in the author's code that leads here; "" and 0 if there is none."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if is_authors(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def launch(
    case: Case,
    example: Example,
    poison: int = 0,
    values: dict[str, torch.Tensor] | None = None,
    refill: int | None = None,
) -> Observation:
    """Run a case's kernel once on an example.

    Args:
        poison: which pattern fills the output and the guard bands (0 or 1).
        values: the logical inputs, if they are at hand already (see `logical_values`).
        refill: which tensor that `run` fills itself is poisoned all the same (see `Observation`).

    The tensors are made on the CPU and copied whole, guard bands and all, to the device and back,
    so that looking at the result costs no further waiting for it.

    Every error that `run` raises becomes part of the observation. KeyboardInterrupt and SystemExit
    of the tool itself pass through; a SystemExit raised by `run` is an error of the case.
    """
    prepare()
    where = device()
    values = logical_values(case, example) if values is None else values
    inputs = {
        t.name: guarded_copy(
            values[t.name],
            GUARD[poison],
            reach_of(case, example, tuple(values[t.name].shape)),
            example.layout(t.name),
        ).on(where)
        for t in case.inputs
    }
    out_shape, out_dtype = form_of(case, example, values)
    wanted = dtype_of(out_dtype)
    keywords: dict[str, Any] = {**dict(example.tiles), **dict(example.scalars)}
    out: Buffer | None = None
    if case.takes_out:
        reach = reach_of(case, example, out_shape)
        out = guarded(out_shape, wanted, POISON[poison], reach).on(where)
        keywords["out"] = out.view
    allocated = Allocations(poison, reach_of(case, example, out_shape), refill)
    guarding = contextlib.nullcontext() if out or case.in_place else allocated
    _LIMITS.met.clear()
    arguments = [inputs[t.name].view for t in case.inputs]
    started: dict[Started, None] = {}
    versions = {name: buffer.view._version for name, buffer in inputs.items()}
    try:
        with (
            guarding,
            _noting_starts() as started,
            tuning.choosing(example.launch) as options,
        ):
            keywords.update(options)
            returned = case.run(*arguments, **keywords)
        if where != "cpu":
            torch.accelerator.synchronize()
    except (Exception, SystemExit) as error:
        explained = explain_error(error)
        if explained.kind == "device" and not device_lives():
            raise DeviceLostError(explained.message) from error
        return Observation(error=explained, **_told(poison, started))
    seen = Observation(**_told(poison, started))
    if out is None and case.in_place is None:
        tensor = _judged(seen, returned, case, wanted, where)
        if tensor is not None:
            out = _returned(seen, tensor, inputs, allocated.made, out_shape, wanted)
    elif case.in_place is not None:
        seen.out = _clone(inputs[case.in_place].on("cpu").view)
    elif out is not None:
        out = out.on("cpu")
        seen.out = _clone(out.view)
    if out is not None:
        seen.outside = tuple(out.on("cpu").touched().tolist())
    # torch counts the writes of its own operations, and knows nothing of those of a kernel.
    assigned = {n for n, buffer in inputs.items() if buffer.view._version != versions[n]}
    _look_at_inputs(seen, case, {n: b.on("cpu") for n, b in inputs.items()}, values)
    seen.assigned = tuple(name for name in seen.mutated if name in assigned)
    return seen


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Inside, kernels are compiled for their arguments and not launched."""
    from triton.runtime.jit import JITFunction

    original = JITFunction.run

    def run(self: Any, *args: Any, warmup: bool = False, **kwargs: Any) -> Any:
        del warmup
        return original(self, *args, warmup=True, **kwargs)

    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = original


def compile_ahead(case: Case, examples: Iterable[Example]) -> None:
    """Compile what these examples need, without a launch.

    What is refused here is refused again when it is launched, and reported then.
    """
    prepare()
    for example in examples:
        values = logical_values(case, example)
        arguments = [
            guarded_copy(value, GUARD[0], 64, example.layout(name)).on(device()).view
            for name, value in values.items()
        ]
        keywords: dict[str, Any] = {**dict(example.tiles), **dict(example.scalars)}
        if case.takes_out:
            shape, dtype = form_of(case, example, values)
            keywords["out"] = guarded(shape, dtype_of(dtype), POISON[0], 64).on(device()).view
        with (
            compiling(),
            contextlib.suppress(Exception),
            tuning.choosing(example.launch) as options,
        ):
            case.run(*arguments, **keywords, **options)


def device_lives() -> bool:
    """Whether the device still answers after an error."""
    try:
        torch.zeros(1, device=device()).add_(1).item()
    except RuntimeError:
        return False
    return True


def _told(poison: int, started: Iterable[Started]) -> dict[str, Any]:
    """What an observation says of a launch whatever came out."""
    return {
        "limits": _met(),
        "poison": poison,
        "started": tuple(started),
        "tuned": tuning.taken(),
    }


def _met() -> tuple[str, ...]:
    return tuple(sorted(_LIMITS.met))


def _clone(view: torch.Tensor) -> torch.Tensor:
    return from_bits(bits_of(view).clone(memory_format=torch.contiguous_format), _d(view))


def _d(tensor: torch.Tensor) -> DType:
    return dtype_of(tensor.dtype)


def _judged(
    seen: Observation, returned: Any, case: Case, wanted: DType, where: str
) -> torch.Tensor | None:
    """The tensor of what `run` returned that is judged; None, with an error noted, if none is.

    A Python number is a tensor without axes.
    """
    name, output = case.run_name, case.output
    if output is not None:
        if not isinstance(returned, (tuple, list)) or len(returned) <= output:
            told = _returned_text(returned)
            seen.error = LaunchError(
                "returned", f"{name} returned {told}, without an entry {output}"
            )
            return None
        returned = returned[output]
    if isinstance(returned, (bool, int, float)):
        return torch.tensor(returned, device=where).to(wanted.torch)
    if not isinstance(returned, torch.Tensor):
        told = _returned_text(returned)
        seen.error = LaunchError("returned", f"{name} returned {told}, not a tensor")
        return None
    if returned.device.type != torch.device(where).type:
        told = f"a tensor on {returned.device.type}, not on {where}"
        seen.error = LaunchError("returned", f"{name} returned {told}")
        return None
    return returned


def _returned_text(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a value of type {type(value).__name__}"


def _returned(
    seen: Observation,
    returned: torch.Tensor,
    inputs: dict[str, Buffer],
    allocated: list[Allocated],
    shape: tuple[int, ...],
    wanted: DType,
) -> Buffer | None:
    """Take the output that `run` returned; the guarded buffer that it lies in, if any."""
    memory = returned.untyped_storage().data_ptr()
    for name, buffer in inputs.items():
        if buffer.store.untyped_storage().data_ptr() == memory and returned.numel():
            seen.returned_view = name
    if tuple(returned.shape) != shape:
        seen.shape = tuple(returned.shape)
    if returned.dtype != wanted.torch:
        seen.dtype = str(returned.dtype).removeprefix("torch.")
    try:
        seen.out = _clone(returned.cpu())
    except KeyError:
        # A dtype that no case can name (complex, quantised): there are no bits to compare.
        seen.out = None
    for place, made in enumerate(allocated):
        if made.memory == memory:
            if made.fill is not None and made.buffer.view.dtype == returned.dtype:
                seen.filled = (place, made.fill)
            return made.buffer
    return None


def _look_at_inputs(
    seen: Observation, case: Case, inputs: dict[str, Buffer], values: dict[str, torch.Tensor]
) -> None:
    beside = []
    for name, buffer in inputs.items():
        stray = buffer.touched()
        if stray.numel():
            beside.append((name, tuple(stray.tolist())))
        if name != case.in_place:
            changed = bits_of(buffer.view) != bits_of(values[name])
            if bool(changed.any()):
                seen.mutated[name], seen.after[name] = changed, _clone(buffer.view)
    seen.beside_inputs = tuple(beside)
