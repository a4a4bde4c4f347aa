"""The index map of a kernel that moves data: for every output position, where it came from.

Right and wrong are told apart by a mark, so that it shows without colour too. `pad` is a masked
lane of a padded tile, `?` was never written, `*` is no input element.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from tritaudit.model import MASKED, OTHER, UNWRITTEN, IndexMap
from tritaudit.report import grid, tape
from tritaudit.report.wording import count, line

#: one-axis maps up to this size are drawn whole, larger ones around the first wrong tile border.
WHOLE = 320
#: rows of elements of a drawing, and lines of the table of runs.
_ROWS, _RUNS = 8, 8
#: positions on either side of a wrong tile border in an excerpt.
_AROUND = 16

_SIGNS = {MASKED: "pad", UNWRITTEN: "?", OTHER: "*"}


def render_map(index_map: IndexMap, width: int) -> Text:
    """The map as text of at most `width` cells a line: a row along one axis, or a grid for two."""
    axes = moving_axes(index_map)
    if not index_map.source:
        return Text("the output has no elements", tape.FAINT)
    if len(axes) == 2:
        drawn = _as_grids(index_map, (axes[0], axes[1]), width)
        if drawn is not None:
            return drawn
    return _in_a_row(index_map, axes[0] if axes else 0, width)


def legend(index_map: IndexMap, drawn: str) -> str:
    """What the signs in the drawing of a map mean; empty where it has none."""
    seen = set(index_map.source)
    words = []
    if MASKED in seen:
        value = f" (value {line(index_map.leaked)})" if index_map.leaked else ""
        words.append(f"pad = a masked lane of a padded tile{value}")
    if UNWRITTEN in seen:
        words.append("? = never written")
    if OTHER in seen:
        words.append("* = not an element of the input")
    if "·" in drawn:
        words.append("· = a masked lane, beyond the end")
    if wrong_positions(index_map):
        words.append(f"{tape.MARK} = wrong")
    if "│" in drawn:
        words.append("│ = tile border")
    return ", ".join(words)


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
        return _SIGNS[flat]
    if not index_map.shape or flat >= math.prod(index_map.shape):
        return str(flat)  # the input has another shape than the output
    there = coordinates(flat, index_map.shape)
    return ",".join(str(there[k]) for k in axes)


# --------------------------------------------------------------------------- one axis


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


def render_runs(index_map: IndexMap, most: int = _RUNS) -> Text | None:
    """A table of the runs, for one axis with few of them; None where it would say nothing."""
    long = [size for size in index_map.shape if size > 1]
    found = runs(index_map) if len(long) == 1 else []
    if not found or len(found) * 2 > len(index_map.source):
        return None
    shown = found[:most]
    if not any(run.wrong for run in shown):
        shown = [run for run in found if run.wrong][:most] or shown
    rows = [(_span(r.first, r.last), _span(*r.source), _span(*r.expected)) for r in shown]
    titles = ("output", "came from", "should come from")
    spans = [max(len(t), *(len(r[k]) for r in rows)) for k, t in enumerate(titles)]
    out = Text(no_wrap=True, overflow="ignore")
    out.append("   ".join(t.rjust(s) for t, s in zip(titles, spans, strict=True)), tape.FAINT)
    for (output, came, should), wrong in zip(rows, (r.wrong for r in shown), strict=True):
        out.append(f"\n{output.rjust(spans[0])}   ")
        out.append(came.rjust(spans[1]), tape.WRONG if wrong else tape.RIGHT)
        out.append(f"   {should.rjust(spans[2])}")
        out.append(f" {tape.MARK}" if wrong else "", tape.WRONG)
    if len(found) > len(shown):
        out.append(f"\n… {count(len(found) - len(shown), 'more run')}", tape.FAINT)
    return out


def _span(first: int, last: int) -> str:
    if first < 0:
        return _SIGNS[first]
    return str(first) if first == last else f"{first} to {last}"


def _in_a_row(index_map: IndexMap, axis: int, width: int) -> Text:
    shape = index_map.shape
    size = shape[axis] if shape else 1
    fixed = list(coordinates(_first_wrong(index_map), shape))
    tile = index_map.tiles[axis] if axis < len(index_map.tiles) else 0
    flats = []
    for k in range(size):
        index = [*fixed[:axis], k, *fixed[axis + 1 :]] if shape else []
        flats.append(flat_position(index, shape))
    wrong = [index_map.source[f] != index_map.expected[f] for f in flats]
    first, last = window(wrong, tile)
    columns = []
    for k in range(first, last):
        came, should = index_map.source[flats[k]], index_map.expected[flats[k]]
        texts = (
            str(k),
            _along(should, index_map, axis, fixed),
            _along(came, index_map, axis, fixed),
        )
        number = k // tile if tile else 0
        columns.append(tape.Column(texts, wrong[k], k, number, gap=k == first and k > 0))
    columns += _padding_lanes(size, tile) if last == size else []
    labels = [_output_label(index_map, axis), "should be", "came from"]
    out = Text(no_wrap=True, overflow="ignore")
    others = [
        f"{line(index_map.axes[k])}={fixed[k]}" for k, n in enumerate(shape) if k != axis and n > 1
    ]
    if others:
        out.append(f"at {' '.join(others)}, along {line(index_map.axes[axis])}\n", tape.FAINT)
    drawn = tape.draw(labels, columns, width, most=_ROWS, goes_on=last < size)
    return out.append_text(drawn)


def _padding_lanes(size: int, tile: int) -> list[tape.Column]:
    """The lanes of the last tile that lie beyond the axis, if they are few."""
    lanes = -size % tile if tile else 0
    if lanes > _AROUND:
        return []
    return [tape.Column(("·",) * 3, False, k, k // tile) for k in range(size, size + lanes)]


def _output_label(index_map: IndexMap, axis: int) -> str:
    name = line(index_map.axes[axis]) if axis < len(index_map.axes) else ""
    return f"output {name}" if name and len(name) <= 8 else "output"


def _along(flat: int, index_map: IndexMap, axis: int, fixed: Sequence[int]) -> str:
    """The coordinate along an axis; all coordinates where another one differs from `fixed`."""
    if not index_map.shape or flat < 0 or flat >= math.prod(index_map.shape):
        return sign(flat, index_map, [axis])
    there = coordinates(flat, index_map.shape)
    if all(there[k] == fixed[k] for k in range(len(there)) if k != axis):
        return str(there[axis])
    return ",".join(map(str, there))


def _first_wrong(index_map: IndexMap) -> int:
    return next(iter(wrong_positions(index_map)), 0)


def window(wrong: Sequence[bool], tile: int) -> tuple[int, int]:
    """The positions to draw along an axis: all, or some around the first border that goes wrong."""
    size = len(wrong)
    if size <= WHOLE:
        return 0, size
    borders = range(tile, size, tile) if tile else range(0)
    centre = next((b for b in borders if wrong[b - 1] or wrong[b]), None)
    if centre is None:
        centre = wrong.index(True) if True in wrong else 0
    return max(centre - _AROUND, 0), min(centre + _AROUND, size)


# --------------------------------------------------------------------------- two axes


def _as_grids(index_map: IndexMap, axes: tuple[int, int], width: int) -> Text | None:
    """Two grids, where it should come from and where it came from; None where no grid fits."""
    shape = index_map.shape
    fixed = list(coordinates(_first_wrong(index_map), shape))
    tiles = tuple(index_map.tiles[k] if k < len(index_map.tiles) else 0 for k in axes)
    size = (shape[axes[0]], shape[axes[1]])

    def flat(row: int, column: int) -> int:
        index = list(fixed)
        index[axes[0]], index[axes[1]] = row, column
        return flat_position(index, shape)

    where = [(r, c) for r in range(size[0]) for c in range(size[1])]
    wrong = frozenset(
        p for p in where if index_map.source[flat(*p)] != index_map.expected[flat(*p)]
    )
    shown = _shown(size, wrong, (tiles[0], tiles[1]), index_map, axes, width)
    if shown is None:
        return None
    came = {p: sign(index_map.source[flat(*p)], index_map, axes) for p in where if p in shown}
    should = {p: sign(index_map.expected[flat(*p)], index_map, axes) for p in where if p in shown}
    names = [line(index_map.axes[k]) for k in axes]
    out = Text(no_wrap=True, overflow="ignore")
    others = [
        f"{line(index_map.axes[k])}={fixed[k]}"
        for k in range(len(shape))
        if k not in axes and shape[k] > 1
    ]
    where_text = f"at {' '.join(others)}: " if others else ""
    out.append(
        f"{where_text}{names[0]} down, {names[1]} across; a cell says {','.join(names)}\n",
        tape.FAINT,
    )
    grids = [grid.Grid("should come from", should), grid.Grid("came from", came, wrong & shown)]
    return out.append_text(grid.draw(grids, (tiles[0], tiles[1]), size, width))


def _shown(
    size: tuple[int, int],
    wrong: frozenset[tuple[int, int]],
    tiles: tuple[int, int],
    index_map: IndexMap,
    axes: tuple[int, int],
    width: int,
) -> frozenset[tuple[int, int]] | None:
    """The positions of a grid: all that fit, else around the first tile border that goes wrong."""
    cell = len(",".join(str(size[k] - 1) for k in (0, 1))) + 3
    across = (width - 6) // (cell + (2 if tiles[1] == 1 else 0))
    if tiles[1] > 1:
        across = min(across, (width - 6 - 2 * (across // tiles[1])) // cell)
    if across < 4:
        return None
    down = 16
    rows = _span_of(
        [any((r, c) in wrong for c in range(size[1])) for r in range(size[0])], tiles[0], down
    )
    columns = _span_of(
        [any((r, c) in wrong for r in range(size[0])) for c in range(size[1])], tiles[1], across
    )
    return frozenset((r, c) for r in rows for c in columns)


def _span_of(wrong: Sequence[bool], tile: int, most: int) -> range:
    size = len(wrong)
    if size <= most:
        return range(size)
    borders = range(tile, size, tile) if tile else range(0)
    centre = next((b for b in borders if wrong[b - 1] or wrong[b]), None)
    if centre is None:
        centre = wrong.index(True) if True in wrong else 0
    first = min(max(centre - most // 2, 0), size - most)
    return range(first, first + most)
