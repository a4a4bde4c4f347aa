"""Which part of an index map a report shows, as plain values: slices, runs and windows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tritaudit.model import MASKED, OTHER, UNWRITTEN, IndexMap

#: one-axis maps up to this size are drawn whole, larger ones around the first wrong tile border.
WHOLE = 320
#: positions on either side of a wrong tile border in an excerpt.
AROUND = 16

SIGNS = {MASKED: "pad", UNWRITTEN: "?", OTHER: "*"}


def wrong_positions(index_map: IndexMap) -> list[int]:
    """The flat output positions whose element came from the wrong place."""
    pairs = zip(index_map.source, index_map.expected, strict=True)
    return [i for i, (source, expected) in enumerate(pairs) if source != expected]


def coordinates(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of a flat row-major position."""
    out = []
    for size in reversed(shape):
        out.append(flat % size)
        flat //= size
    return tuple(reversed(out))


def flat_position(index: Sequence[int], shape: Sequence[int]) -> int:
    """The flat row-major position of an index."""
    flat = 0
    for k, size in zip(index, shape, strict=True):
        flat = flat * size + k
    return flat


def moving_axes(index_map: IndexMap) -> list[int]:
    """The axes to draw: all that are longer than 1 if they are two or fewer, else those that move.

    An axis moves where an element comes, or should come, from another coordinate of it.
    """
    shape = index_map.shape
    long = [k for k, size in enumerate(shape) if size > 1]
    if len(long) <= 2:
        return long or list(range(len(shape)))[:1]
    moved: set[int] = set()
    for position, pair in enumerate(zip(index_map.source, index_map.expected, strict=True)):
        here = coordinates(position, shape)
        for flat in pair:
            if flat >= 0:
                there = coordinates(flat, shape)
                moved |= {k for k in long if here[k] != there[k]}
    return [k for k in long if k in moved][:2] or long[-1:]


def sign(flat: int, index_map: IndexMap, axes: Sequence[int]) -> str:
    """A source as a cell shows it: the coordinates along the drawn axes, `pad`, `?` or `*`."""
    if flat < 0:
        return SIGNS[flat]
    if not index_map.shape or flat >= math.prod(index_map.shape):
        return str(flat)  # the input has another shape than the output
    there = coordinates(flat, index_map.shape)
    return ",".join(str(there[k]) for k in axes)


# --------------------------------------------------------------------------- one axis


def slice_along(index_map: IndexMap, axis: int) -> list[tuple[str, str, int, bool]]:
    """The map along one axis, through the first wrong element.

    For each position: where it came from and should come from as text, the coordinate that it came
    from (negative where it came from nowhere along this line), and whether that is wrong.
    """
    shape = index_map.shape
    fixed = list(fixed_index(index_map))
    out = []
    for k in range(shape[axis] if shape else 1):
        flat = flat_position([*fixed[:axis], k, *fixed[axis + 1 :]] if shape else [], shape)
        came, should = index_map.source[flat], index_map.expected[flat]
        text = _along(came, index_map, axis, fixed)
        coordinate = int(text) if text.isdigit() else min(came, -1)
        out.append((text, _along(should, index_map, axis, fixed), coordinate, came != should))
    return out


def fixed_index(index_map: IndexMap) -> tuple[int, ...]:
    """The index of the first wrong element, through which slices go."""
    return coordinates(next(iter(wrong_positions(index_map)), 0), index_map.shape)


def tile_of(index_map: IndexMap, axis: int) -> int:
    return index_map.tiles[axis] if axis < len(index_map.tiles) else 0


def _along(flat: int, index_map: IndexMap, axis: int, fixed: Sequence[int]) -> str:
    """The coordinate along an axis; all coordinates where another one differs from `fixed`."""
    if not index_map.shape or flat < 0 or flat >= math.prod(index_map.shape):
        return sign(flat, index_map, [axis])
    there = coordinates(flat, index_map.shape)
    if all(there[k] == fixed[k] for k in range(len(there)) if k != axis):
        return str(there[axis])
    return ",".join(map(str, there))


def window(wrong: Sequence[bool], tile: int) -> tuple[int, int]:
    """The positions to draw along an axis: all, or some around the first border that goes wrong."""
    size = len(wrong)
    if size <= WHOLE:
        return 0, size
    centre = _centre(wrong, tile)
    return max(centre - AROUND, 0), min(centre + AROUND, size)


def _centre(wrong: Sequence[bool], tile: int) -> int:
    """The first tile border with a wrong element on one of its sides, else the first wrong one."""
    borders = range(tile, len(wrong), tile) if tile else range(0)
    border = next((b for b in borders if wrong[b - 1] or wrong[b]), None)
    if border is not None:
        return border
    return wrong.index(True) if True in wrong else 0


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring output positions whose sources, and expected sources, follow one another."""

    first: int
    last: int
    source: tuple[int, int]
    expected: tuple[int, int]

    @property
    def wrong(self) -> bool:
        return self.source != self.expected


def runs(index_map: IndexMap) -> list[Run]:
    """The map of one axis in runs."""
    source, expected = index_map.source, index_map.expected
    out: list[Run] = []
    start = 0
    for i in range(1, len(source) + 1):
        if i < len(source) and _follows(source, expected, start, i):
            continue
        out.append(
            Run(start, i - 1, (source[start], source[i - 1]), (expected[start], expected[i - 1]))
        )
        start = i
    return out


def _follows(source: Sequence[int], expected: Sequence[int], start: int, i: int) -> bool:
    for entries in (source, expected):
        before, here = entries[i - 1], entries[i]
        if (before < 0) != (here < 0):
            return False
        step = here - before
        if here < 0:
            if step:
                return False
        elif abs(step) != 1 or (i - start > 1 and step != before - entries[i - 2]):
            return False
    return True


# --------------------------------------------------------------------------- two axes


def slice_of_two(
    index_map: IndexMap, axes: tuple[int, int]
) -> dict[tuple[int, int], tuple[int, int]]:
    """The map in the plane of two axes through the first wrong element: source and expected."""
    shape = index_map.shape
    index = list(fixed_index(index_map))
    out = {}
    for row in range(shape[axes[0]]):
        for column in range(shape[axes[1]]):
            index[axes[0]], index[axes[1]] = row, column
            flat = flat_position(index, shape)
            out[row, column] = index_map.source[flat], index_map.expected[flat]
    return out


def window_of_two(
    entries: Mapping[tuple[int, int], tuple[int, int]],
    size: tuple[int, int],
    tiles: tuple[int, int],
    most: tuple[int, int],
) -> tuple[range, range]:
    """The rows and columns to draw: all that fit, else around the first border that goes wrong.

    Where elements came from nowhere (padding, never written), at least one of these is in sight.
    """
    wrong = {p for p, (came, should) in entries.items() if came != should}
    nowhere = {p for p in wrong if entries[p][0] < 0}
    return (
        _span_around(size[0], {r for r, _ in wrong}, {r for r, _ in nowhere}, tiles[0], most[0]),
        _span_around(size[1], {c for _, c in wrong}, {c for _, c in nowhere}, tiles[1], most[1]),
    )


def _span_around(size: int, wrong: set[int], nowhere: set[int], tile: int, most: int) -> range:
    if size <= most:
        return range(size)

    def around(centre: int) -> range:
        first = min(max(centre - most // 2, 0), size - most)
        return range(first, first + most)

    span = around(_centre([k in wrong for k in range(size)], tile))
    return span if not nowhere or nowhere & set(span) else around(min(nowhere))
