"""How a run ends: reports are written, the verdict is printed, and the exit code says which."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from tritaudit.choices import FailOn
from tritaudit.commands.auditing import exit_code, print_report
from tritaudit.commands.reports import (
    STDOUT,
    ReportFile,
    ReportWriteError,
    check_writable,
    parse_reports,
    with_defaults,
    write_reports,
)
from tritaudit.commands.session import Output
from tritaudit.config import Settings
from tritaudit.model import Report

__all__ = ["conclude", "console_beside", "report_files"]


def report_files(texts: Iterable[str] | None, settings: Settings) -> tuple[ReportFile, ...]:
    """The reports that were asked for, else those of the configuration, and what GitHub wants.

    Raises:
        Usage: one of them makes no sense.
        ReportWriteError: one of them cannot be written where it is to go.
    """
    if texts is not None:
        files = parse_reports(texts)
    else:
        files = parse_reports(settings.report, settings.folder, settings.place("report"))
    check_writable(files)
    return with_defaults(files, os.environ)


def console_beside(files: Iterable[ReportFile]) -> Output:
    """The console for people: on standard error where a report takes standard output."""
    return Output(stderr=any(file.path == STDOUT and not file.implied for file in files))


def conclude(
    report: Report,
    files: Sequence[ReportFile],
    console: Output,
    *,
    verbose: bool,
    fail_on: FailOn,
    stopped: str = "",
) -> int:
    """Write the reports, print what the lines of the cases could not hold; the exit code.

    Raises:
        ReportWriteError: a report could not be written; the verdict is printed.
        OSError: the output could not be written; the reports are.
    """
    unwritten: Exception | None = None
    try:
        write_reports(report, files)
    except (ReportWriteError, BrokenPipeError) as error:
        unwritten = error
    print_report(console, report, verbose=verbose)
    if console.lost is not None:
        raise console.lost
    if unwritten is not None:
        raise unwritten
    return exit_code(report, stopped, fail_on=fail_on)
