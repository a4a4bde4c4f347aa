"""The strict interpreter: what a GPU may do, and the stock interpreter never does.

- **Padding.** The masked lanes of a load without `other` are undefined (claim B29). The stock
  interpreter fills them with 0, and so did every GPU that was looked at, so a kernel that relies on
  it passes everywhere until it does not. Here they hold a pattern: a NaN with a payload in floats,
  bytes of 0xA5 in everything else.
- **Order.** The programs of a grid run in any order. The stock interpreter runs them one after
  another as they are numbered. Here they run one after another in a shuffled order, the same for
  every launch with the same grid and seed, and never the stock one where there are two or more.

Lanes that a tensor descriptor or a block pointer pads with zeros by contract stay zero. All of
Triton 3.2 to 3.9 has what is hooked here: `load` of the semantic layer, which still knows whether
`other` was given, and three methods of the interpreter's builder.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any

import numpy
from triton.language import semantic
from triton.runtime import interpreter

from tritaudit.backend import BackendUnavailableError, triton_version
from tritaudit.interpreter.part import Part

__all__ = ["Strict", "pattern", "shuffled"]

#: NaN bits with a payload, by the name of the Triton dtype; the formats that have one.
_NANS = {
    "fp16": 0x7EA5,
    "bf16": 0x7FE5,
    "fp32": 0x7FE5A5A5,
    "fp64": 0x7FFDA5A5A5A5A5A5,
    "fp8e4nv": 0x7F,
    "fp8e5": 0x7F,
    "fp8e4b8": 0x80,
    "fp8e5b16": 0x80,
}
_BYTE = 0xA5
_Index = tuple[int, int, int]


def pattern(dtype: Any) -> numpy.ndarray[Any, Any]:
    """What an undefined lane of a Triton dtype holds: one element, as the interpreter keeps it."""
    kept = interpreter._get_np_dtype(dtype)
    if kept == numpy.bool_:
        return numpy.ones(1, kept)
    bits = _NANS.get(dtype.name, int.from_bytes(bytes([_BYTE] * kept.itemsize), "little"))
    return numpy.array([bits], f"u{kept.itemsize}").view(kept)


def shuffled(grid: _Index, seed: int) -> list[_Index]:
    """The programs of a grid in the order in which they run."""
    nx, ny, nz = grid
    stock = [(x, y, z) for x in range(nx) for y in range(ny) for z in range(nz)]
    order = stock.copy()
    random.Random(f"{seed}/{nx}/{ny}/{nz}").shuffle(order)
    return order if order != stock else order[::-1]


class Strict:
    """The hooks, and whether Triton calls them at present.

    Args:
        seed: of the order of programs.

    Raises:
        BackendUnavailableError: this version of Triton has not what is hooked.
    """

    def __init__(self, seed: int) -> None:
        #: what differs at present; all of it, unless a block narrows it.
        self.parts = frozenset(Part)
        self._seed = seed
        self._undefined = False  # the load that runs was given no `other`
        self._orders: dict[_Index, dict[_Index, _Index]] = {}
        builder = getattr(interpreter, "InterpreterBuilder", None)
        loads = getattr(semantic, "TritonSemantic", semantic)  # a module up to 3.3, then a class
        places = (
            (loads, "load", ("ptr", "mask", "other"), self._load),
            (builder, "create_masked_load", ("ptrs", "mask", "other"), self._masked_load),
            (builder, "set_grid_dim", ("nx", "ny", "nz"), self._set_grid_dim),
            (builder, "set_grid_idx", ("x", "y", "z"), self._set_grid_idx),
        )
        if not all(_takes(owner, name, names) for owner, name, names, _ in places):
            raise BackendUnavailableError(
                f"the strict interpreter is made for Triton 3.2 to 3.9, and {triton_version()} is "
                "built in another way: leave --strict-interpreter out"
            )
        self._places = [(owner, name) for owner, name, _, _ in places]
        self._stock = [getattr(owner, name) for owner, name in self._places]
        hooks = [hook for _, _, _, hook in places]
        self._strict = [h(s) for h, s in zip(hooks, self._stock, strict=True)]

    def switch(self, on: bool) -> None:
        """Put the hooks in place, or the stock functions back."""
        functions = self._strict if on else self._stock
        for (owner, name), function in zip(self._places, functions, strict=True):
            setattr(owner, name, function)

    # ----------------------------------------------------------------- padding

    def _load(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        at = _names(stock).index("other")

        def load(*args: Any, **kwargs: Any) -> Any:
            other = args[at] if len(args) > at else kwargs.get("other")
            self._undefined = other is None
            try:
                return stock(*args, **kwargs)
            finally:
                self._undefined = False

        return load

    def _masked_load(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        def create_masked_load(
            builder: Any, ptrs: Any, mask: Any, other: Any, *args: Any, **kwargs: Any
        ) -> Any:
            # An `other` of one element that is 0 arrives as None: then the load was given one.
            if other is None and self._undefined and Part.PADDING in self.parts:
                dtype = ptrs.get_element_ty()
                lanes = numpy.broadcast_to(pattern(dtype), ptrs.data.shape).copy()
                other = interpreter.TensorHandle(lanes, dtype)
            return stock(builder, ptrs, mask, other, *args, **kwargs)

        return create_masked_load

    # ----------------------------------------------------------------- order

    def _set_grid_dim(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        def set_grid_dim(builder: Any, nx: int, ny: int, nz: int) -> Any:
            grid = (nx, ny, nz)
            if grid not in self._orders:
                numbered = [(x, y, z) for x in range(nx) for y in range(ny) for z in range(nz)]
                self._orders = {grid: dict(zip(numbered, shuffled(grid, self._seed), strict=True))}
            return stock(builder, nx, ny, nz)

        return set_grid_dim

    def _set_grid_idx(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        def set_grid_idx(builder: Any, x: int, y: int, z: int) -> Any:
            index = (x, y, z)
            if Part.ORDER in self.parts:
                index = self._orders[builder.grid_dim][index]
            return stock(builder, *index)

        return set_grid_idx


def _names(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _takes(owner: Any, name: str, names: tuple[str, ...]) -> bool:
    """Whether a module or a class has a function whose first parameters have these names."""
    function = getattr(owner, name, None)
    if function is None:
        return False
    given = [n for n in _names(function) if n != "self"]
    return tuple(given[: len(names)]) == names
