"""`tritaudit compare`: reports side by side, and whether anything got worse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tritaudit.commands import FINDINGS, NOTHING_UNEXPECTED, Usage
from tritaudit.commands.reports import read_report
from tritaudit.commands.session import output
from tritaudit.comparison import compare
from tritaudit.report.compared import render_json, render_markdown, render_table
from tritaudit.report.terminal import show

__all__ = ["compare_reports"]


def compare_reports(paths: Sequence[str], *, everything: bool, markdown: bool, json: bool) -> int:
    """Print what changed from each report to the next; FINDINGS where something got worse.

    Args:
        paths: JSON reports, in the order in which they are compared.
        everything: print the cases that did not change, too.
        markdown, json: the format in place of a table.

    Raises:
        Usage: a report cannot be read, there is only one, or two formats are asked for.
    """
    if len(paths) < 2:
        raise Usage("compare needs two reports or more")
    if markdown and json:
        raise Usage("--markdown and --json: one or the other")
    names = [Path(path).stem for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    told = compare([(name, read_report(p)) for name, p in zip(names, paths, strict=True)])
    rows = told.rows if everything else told.changed()
    console = output()
    if markdown or json:
        console.file.write((render_markdown if markdown else render_json)(told, rows))
    else:
        show(console, render_table(told, rows, console.width))
    return FINDINGS if told.regressions() else NOTHING_UNEXPECTED
