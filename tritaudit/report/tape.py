"""Elements in a row, several labelled rows one under another, cut where tiles are cut.

    output      0  1  2  3 │  4  5  6  7
    came from   3  2  1  0 │  7  6  5  4
                ✗  ✗  ✗  ✗    ✗  ✗  ✗  ✗

Shared by the excerpt of an output and the drawing of an index map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

MARK = "✗"
WRONG, RIGHT, FAINT = "bold red", "green", "dim"


@dataclass(frozen=True, slots=True)
class Column:
    """One element: a text for each labelled row. `gap` says that elements before it are left out.

    `tile` is the number of the tile that the element lies in (0 where there are none).
    """

    texts: tuple[str, ...]
    wrong: bool
    position: int
    tile: int = 0
    gap: bool = False


def cell_width(columns: Sequence[Column]) -> int:
    """The width that holds the text of every cell."""
    return max((cell_len(text) for column in columns for text in column.texts), default=1)


def cut(columns: Sequence[Column], room: int, width: int) -> list[list[Column]]:
    """Columns in rows of at most `room` cells, broken at a tile border where a tile fits in a row.

    A tile that is wider than a row is broken into equal rows, so that they can be compared.
    """
    tiles: list[list[Column]] = []
    for column in columns:
        if tiles and tiles[-1][-1].tile == column.tile:
            tiles[-1].append(column)
        else:
            tiles.append([column])
    rows: list[list[Column]] = []
    for tile in tiles:
        together = [*rows[-1], *tile] if rows else []
        if together and _cells(together, width) <= room:
            rows[-1] = together
            continue
        rows += _in_equal_parts(tile, room, width)
    return rows


def _in_equal_parts(tile: list[Column], room: int, width: int) -> list[list[Column]]:
    size = len(tile)
    while size > 1 and any(
        _cells(tile[i : i + size], width) > room for i in range(0, len(tile), size)
    ):
        size = (size + 1) // 2
    return [tile[i : i + size] for i in range(0, len(tile), size)]


def _cells(row: Sequence[Column], width: int) -> int:
    total = 0
    for i, column in enumerate(row):
        total += width + 1
        if column.gap or (i and column.tile != row[i - 1].tile):
            total += 2
    return total


def draw(
    labels: Sequence[str],
    columns: Sequence[Column],
    width: int,
    *,
    compared: int = -1,
    most: int = 0,
    goes_on: bool = False,
) -> Text:
    """The rows as text of at most `width` cells a line, the last one without a newline.

    `compared` is the labelled row whose wrong elements stand out. With `most`, only that many rows
    of elements are drawn: the first ones and the last, with a line that says what is left out.
    `goes_on` says that elements after the last column are left out.
    """
    cell = max(cell_width(columns), 2)
    head = max(map(cell_len, labels)) + 1
    rows = cut(columns, max(width - head - 2, cell + 3), cell)
    out = Text(no_wrap=True, overflow="ignore")
    hidden: list[Column] = []
    if most and len(rows) > most:
        hidden = [c for row in rows[most - 1 : -1] for c in row]
        rows = [*rows[: most - 1], rows[-1]]
    for number, row in enumerate(rows):
        if number:
            out.append("\n")
            if hidden and number == len(rows) - 1:
                out.append(_left_out(hidden), FAINT)
        following = hidden if hidden and number == len(rows) - 2 else [*rows, []][number + 1]
        end = _after(row[-1], following[0] if following else None, goes_on)
        _draw_row(out, labels, row, cell, head, compared % len(labels), end)
    out.rstrip()
    return out


def _after(last: Column, following: Column | None, goes_on: bool) -> str:
    """The end of a row: `│` where a tile ends there too, `…` where elements are left out."""
    if following is None:
        return "…" if goes_on else ""
    return "│" if following.tile != last.tile and not following.gap else ""


def _left_out(hidden: Sequence[Column]) -> str:
    wrong = sum(c.wrong for c in hidden)
    verdict = {0: "all right", len(hidden): "all wrong"}.get(wrong, f"{wrong} of them wrong")
    first, last = hidden[0].position, hidden[-1].position
    return f"… {first} to {last} left out: {verdict}\n\n"


def _draw_row(
    out: Text,
    labels: Sequence[str],
    row: Sequence[Column],
    cell: int,
    head: int,
    compared: int,
    end: str,
) -> None:
    marks = any(c.wrong for c in row)
    for i, label in enumerate(labels):
        out.append(label.rjust(head - 1) + " ", FAINT if i == 0 else "")
        for j, column in enumerate(row):
            out.append(_before(row, j), FAINT)
            text = " " * (cell - cell_len(column.texts[i])) + column.texts[i] + " "
            style = FAINT if i == 0 else ""
            if i == compared:
                style = WRONG if column.wrong else RIGHT
            out.append(text, style)
        out.append(end, FAINT)
        _end_line(out)
    if marks:
        out.append(" " * head)
        for j, column in enumerate(row):
            out.append(" " * len(_before(row, j)))
            out.append((MARK if column.wrong else " ").rjust(cell) + " ", WRONG)
        _end_line(out)


def _before(row: Sequence[Column], j: int) -> str:
    if row[j].gap:
        return "… "
    return "│ " if j and row[j].tile != row[j - 1].tile else ""


def _end_line(out: Text) -> None:
    out.rstrip()
    out.append("\n")
