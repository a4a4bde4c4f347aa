"""`tritaudit list`: the cases of targets, or the faults."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from tritaudit import faults
from tritaudit.commands import NOTHING_UNEXPECTED
from tritaudit.commands.options import BackendChoice
from tritaudit.commands.session import cases_of, open_backend, output, selected
from tritaudit.commands.settings import settings_of, targets_of
from tritaudit.report.terminal import render_case_list, render_fault_list, show
from tritaudit.report.wording import line

__all__ = ["list_cases", "list_faults"]


def list_cases(
    targets: Sequence[str] | None, patterns: Sequence[str], config: str | None = None
) -> int:
    """Print the cases of targets; where there are none, of the configuration or the catalogue.

    Raises:
        Usage: a target or a pattern names nothing, or a file does not load.
        BackendError: torch or triton is missing, so that no file can be loaded.
    """
    console, settings = output(), settings_of(config)
    with open_backend(BackendChoice.INTERPRETER) as supervisor:
        listing = cases_of(supervisor, targets_of(targets, settings))
    cases = selected(listing.cases, patterns)
    show(console, render_case_list(cases, console.width if console.is_terminal else None))
    for problem in listing.skipped:
        show(console, Text(line(f"{problem.case}  skipped: {problem.message}"), no_wrap=True))
    return NOTHING_UNEXPECTED


def list_faults() -> int:
    """Print the faults. Needs neither torch nor triton."""
    console = output()
    rows = [(i.id, i.severity, i.title) for i in map(faults.info, faults.FAULT_IDS)]
    show(console, render_fault_list(rows, console.width if console.is_terminal else None))
    return NOTHING_UNEXPECTED
