"""Elements of two axes as a grid, with the borders of the tiles, and grids side by side.

             0 1  │ 2 3
          0  4 3  │ 2 1
             ─────┼─────
          1  4✗3✗ │ 2 1

Shared by the excerpt of an output and the drawing of an index map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from tritaudit.report.tape import FAINT, MARK, RIGHT, WRONG

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Grid:
    """What one grid shows: its title, a text for each position, and which ones are wrong.

    `wrong` is None for a grid that is not judged (the input, the expected values).
    """

    title: str
    texts: Mapping[Position, str]
    wrong: frozenset[Position] | None = None


def draw(grids: Sequence[Grid], tiles: tuple[int, int], shape: Position, width: int) -> Text:
    """The grids side by side where `width` allows it, else one under another.

    All grids show the same positions. Rows and columns that are left out show as `…`.
    """
    positions = grids[0].texts.keys()
    rows = sorted({r for r, _ in positions})
    columns = sorted({c for _, c in positions})
    blocks = [_lines(grid, rows, columns, tiles, shape) for grid in grids]
    return _arrange(blocks, width)


def breadth(grid: Grid, tiles: tuple[int, int]) -> int:
    """How many cells a line of one grid takes."""
    columns = sorted({c for _, c in grid.texts})
    cell = max(map(cell_len, grid.texts.values())) + (grid.wrong is not None)
    borders = sum(_border(columns[i - 1], columns[i], tiles[1]) for i in range(1, len(columns)))
    return (cell + 1) * len(columns) + 2 * borders + 6


def _border(before: int, after: int, tile: int) -> bool:
    return bool(tile) and before // tile != after // tile


def _lines(
    grid: Grid, rows: list[int], columns: list[int], tiles: tuple[int, int], shape: Position
) -> list[Text]:
    cell = max(map(cell_len, grid.texts.values()))
    cell = max(cell, len(str(columns[-1])))
    head = len(str(rows[-1])) + 1
    mark = 0 if grid.wrong is None else 1
    header = _header(columns, cell, mark, head, tiles[1], shape[1])
    lines = [Text(grid.title, "bold"), header]
    for i, row in enumerate(rows):
        if i and rows[i] != rows[i - 1] + 1:
            lines.append(Text(" " * head + "…", FAINT))
        elif i and _border(rows[i - 1], row, tiles[0]):
            lines.append(_rule(columns, cell + mark, head, tiles[1]))
        lines.append(_row(grid, row, columns, cell, head, tiles[1]))
    if rows[-1] + 1 < shape[0]:
        lines.append(Text(" " * head + "…", FAINT))
    return lines


def _between(columns: list[int], j: int, tile: int) -> str:
    if not j:
        return ""
    if columns[j] != columns[j - 1] + 1:
        return "… "
    return "│ " if _border(columns[j - 1], columns[j], tile) else ""


def _header(columns: list[int], cell: int, mark: int, head: int, tile: int, size: int) -> Text:
    text = " " * head
    for j, column in enumerate(columns):
        text += _between(columns, j, tile).replace("│", " ") + str(column).rjust(cell)
        text += " " * (mark + 1)
    return Text((text + ("…" if columns[-1] + 1 < size else "")).rstrip(), FAINT)


def _rule(columns: list[int], cell: int, head: int, tile: int) -> Text:
    text = " " * head
    for j in range(len(columns)):
        text += _between(columns, j, tile).replace("│ ", "┼─").replace("… ", "──")
        text += "─" * (cell + 1)
    return Text(text[:-1], FAINT)


def _row(grid: Grid, row: int, columns: list[int], cell: int, head: int, tile: int) -> Text:
    line = Text(str(row).rjust(head - 1) + " ", FAINT)
    line = Text.assemble(line)
    for j, column in enumerate(columns):
        line.append(_between(columns, j, tile), FAINT)
        text = grid.texts.get((row, column), "")
        wrong = grid.wrong is not None and (row, column) in grid.wrong
        style = "" if grid.wrong is None else WRONG if wrong else RIGHT
        line.append(" " * (cell - cell_len(text)) + text, style)
        if grid.wrong is not None:
            line.append(MARK if wrong else " ", WRONG)
        line.append(" ")
    return line


def _arrange(blocks: list[list[Text]], width: int) -> Text:
    spans = [max(cell_len(line.plain.rstrip()) for line in block) for block in blocks]
    out = Text(no_wrap=True, overflow="ignore")
    if sum(spans) + 4 * (len(blocks) - 1) > width:
        for number, block in enumerate(blocks):
            out.append("\n\n" if number else "")
            out.append_text(Text("\n").join(block))
        return out
    for number, parts in enumerate(zip(*blocks, strict=True)):
        out.append("\n" if number else "")
        for part, span in zip(parts, spans, strict=True):
            line = part.copy()
            line.rstrip()
            out.append_text(line)
            out.append(" " * (span - cell_len(line.plain) + 4))
        out.rstrip()
    return out
