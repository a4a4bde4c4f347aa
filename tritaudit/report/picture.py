"""Pictures of findings as SVG: where elements came from, and which bits changed.

Colours come from classes that the page defines for light and dark; right and wrong differ in their
strokes and marks too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tritaudit.model import MASKED, UNWRITTEN, Cell, Excerpt, IndexMap
from tritaudit.report.bits import FIELDS, Fields, expected_bits, telling_cells
from tritaudit.report.mapview import (
    Run,
    moving_axes,
    runs,
    sign,
    slice_along,
    slice_of_two,
    tile_of,
    window_of_two,
    wrong_positions,
)
from tritaudit.report.markup import Html, tag
from tritaudit.report.wording import count, line

#: elements that are drawn as boxes, one each; more are drawn as bands.
BOXES = 64
#: rows of a grid, and the most columns of one.
_ROWS, _COLUMNS = 16, 32
#: bands of one picture.
_BANDS = 200
_LEFT, _WIDTH = 84, 960


def map_picture(index_map: IndexMap) -> Html | None:
    """The index map as a picture: boxes, bands or grids, as its size asks for."""
    axes = moving_axes(index_map)
    if not index_map.source or not axes:
        return None
    if len(axes) == 2:
        return _grids(index_map, (axes[0], axes[1]))
    places = slice_along(index_map, axes[0])
    tile = tile_of(index_map, axes[0])
    if len(places) <= BOXES:
        return _boxes(places, tile)
    return _bands(index_map, len(places), tile)


def words_in(picture: Html) -> str:
    """The words and signs of a picture, as a drawing in text would have them."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", str(picture))
    borders = ["│"] if 'class="border"' in str(picture) else []
    return " ".join([*texts, *borders]).replace("×", "✗")


def _svg(width: float, height: float, title: str, *children: Html | list[Html]) -> Html:
    return tag(
        "svg",
        tag("title", title),
        *children,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def _text(x: float, y: float, words: str, class_: str = "", anchor: str = "middle") -> Html:
    return tag("text", words, x=x, y=y, class_=class_ or None, text_anchor=anchor)


# --------------------------------------------------------------------------- boxes


def _boxes(places: Sequence[tuple[str, str, int, bool]], tile: int) -> Html:
    """One box an element: inputs above, outputs below, a line from each source to its place."""
    size = len(places)
    lanes = min(-size % tile, 32) if tile else 0
    box = max(15.0, min(34.0, (_WIDTH - _LEFT) / (size + lanes)))
    top, below = 30.0, 150.0
    inputs = [_box(i, top, box, str(i), "plain") for i in range(size)]
    outputs, lines = [], []
    for i, (came, should, source, wrong) in enumerate(places):
        state = "wrong" if wrong else "right"
        if 0 <= source < size:
            a, b = _LEFT + (source + 0.5) * box, _LEFT + (i + 0.5) * box
            lines.append(tag("line", x1=a, y1=top + 22, x2=b, y2=below, class_=f"move {state}"))
        outputs.append(_box(i, below, box, came, state if source >= 0 else f"{state} hollow"))
        outputs.append(_text(_LEFT + (i + 0.5) * box, below + 40, should, "faint"))
        if wrong:
            outputs.append(_text(_LEFT + (i + 0.5) * box, below + 58, "×", "mark"))
    padding = [
        _box(i, y, box, "·", "lane") for i in range(size, size + lanes) for y in (top, below)
    ]
    borders = [
        tag("line", x1=x, y1=top - 8, x2=x, y2=below + 30, class_="border")
        for k in _starts(tile, size + lanes)[1:]
        for x in [_LEFT + k * box]
    ]
    names = [
        _text(_LEFT + (k + min(tile, size + lanes - k) / 2) * box, 16, f"tile {k // tile}", "faint")
        for k in _starts(tile, size + lanes)
    ]
    labels = [
        _text(_LEFT - 10, top + 15, "input", "label", "end"),
        _text(_LEFT - 10, below + 15, "output", "label", "end"),
        _text(_LEFT - 10, below + 40, "should be", "faint", "end"),
    ]
    width = _LEFT + (size + lanes) * box + 4
    wrong_ones = sum(w for _, _, _, w in places)
    title = f"Where each of {count(size, 'output element')} came from; {wrong_ones} wrong"
    return _svg(width, below + 64, title, lines, inputs, outputs, padding, borders, names, labels)


def _starts(tile: int, end: int) -> range:
    """Where tiles begin; nowhere without tiles."""
    return range(0, end, tile) if tile else range(0)


def _box(i: int, y: float, box: float, words: str, class_: str) -> Html:
    x = _LEFT + i * box
    rect = tag("rect", x=x + 1, y=y, width=box - 2, height=22.0, rx=3.0, class_=f"box {class_}")
    return tag("g", rect, _text(x + box / 2, y + 15, words, "value"))


# --------------------------------------------------------------------------- bands


def _bands(index_map: IndexMap, size: int, tile: int) -> Html:
    """Many elements: a band from the interval that a run came from to the one it went to."""
    found = runs(index_map) if len(index_map.source) == size else []
    scale = (_WIDTH - _LEFT) / size
    top, below = 30.0, 170.0
    bands = [_band(run, scale, top + 18, below) for run in found[:_BANDS]]
    bars = [
        tag("rect", x=_LEFT, y=y, width=size * scale, height=18.0, class_="box plain")
        for y in (top, below)
    ]
    step = tile if tile and size / tile <= 64 else 0
    borders = [
        tag("line", x1=x, y1=y, x2=x, y2=y + 18, class_="border")
        for k in _starts(step, size)[1:]
        for x in [_LEFT + k * scale]
        for y in (top, below)
    ]
    ends = [
        _text(_LEFT + x, y, words, "faint")
        for y in (top - 6, below + 34)
        for x, words in ((0.0, "0"), (size * scale, str(size - 1)))
    ]
    labels = [
        _text(_LEFT - 14, top + 13, "input", "label", "end"),
        _text(_LEFT - 14, below + 13, "output", "label", "end"),
    ]
    title = f"Where {count(size, 'output element')} came from; "
    title += f"{len(wrong_positions(index_map))} wrong"
    return _svg(_WIDTH + 20, below + 44, title, bars, bands, borders, ends, labels)


def _band(run: Run, scale: float, top: float, below: float) -> Html:
    state = "wrong" if run.wrong else "right"
    left, right = _LEFT + run.first * scale, _LEFT + (run.last + 1) * scale
    if run.source[0] < 0:
        kind = {MASKED: "pad", UNWRITTEN: "?"}.get(run.source[0], "*")
        rect = tag(
            "rect",
            x=left,
            y=below,
            width=max(right - left, 1.0),
            height=18.0,
            class_=f"box hollow {state}",
        )
        return tag("g", rect, _text((left + right) / 2, below - 6, kind, "mark"))
    rising = run.source[0] <= run.source[1]
    first, last = (
        (run.source[0], run.source[1] + 1) if rising else (run.source[0] + 1, run.source[1])
    )
    corners = [
        (_LEFT + first * scale, top),
        (_LEFT + last * scale, top),
        (right, below),
        (left, below),
    ]
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
    return tag("polygon", points=points, class_=f"band {state}")


# --------------------------------------------------------------------------- grids


@dataclass(frozen=True, slots=True)
class _Window:
    """The rows and columns that are drawn of two axes."""

    rows: range
    columns: range
    tiles: tuple[int, int]


def _grids(index_map: IndexMap, axes: tuple[int, int]) -> Html:
    """Two axes: where each element should come from, and where it came from."""
    entry = slice_of_two(index_map, axes)
    size = (index_map.shape[axes[0]], index_map.shape[axes[1]])
    tiles = (tile_of(index_map, axes[0]), tile_of(index_map, axes[1]))
    wrong = {p for p, (came, should) in entry.items() if came != should}
    cell = 22.0 + 7.0 * len(",".join(str(size[k] - 1) for k in (0, 1)))
    most = min(_COLUMNS, int((_WIDTH - 40) // cell))
    rows, columns = window_of_two(entry, size, tiles, (_ROWS, most))
    window = _Window(rows, columns, tiles)
    breadth, height = 40 + cell * len(columns), 60.0 + 26 * len(rows)
    beside = 2 * breadth + 50 <= _WIDTH
    total = len(index_map.source)

    def grid(title: str, x: float, y: float, pick: int, judged: bool) -> list[Html]:
        out = [_text(x + 36, y + 16, title, "label", "start")]
        for i, r in enumerate(rows):
            out.append(_text(x + 28, y + 60 + 26 * i, str(r), "faint", "end"))
            for j, c in enumerate(columns):
                flat = entry[r, c][pick]
                state = "" if not judged else "wrong" if (r, c) in wrong else "right"
                out.append(
                    _cell(
                        x + 36 + cell * j,
                        y + 44 + 26 * i,
                        cell,
                        flat,
                        total,
                        state,
                        sign(flat, index_map, axes),
                    )
                )
        out += [
            _text(x + 36 + cell * (j + 0.5), y + 36, str(c), "faint") for j, c in enumerate(columns)
        ]
        return out + _borders(window, x + 36, y + 44, cell)

    names = " and ".join(line(index_map.axes[k]) for k in axes)
    title = f"Where elements came from along {names}; {len(wrong)} wrong in this plane"
    x, y = (breadth + 40, 0.0) if beside else (0.0, height + 16)
    return _svg(
        x + breadth + 10,
        y + height,
        title,
        grid("should come from", 0, 0, 1, False),
        grid("came from", x, y, 0, True),
    )


def _cell(x: float, y: float, cell: float, flat: int, total: int, state: str, words: str) -> Html:
    # The tint runs with the position in the input, so that a reversal shows as a reversed tint.
    tint = f"--at: {flat / max(total - 1, 1):.3f}" if flat >= 0 else None
    class_ = f"tint {state}" if flat >= 0 else f"box hollow {state}"
    rect = tag(
        "rect", x=x + 1, y=y + 1, width=cell - 2, height=24.0, rx=3.0, class_=class_, style=tint
    )
    mark = [_text(x + cell - 6, y + 10, "×", "mark small")] if state == "wrong" else []
    return tag("g", rect, _text(x + cell / 2, y + 17, words, "value"), mark)


def _borders(window: _Window, x: float, y: float, cell: float) -> list[Html]:
    """Lines between the tiles of a grid."""
    height, width = 26.0 * len(window.rows), cell * len(window.columns)
    down, across = window.tiles
    out = []
    for j, c in enumerate(window.columns):
        if j and across and c % across == 0:
            at = x + cell * j
            out.append(tag("line", x1=at, y1=y, x2=at, y2=y + height, class_="border"))
    for i, r in enumerate(window.rows):
        if i and down and r % down == 0:
            at = y + 26.0 * i
            out.append(tag("line", x1=x, y1=at, x2=x + width, y2=at, class_="border"))
    return out


# --------------------------------------------------------------------------- bits


def bits_picture(excerpt: Excerpt, most: int = 2) -> Html | None:
    """The bits of the first wrong elements, a box a bit, the changed ones marked."""
    fields = FIELDS.get(excerpt.out_dtype)
    cells = telling_cells(excerpt, most)
    if fields is None or not cells:
        return None
    box = 22.0 if fields.bits <= 32 else 13.0
    parts, y = [], 0.0
    for cell in cells:
        parts.append(_bit_rows(cell, excerpt, fields, box, y))
        y += 124.0
    index = ", ".join(map(str, cells[0].index))
    width = _LEFT + fields.bits * box + 20 + 230
    return _svg(width, y, f"The bits of element [{index}]", parts)


def _bit_rows(cell: Cell, excerpt: Excerpt, fields: Fields, box: float, y: float) -> Html:
    assert cell.got_bits is not None
    index = ", ".join(map(str, cell.index))
    expected = expected_bits(cell)
    changed = 0 if expected is None else expected ^ cell.got_bits
    parts = [
        _text(_LEFT, y + 14, f"element [{index}] as {line(excerpt.out_dtype)}", "label", "start")
    ]
    rows: list[tuple[str, int | None, str, int]] = [
        ("expected", expected, cell.expected, 0),
        ("got", cell.got_bits, cell.got, changed),
    ]
    if excerpt.in_dtype == excerpt.out_dtype and cell.input_bits is not None:
        rows.insert(0, ("input", cell.input_bits, cell.input, 0))
    for number, (label, bits, value, marks) in enumerate(rows):
        at = y + 24 + 28 * number
        parts.append(_text(_LEFT - 10, at + 16, label, "label", "end"))
        value = line(value)
        if bits is None:
            words = f"{value.partition(' (')[0]}, which no bits of {line(excerpt.out_dtype)} mean"
            parts.append(_text(_LEFT, at + 16, words, "label", "start"))
            continue
        parts += _bit_boxes(bits, marks, fields, box, at)
        end = _LEFT + 24 + fields.bits * box
        parts.append(_text(end, at + 16, value, "label wrong" if marks else "label", "start"))
    return tag("g", parts)


def _bit_boxes(bits: int, marks: int, fields: Fields, box: float, y: float) -> list[Html]:
    out = []
    for k in range(fields.bits):
        place = fields.bits - 1 - k
        x = _LEFT + k * box + (6 if k else 0) + (6 if k > fields.exponent > 0 else 0)
        marked = bool(marks >> place & 1)
        class_ = "wrong" if marked else _field(place, fields)
        rect = tag("rect", x=x + 0.5, y=y, width=box - 1, height=22.0, class_=f"box {class_}")
        digit = str(bits >> place & 1)
        mark = [_text(x + box / 2, y + 36, "^", "mark")] if marked else []
        out.append(tag("g", rect, _text(x + box / 2, y + 16, digit, "value"), mark))
    return out


def _field(place: int, fields: Fields) -> str:
    if fields.signed and place == fields.bits - 1:
        return "sign"
    return "exponent" if fields.exponent and place >= fields.mantissa else "plain"
