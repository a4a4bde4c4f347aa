"""Cases on several versions of Triton: on a terminal, as Markdown, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from tritaudit.matrix import Cell, Kind, Matrix, Row, Shown, Step, Word
from tritaudit.report.markdown import code, escape
from tritaudit.report.wording import count, dtypes_in_short, line, listed, pad, shorten, wrapped

__all__ = ["SCHEMA", "render_json", "render_markdown", "render_matrix"]

SCHEMA = "tritaudit-matrix/1"

#: what stands before a cell that is not like the one to its left.
MARK = "▸"
_STYLES = {
    Word.RIGHT: "green",
    Word.WRONG: "red",
    Word.REFUSED: "red",
    Word.DIES: "bold red",
    Word.HANGS: "bold red",
    Word.SKIPPED: "dim",
    Word.ERROR: "bold red",
}
_KINDS = {
    Kind.BROKE: "bold red",
    Kind.REPAIRED: "bold green",
    Kind.CHANGED: "bold yellow",
    Kind.REWORDED: "dim",
}
#: cells of the widest line.
_WIDEST = 132


# --------------------------------------------------------------------------- words


def _faults(shown: Sequence[Shown]) -> str:
    """`api-rejects in int32 (TypeError: …) and sign-kept in floats`."""
    out = []
    for s in shown:
        words = f" ({line(s.words)})" if s.words else ""
        out.append(f"{line(s.fault)} in {dtypes_in_short(s.dtypes)}{words}")
    return listed(out)


def told(step: Step) -> str:
    """What a step is made of, in one line."""
    out = []
    if step.vanished:
        gone = listed([f"{line(s.fault)} in {dtypes_in_short(s.dtypes)}" for s in step.vanished])
        out.append(f"no {gone} any more")
    if step.appeared:
        out.append(_faults(step.appeared))
    for was, now in step.moved:
        before, after = dtypes_in_short(was.dtypes), dtypes_in_short(now.dtypes)
        out.append(f"{line(now.fault)} in {after}, before in {before}")
    for was, now in step.reworded:
        out.append(f"{line(now.words)}; before: {line(was.words)}")
    out += [f"noted: {line(remark)}" for remark in step.remarks_new]
    out += [f"no longer noted: {line(remark)}" for remark in step.remarks_gone]
    return "; ".join(out)


def by_version(matrix: Matrix) -> Iterator[tuple[str, str, list[tuple[Row, Step]]]]:
    """(version, the one before, its changes): what broke first, then what was repaired."""
    order = list(Kind)
    for version in matrix.versions:
        steps = [(row, s) for row in matrix.rows for s in row.steps if s.after == version]
        for before in dict.fromkeys(step.before for _, step in steps):
            group = [(row, step) for row, step in steps if step.before == before]
            yield version, before, sorted(group, key=lambda x: (order.index(x[1].kind), x[0].case))


def summary(matrix: Matrix) -> str:
    """`15 cases on 6 versions: 8 change (1 broke, 7 repaired, 3 reworded)`."""
    cases, versions = count(len(matrix.rows), "case"), count(len(matrix.versions), "version")
    steps = [step for row in matrix.rows for step in row.steps]
    if not steps:
        return f"{cases} on {versions}: the same on all of them"
    kinds = [f"{n} {kind}" for kind in Kind if (n := sum(s.kind is kind for s in steps))]
    changing = len(matrix.changed())
    return f"{cases} on {versions}: {changing} {'changes' if changing == 1 else 'change'} " + (
        f"({', '.join(kinds)})"
    )


def _early(matrix: Matrix) -> list[str]:
    """The cells whose search ended early, so that what does not show there may only be unseen."""
    return [
        f"{line(row.case)} on {version} was not searched to the end: {line(cell.cut_short)}"
        for row in matrix.rows
        for version, cell in zip(matrix.versions, row.cells, strict=True)
        if cell is not None and cell.cut_short
    ]


# --------------------------------------------------------------------------- a terminal


def render_matrix(matrix: Matrix, width: int = 80) -> RenderableType:
    """The table, what changed at which version, and what it comes to."""
    width = min(width, _WIDEST)
    parts: list[RenderableType] = [_table(matrix, width)]
    for version, before, group in by_version(matrix):
        parts.append(Text.assemble("\n", (line(version), "bold"), f", after {line(before)}"))
        parts += [_change(row, step, width) for row, step in group]
    parts += [Text(note, "yellow") for note in _early(matrix)]
    return Group(*parts, Text(f"\n{summary(matrix)}", "bold"))


def _table(matrix: Matrix, width: int) -> Text:
    span = max(9, *(cell_len(version) + 2 for version in matrix.versions))
    longest = max((cell_len(line(row.case)) for row in matrix.rows), default=0)
    names = max(12, min(longest, width - 1 - span * len(matrix.versions)))
    out = Text(no_wrap=True, overflow="ignore")
    out.append(" " * (names + 1))
    for version in matrix.versions:
        out.append(pad(f" {line(version)}", span), "bold")
    for row in matrix.rows:
        out.rstrip()
        name = pad(shorten(line(row.case), names), names)
        out.append(f"\n{name} ", "" if row.steps else "dim")
        for version, cell in zip(matrix.versions, row.cells, strict=True):
            word, mark = _cell_words(row, version, cell)
            style = _STYLES[cell.word] if cell is not None else "dim"
            out.append(mark, "bold").append(pad(word, span - 1), style)
    out.rstrip()
    return out


def _cell_words(row: Row, version: str, cell: Cell | None) -> tuple[str, str]:
    """The word of a cell, and what stands before it. Other words alone are no other cell."""
    changed = any(s.after == version and s.kind is not Kind.REWORDED for s in row.steps)
    return "-" if cell is None else str(cell.word), MARK if changed else " "


def _change(row: Row, step: Step, width: int) -> Text:
    kinds = max(map(len, Kind)) + 2
    out = Text("  ", no_wrap=True, overflow="ignore")
    out.append(pad(str(step.kind), kinds), _KINDS[step.kind]).append(line(row.case))
    for text in wrapped(told(step), width - kinds - 4):
        out.append(f"\n{' ' * (kinds + 4)}{text}", "dim")
    return out


# --------------------------------------------------------------------------- Markdown


def render_markdown(matrix: Matrix) -> str:
    """The same as Markdown that ends in a newline."""
    heads = [escape(version) for version in matrix.versions]
    text = f"## tritaudit matrix\n\n{escape(summary(matrix))}\n"
    text += f"\n| case | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}\n"
    for row in matrix.rows:
        cells = [
            f"**{mark} {word}**" if mark.strip() else word
            for version, cell in zip(matrix.versions, row.cells, strict=True)
            for word, mark in [_cell_words(row, version, cell)]
        ]
        text += f"| {code(line(row.case))} | {' | '.join(cells)} |\n"
    for version, before, group in by_version(matrix):
        text += f"\n### {escape(line(version))}, after {escape(line(before))}\n\n"
        for row, step in group:
            text += f"- {step.kind}: {code(line(row.case))}: {escape(told(step))}\n"
    notes = _early(matrix)
    return text + ("\n" + "".join(f"- {escape(note)}\n" for note in notes) if notes else "")


# --------------------------------------------------------------------------- JSON


def render_json(matrix: Matrix) -> str:
    """The same as JSON text that ends in a newline."""
    value = {
        "schema": SCHEMA,
        "seed": matrix.seed,
        "versions": [
            {
                "triton": version,
                "torch": e.torch,
                "python": e.python,
                "backend": e.backend,
                "gpu": e.gpu,
            }
            for version, e in zip(matrix.versions, matrix.environments, strict=True)
        ],
        "cases": [_row(row) for row in matrix.rows],
    }
    return json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    return {
        "case": row.case,
        "cells": [None if cell is None else _cell(cell) for cell in row.cells],
        "changes": [_step(step) for step in row.steps],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "word": str(cell.word),
        "outcome": str(cell.outcome),
        "faults": [_shown(s) for s in cell.shown],
        "remarks": list(cell.remarks),
        "cut_short": cell.cut_short,
    }


def _shown(shown: Shown) -> dict[str, Any]:
    return {"fault": shown.fault, "dtypes": list(shown.dtypes), "words": shown.words}


def _step(step: Step) -> dict[str, Any]:
    return {
        "before": step.before,
        "after": step.after,
        "kind": str(step.kind),
        "appeared": [_shown(s) for s in step.appeared],
        "vanished": [_shown(s) for s in step.vanished],
        "moved": [{"before": _shown(a), "after": _shown(b)} for a, b in step.moved],
        "reworded": [{"before": _shown(a), "after": _shown(b)} for a, b in step.reworded],
        "remarks_new": list(step.remarks_new),
        "remarks_gone": list(step.remarks_gone),
    }
