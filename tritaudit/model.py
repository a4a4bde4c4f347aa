"""The values that cross a boundary: what an author writes, what a unit is asked, what it answers.

Everything here is frozen, hashable where it has to be, and built from the standard library alone,
so that it can be made, compared and read where neither torch nor triton is installed. No live
tensor is ever stored in one of these types.
"""

from __future__ import annotations

import copy
import enum
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

__all__ = [
    "BOOL",
    "DTYPES",
    "FLOATS",
    "FP8",
    "INTS",
    "SIGNED_INTS",
    "UNSIGNED_INTS",
    "Backend",
    "CallSpec",
    "Case",
    "CaseError",
    "CaseInfo",
    "CaseResult",
    "Cell",
    "Contract",
    "Coverage",
    "Edit",
    "Environment",
    "Event",
    "Example",
    "Excerpt",
    "Fill",
    "FillKind",
    "Finding",
    "IndexMap",
    "Judgement",
    "Known",
    "Layout",
    "Location",
    "Outcome",
    "Progress",
    "Proof",
    "Report",
    "Scalar",
    "Severity",
    "Shard",
    "SkipFile",
    "Skipped",
    "Tensor",
    "Tile",
    "UnitFinished",
    "UnitRequest",
    "UnitStarted",
]

# --------------------------------------------------------------------------- dtypes

#: dtype groups that a case may name. A dtype is written as torch names it, without the prefix.
FLOATS: tuple[str, ...] = ("float16", "bfloat16", "float32", "float64")
SIGNED_INTS: tuple[str, ...] = ("int8", "int16", "int32", "int64")
UNSIGNED_INTS: tuple[str, ...] = ("uint8", "uint16", "uint32", "uint64")
INTS: tuple[str, ...] = SIGNED_INTS + UNSIGNED_INTS
FP8: tuple[str, ...] = ("float8_e4m3fn", "float8_e5m2")
BOOL: tuple[str, ...] = ("bool",)
#: every dtype that a case may name.
DTYPES: tuple[str, ...] = FLOATS + FP8 + INTS + BOOL

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class CaseError(ValueError):
    """A case that cannot be used. The message is one sentence that names the offending value."""


class SkipFile(Exception):  # noqa: N818 - what to do, not what went wrong
    """Raised by a case file that cannot be used here; the message says why."""


class Backend(enum.StrEnum):
    """Where a kernel is run."""

    INTERPRETER = "interpreter"
    GPU = "gpu"


class Layout(enum.StrEnum):
    """How a tensor lies in memory."""

    CONTIGUOUS = "contiguous"
    #: every second element of the last axis of a buffer twice as long.
    STRIDED = "strided"
    #: the first two axes exchanged in memory (one axis: as strided).
    TRANSPOSED = "transposed"
    #: contiguous, starting one element after a 16-byte boundary.
    OFFSET = "offset"
    #: stride 0 along the first axis.
    EXPANDED = "expanded"


class Outcome(enum.StrEnum):
    """The verdict on one unit (a case on a backend)."""

    PASS = "pass"
    FAIL = "fail"
    KNOWN = "known"
    STALE = "stale"
    ERROR = "error"
    SKIP = "skip"


class Severity(enum.StrEnum):
    """How bad a finding is. One table for every renderer: `tritaudit.report.severity`."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


# --------------------------------------------------------------------------- what an author writes


def _identifier(what: str, name: object) -> str:
    if not isinstance(name, str) or not IDENTIFIER.match(name):
        raise CaseError(f"{what} needs a name that is a Python identifier, not {name!r}")
    return name


def _dtype_name(value: object) -> str:
    name = str(value).removeprefix("torch.")
    if name not in DTYPES:
        raise CaseError(f"unknown dtype {value!r}; known are {', '.join(DTYPES)}")
    return name


def _several(what: str, value: Any, kind: type | tuple[type, ...], wanted: str) -> tuple[Any, ...]:
    """One value of a kind, or several.

    Raises:
        CaseError: it is neither; what the values are is for the caller to see.
    """
    if isinstance(value, kind):
        return (value,)
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise CaseError(f"{what}: expected {wanted} or several, not {value!r}")
    return tuple(value)


def _axes(what: str, value: object) -> tuple[str, ...]:
    """Axes in one text, separated by spaces, or in a list."""
    listed = value.split() if isinstance(value, str) else value
    axes = tuple(listed) if isinstance(listed, Iterable) else (None,)
    if not all(isinstance(axis, str) for axis in axes):
        raise CaseError(f'{what}: expected axes, as "H W", not {value!r}')
    return axes


def _bounds(axes: object) -> tuple[tuple[str, int, int | None], ...]:
    """The bounds of axes, as `Case(axes=)` takes them."""
    if not isinstance(axes, Mapping):
        raise CaseError(f'axes: expected bounds by name, as {{"N": (0, 512)}}, not {axes!r}')
    out = []
    for name, bounds in axes.items():
        low, high = bounds if isinstance(bounds, (tuple, list)) and len(bounds) == 2 else (None, "")
        if not isinstance(low, int) or not (high is None or isinstance(high, int)):
            raise CaseError(
                f"axes: {name!r} has two bounds, as (0, 512) or (0, None), not {bounds!r}"
            )
        out.append((name, low, high))
    return tuple(out)


def _edges(axis: str, sizes: int | Iterable[int]) -> tuple[int, ...]:
    listed = _several(f"edges of the axis {axis!r}", sizes, int, "a size")
    for size in listed:
        if not isinstance(size, int) or size < 1:
            raise CaseError(f"edges of the axis {axis!r} are positive sizes, not {size!r}")
    return tuple(sorted(set(listed)))


@dataclass(frozen=True, slots=True)
class Tensor:
    """One input: its name, its axes (names separated by spaces), its dtypes and its layouts.

    Inputs of one case whose `dtypes` are equal take the same dtype in an example.

    Raises:
        CaseError: a name is not an identifier, an axis repeats, a dtype or layout is unknown.
    """

    name: str
    axes: tuple[str, ...]
    dtypes: tuple[str, ...] = ("float32",)
    layouts: tuple[str, ...] = ("contiguous",)

    def __init__(
        self,
        name: str,
        axes: str | Iterable[str],
        dtypes: object = ("float32",),
        layouts: str | Iterable[str] = ("contiguous",),
    ) -> None:
        names = _axes(f"Tensor {name!r}", axes)
        for axis in names:
            _identifier("an axis", axis)
        if len(set(names)) != len(names):
            raise CaseError(f"Tensor {name!r} names an axis twice: {' '.join(names)}")
        listed: tuple[object, ...] = (
            tuple(dtypes) if isinstance(dtypes, (tuple, list)) else (dtypes,)
        )
        if not listed:
            raise CaseError(f"Tensor {name!r} has no dtypes")
        kinds = tuple(dict.fromkeys(_dtype_name(d) for d in listed))
        wanted = _several(f"layouts of Tensor {name!r}", layouts, str, "a layout")
        known = [str(layout) for layout in Layout]
        for layout in wanted:
            if layout not in known:
                raise CaseError(f"unknown layout {layout!r}; known are {', '.join(known)}")
        if not wanted:
            raise CaseError(f"Tensor {name!r} has no layouts")
        object.__setattr__(self, "name", _identifier("a Tensor", name))
        object.__setattr__(self, "axes", names)
        object.__setattr__(self, "dtypes", kinds)
        object.__setattr__(self, "layouts", tuple(dict.fromkeys(str(x) for x in wanted)))


@dataclass(frozen=True, slots=True)
class Tile:
    """A `tl.constexpr` that says how many elements of `axis` one program holds.

    Raises:
        CaseError: a size is not a power of two (tl.arange refuses it, claim A14).
    """

    name: str
    axis: str
    sizes: tuple[int, ...]

    def __init__(self, name: str, axis: str, sizes: int | Iterable[int]) -> None:
        listed = _several(f"Tile {name!r}", sizes, int, "a size")
        if not listed:
            raise CaseError(f"Tile {name!r} has no sizes")
        for size in listed:
            if not isinstance(size, int) or size < 1 or size & (size - 1):
                raise CaseError(
                    f"Tile {name!r} has the size {size!r}, which is not a power of two "
                    "(tl.arange refuses it)"
                )
        object.__setattr__(self, "name", _identifier("a Tile", name))
        object.__setattr__(self, "axis", _identifier("an axis", axis))
        object.__setattr__(self, "sizes", tuple(sorted(set(listed))))


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number that `run` takes by keyword: one of `values`, or drawn from low..high.

    Raises:
        CaseError: neither or both of values and low/high are given, or low > high.
    """

    name: str
    values: tuple[int | float, ...] = ()
    low: int | float | None = None
    high: int | float | None = None

    def __post_init__(self) -> None:
        _identifier("a Scalar", self.name)
        values = _several(f"values of Scalar {self.name!r}", self.values, (int, float), "a number")
        for value in (*values, self.low, self.high):
            if value is not None and not isinstance(value, (int, float)):
                raise CaseError(f"Scalar {self.name!r} needs numbers, not {value!r}")
        object.__setattr__(self, "values", values)
        ranged = self.low is not None or self.high is not None
        if bool(self.values) == ranged:
            raise CaseError(f"Scalar {self.name!r} needs either values or low and high")
        if ranged and (self.low is None or self.high is None or self.low > self.high):
            raise CaseError(f"Scalar {self.name!r} needs low <= high, not {self.low}..{self.high}")

    def choices(self) -> tuple[int | float, ...]:
        """The values to try: all of `values`, or both ends and the middle of the range."""
        if self.values:
            return self.values
        assert self.low is not None and self.high is not None
        middle = (self.low + self.high) / 2
        if isinstance(self.low, int) and isinstance(self.high, int):
            middle = int(middle)
        return tuple(dict.fromkeys((self.low, middle, self.high)))


@dataclass(frozen=True, slots=True)
class Known:
    """A fault that a case is known to show, where the conditions hold.

    Args:
        fault: a fault id.
        triton: a version specifier such as ">=3.4,<3.9"; None means every version.
        backend: "interpreter" or "gpu"; None means both.
        dtypes: only for these dtypes of the first input; None means all.
    """

    fault: str
    triton: str | None = None
    backend: str | None = None
    dtypes: tuple[str, ...] | None = None

    def __init__(
        self,
        fault: str,
        triton: str | None = None,
        backend: str | None = None,
        dtypes: str | Iterable[object] | None = None,
    ) -> None:
        if not isinstance(fault, str):
            raise CaseError(f"expect needs fault ids, not {fault!r}")
        if backend is not None and backend not in [str(b) for b in Backend]:
            raise CaseError(f"unknown backend {backend!r}; known are interpreter, gpu")
        names: tuple[str, ...] | None = None
        if dtypes is not None:
            listed = _several(f"dtypes of Known({fault!r})", dtypes, str, "a dtype")
            names = tuple(_dtype_name(d) for d in listed)
        if triton is not None and not isinstance(triton, str):
            raise CaseError(f"Known({fault!r}, triton={triton!r}) is not a version specifier")
        if triton is not None:
            from packaging.specifiers import InvalidSpecifier, SpecifierSet

            try:
                SpecifierSet(triton)
            except InvalidSpecifier as error:
                raise CaseError(
                    f"Known({fault!r}, triton={triton!r}) is not a version specifier"
                ) from error
        object.__setattr__(self, "fault", fault)
        object.__setattr__(self, "triton", triton)
        object.__setattr__(self, "backend", backend)
        object.__setattr__(self, "dtypes", names)

    def applies(self, triton_version: str, backend: str, dtype: str | None = None) -> bool:
        """Whether this expectation holds for a Triton version, a backend and (if given) a dtype."""
        if self.backend is not None and self.backend != backend:
            return False
        if dtype is not None and self.dtypes is not None and dtype not in self.dtypes:
            return False
        if self.triton is None:
            return True
        from packaging.specifiers import SpecifierSet

        return SpecifierSet(self.triton).contains(triton_version, prereleases=True)


@runtime_checkable
class Contract(Protocol):
    """What a kernel promises. Implemented in `tritaudit.contracts`."""

    @property
    def moves_only(self) -> bool:
        """Whether the contract only moves bits from place to place."""
        ...

    def describe(self) -> str:
        """The contract as its author would write it, e.g. `Flip("N")`."""
        ...

    def validate(self, case: Case) -> None:
        """Raise CaseError where the contract does not fit the case's inputs."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """A launch function, its contract and its input space.

    Args:
        run: takes the inputs by position in their declared order, `out` if it has a parameter of
            that name, and tiles and scalars as keyword arguments.
        contract: Flip, Abs or Reference.
        inputs: one Tensor or several.
        tiles, scalars: the keyword arguments of `run` that the tool chooses.
        axes: bounds of an axis, {"N": (0, 512)}; the default lower bound is 1.
        out_dtype: a dtype, or a function of the first input's dtype name; None: the first input's.
        out_shape: axes of the output as a string; None: those of the first input.
        in_place: the name of the input that is the output as well.
        output: which entry of the tuple that `run` returns is judged; None: it returns a tensor.
            A kernel with several outputs gets a case for each.
        edges: sizes of an axis at which a kernel behaves anew although no tile says so, such as the
            block that `run` chooses itself, {"N": 1024}; sizes around them are tried.
        expect: ids of the faults that this case is known to show, or Known values.
        twin: the catalogue name of a right kernel with the same contract.

    Raises:
        CaseError: the parts do not fit each other.
    """

    run: Callable[..., Any]
    contract: Contract
    inputs: tuple[Tensor, ...]
    tiles: tuple[Tile, ...] = ()
    scalars: tuple[Scalar, ...] = ()
    axes: tuple[tuple[str, int, int | None], ...] = ()
    out_dtype: str | Callable[[str], str] | None = None
    out_shape: tuple[str, ...] | None = None
    in_place: str | None = None
    output: int | None = None
    edges: tuple[tuple[str, tuple[int, ...]], ...] = ()
    expect: tuple[Known, ...] = ()
    twin: str | None = None

    def __init__(
        self,
        run: Callable[..., Any],
        contract: Contract,
        inputs: Tensor | Iterable[Tensor],
        tiles: Tile | Iterable[Tile] = (),
        scalars: Scalar | Iterable[Scalar] = (),
        axes: Mapping[str, tuple[int, int | None]] | None = None,
        out_dtype: object = None,
        out_shape: str | Iterable[str] | None = None,
        in_place: str | None = None,
        output: int | None = None,
        edges: Mapping[str, int | Iterable[int]] | None = None,
        expect: str | Known | Iterable[str | Known] = (),
        twin: str | None = None,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        if not callable(run):
            raise CaseError(f"run must be a function that launches the kernel, not {run!r}")
        if contract is None:
            raise CaseError("contract is not filled in: say Flip, Abs or Reference")
        if isinstance(contract, type) or not isinstance(contract, Contract):
            raise CaseError(f"unknown contract {contract!r}; known are Flip, Abs and Reference")
        put("run", run)
        put("contract", contract)
        put("inputs", _several("inputs", inputs, Tensor, "a Tensor"))
        put("tiles", _several("tiles", tiles, Tile, "a Tile"))
        put("scalars", _several("scalars", scalars, Scalar, "a Scalar"))
        put("axes", () if axes is None else _bounds(axes))
        if out_dtype is not None and not inspect.isroutine(out_dtype):
            out_dtype = _dtype_name(out_dtype)
        put("out_dtype", out_dtype)
        if out_shape is not None:
            out_shape = _axes("out_shape", out_shape)
        put("out_shape", out_shape)
        put("in_place", in_place)
        put("output", output)
        if edges is not None and not isinstance(edges, Mapping):
            raise CaseError(f'edges: expected sizes by axis, as {{"N": 1024}}, not {edges!r}')
        put("edges", tuple((axis, _edges(axis, sizes)) for axis, sizes in (edges or {}).items()))
        single = (expect,) if isinstance(expect, (str, Known)) else expect
        listed = _several("expect", single, Known, "a fault id")
        if twin is not None and not isinstance(twin, str):
            raise CaseError(f"twin is the name of a case, not {twin!r}")
        put("expect", tuple(e if isinstance(e, Known) else Known(e) for e in listed))
        put("twin", twin)
        self._validate()

    def _validate(self) -> None:
        parts: tuple[tuple[tuple[object, ...], type], ...] = (
            (self.inputs, Tensor),
            (self.tiles, Tile),
            (self.scalars, Scalar),
        )
        for part, kind in parts:
            for value in part:
                if not isinstance(value, kind):
                    raise CaseError(f"expected a {kind.__name__}, not {value!r}")
        if not self.inputs:
            raise CaseError("a case needs at least one input")
        keywords = [*(t.name for t in self.tiles), *(s.name for s in self.scalars)]
        names = [*(t.name for t in self.inputs), *keywords]
        for name in names:
            if names.count(name) > 1:
                raise CaseError(f"the name {name!r} is used twice")
        declared = set(self.axis_names())
        for tile in self.tiles:
            if tile.axis not in declared:
                raise CaseError(
                    f"Tile {tile.name!r} names the axis {tile.axis!r}, which no input has"
                )
        for axis, low, high in self.axes:
            if axis not in declared:
                raise CaseError(f"axes names {axis!r}, which no input has")
            if low < 0 or (high is not None and high < low):
                raise CaseError(f"axis {axis!r} needs 0 <= low <= high, not {low}, {high}")
        for axis, _ in self.edges:
            if axis not in declared:
                raise CaseError(f"edges names {axis!r}, which no input has")
        for axis in self.out_shape or ():
            if axis not in declared:
                raise CaseError(f"out_shape names {axis!r}, which no input has")
        if self.in_place is not None and self.in_place not in [t.name for t in self.inputs]:
            raise CaseError(f"in_place names {self.in_place!r}, which is not an input")
        if self.in_place is not None and self.takes_out:
            raise CaseError("a case with in_place cannot also take out")
        self._validate_output()
        self._validate_signature()
        self.contract.validate(self)

    def _validate_output(self) -> None:
        if self.output is None:
            return
        if not isinstance(self.output, int) or isinstance(self.output, bool) or self.output < 0:
            raise CaseError(f"output is an index of the returned tuple, not {self.output!r}")
        if self.in_place is not None or self.takes_out:
            raise CaseError("output names a returned tensor: neither in_place nor out go with it")

    def _validate_signature(self) -> None:
        try:
            signature = inspect.signature(self.run)
        except (TypeError, ValueError):
            return  # a builtin: found out when it is called
        kinds = inspect.Parameter
        takes = signature.parameters
        anything = any(p.kind is kinds.VAR_KEYWORD for p in takes.values())
        keywords = [*(t.name for t in self.tiles), *(s.name for s in self.scalars)]
        for name in keywords:
            if name not in takes and not anything:
                raise CaseError(f"run has no parameter {name!r}")
        offered = {*keywords, "out", *LAUNCH_OPTIONS}
        positional = [
            p
            for p in takes.values()
            if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
            and p.name not in offered
        ]
        several = any(p.kind is kinds.VAR_POSITIONAL for p in takes.values())
        needed = [p for p in positional if p.default is kinds.empty]
        count = len(self.inputs)
        if len(needed) > count or (len(positional) < count and not several):
            raise CaseError(
                f"of inputs the case declares {count}, but run takes {len(positional)} by position"
            )
        for p in takes.values():
            if p.kind is kinds.KEYWORD_ONLY and p.default is kinds.empty and p.name not in offered:
                raise CaseError(f"run needs {p.name!r}, which is neither a tile nor a scalar")

    @property
    def run_name(self) -> str:
        """What messages call `run`: the function itself where it was named without a case."""
        return getattr(self.run, "audited_as", "run")

    @property
    def takes_out(self) -> bool:
        """Whether `run` has a parameter `out`, so that the tool allocates the output."""
        return self.takes("out")

    def takes(self, parameter: str) -> bool:
        """Whether `run` has a parameter of that name."""
        try:
            return parameter in inspect.signature(self.run).parameters
        except (TypeError, ValueError):
            return False

    def axis_names(self) -> tuple[str, ...]:
        """Every axis of every input, in the order of declaration."""
        return tuple(dict.fromkeys(axis for t in self.inputs for axis in t.axes))

    def bounds(self, axis: str) -> tuple[int, int | None]:
        """The smallest and the largest size of an axis; None where the case sets no upper bound."""
        for name, low, high in self.axes:
            if name == axis:
                return low, high
        return 1, None

    def with_edges(self, sizes: Iterable[int]) -> Case:
        """The case with these edges on every axis."""
        out = copy.copy(self)
        edges = tuple((axis, _edges(axis, sizes)) for axis in self.axis_names())
        object.__setattr__(out, "edges", edges)
        return out

    def edges_of(self, axis: str) -> tuple[int, ...]:
        """The sizes of an axis at which the kernel behaves anew, beside its tiles."""
        return dict(self.edges).get(axis, ())

    def out_axes(self) -> tuple[str, ...]:
        """The axes of the output."""
        return self.inputs[0].axes if self.out_shape is None else self.out_shape

    def output_dtype(self, dtype: str) -> str:
        """The dtype of the output for a dtype of the first input.

        Raises:
            CaseError: the author's function returned no dtype.
        """
        if self.out_dtype is None:
            return dtype
        if callable(self.out_dtype):
            return _dtype_name(self.out_dtype(dtype))
        return self.out_dtype

    def restricted(self, dtypes: Iterable[str]) -> Case | None:
        """The case with only some dtypes; None where the first input takes none of them.

        An input that takes none of them (an index beside values, say) keeps its own.
        """
        wanted = frozenset(dtypes)
        kept = [tuple(d for d in t.dtypes if d in wanted) for t in self.inputs]
        if not kept[0]:
            return None
        inputs = [
            Tensor(t.name, t.axes, some or t.dtypes, t.layouts)
            for t, some in zip(self.inputs, kept, strict=True)
        ]
        out = copy.copy(self)
        object.__setattr__(out, "inputs", tuple(inputs))
        return out

    def tiles_of(self, axis: str) -> tuple[Tile, ...]:
        """The tiles that cut an axis."""
        return tuple(t for t in self.tiles if t.axis == axis)


#: keyword arguments of `run` that the tool varies on a GPU where `run` accepts them.
LAUNCH_OPTIONS = ("num_warps", "num_stages")

# --------------------------------------------------------------------------- examples


class FillKind(enum.StrEnum):
    """How the elements of the inputs get their bits; simplest first."""

    #: element i holds the tag i + 1; `seed` k > 0 gives the k-th digit plane of i instead.
    INDEX = "index"
    #: all bits zero.
    ZERO = "zero"
    #: small numbers of both signs, as an ordinary test would draw them.
    NORMAL = "normal"
    #: special values of the dtype (minimum, -0.0, NaN, ...), drawn by position.
    SPECIAL = "special"
    #: element i holds the bit pattern `seed` + i; a second input holds the next higher bits.
    PATTERNS = "patterns"
    #: random bit patterns.
    RANDOM = "random"


@dataclass(frozen=True, slots=True, order=True)
class Fill:
    """A fill kind and its seed (for INDEX the digit plane, for PATTERNS the first pattern)."""

    kind: FillKind = FillKind.INDEX
    seed: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One element that is set by hand after the fill: flat logical index and bit pattern."""

    tensor: str
    index: int
    bits: int


@dataclass(frozen=True, slots=True)
class Example:
    """One drawn set of sizes, tiles, scalars, dtypes, layouts and values. Plain data.

    Names are case-declared names, in the order of declaration; `launch` holds num_warps and
    num_stages where the case's `run` accepts them, and the number of the configuration that
    autotuned kernels are run in (`config`; see `tritaudit.tuning`).
    """

    sizes: tuple[tuple[str, int], ...]
    tiles: tuple[tuple[str, int], ...] = ()
    scalars: tuple[tuple[str, int | float], ...] = ()
    dtypes: tuple[tuple[str, str], ...] = ()
    layouts: tuple[tuple[str, str], ...] = ()
    fill: Fill = field(default_factory=Fill)
    edits: tuple[Edit, ...] = ()
    launch: tuple[tuple[str, int], ...] = ()

    def size(self, axis: str) -> int:
        """The size of an axis."""
        return dict(self.sizes)[axis]

    def tile(self, name: str) -> int:
        """The size of a tile."""
        return dict(self.tiles)[name]

    def dtype(self, tensor: str | None = None) -> str:
        """The dtype of an input (of the first one if none is named)."""
        return self.dtypes[0][1] if tensor is None else dict(self.dtypes)[tensor]

    def layout(self, tensor: str) -> Layout:
        """The layout of an input."""
        return Layout(dict(self.layouts).get(tensor, Layout.CONTIGUOUS))

    def label(self) -> str:
        """Sizes, tiles, scalars and launch options in one short line: `N=5 BLOCK=8`."""
        parts = [*self.sizes, *self.tiles, *self.scalars, *self.launch]
        text = " ".join(f"{name}={value}" for name, value in parts)
        odd = [f"{n}:{x}" for n, x in self.layouts if x != Layout.CONTIGUOUS]
        return " ".join([text, *odd])


# --------------------------------------------------------------------------- functions


@dataclass(frozen=True, slots=True)
class CallSpec:
    """A function that is audited without a case file: where it stands and what it promises.

    Attributes:
        target: `mypkg.ops:reverse_rows`, or `path/to/file.py:reverse_rows`.
        flip: the axes that it reverses, as numbers.
        absolute: "exact", "wrap" or "saturate" where it takes absolute values, else "".
        reference: the torch callable that it has to agree with, as `torch.fliplr`, else "".
        exact, ulp, rtol, atol: how closely it has to agree; none of them: the contract's default.
        dtypes, ndim, sizes, layouts: of its input; empty: what the contract can do, the fewest
            axes that it makes sense for, any size, contiguous. One size bound is for every axis.
        arguments: further arguments, as they were written.
        output: which entry of a returned tuple is judged; None: the function returns a tensor.
        in_place: the input is the output as well.
    """

    target: str
    flip: tuple[int, ...] = ()
    absolute: str = ""
    reference: str = ""
    exact: bool = False
    ulp: float | None = None
    rtol: float | None = None
    atol: float | None = None
    dtypes: tuple[str, ...] = ()
    ndim: int = 0
    sizes: tuple[tuple[int, int | None], ...] = ()
    layouts: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    output: int | None = None
    in_place: bool = False

    def options(self) -> tuple[str, ...]:
        """The command-line options that say all this again, apart from `target`."""
        words: list[str] = []
        if self.flip:
            words += ["--flip", ",".join(map(str, self.flip))]
        if self.absolute:
            words.append("--abs")
            if self.absolute != "exact":
                words += ["--abs-overflow", self.absolute]
        if self.reference:
            words += ["--reference", self.reference]
        if self.exact:
            words.append("--exact")
        for name, value in (("--ulp", self.ulp), ("--rtol", self.rtol), ("--atol", self.atol)):
            if value is not None:
                words += [name, f"{value:g}"]
        if self.dtypes:
            words += ["--dtype", ",".join(self.dtypes)]
        if self.ndim:
            words += ["--ndim", str(self.ndim)]
        if self.sizes:
            words += ["--sizes", ",".join(map(_bound_text, self.sizes))]
        if self.layouts:
            words += ["--layout", ",".join(self.layouts)]
        for name, text in self.arguments:
            words += ["--arg", f"{name}={text}"]
        if self.output is not None:
            words += ["--output-index", str(self.output)]
        return (*words, "--in-place") if self.in_place else tuple(words)


def _bound_text(bound: tuple[int, int | None]) -> str:
    low, high = bound
    return str(low) if low == high else f"{low}..{'' if high is None else high}"


# --------------------------------------------------------------------------- results


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source file. `path` is relative to the working directory where it can be."""

    path: str
    line: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """Why a fault was named.

    `elements` wrong elements stand in the smallest example, of which `explained` are predicted bit
    for bit; `probes` further examples were predicted bit for bit; `rivals` are the faults whose
    predictions were refuted, each with the example that did it. `partial` says that another fault
    is needed to explain the rest.
    """

    elements: int = 0
    explained: int = 0
    probes: int = 0
    rivals: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    statement: str = ""

    @property
    def partial(self) -> bool:
        return self.explained < self.elements


#: what stands for the value of an element that was never written, and of one that was read from
#: memory beside an input.
UNKNOWN, BESIDE = "?", "outside"


@dataclass(frozen=True, slots=True)
class Cell:
    """One output element: index, the input bits that belong to it, the expected and the seen bits.

    `input` is the element of the first input at the same index where there is one. `wrong` says
    that got is not right. Texts are values as a person writes them; bits are unsigned integers.
    """

    index: tuple[int, ...]
    input: str
    expected: str
    got: str
    wrong: bool
    input_bits: int | None = None
    expected_bits: int | None = None
    got_bits: int | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of an output that a report shows.

    `tiles` gives, for each output axis, the tile size that cuts it (0: none). `cells` are in
    row-major order, all of the output where it is small, else a window around the first wrong
    element and, after a gap, further wrong ones. With `of` it is about the input of that name:
    `expected` is what that held before the launch, `got` what it held after.
    """

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    in_dtype: str
    out_dtype: str
    tiles: tuple[int, ...]
    cells: tuple[Cell, ...]
    wrong: int
    total: int
    of: str = ""


#: entries of an index map that are not an input position.
MASKED, UNWRITTEN, OTHER = -1, -2, -3


@dataclass(frozen=True, slots=True)
class IndexMap:
    """For every output element, the flat index of the input element that came out there.

    `source` holds flat row-major input positions, or MASKED (a masked lane's value), UNWRITTEN or
    OTHER (no input element explains the value). `expected` is the map that the contract asks for.
    `tiles` as in Excerpt. `leaked` names the value of masked lanes. A finding's smallest example
    may be too small to show how elements move; the map is then that of a larger one.
    """

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    tiles: tuple[int, ...]
    source: tuple[int, ...]
    expected: tuple[int, ...]
    leaked: str = ""
    launches: int = 0
    #: the example that the map was taken from, where it is not the finding's own.
    example: Example | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault in a case, with its smallest example and its proof."""

    case: str
    fault: str
    severity: Severity
    expected: bool  # it counts as no news: the case expects it, or `accepted` says why
    backend: str
    dtype: str
    example: Example
    repro: str
    summary: str
    proof: Proof = field(default_factory=Proof)
    assert_close_passes: bool | None = None
    location: Location | None = None
    #: where the kernel at `location` was launched for the example; empty where that is not known.
    launches: tuple[Location, ...] = ()
    excerpt: Excerpt | None = None
    index_map: IndexMap | None = None
    #: sentences: what was seen besides the values (tail dropped, exception text, ...).
    evidence: tuple[str, ...] = ()
    #: what an ordinary test would have said, and where the kernel is right, in sentences.
    unnoticed: tuple[str, ...] = ()
    #: dtypes in which the same fault showed.
    dtypes: tuple[str, ...] = ()
    #: what the kernel itself printed while the example ran.
    output: str = ""
    #: of a backend-divergence: the faults that it consists of, each with its backend.
    because: tuple[tuple[str, str], ...] = ()
    #: how many examples of the search showed the fault.
    seen: int = 0
    #: how the case is named on a command line (see CaseInfo); "" where `case` does.
    target: str = ""
    #: the options that go with `target` (see CaseInfo).
    options: tuple[str, ...] = ()
    #: why a finding that the case does not expect is no news (an ignore, a baseline), else "".
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Examples that were not judged, and why (a limit of the backend, never of the kernel)."""

    reason: str
    count: int
    dtypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was tried, so that "pass" means something."""

    examples: int = 0
    launches: int = 0
    elements: int = 0
    sizes: tuple[tuple[str, int, int, int], ...] = ()  # axis, smallest, largest, how many
    tiles: tuple[tuple[str, tuple[int, ...]], ...] = ()
    dtypes: tuple[tuple[str, int], ...] = ()  # dtype, examples
    layouts: tuple[str, ...] = ()
    exhaustive: tuple[str, ...] = ()  # dtypes of which every bit pattern was run
    skipped: tuple[Skipped, ...] = ()
    #: why the search ended before its budget, "" if it did not.
    cut_short: str = ""
    #: examples checked per second in batches on a GPU; 0 where nothing was batched.
    examples_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class CaseInfo:
    """What the command-line process knows of a case without importing torch or triton."""

    name: str
    path: str  # absolute
    line: int
    variable: str
    contract: str
    title: str
    doc: str
    dtypes: tuple[str, ...]
    axes: tuple[tuple[str, int, int | None], ...]
    tiles: tuple[tuple[str, tuple[int, ...]], ...]
    expect: tuple[Known, ...]
    twin: str | None = None
    #: how the case is named on a command line, anywhere below the working directory: its name in
    #: the catalogue, or the path of its file, with `:variable` where that is not `case`.
    target: str = ""
    #: the command-line options that go with `target`: what a function without a case promises.
    options: tuple[str, ...] = ()
    #: the function that the case was made for; None: it stands in a file.
    call: CallSpec | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one backend made of one example: the faults that showed, a digest of the output."""

    backend: str
    token: str
    faults: tuple[str, ...] = ()
    digest: int = 0


@dataclass(frozen=True, slots=True)
class UnitRequest:
    """One unit of work: a case on a backend, and how hard to look."""

    case: str
    path: str
    variable: str
    root: str
    backend: str
    seed: int = 0
    max_examples: int = 0  # 0: the default of the backend
    deadline: float = 60.0  # seconds after which the search stops by itself
    repro: str | None = None  # replay this example in place of a search
    #: with `repro`: launch the examples around it as well, so that its fault can be proved.
    around: bool = True
    exhaustive: bool = False  # every bit pattern of up to 32 bits
    #: wait for every batch on a GPU, so that it is known which one lost the device.
    careful: bool = False
    #: tell what became of each example, for a comparison with another backend.
    judge: bool = False
    #: what another backend made of its examples, to be tried here as well.
    compare: tuple[Judgement, ...] = ()
    #: repro tokens of examples that killed or hung an earlier process of this unit.
    avoid: tuple[str, ...] = ()
    #: the function to make the case for, in place of `path` and `variable`.
    call: CallSpec | None = None
    #: only these dtypes of the inputs that take one of them; empty: all.
    dtypes: tuple[str, ...] = ()
    #: only these faults are reported, and shrunk; empty: all.
    faults: tuple[str, ...] = ()
    #: largest input of a drawn example, in elements; 0: the default of the backend.
    elements: int = 0
    #: run on the fast interpreter, checked against the stock one on the first launches.
    fast_interpreter: bool = False
    #: run on the strict interpreter, whose order of programs goes by the seed.
    strict_interpreter: bool = False


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The verdict on one unit."""

    case: str
    backend: str
    outcome: Outcome
    reason: str = ""
    coverage: Coverage = field(default_factory=Coverage)
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    #: expected faults that did not show.
    missing: tuple[str, ...] = ()
    #: remarks that are no finding (a NaN payload that differs, ...).
    notes: tuple[str, ...] = ()
    location: Location | None = None
    #: what the case printed, shown when it failed.
    output: str = ""
    #: what became of each example; between backends, never in a report.
    judgements: tuple[Judgement, ...] = ()
    #: how the case is named on a command line (see CaseInfo); "" where `case` does.
    target: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions and machine of a run."""

    tritaudit: str = ""
    python: str = ""
    triton: str = ""
    torch: str = ""
    numpy: str = ""
    gpu: str = ""
    driver: str = ""
    backend: str = ""
    platform: str = ""


@dataclass(frozen=True, slots=True)
class Shard:
    """Which part of a run this is. All parts of one run have the same `cases` and `split`."""

    index: int  # from 1
    count: int
    cases: int  # in all parts together
    split: str  # a fingerprint of which case went into which part


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run."""

    environment: Environment
    results: tuple[CaseResult, ...]
    seed: int = 0
    seconds: float = 0.0
    #: why the run ended early ("interrupted", ...), "" if it did not.
    ended: str = ""
    #: the name of the profile that set budgets and sizes, "" where it is not known.
    profile: str = ""
    shard: Shard | None = None
    #: sentences about the run as a whole: an ignore that matches nothing, ...
    remarks: tuple[str, ...] = ()

    def unexpected(self) -> tuple[Finding, ...]:
        """The findings that no case expected."""
        return tuple(f for r in self.results for f in r.findings if not f.expected)


# --------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class UnitStarted:
    """A unit got its process."""

    case: str
    backend: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A unit is alive: `phase` is sweep, census, shrink or probe."""

    case: str
    backend: str
    examples: int
    phase: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """A unit ended with a verdict."""

    result: CaseResult


Event = UnitStarted | Progress | UnitFinished
