"""The excerpt of an output: input, expected and got side by side, wrong elements marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.text import Text

from tritaudit.model import UNKNOWN, Cell, Excerpt
from tritaudit.report import grid, tape
from tritaudit.report.wording import count, line, pad

#: a value longer than this is read better in a list, one element a line.
_WIDEST_IN_A_ROW = 10
#: numbers of an excerpt in which no fraction needs to be shown.
_WHOLE = re.compile(r"|-?\d+\.0|-?Inf|-?NaN.*")
#: lines of a list of elements.
_LONGEST_LIST = 18


def render_excerpt(excerpt: Excerpt, width: int) -> Text:
    """The excerpt as text of at most `width` cells a line, as its shape asks for.

    One varying axis: elements in a row, cut where the tiles are cut. Two: three grids. More axes,
    or long values: a list with one element a line.
    """
    if not excerpt.cells:
        return Text(f"no elements (shape {_shape(excerpt)})", tape.FAINT)
    excerpt = _without_zero_fractions(excerpt)
    shown = excerpt if _long_values(excerpt) else _slice_of_two_axes(excerpt)
    varying = varying_axes(shown)
    drawn = None
    if len(shown.cells) > 1 and not _long_values(excerpt):
        if len(varying) <= 1:
            drawn = _in_a_row(shown, varying[0] if varying else 0, width)
        elif len(varying) == 2:
            drawn = _as_grids(shown, (varying[0], varying[1]), width)
    if drawn is None:
        return _as_list(excerpt, varying_axes(excerpt))
    return _left_out(drawn, excerpt, shown)


def _without_zero_fractions(excerpt: Excerpt) -> Excerpt:
    """`3` for `3.0` where all numbers are whole; -0.0 is not, or it would not be told from 0."""
    texts = {t for c in excerpt.cells for t in (c.input, c.expected, c.got)}
    if "-0.0" in texts or not all(_WHOLE.fullmatch(t) for t in texts):
        return excerpt
    cells = (
        replace(
            c,
            input=c.input.removesuffix(".0"),
            expected=c.expected.removesuffix(".0"),
            got=c.got.removesuffix(".0"),
        )
        for c in excerpt.cells
    )
    return replace(excerpt, cells=tuple(cells))


def _long_values(excerpt: Excerpt) -> bool:
    texts = (line(t) for c in excerpt.cells for t in (c.input, c.expected, c.got))
    return max(map(cell_len, texts)) > _WIDEST_IN_A_ROW


def _slice_of_two_axes(excerpt: Excerpt) -> Excerpt:
    """An excerpt that varies along its last two varying axes, through the first wrong element."""
    fixed = varying_axes(excerpt)[:-2]
    if not fixed:
        return excerpt
    through = next((c for c in excerpt.cells if c.wrong), excerpt.cells[0]).index
    cells = [c for c in excerpt.cells if all(c.index[k] == through[k] for k in fixed)]
    return replace(excerpt, cells=tuple(cells))


def _left_out(drawn: Text, excerpt: Excerpt, shown: Excerpt) -> Text:
    number = len(excerpt.cells) - len(shown.cells)
    if number:
        wrong = sum(c.wrong for c in excerpt.cells) - sum(c.wrong for c in shown.cells)
        drawn.append(f"\n… {count(number, 'more element')}, {wrong} wrong", tape.FAINT)
    return drawn


def varying_axes(excerpt: Excerpt) -> list[int]:
    """The numbers of the axes along which the shown cells differ."""
    shown = [c.index for c in excerpt.cells]
    return [k for k in range(len(excerpt.shape)) if len({i[k] for i in shown}) > 1]


def caption(excerpt: Excerpt) -> str:
    """How many elements are wrong, the shape, the dtypes and the tiles: one line."""
    dtype = line(excerpt.in_dtype)
    if excerpt.out_dtype != excerpt.in_dtype:
        dtype = f"{dtype} → {line(excerpt.out_dtype)}"
    sizes = [f"{t} along {line(a)}" for a, t in zip(excerpt.axes, excerpt.tiles, strict=False) if t]
    tiles = [f"tiles of {' and '.join(sizes)}"] if sizes else []
    wrong = f"{excerpt.wrong:,} of {count(excerpt.total, 'element')}"
    wrong += f" of {line(excerpt.of)} changed" if excerpt.of else " wrong"
    signs = ["? = never written"] if any(c.got == UNKNOWN for c in excerpt.cells) else []
    return " · ".join([wrong, f"shape {_shape(excerpt)}", dtype, *tiles, *signs])


def _shape(excerpt: Excerpt) -> str:
    return f"[{', '.join(map(str, excerpt.shape))}]"


def _tile(excerpt: Excerpt, axis: int) -> int:
    return excerpt.tiles[axis] if axis < len(excerpt.tiles) else 0


def _axis(excerpt: Excerpt, axis: int) -> str:
    return line(excerpt.axes[axis]) if axis < len(excerpt.axes) else ""


def _has_input(excerpt: Excerpt) -> bool:
    return any(c.input for c in excerpt.cells)


def _two(excerpt: Excerpt) -> tuple[str, str]:
    """What the two values of a cell are called."""
    return ("before", "after") if excerpt.of else ("expected", "got")


def _in_a_row(excerpt: Excerpt, axis: int, width: int) -> Text:
    tile, with_input = _tile(excerpt, axis), _has_input(excerpt)
    columns = []
    before = -1
    for c in excerpt.cells:
        at = c.index[axis] if c.index else 0
        values = (line(c.input), line(c.expected), line(c.got))
        columns.append(
            tape.Column(
                (str(at), *values[0 if with_input else 1 :]),
                c.wrong,
                at,
                at // tile if tile else 0,
                gap=at != before + 1,
            )
        )
        before = at
    labels = [_axis(excerpt, axis), *(["input"] if with_input else []), *_two(excerpt)]
    goes_on = bool(excerpt.shape) and before + 1 < excerpt.shape[axis]
    drawn = tape.draw(labels, columns, width, most=6, goes_on=goes_on)
    return _fixed(excerpt, [axis]).append_text(drawn)


def _fixed(excerpt: Excerpt, varying: Sequence[int]) -> Text:
    """A first line that names the axes along which nothing varies, where there are such."""
    index = excerpt.cells[0].index
    rest = [
        f"{_axis(excerpt, k)}={index[k]}"
        for k in range(len(excerpt.shape))
        if k not in varying and excerpt.shape[k] > 1
    ]
    out = Text(no_wrap=True, overflow="ignore")
    return out.append(f"at {' '.join(rest)}\n", tape.FAINT) if rest else out


def _as_grids(excerpt: Excerpt, axes: tuple[int, int], width: int) -> Text | None:
    at = {(c.index[axes[0]], c.index[axes[1]]): c for c in excerpt.cells}
    tiles = (_tile(excerpt, axes[0]), _tile(excerpt, axes[1]))
    left, right = _two(excerpt)
    grids = [
        grid.Grid(left, {p: line(c.expected) for p, c in at.items()}),
        grid.Grid(
            right,
            {p: line(c.got) for p, c in at.items()},
            frozenset(p for p, c in at.items() if c.wrong),
        ),
    ]
    if _has_input(excerpt):
        grids.insert(0, grid.Grid("input", {p: line(c.input) for p, c in at.items()}))
    if max(grid.breadth(g, tiles) for g in grids) > width:
        return None
    shape = (excerpt.shape[axes[0]], excerpt.shape[axes[1]])
    names = f"{_axis(excerpt, axes[0])} down, {_axis(excerpt, axes[1])} across\n"
    head = _fixed(excerpt, axes).append(names, tape.FAINT)
    return head.append_text(grid.draw(grids, tiles, shape, width))


def _as_list(excerpt: Excerpt, varying: Sequence[int]) -> Text:
    shown, hidden = _worth_showing(excerpt.cells)
    axes = list(varying) or list(range(len(excerpt.shape)))[:1]
    inputs = ["input"] if _has_input(excerpt) else []
    titles = [",".join(_axis(excerpt, k) for k in axes), *inputs, *_two(excerpt)]
    rows = [
        [
            ",".join(str(c.index[k]) for k in axes),
            *([line(c.input)] if inputs else []),
            line(c.expected),
            line(c.got),
        ]
        for c in shown
    ]
    spans = [max(cell_len(r[k]) for r in [titles, *rows]) for k in range(len(titles))]
    out = Text(no_wrap=True, overflow="ignore")
    out.append(_columns(titles, spans), tape.FAINT)
    for number, (c, row) in enumerate(zip(shown, rows, strict=True)):
        out.append("\n")
        if number and (rule := _between(excerpt, shown[number - 1], c, spans)):
            out.append(rule + "\n", tape.FAINT)
        out.append(_columns(row[:-1], spans[:-1]) + "   ")
        out.append(" " * (spans[-1] - cell_len(row[-1])) + row[-1], _style(c))
        out.append(f" {tape.MARK}" if c.wrong else "", tape.WRONG)
    if hidden:
        wrong = sum(c.wrong for c in hidden)
        out.append(f"\n… {count(len(hidden), 'more element')}, {wrong} wrong", tape.FAINT)
    return out


def _style(cell: Cell) -> str:
    return tape.WRONG if cell.wrong else tape.RIGHT


def _columns(texts: Sequence[str], spans: Sequence[int]) -> str:
    return "   ".join(
        pad("", span - cell_len(text)) + text for text, span in zip(texts, spans, strict=True)
    )


def _worth_showing(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells of a list and those left out; where not all fit, wrong ones go first."""
    if len(cells) <= _LONGEST_LIST:
        return list(cells), []
    chosen = [c for c in cells if c.wrong][:_LONGEST_LIST] or list(cells[:_LONGEST_LIST])
    left = [c for c in cells if c not in chosen]
    return chosen, left


def _between(excerpt: Excerpt, before: Cell, after: Cell, spans: Sequence[int]) -> str:
    """A line between two elements of a list: a tile border, or elements left out."""
    if _flat(excerpt, after) != _flat(excerpt, before) + 1:
        return "…".rjust(spans[0])
    for k in range(len(excerpt.shape)):
        tile = _tile(excerpt, k)
        if tile and before.index[k] // tile != after.index[k] // tile:
            return "─" * (sum(spans) + 3 * (len(spans) - 1))
    return ""


def _flat(excerpt: Excerpt, cell: Cell) -> int:
    position = 0
    for size, k in zip(excerpt.shape, cell.index, strict=True):
        position = position * size + k
    return position
