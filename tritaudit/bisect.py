"""What shows only in large examples: the smallest size at which it does, before anything else.

To explain what is wrong with millions of elements takes seconds for each explanation that is tried.
So a large example that is wrong in a way that is not known yet is made smaller first: from a small
one upwards, twice as large each time, until it shows; then between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tritaudit.model import Case, Example

__all__ = ["SMALL", "climb", "narrow"]

#: elements of the first input below which the sweep and the census have looked already.
SMALL = 1 << 14
#: elements of all examples together that `narrow` tries.
_MOST = 1 << 25

Shows = Callable[[Example], bool]


def climb(case: Case, example: Example, shows: Shows) -> tuple[Example | None, Example]:
    """The first of ever larger examples, up to this one, that shows something.

    Args:
        case: the case.
        example: shows it.
        shows: launches an example, perhaps more than once.

    Returns:
        The last that did not show it (None: there was none), and the first that did.
    """
    before = None
    for smaller in reversed(_halved(case, example)[1:]):
        if shows(smaller):
            return before, smaller
        before = smaller
    return before, example


def narrow(case: Case, below: Example, example: Example, shows: Shows) -> Example:
    """The smallest example found that shows something, between two neighbours of `climb`.

    First the axes in which the two are alike, as small as they may be; then the other one.
    """
    axes = case.inputs[0].axes
    left = _MOST
    for axis in axes:
        low = max(1, case.bounds(axis)[0])
        if low < example.size(axis) == below.size(axis):
            smaller = _resized(example, axis, low)
            left -= _elements(axes, smaller)
            if shows(smaller):
                below, example = _resized(below, axis, low), smaller
    while (between := _between(axes, below, example)) is not None:
        left -= _elements(axes, between)
        if left < 0:
            break
        if shows(between):
            example = between
        else:
            below = between
    return example


def _halved(case: Case, example: Example) -> list[Example]:
    """An example, one with its longest axis half as long, and so on down to SMALL elements."""
    axes = case.inputs[0].axes
    out = [example]
    while _elements(axes, out[-1]) > SMALL:
        last = out[-1]
        longer = [a for a in axes if last.size(a) > max(1, case.bounds(a)[0])]
        if not longer:
            break
        axis = max(longer, key=last.size)
        out.append(_resized(last, axis, max(case.bounds(axis)[0], last.size(axis) // 2)))
    return out


def _between(axes: tuple[str, ...], low: Example, high: Example) -> Example | None:
    """An example halfway between two that differ in one axis; None where there is none."""
    axis = next(a for a in axes if low.size(a) != high.size(a))
    size = (low.size(axis) + high.size(axis)) // 2
    return _resized(high, axis, size) if size > low.size(axis) else None


def _resized(example: Example, axis: str, size: int) -> Example:
    return replace(example, sizes=tuple((a, size if a == axis else n) for a, n in example.sizes))


def _elements(axes: tuple[str, ...], example: Example) -> int:
    return math.prod(example.size(a) for a in axes)
