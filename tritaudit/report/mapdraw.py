"""The index map of a kernel that moves data: for every output position, where it came from.

Right and wrong are told apart by a mark, so that it shows without colour too. `pad` is a masked
lane of a padded tile, `?` was never written, `*` is no input element.
"""

from __future__ import annotations

import re

from rich.text import Text

from tritaudit.model import MASKED, OTHER, UNWRITTEN, IndexMap
from tritaudit.report import grid, tape
from tritaudit.report.mapview import (
    AROUND,
    SIGNS,
    fixed_index,
    moving_axes,
    runs,
    sign,
    slice_along,
    slice_of_two,
    tile_of,
    window,
    window_of_two,
)
from tritaudit.report.wording import count, line

#: rows of elements of a drawing, and lines of the table of runs.
_ROWS, _RUNS = 8, 8
#: rows of a grid, and the fewest columns that make one.
_GRID_ROWS, _FEWEST_COLUMNS = 16, 4


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
    """What the signs in the drawing of a map mean; empty where it has none.

    Args:
        drawn: the drawing as text, of a picture the words in it.
    """
    seen = {kind for kind, sign in SIGNS.items() if re.search(rf"(?<!\w){re.escape(sign)}", drawn)}
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
    if tape.MARK in drawn:
        words.append(f"{tape.MARK} = wrong")
    if "│" in drawn:
        words.append("│ = tile border")
    return ", ".join(words)


# --------------------------------------------------------------------------- one axis


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
        return SIGNS[first]
    return str(first) if first == last else f"{first} to {last}"


def _in_a_row(index_map: IndexMap, axis: int, width: int) -> Text:
    shape = index_map.shape
    places = slice_along(index_map, axis)
    size, tile = len(places), tile_of(index_map, axis)
    first, last = window([wrong for _, _, _, wrong in places], tile)
    columns = []
    for k in range(first, last):
        came, should, _, wrong = places[k]
        number = k // tile if tile else 0
        gap = k == first and k > 0
        columns.append(tape.Column((str(k), should, came), wrong, k, number, gap))
    columns += _padding_lanes(size, tile) if last == size else []
    labels = [_output_label(index_map, axis), "should be", "came from"]
    out = Text(no_wrap=True, overflow="ignore")
    fixed = fixed_index(index_map)
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
    if lanes > AROUND:
        return []
    return [tape.Column(("·",) * 3, False, k, k // tile) for k in range(size, size + lanes)]


def _output_label(index_map: IndexMap, axis: int) -> str:
    name = line(index_map.axes[axis]) if axis < len(index_map.axes) else ""
    return f"output {name}" if name and len(name) <= 8 else "output"


# --------------------------------------------------------------------------- two axes


def _as_grids(index_map: IndexMap, axes: tuple[int, int], width: int) -> Text | None:
    """Two grids, where it should come from and where it came from; None where no grid fits."""
    shape, fixed = index_map.shape, fixed_index(index_map)
    size = (shape[axes[0]], shape[axes[1]])
    tiles = (tile_of(index_map, axes[0]), tile_of(index_map, axes[1]))
    entries = slice_of_two(index_map, axes)
    across = _columns_that_fit(size, tiles[1], width)
    if across < min(_FEWEST_COLUMNS, size[1]):
        return None
    rows, columns = window_of_two(entries, size, tiles, (_GRID_ROWS, across))
    shown = [(r, c) for r in rows for c in columns]
    should = {p: sign(entries[p][1], index_map, axes) for p in shown}
    came = {p: sign(entries[p][0], index_map, axes) for p in shown}
    wrong = frozenset(p for p in shown if entries[p][0] != entries[p][1])
    names = [line(index_map.axes[k]) for k in axes]
    at = " ".join(
        f"{line(index_map.axes[k])}={fixed[k]}"
        for k in range(len(shape))
        if k not in axes and shape[k] > 1
    )
    head = f"{names[0]} down, {names[1]} across; a cell says {','.join(names)}\n"
    out = Text(f"at {at}: {head}" if at else head, tape.FAINT)
    grids = [grid.Grid("should come from", should), grid.Grid("came from", came, wrong)]
    drawn = Text(no_wrap=True, overflow="ignore").append_text(out)
    return drawn.append_text(grid.draw(grids, tiles, size, width))


def _columns_that_fit(size: tuple[int, int], tile: int, width: int) -> int:
    cell = len(f"{size[0] - 1},{size[1] - 1}") + 2
    room = width - len(str(size[0])) - 4
    across = room // cell
    while across and across * cell + 2 * (across // tile + 1 if tile else 0) > room:
        across -= 1
    return across
