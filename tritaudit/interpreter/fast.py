"""The fast interpreter: quicker equals of what the stock one spends its time on.

The interpreter spends most of its time on three things that can be had for less:

- `ReduceOps.generic_reduce` combines one element at a time in Python. For Triton's own xor, the
  reduction in `tl.flip` from 3.4 on, `numpy.bitwise_xor.reduce` gives the same bits. (Triton 3.2
  and 3.3 flip by a sum, which numpy does already.)
- Every launch and every call of one jitted function in another looks through all members of
  `triton.language` for builtins to patch. Their names do not change, so they are remembered.
- Every sum, difference and product of integers is computed again in 64 bits, for an assertion that
  only debug mode makes. The interpreter has an option for that, and is never in debug mode.

Nothing else is replaced.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import numpy
import triton.language as tl
from triton.runtime import interpreter

from tritaudit.backend import BackendUnavailableError, triton_version

__all__ = ["Fast", "triton_xor"]


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


def _quick_reduce(stock: Callable[..., Any], xor: Any) -> Callable[..., Any]:
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


def _quick_patch(members: _Members) -> Callable[..., None]:
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


class Fast:
    """The stock parts of the interpreter, their equals, and which of them it has at present."""

    def __init__(self) -> None:
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
            _quick_reduce(reduce, xor),
            _quick_patch(_Members()),
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
