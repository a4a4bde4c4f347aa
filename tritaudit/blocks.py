"""Which blocks a kernel works in, where its case does not say: watched, not guessed.

A function may choose its block itself, and its bugs then stand at sizes that nobody declared: a
kernel that reverses each block of 1024 in itself is right up to N = 1024. So such a case is first
launched at a few sizes, and the `tl.constexpr` values that its kernels get are noted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from triton.runtime import interpreter, jit

from tritaudit import generate, tuning
from tritaudit.model import Case, Example

__all__ = ["edges_of_kernels", "with_edges"]

#: sizes of the last axis that are launched, and of the others, which often cost a program each.
LAST, OTHERS = (3, 35, 2100), (3, 35)
#: values of a constexpr that may be a block.
LEAST, MOST = 4, 1 << 16
#: edges of an axis that are kept: the smallest one and the largest ones.
KEPT = 3


@dataclass(frozen=True, slots=True)
class _Probe:
    """One launch: the size of the axis that it varies, and the constexpr values of its kernels."""

    axis: str
    size: int
    values: frozenset[int]


def with_edges(case: Case, launch: Callable[[Example], object]) -> Case:
    """The case with the edges that its kernels show; as it is where it names tiles or edges.

    Args:
        launch: launches an example; what it raises or what comes out is of no interest here.
    """
    if case.tiles or case.edges:
        return case
    edges = edges_of_kernels(case, launch)
    if not edges:
        return case
    return case.with_edges(edges if len(edges) <= KEPT else (edges[0], *edges[1 - KEPT :]))


def edges_of_kernels(case: Case, launch: Callable[[Example], object]) -> tuple[int, ...]:
    """The blocks that do not depend on the size of the input, smallest first."""
    probes = []
    for axis, size, example in _examples(case):
        with _watching() as values:
            launch(example)
            for options in tuning.choices()[1:]:
                launch(replace(example, launch=options))
        probes.append(_Probe(axis, size, frozenset(values)))
    seen = {value for probe in probes for value in probe.values}
    return tuple(sorted(value for value in seen if _fixed(value, probes)))


def _fixed(value: int, probes: Sequence[_Probe]) -> bool:
    """Whether a block stays while an axis grows, or is smaller than the axis that it cuts."""
    for axis in {p.axis for p in probes}:
        mine = [p for p in probes if p.axis == axis]
        if sum(value in p.values for p in mine) > 1:
            return True
        if any(value in p.values and value < p.size for p in mine):
            return True
    return False


def _examples(case: Case) -> Iterator[tuple[str, int, Example]]:
    """One axis at a time, the others small."""
    axes = case.axis_names()
    for axis in axes:
        for size in LAST if axis == axes[-1] else OTHERS:
            wanted = {a: size if a == axis else 2 for a in axes}
            example = generate.plain_example(case, wanted)
            yield axis, example.size(axis), example


@contextmanager
def _watching() -> Iterator[set[int]]:
    """Collect the constexpr values, of kernels launched meanwhile, that may be blocks."""
    seen: set[int] = set()

    def note(value: Any) -> None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and LEAST <= value <= MOST and math.log2(value).is_integer():
            seen.add(value)

    with _noting(interpreter.GridExecutor, "__call__", note), _noting(jit.JITFunction, "run", note):
        yield seen


@contextmanager
def _noting(owner: type, method: str, note: Callable[[Any], None]) -> Iterator[None]:
    """Tell of the constexpr arguments of each call that would launch a kernel, in place of it."""
    original = getattr(owner, method)

    def watched(self: Any, *args: Any, **kwargs: Any) -> None:
        # Told and not run: only the arguments count, and a large size takes the interpreter long.
        names = _constexprs(self)
        for name, value in [*zip(self.arg_names, args, strict=False), *kwargs.items()]:
            if name in names:
                note(value)

    setattr(owner, method, watched)
    try:
        yield
    finally:
        setattr(owner, method, original)


def _constexprs(launched: Any) -> frozenset[str]:
    """The names of the constexpr parameters of a kernel that is launched."""
    own = getattr(launched, "constexprs", None)
    if own and all(isinstance(name, str) for name in own):  # the interpreter
        return frozenset(own)
    return frozenset(p.name for p in getattr(launched, "params", ()) if p.is_constexpr)
