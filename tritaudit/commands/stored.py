"""`tritaudit explain` of what an earlier run found: its last failure, or all in a report."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from tritaudit.commands import FINDINGS, NOTHING_UNEXPECTED, Usage
from tritaudit.commands.explain import explained_of
from tritaudit.commands.reports import read_report, write_page
from tritaudit.commands.session import output
from tritaudit.commands.settings import settings_of
from tritaudit.model import Finding
from tritaudit.report.explain import print_explanation
from tritaudit.report.html import explain_page
from tritaudit.report.wording import line
from tritaudit.storage import FOLDER, Failure, Storage
from tritaudit.targets import shown_path

__all__ = ["explain_last", "explain_report"]


def explain_last(config: str | None = None, page: str | None = None) -> int:
    """Explain the newest of the failures that the last runs left. Needs neither torch nor triton.

    Raises:
        Usage: there is none.
        ReportWriteError: the page cannot be written.
    """
    storage = Storage(settings_of(config).folder, Path.cwd())
    failures = storage.failures()
    if not failures:
        raise Usage(
            f"no failure is stored in {FOLDER}: name a case, a fault or a report to explain"
        )
    shown = storage.shown(failures[0])
    more = f", the newest of {len(failures)}" if len(failures) > 1 else ""
    return _explain([shown.finding], shown.path, page, more)


def explain_report(path: str, page: str | None = None) -> int:
    """Explain the findings in a JSON report that are news. Needs neither torch nor triton.

    Raises:
        Usage: the file is no report.
        ReportWriteError: the page cannot be written.
    """
    report = read_report(path)
    file = Path(path).resolve()
    if file.parent.name == "failures" and file.parent.parent.name == FOLDER:
        # paths in there are relative to the folder of the storage
        report = Storage(file.parents[2], Path.cwd()).shown(Failure(file, report)).report
    return _explain(report.unexpected(), file, page)


def _explain(findings: Sequence[Finding], file: Path, page: str | None, more: str = "") -> int:
    console = output()
    modified = file.stat().st_mtime
    when = datetime.datetime.fromtimestamp(modified).strftime("%Y-%m-%d %H:%M")
    console.print(f"{shown_path(file)}{more}, as found on {when}", soft_wrap=True)
    if not findings:
        console.print("Nothing in it is news.")
        return NOTHING_UNEXPECTED
    explained = [explained_of(finding, None) for finding in findings]
    for finding, each in zip(findings, explained, strict=True):
        console.print()
        print_explanation(console, each)
        source = Path(finding.location.path) if finding.location else None
        if source is not None and source.is_file() and source.stat().st_mtime > modified:
            console.print(f"{line(str(source))} has changed since: run this line again to see.")
    if page is not None:
        write_page(page, explain_page(explained))
    return FINDINGS
