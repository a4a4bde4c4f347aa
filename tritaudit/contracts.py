"""What a kernel promises: the expected value, how strictly it compares, and what it is made of.

A contract can be evaluated with one of its operations replaced by a faulty one (`Operations`). That
is how a fault predicts the output of a broken kernel from the oracle of a right one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch.overrides import TorchFunctionMode

from tritaudit.dtypes import DType, dtype_of, to_signed
from tritaudit.model import Case, CaseError, Example
from tritaudit.tensors import abs_bits, bits_of, flip_bits, from_bits, is_nan
from tritaudit.trial import Expected

FlipOperation = Callable[[torch.Tensor, tuple[int, ...]], torch.Tensor]
AbsOperation = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Operations:
    """The operations that a faulty oracle replaces; None: the right one.

    `flip(x, dims)` and `absolute(x)` get and return whole tensors of any dtype. `width`: integer
    arithmetic of a Reference wraps in this dtype in place of int64.
    """

    flip: FlipOperation | None = None
    absolute: AbsOperation | None = None
    width: str | None = None


EXACT = Operations()

_WIDER = {8: torch.int16, 16: torch.int32, 32: torch.int64, 64: torch.int64}


@dataclass(frozen=True, slots=True, init=False)
class Flip:
    """The first input reversed along the named axes: output bits are input bits, permuted.

    Compared as integers of the same width, NaN payloads and -0.0 included, so dtypes for which
    torch has no flip are checked all the same.
    """

    axes: tuple[str, ...]

    def __init__(self, *axes: str) -> None:
        if not axes or not all(isinstance(a, str) for a in axes):
            raise CaseError(f"Flip needs the names of the axes to reverse, not {axes!r}")
        names = tuple(name for a in axes for name in a.split())
        object.__setattr__(self, "axes", names)

    @property
    def moves_only(self) -> bool:
        return True

    def describe(self) -> str:
        return f"Flip({', '.join(repr(a) for a in self.axes)})".replace("'", '"')

    def validate(self, case: Case) -> None:
        declared = case.inputs[0].axes
        for axis in self.axes:
            if axis not in declared:
                raise CaseError(
                    f"{self.describe()} names the axis {axis!r}, but {case.inputs[0].name} has "
                    f"{' '.join(declared)}"
                )
        if case.out_dtype is not None:
            raise CaseError("Flip moves bits: the output has the dtype of the input (no out_dtype)")

    def dims(self, case: Case) -> tuple[int, ...]:
        """The positions of the reversed axes in the first input."""
        return tuple(case.inputs[0].axes.index(a) for a in self.axes)

    def expect(
        self,
        case: Case,
        example: Example,
        inputs: dict[str, torch.Tensor],
        operations: Operations = EXACT,
    ) -> Expected:
        """The expected output for the logical inputs of an example."""
        del example
        x = inputs[case.inputs[0].name]
        return Expected((operations.flip or flip_bits)(x, self.dims(case)))

    def plain(self, case: Case, example: Example, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """What the plain torch function gives; raises where torch has none for the dtype."""
        del example
        return torch.flip(inputs[case.inputs[0].name], self.dims(case))


Overflow = Literal["exact", "wrap", "saturate"]


@dataclass(frozen=True, slots=True)
class Abs:
    """The absolute value of the first input.

    Floats: the sign bit is cleared, the other bits stay, and any NaN is right for a NaN. Signed
    integers: the mathematical value; where the output dtype cannot hold it, no answer is right
    (`overflow="exact"`), or the wrapped one is (`"wrap"`, what torch does), or the largest value
    (`"saturate"`). Unsigned integers and bool: unchanged.
    """

    overflow: Overflow = "exact"

    def __post_init__(self) -> None:
        if self.overflow not in ("exact", "wrap", "saturate"):
            raise CaseError(
                f"Abs(overflow={self.overflow!r}) is unknown; known are exact, wrap, saturate"
            )

    @property
    def moves_only(self) -> bool:
        return False

    def describe(self) -> str:
        return "Abs()" if self.overflow == "exact" else f'Abs(overflow="{self.overflow}")'

    def validate(self, case: Case) -> None:
        if len(case.inputs) != 1:
            raise CaseError("Abs takes one input; use Reference for a function of several")

    def expect(
        self,
        case: Case,
        example: Example,
        inputs: dict[str, torch.Tensor],
        operations: Operations = EXACT,
    ) -> Expected:
        """The expected output for the logical inputs of an example."""
        x = inputs[case.inputs[0].name]
        source, target = dtype_of(x.dtype), dtype_of(case.output_dtype(example.dtype()))
        if operations.absolute is not None:
            return Expected(convert(operations.absolute(x), target), any_nan=True)
        if not source.is_signed_int:
            return Expected(convert(abs_bits(x), target), any_nan=True)
        magnitude = abs_bits(x)
        lost = x == torch.iinfo(x.dtype).min
        if target.is_float:
            value = magnitude.to(torch.float64).abs().to(target.torch)
            return Expected(value)
        top = (1 << (target.bits - (1 if target.is_signed_int else 0))) - 1
        if source.bits < 64:
            wide = x.to(torch.int64).abs()
            fits = wide <= top
            value = convert(wide, target)
        else:
            fits = ~lost if top < 2**63 else torch.ones_like(lost)
            if top < 2**63 - 1:
                fits = fits & (magnitude <= top)
            value = convert(magnitude, target)
        match self.overflow:
            case "exact":
                return Expected(value, impossible=~fits)
            case "wrap":
                return Expected(value)
            case "saturate":
                ceiling = torch.full_like(bits_of(value), to_signed(top, target.bits))
                return Expected(from_bits(torch.where(fits, bits_of(value), ceiling), target))

    def plain(self, case: Case, example: Example, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """What the plain torch function gives; raises where torch has none for the dtype."""
        value = torch.abs(inputs[case.inputs[0].name])
        return value.to(dtype_of(case.output_dtype(example.dtype())).torch)


def convert(value: torch.Tensor, target: DType) -> torch.Tensor:
    """`value` in another dtype: integers by their low bits, floats rounded to nearest even."""
    if value.dtype == target.torch:
        return value
    source = dtype_of(value.dtype)
    if target.is_float or source.is_float:
        if target.bits == 8 and target.is_float and value.dtype == torch.float64:
            value = value.to(torch.float32)
        return value.to(target.torch)
    if target.kind == "bool":
        return bits_of(value) != 0
    wide = bits_of(value).to(torch.int64) if source.kind != "bool" else value.to(torch.int64)
    if source.kind == "uint" and source.bits < 64:
        wide = wide & source.mask
    if target.bits < 64:
        sign = 1 << (target.bits - 1)
        wide = ((wide & target.mask) ^ sign) - sign
    return from_bits(wide.to(target.carrier), target)


class _Replaced(TorchFunctionMode):
    """Calls faulty operations where a torch callable asks for flip or abs."""

    _CASTS = frozenset({"to", "long", "int", "short", "type"})
    _FLIPS = frozenset({"flip", "fliplr", "flipud"})
    _ABS = frozenset({"abs", "absolute", "__abs__", "abs_"})

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self.operations = operations
        self.used = False

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        name = getattr(func, "__name__", "")
        kwargs = kwargs or {}
        if self.operations.width is not None and name in self._CASTS:
            # A reference that widens by itself: the faulty kernel did not.
            value = func(*args, **kwargs)
            whole = not value.is_floating_point() and not args[0].is_floating_point()
            return args[0] if whole else value
        if self.operations.flip is not None and name in self._FLIPS:
            x = args[0]
            listed = {"fliplr": (1,), "flipud": (0,)}.get(name) or args[1:] or (kwargs["dims"],)
            flat = listed[0] if len(listed) == 1 and not isinstance(listed[0], int) else listed
            self.used = True
            with torch._C.DisableTorchFunction():
                return self.operations.flip(x, tuple(int(k) % x.dim() for k in flat))
        if self.operations.absolute is not None and name in self._ABS:
            self.used = True
            with torch._C.DisableTorchFunction():
                return self.operations.absolute(args[0])
        # The absolute difference of two tensors, where it is not reduced.
        plain = kwargs.get("reduction") == "none" and kwargs.get("weight") is None
        if self.operations.absolute is not None and name == "l1_loss" and plain:
            self.used = True
            with torch._C.DisableTorchFunction():
                return self.operations.absolute(args[0] - args[1])
        return func(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class Reference:
    """Any torch callable, evaluated on inputs widened to float64 or int64 where that is possible.

    Args:
        fn: takes the inputs by position, and those scalars of the case by keyword that its
            signature names.
        tolerance: allowed distance from the wide result in ulp of the output dtype, or "exact";
            None: exact for integer outputs; 4 ulp for floats, or what rtol and atol allow.
        overflow: what happens where an integer output dtype cannot hold the wide result: no answer
            is right ("exact") or the wrapped one is ("wrap", what torch does).
        rtol, atol: a distance of atol + rtol * |wide result| is right as well; for integer outputs
            too.
        scale: a callable like `fn` for the magnitude that rounding errors are relative to, such as
            the sum of the absolute values for a sum that cancels: the ulp of `tolerance` are those
            of its result. Where the output dtype cannot hold that, the output is not judged.
        as_returned: the output has the shape and the dtype that `fn` gives for the inputs as they
            are (not widened), whatever the case declares. Where `fn` refuses these, the dtype is
            what it makes of the widened ones if that is not theirs, else that of the first input.
    """

    fn: Callable[..., Any]
    tolerance: float | Literal["exact"] | None = None
    overflow: Literal["exact", "wrap"] = "exact"
    rtol: float | None = None
    atol: float | None = None
    scale: Callable[..., Any] | None = None
    as_returned: bool = False
    #: by the dtypes of the inputs: that of the output.
    _dtypes: dict[tuple[str, ...], str] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )
    _names: tuple[str, ...] = field(init=False, default=(), repr=False)

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise CaseError(f"Reference needs a torch callable, not {self.fn!r}")
        if self.overflow not in ("exact", "wrap"):
            raise CaseError(
                f"Reference(overflow={self.overflow!r}) is unknown; known are exact, wrap"
            )
        t = self.tolerance
        if t is not None and t != "exact" and (not isinstance(t, (int, float)) or not t >= 0):
            raise CaseError(f"Reference(tolerance={t!r}) is neither a number of ulp nor 'exact'")
        self._check_closeness()
        try:
            parameters = inspect.signature(self.fn).parameters
        except (TypeError, ValueError):
            # A builtin such as torch.fliplr: no scalars, unless its docstring's signature says so.
            text = (getattr(self.fn, "__doc__", None) or "").strip().split("\n")[0]
            object.__setattr__(self, "_names", tuple(re.findall(r"(\w+)\s*=", text)))
        else:
            object.__setattr__(self, "_names", tuple(parameters))

    def _check_closeness(self) -> None:
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if value is None:
                continue
            if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise CaseError(f"Reference({name}={value!r}) is not a number from 0")
            if self.tolerance == "exact":
                raise CaseError(f"Reference(tolerance='exact', {name}={value!r}): one or the other")
        if self.scale is not None and not callable(self.scale):
            raise CaseError(f"Reference(scale={self.scale!r}) is not a torch callable")
        if self.scale is not None and self.tolerance == "exact":
            raise CaseError("Reference(tolerance='exact', scale=...): there is nothing to scale")

    @property
    def _close(self) -> tuple[float, float] | None:
        if self.rtol is None and self.atol is None:
            return None
        return self.rtol or 0.0, self.atol or 0.0

    @property
    def moves_only(self) -> bool:
        return False

    def describe(self) -> str:
        module = getattr(self.fn, "__module__", None) or ""
        name = getattr(self.fn, "__name__", repr(self.fn))
        label = f"torch.{name}" if module.startswith("torch") else name
        extra = "" if self.tolerance is None else f", tolerance={self.tolerance!r}"
        for word, value in (("rtol", self.rtol), ("atol", self.atol)):
            extra += "" if value is None else f", {word}={value:g}"
        return f"Reference({'fn' if name == '<lambda>' else label}{extra})".replace("'", '"')

    def validate(self, case: Case) -> None:
        del case

    def _call(self, case: Case, example: Example, args: list[torch.Tensor]) -> torch.Tensor:
        return self._tensor(case, self._returned(case, example, args), args)

    def _returned(self, case: Case, example: Example, args: list[torch.Tensor]) -> Any:
        """What the callable returned: the judged entry of a tuple."""
        keywords = {name: value for name, value in example.scalars if name in self._names}
        return self._entry(case, self.fn(*args, **keywords))

    def _entry(self, case: Case, value: Any) -> Any:
        if case.output is None or not isinstance(value, (tuple, list)):
            return value
        if case.output >= len(value):
            told = f"a tuple of {len(value)}, without an entry {case.output}"
            raise CaseError(f"{self.describe()} returned {told}")
        return value[case.output]

    def _tensor(self, case: Case, value: Any, args: list[torch.Tensor]) -> torch.Tensor:
        """The tensor of what a callable returned, also of a number."""
        if isinstance(value, (bool, int, float)):
            kind = torch.float64 if isinstance(value, float) else torch.int64
            return torch.tensor(value, dtype=kind, device=args[0].device)
        if not isinstance(value, torch.Tensor):
            raise CaseError(f"{self.describe()} returned {type(value).__name__}, not a tensor")
        if value.is_complex() or value.is_quantized:
            told = f"a tensor of {_name(value)}, which has no bits to compare"
            raise CaseError(f"{self.describe()} returned {told}")
        return value

    def form(
        self, case: Case, example: Example, inputs: dict[str, torch.Tensor]
    ) -> tuple[tuple[int, ...], str]:
        """The shape and the dtype of the output that goes with these inputs.

        Raises:
            CaseError: the callable refuses the inputs, or returned no tensor.
        """
        if not self.as_returned:
            return _declared(case, example)
        given = [inputs[t.name] for t in case.inputs]
        wide = self._right(case, example, given, [_widen(x) for x in given], EXACT)
        assert wide is not None  # no operation is replaced
        return tuple(wide.shape), self._dtype(case, example, given)

    def _dtype(self, case: Case, example: Example, given: list[torch.Tensor]) -> str:
        """The dtype of the output."""
        if not self.as_returned:
            return case.output_dtype(example.dtype())
        key = tuple(_name(x) for x in given)
        if key not in self._dtypes:
            self._dtypes[key] = self._returned_dtype(case, example, given)
        return self._dtypes[key]

    def _returned_dtype(self, case: Case, example: Example, given: list[torch.Tensor]) -> str:
        plain = self._unwidened(case, example, given)
        if plain is not None:
            return _name(plain)
        args = [_widen(x) for x in given]
        wide = self._right(case, example, given, args, EXACT)
        assert wide is not None  # no operation is replaced
        return _name(given[0] if wide.dtype in {x.dtype for x in args} else wide)

    def _unwidened(
        self, case: Case, example: Example, given: list[torch.Tensor]
    ) -> torch.Tensor | None:
        """What the callable makes of the inputs as they are; None where it refuses them.

        A Python number has the dtype of the first input, if that is of its kind.
        """
        try:
            value = self._returned(case, example, [x.clone() for x in given])
        except (torch.OutOfMemoryError, MemoryError):
            raise
        except Exception:
            return None
        if isinstance(value, torch.Tensor):
            return self._tensor(case, value, given)
        number = self._tensor(case, value, given)
        if isinstance(value, bool):
            return number.to(torch.bool)
        same = number.is_floating_point() == given[0].is_floating_point()
        return number.to(given[0].dtype) if same else number

    def _magnitude(
        self, case: Case, example: Example, args: list[torch.Tensor]
    ) -> torch.Tensor | None:
        """What `scale` gives for the widened inputs, as float64."""
        if self.scale is None:
            return None
        keywords = {name: value for name, value in example.scalars if name in self._names}
        value = self._entry(case, self.scale(*args, **keywords))
        return self._tensor(case, value, args).to(torch.float64).abs()

    def _evaluate(
        self, case: Case, example: Example, args: list[torch.Tensor], operations: Operations
    ) -> torch.Tensor | None:
        """The callable under replaced operations; None if it never asked for one of them."""
        if operations == EXACT:
            return self._call(case, example, args)
        with _Replaced(operations) as mode:
            value = self._call(case, example, args)
        needed = operations.flip is not None or operations.absolute is not None
        return value if mode.used or not needed else None

    def _right(
        self,
        case: Case,
        example: Example,
        given: list[torch.Tensor],
        args: list[torch.Tensor],
        operations: Operations,
    ) -> torch.Tensor | None:
        """`_evaluate`, with whatever the callable raises told in a sentence.

        Raises:
            CaseError: it raised, or returned no tensor.
        """
        try:
            return self._evaluate(case, example, args, operations)
        except (CaseError, torch.OutOfMemoryError, MemoryError):
            raise
        except Exception as error:
            shapes = " and ".join(f"{_name(x)} of shape {tuple(x.shape)}" for x in given)
            told = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            raise CaseError(f"{self.describe()} refuses {shapes} ({told})") from error

    def expect(
        self,
        case: Case,
        example: Example,
        inputs: dict[str, torch.Tensor],
        operations: Operations = EXACT,
    ) -> Expected | None:
        """The expected output for the logical inputs of an example.

        None: a replaced operation is not part of this callable.

        Raises:
            CaseError: the callable raised, or returned no tensor.
        """
        given = [inputs[t.name] for t in case.inputs]
        args = [_widen(x, operations.width) for x in given]
        wide = self._right(case, example, given, args, operations)
        if wide is None:
            return None
        if operations.width is not None and not wide.is_floating_point():
            # torch sums narrow integers in int64; modulo 2**width the place is the same.
            wide = convert(convert(wide, dtype_of(operations.width)), dtype_of("int64"))
        target = dtype_of(self._dtype(case, example, given))
        if target.is_float:
            return self._float(given, wide, target, self._magnitude(case, example, args))
        if wide.is_floating_point():
            return self._truncated(wide, target)
        return self._integer(case, example, given, wide.to(torch.int64), target, operations)

    def _float(
        self,
        given: list[torch.Tensor],
        wide: torch.Tensor,
        target: DType,
        scale: torch.Tensor | None,
    ) -> Expected:
        wide = wide.to(torch.float64)
        value = convert(wide, target)
        ulps = self.tolerance
        if ulps is None and self._close is None:
            ulps = 4.0
        finite = torch.ones((), dtype=torch.bool, device=wide.device)
        for x in given:
            if x.is_floating_point():
                finite = finite & torch.isfinite(x.to(torch.float64)).all()
        undecided = None
        if any(x.dtype == torch.float64 for x in given):
            # float64 cannot be widened: where the oracle itself overflows, it cannot tell.
            undecided = finite & ~torch.isfinite(wide)
        if scale is not None:
            # Partial results may overflow on the way to a small one.
            beyond = torch.isinf(scale.to(target.torch)) & torch.isfinite(wide)
            undecided = beyond if undecided is None else undecided | beyond
        return Expected(
            value,
            wide=wide,
            ulps=None if ulps == "exact" or ulps is None else float(ulps),
            scale=scale,
            close=self._close,
            any_nan=True,
            undecided=undecided,
        )

    def _truncated(self, wide: torch.Tensor, target: DType) -> Expected:
        """A float result in an integer output: truncated toward zero, undecided out of range."""
        low, high = _range(target)
        cut = wide.to(torch.float64).trunc()
        fits = (cut >= low) & (cut <= min(high, 2**63 - 1025))
        value = convert(torch.where(fits, cut, 0.0).to(torch.int64), target)
        return Expected(value, wide=cut, close=self._close, undecided=~fits)

    def _integer(
        self,
        case: Case,
        example: Example,
        given: list[torch.Tensor],
        wide: torch.Tensor,
        target: DType,
        operations: Operations,
    ) -> Expected:
        value = convert(wide, target)
        if self.overflow == "wrap" or operations.width is not None:
            return Expected(value, wide=wide, close=self._close)
        laps = self._laps(case, example, given, wide) if operations == EXACT else None
        low, high = _range(target)
        impossible = (wide < max(low, -(2**63))) | (wide > min(high, 2**63 - 1))
        if laps is not None:
            # The true result is wide + laps * 2**64.
            impossible = impossible | (laps != 0)
            if target.bits == 64 and target.kind == "uint":
                impossible = torch.where(wide < 0, laps != 1, laps != 0)
        return Expected(value, wide=wide, close=self._close, impossible=impossible)

    def _laps(
        self, case: Case, example: Example, given: list[torch.Tensor], wide: torch.Tensor
    ) -> torch.Tensor | None:
        """How often the int64 result wrapped, from a rough one in float64.

        None where nothing can have wrapped, or the callable takes no floats.
        """
        if all(dtype_of(x.dtype).bits < 64 for x in given):
            return None
        try:
            rough = self._call(case, example, [x.to(torch.float64) for x in _rough(given)])
        except (CaseError, RuntimeError, TypeError, NotImplementedError):
            return None
        return ((rough.to(torch.float64) - wide.to(torch.float64)) / 2.0**64).round()

    def plain(self, case: Case, example: Example, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """What the plain torch callable gives; raises where it does not take the dtype."""
        value = self._call(case, example, [inputs[t.name] for t in case.inputs])
        return value if self.as_returned else value.to(_torch_dtype(case, example))


def _declared(case: Case, example: Example) -> tuple[tuple[int, ...], str]:
    """The shape and the dtype of the output that a case declares."""
    shape = tuple(example.size(axis) for axis in case.out_axes())
    return shape, case.output_dtype(example.dtype())


def form_of(
    case: Case, example: Example, inputs: dict[str, torch.Tensor]
) -> tuple[tuple[int, ...], str]:
    """The shape and the dtype of the output of an example with these logical inputs.

    Raises:
        CaseError: a reference that decides them refuses the inputs.
    """
    contract: AnyContract = case.contract  # type: ignore[assignment]
    if isinstance(contract, Reference):
        return contract.form(case, example, inputs)
    return _declared(case, example)


def _torch_dtype(case: Case, example: Example) -> torch.dtype:
    return dtype_of(case.output_dtype(example.dtype())).torch


def _name(x: torch.Tensor) -> str:
    return str(x.dtype).removeprefix("torch.")


def _range(d: DType) -> tuple[int, int]:
    if d.is_signed_int:
        return -(1 << (d.bits - 1)), (1 << (d.bits - 1)) - 1
    return 0, 1 if d.kind == "bool" else d.mask


def _rough(given: list[torch.Tensor]) -> list[torch.Tensor]:
    return [x if x.dtype != torch.uint64 else _unsigned_float(x) for x in given]


def _unsigned_float(x: torch.Tensor) -> torch.Tensor:
    low = bits_of(x)
    return torch.where(low < 0, low.to(torch.float64) + 2.0**64, low.to(torch.float64))


def _widen(x: torch.Tensor, width: str | None = None) -> torch.Tensor:
    """Floats as float64, integers as int64 (or as `width`), bool unchanged."""
    d = dtype_of(x.dtype)
    if d.is_float:
        return x.to(torch.float32).to(torch.float64) if d.bits == 8 else x.to(torch.float64)
    if d.kind == "bool":
        return x
    if width is not None:
        return convert(x, dtype_of(width))
    return convert(x, dtype_of("int64"))


AnyContract = Flip | Abs | Reference

__all__ = [
    "EXACT",
    "Abs",
    "AnyContract",
    "Flip",
    "Operations",
    "Reference",
    "convert",
    "form_of",
    "is_nan",
]
