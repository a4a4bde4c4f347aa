"""`tritaudit merge`: one report of several, with the verdict that one run would have had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tritaudit.choices import FailOn
from tritaudit.commands import UNABLE, Usage
from tritaudit.commands.concluding import conclude, console_beside, report_files
from tritaudit.commands.reports import read_report
from tritaudit.commands.session import complain
from tritaudit.commands.settings import acceptance_of, settings_of
from tritaudit.merging import MergeError, Named, merge, missing_parts
from tritaudit.model import UnitFinished
from tritaudit.report.terminal import LiveProgress

__all__ = ["merge_reports"]


def merge_reports(
    paths: Sequence[str],
    reports: Sequence[str] | None,
    fail_on: FailOn | None,
    config: str | None,
    *,
    verbose: bool,
) -> int:
    """Join JSON reports, print and write the whole; the exit code of the run that they are.

    Raises:
        Usage: a report cannot be read, or they do not belong together.
        ReportWriteError: after everything is printed.
    """
    settings = settings_of(config)
    named = [Named(shown, read_report(path)) for shown, path in _names(paths)]
    try:
        report = merge(named)
    except MergeError as error:
        raise Usage(str(error)) from error
    missing = missing_parts(named)
    if not report.ended:
        whole = acceptance_of(None, settings).remarks(report, whole=False)
        report = replace(report, remarks=tuple(dict.fromkeys((*report.remarks, *whole))))
    files = report_files(reports, settings)
    console = console_beside(files)
    several = len({result.backend for result in report.results}) > 1
    names = [result.case for result in report.results]
    with LiveProgress(console, names, show_backend=several) as progress:
        for result in report.results:
            progress.handle(UnitFinished(result))
    least = fail_on or settings.fail_on or FailOn.NOTE
    code = conclude(report, files, console, verbose=verbose, fail_on=least)
    for sentence in missing:
        complain(sentence)
    return UNABLE if missing else code


def _names(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Short names of files, where they tell them apart."""
    short = [Path(path).name for path in paths]
    return list(zip(short if len(set(short)) == len(short) else paths, paths, strict=True))
