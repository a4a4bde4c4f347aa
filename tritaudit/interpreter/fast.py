"""Opt-in changes to Triton's interpreter: `--fast-interpreter`.

The interpreter spends most of its time on three things that can be had for less:

- `ReduceOps.generic_reduce` combines one element at a time in Python. For Triton's own xor, the
  reduction in `tl.flip` from 3.4 on, `numpy.bitwise_xor.reduce` gives the same bits. (Triton 3.2
  and 3.3 flip by a sum, which numpy does already.)
- Every launch and every call of one jitted function in another looks through all members of
  `triton.language` for builtins to patch. Their names do not change, so they are remembered.
- Every sum, difference and product of integers is computed again in 64 bits, for an assertion that
  only debug mode makes. The interpreter has an option for that, and is never in debug mode.

Nothing else is replaced. The first launches of every case run on the stock interpreter as well, and
a case on which the two differ in one bit is done again on the stock one (see `launch`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import numpy
import torch
import triton.language as tl

from tritaudit import backend
from tritaudit.backend import BackendUnavailableError, triton_version
from tritaudit.model import Backend, Case, Example
from tritaudit.tensors import same_bits
from tritaudit.trial import Observation

__all__ = ["FastDiffersError", "launch", "use"]

#: launches of a case that are compared: the first ones whatever they are, then the first with each
#: combination of dtypes and tiles, up to a number of all.
FIRST, COMPARED = 3, 12


class FastDiffersError(Exception):
    """The fast interpreter gave other bits than the stock one, or it cannot be compared with it."""


# --------------------------------------------------------------------------- the xor reduction


def _xor(a: Any, b: Any) -> Any:
    return a ^ b


def triton_xor() -> Any:
    """Triton's own xor for reductions, None where it is not there or is another function.

    It counts only if its bytecode is that of `a ^ b`.
    """
    combine = getattr(tl.standard, "_xor_combine", None)
    code = getattr(getattr(combine, "fn", None), "__code__", None)
    if code is None:
        return None
    ours = _xor.__code__
    same = (code.co_code, code.co_argcount) == (ours.co_code, ours.co_argcount)
    return combine if same and not code.co_names and not code.co_freevars else None


def _quick_reduce(interpreter: Any, stock: Callable[..., Any], xor: Any) -> Callable[..., Any]:
    """`ReduceOps.generic_reduce` that hands the xor of whole arrays to numpy.

    Where an axis, a type or an array is not what `tl.flip` and `tl.xor_sum` pass, the stock loop
    runs, so that its result, or its error, stays what it is.
    """
    xor_arrays: Any = numpy.bitwise_xor.reduce

    def generic_reduce(self: Any, values: Any) -> Any:
        if self.combine_fn is not xor or len(values) != 1:
            return stock(self, values)
        value, axis = values[0], self.axis
        data, dtype = value.handle.data, value.dtype
        plain = axis is None or (isinstance(axis, int) and 0 <= axis < data.ndim)
        if not plain or not dtype.is_int() or data.dtype != interpreter._get_np_dtype(dtype):
            return stock(self, values)
        reduced = xor_arrays(data, axis=axis, keepdims=bool(self.keep_dims))
        if axis is None and not self.keep_dims:
            reduced = reduced.item()
        return self.to_tensor(reduced, dtype)

    return generic_reduce


# --------------------------------------------------------------------------- the patched members


class _Members:
    """The names of the builtins of modules and classes, looked up again when one has grown."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[int, tuple[str, ...]]] = {}

    def of(self, package: Any) -> tuple[str, ...]:
        """The names in sorted order, whether the builtins are patched at present or not."""
        size = self._size(package)
        known = self._known.get(package)
        if known is not None and known[0] == size:
            return known[1]
        names = {name for name, member in inspect.getmembers(package) if _is_builtin(member)}
        names.update(known[1] if known else ())
        found = tuple(sorted(names))
        self._known[package] = size, found
        return found

    @staticmethod
    def _size(package: Any) -> int:
        return sum(len(vars(part)) for part in getattr(package, "__mro__", (package,)))


def _is_builtin(member: Any) -> bool:
    """Whether a member is a builtin, or what the interpreter put in the place of one."""
    defaults = getattr(member, "__kwdefaults__", None)
    if isinstance(defaults, dict) and "member" in defaults:
        member = defaults["member"]
    return bool(tl.core.is_builtin(member))


def _quick_patch(interpreter: Any, members: _Members) -> Callable[..., None]:
    """`_patch_builtin` that looks only at names that are known to be builtins."""
    mark = tl.core.TRITON_BUILTIN

    def patch_builtin(package: Any, builder: Any, *scope: Any) -> None:
        names = members.of(package)
        if len(names) < 2:  # attrgetter gives no tuple
            found: tuple[Any, ...] = tuple(getattr(package, name) for name in names)
        else:
            found = attrgetter(*names)(package)
        for name, member in zip(names, found, strict=True):
            if getattr(member, mark, False) is True:
                interpreter._patch_attr(package, name, member, builder, *scope)

    return patch_builtin


# --------------------------------------------------------------------------- switching


class _Fast:
    """The stock parts of the interpreter, their equals, and which of them it has at present."""

    def __init__(self) -> None:
        from triton.runtime import interpreter

        parts = ("ReduceOps", "_patch_builtin", "_patch_attr", "_get_np_dtype")
        xor, builder = triton_xor(), getattr(interpreter, "interpreter_builder", None)
        known = all(hasattr(interpreter, part) for part in parts)
        if xor is None or not known or not hasattr(builder, "options"):
            raise BackendUnavailableError(
                f"the interpreter of triton {triton_version()} is not one that tritaudit can make "
                "faster: leave --fast-interpreter out"
            )
        self._places = (
            (interpreter.ReduceOps, "generic_reduce"),
            (interpreter, "_patch_builtin"),
            (builder, "options"),
        )
        self._stock = tuple(getattr(owner, name) for owner, name in self._places)
        reduce, _, options = self._stock
        if not options.debug:
            options = dataclasses.replace(options, sanitize_overflow=False)
        self._quick = (
            _quick_reduce(interpreter, reduce, xor),
            _quick_patch(interpreter, _Members()),
            options,
        )

    def switch(self, on: bool) -> None:
        """Put the fast parts in place, or the stock ones back."""
        parts = self._quick if on else self._stock
        for (owner, name), part in zip(self._places, parts, strict=True):
            setattr(owner, name, part)

    @contextlib.contextmanager
    def stock(self) -> Iterator[None]:
        """The stock interpreter for the time of a block."""
        self.switch(False)
        try:
            yield
        finally:
            self.switch(True)


class _Mode:
    """How the interpreter of this process runs."""

    def __init__(self) -> None:
        self.fast: _Fast | None = None
        self.compared: set[object] = set()
        self.launches = 0


_MODE = _Mode()


def use(*, fast: bool) -> None:
    """Choose how the interpreter of this process runs from now on.

    Raises:
        BackendUnavailableError: this version cannot, or this process has the GPU.
    """
    if _MODE.fast is not None:
        _MODE.fast.switch(False)
    _MODE.fast, _MODE.launches = None, 0
    _MODE.compared.clear()
    if not fast:
        return
    if backend.current() is not Backend.INTERPRETER:
        raise BackendUnavailableError("only the interpreter has a fast mode")
    _MODE.fast = _Fast()
    _MODE.fast.switch(True)


# --------------------------------------------------------------------------- the launch


def launch(
    case: Case, example: Example, poison: int, values: dict[str, torch.Tensor]
) -> Observation:
    """`tritaudit.backend.launch`, and in fast mode a comparison with the stock interpreter.

    Raises:
        FastDiffersError: the two disagree, or the stock one disagrees with itself.
    """
    fast = _MODE.fast
    if fast is None or not _to_compare(example):
        return backend.launch(case, example, poison, values)
    with fast.stock():
        stock = backend.launch(case, example, poison, values)
    seen = backend.launch(case, example, poison, values)
    if same_observation(stock, seen):
        return seen
    with fast.stock():
        again = backend.launch(case, example, poison, values)
    where = f"{example.label()} {example.dtype()}"
    if same_observation(stock, again):
        raise FastDiffersError(f"the fast interpreter differs from the stock one at {where}")
    raise FastDiffersError(f"the stock interpreter does not repeat its own result at {where}")


def _to_compare(example: Example) -> bool:
    """Whether this launch is one of those that are compared; counts them."""
    if len(_MODE.compared) >= COMPARED:
        return False
    _MODE.launches += 1
    kind: object = (example.dtypes, example.tiles)
    if _MODE.launches <= FIRST:
        kind = (kind, _MODE.launches)
    if kind in _MODE.compared:
        return False
    _MODE.compared.add(kind)
    return True


def same_observation(one: Observation, other: Observation) -> bool:
    """Whether two launches did the same, to the last bit.

    The texts of errors may hold addresses, so only their kinds and places count.
    """
    if _plain(one) != _plain(other):
        return False
    if not all(torch.equal(mask, other.mutated[name]) for name, mask in one.mutated.items()):
        return False
    if one.out is None or other.out is None:
        return True
    return bool(same_bits(one.out, other.out).all())


def _plain(seen: Observation) -> tuple[object, ...]:
    """What can be compared without looking into a tensor."""
    error, out = seen.error, seen.out
    return (
        None if error is None else (error.kind, error.path, error.line),
        None if out is None else (out.shape, out.dtype),
        seen.mutated.keys(),
        *(getattr(seen, f.name) for f in dataclasses.fields(seen) if f.name not in _TENSORS),
    )


#: fields of an Observation that are compared by themselves.
_TENSORS = ("error", "out", "mutated")
