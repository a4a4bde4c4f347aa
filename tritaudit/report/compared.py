"""Runs side by side: as a table on a terminal, as Markdown, as JSON.

A mark before a fault says what became of it since the run before: `+` it appeared, `-` it
vanished, `~` it shows otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tritaudit.comparison import Change, Comparison, Row, Run, differences
from tritaudit.model import CaseResult, Finding
from tritaudit.report.markdown import code, escape
from tritaudit.report.severity import outcome_look
from tritaudit.report.wording import count, example_label, joined, line, pad, sentence

__all__ = ["SCHEMA", "render_json", "render_markdown", "render_table"]

SCHEMA = "tritaudit-comparison/1"

#: (mark, fault, what of it differs, rich style)
_Entry = tuple[str, str, str, str]


# --------------------------------------------------------------------------- columns


def _labels(runs: Sequence[Run]) -> list[str]:
    """What tells the runs apart best: their Tritons, their backends, else their names."""
    for values in (
        [f"triton {r.environment.triton}" for r in runs],
        [r.environment.backend for r in runs],
    ):
        if len(set(values)) == len(runs) and all(value.split()[-1:] for value in values):
            return [line(value) for value in values]
    return [line(r.name) for r in runs]


def _circumstances(run: Run) -> list[str]:
    e = run.environment
    named = [("triton", e.triton), ("torch", e.torch), ("Python", e.python)]
    words = [line(e.backend), *(f"{name} {line(version)}" for name, version in named if version)]
    return [word for word in (*words, line(e.gpu)) if word]


# --------------------------------------------------------------------------- cells


def _entries(row: Row, column: int) -> Iterator[_Entry]:
    """The faults of a cell, and those that were there in the run before."""
    cell = row.cells[column]
    change = next((c for c in row.changes if c.after == column), Change(column, column))
    if cell is None:
        return
    for finding in cell.findings:
        fault = finding.fault
        style = "blue" if finding.expected else "bold red"
        if fault in change.appeared:
            yield "+", fault, example_label(finding.example), style
        elif fault in change.changed:
            old = _finding(row.cells[change.before], fault)
            yield "~", fault, "; ".join(map(line, differences(old, finding))), style
        else:
            yield " ", fault, "", style
    for fault in change.vanished:
        yield "-", fault, "", "green"


def _finding(cell: CaseResult | None, fault: str) -> Finding:
    assert cell is not None
    return next(f for f in cell.findings if f.fault == fault)


def _name(row: Row) -> str:
    return f"{line(row.case)} ({line(row.backend)})" if row.backend else line(row.case)


def _regressed(row: Row, column: int) -> bool:
    return any(c.after == column and c.regression for c in row.changes)


# --------------------------------------------------------------------------- a terminal


def render_table(comparison: Comparison, rows: Sequence[Row], width: int = 80) -> RenderableType:
    """Cases by runs: as a table where that fits, else the runs of each case below its name.

    What the columns are and what it comes to stands below.
    """
    labels = [line(label) for label in _labels(comparison.runs)]
    parts: list[RenderableType] = []
    if rows:
        cells = [[_cell(row, column) for column in range(len(labels))] for row in rows]
        names = [_name(row) for row in rows]
        wide = _width(names, labels, cells)
        draw = _table if wide <= width else _blocks
        parts += [draw(names, labels, cells), Text()]
    for label, run in zip(labels, comparison.runs, strict=True):
        words = [f"{label}: {line(run.name)}", *_circumstances(run)]
        parts.append(Text(joined(words, width), "dim"))
    return Group(*parts, _summary(comparison))


def _width(names: Sequence[str], labels: Sequence[str], cells: Sequence[Sequence[Text]]) -> int:
    """Terminal cells of the table with nothing broken."""
    spans = [max(map(cell_len, names))]
    for column, label in enumerate(labels):
        lines = [text for row in cells for text in row[column].plain.split("\n")]
        spans.append(max(map(cell_len, [label, *lines])))
    return sum(spans) + 2 * len(labels)


def _table(names: Sequence[str], labels: Sequence[str], cells: Sequence[Sequence[Text]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    table.add_column("", no_wrap=True)
    for label in labels:
        table.add_column(label, no_wrap=True)
    for name, row in zip(names, cells, strict=True):
        table.add_row(Text(name, "bold"), *row)
    return table


def _blocks(names: Sequence[str], labels: Sequence[str], cells: Sequence[Sequence[Text]]) -> Group:
    span = max(map(cell_len, labels))
    out: list[RenderableType] = []
    for name, row in zip(names, cells, strict=True):
        out += [Text(), Text(name, "bold")] if out else [Text(name, "bold")]
        for label, cell in zip(labels, row, strict=True):
            first, *more = cell.split("\n")
            text = Text.assemble("  ", (pad(label, span), "dim"), "  ", first)
            for entry in more:
                text.append("\n" + " " * (span + 6)).append_text(entry)
            out.append(text)
    return Group(*out)


def _cell(row: Row, column: int) -> Text:
    cell = row.cells[column]
    if cell is None:
        return Text("no result", "dim")
    look = outcome_look(cell.outcome)
    text = Text(look.word, look.style)
    if _regressed(row, column):
        text.append(" ↓", "bold red")
    for mark, fault, what, style in _entries(row, column):
        text.append(f"\n{mark} ").append(line(fault), style)
        text.append(f" {what}" if what else "", "dim")
    return text


def _summary(comparison: Comparison) -> Text:
    words, regressions = _counts(comparison)
    return Text.assemble((words, "bold"), (f" · {regressions}", "bold red" if regressions else ""))


def _counts(comparison: Comparison) -> tuple[str, str]:
    kind = "unit" if any(row.backend for row in comparison.rows) else "case"
    changed, worse = len(comparison.changed()), comparison.regressions()
    words = f"{count(len(comparison.rows), kind)}: {changed} changed"
    names = ", ".join(_name(row) for row in worse)
    return words, f"{count(len(worse), 'regression')}: {names}" if worse else "no regression"


# --------------------------------------------------------------------------- Markdown


def render_markdown(comparison: Comparison, rows: Sequence[Row]) -> str:
    """The same as Markdown that ends in a newline."""
    labels = _labels(comparison.runs)
    text = "## tritaudit compare\n"
    if rows:
        text += f"\n| case | {' | '.join(map(escape, labels))} |\n|---|{'---|' * len(labels)}\n"
    for row in rows:
        cells = [_markdown_cell(row, column) for column in range(len(row.cells))]
        text += f"| {code(_name(row))} | {' | '.join(cells)} |\n"
    text += "\n"
    for label, run in zip(labels, comparison.runs, strict=True):
        text += f"- {escape(label)}: {code(run.name)} · {escape(' · '.join(_circumstances(run)))}\n"
    return f"{text}\n{escape(sentence(' · '.join(_counts(comparison))))}\n"


def _markdown_cell(row: Row, column: int) -> str:
    cell = row.cells[column]
    if cell is None:
        return "no result"
    look = outcome_look(cell.outcome)
    parts = [f"{look.symbol} {look.word}{' ↓' if _regressed(row, column) else ''}"]
    for mark, fault, what, _ in _entries(row, column):
        parts.append(f"{escape(mark)} {code(fault)} {escape(what)}".strip())
    return "<br>".join(parts)


# --------------------------------------------------------------------------- JSON


def render_json(comparison: Comparison, rows: Sequence[Row]) -> str:
    """The same as JSON text that ends in a newline."""
    value = {
        "schema": SCHEMA,
        "runs": [
            {
                "name": r.name,
                "backend": r.environment.backend,
                "triton": r.environment.triton,
                "torch": r.environment.torch,
                "gpu": r.environment.gpu,
            }
            for r in comparison.runs
        ],
        "compared": len(comparison.rows),
        "regressions": [_identity(row) for row in comparison.regressions()],
        "rows": [_row(row) for row in rows],
    }
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def _identity(row: Row) -> dict[str, str]:
    return {"case": row.case, "backend": row.backend}


def _row(row: Row) -> dict[str, Any]:
    return {
        **_identity(row),
        "cells": [None if cell is None else _cell_value(cell) for cell in row.cells],
        "changes": [
            {
                "before": c.before,
                "after": c.after,
                "appeared": list(c.appeared),
                "vanished": list(c.vanished),
                "changed": list(c.changed),
                "regression": c.regression,
            }
            for c in row.changes
        ],
    }


def _cell_value(cell: CaseResult) -> dict[str, Any]:
    return {
        "outcome": str(cell.outcome),
        "findings": [
            {
                "fault": f.fault,
                "severity": str(f.severity),
                "expected": f.expected,
                "dtypes": list(f.dtypes or (f.dtype,)),
                "smallest": f.example.label(),
                "repro": f.repro,
            }
            for f in cell.findings
        ],
    }
