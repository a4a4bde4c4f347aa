"""`tritaudit matrix`: cases on several versions of Triton, and where that changes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version
from rich.console import Console

from tritaudit.choices import BackendChoice
from tritaudit.commands import FINDINGS, NOTHING_UNEXPECTED, UNABLE, Usage
from tritaudit.commands.auditing import Plan, audit, exit_code
from tritaudit.commands.reports import ReportWriteError
from tritaudit.commands.session import cases_of, open_backend, output, skipped_results
from tritaudit.commands.settings import settings_of, targets_of
from tritaudit.forkserver import BackendError
from tritaudit.matrix import matrix
from tritaudit.model import Report
from tritaudit.overlays import OverlayError, overlay, versions
from tritaudit.report.matrixtable import render_json, render_markdown, render_matrix
from tritaudit.report.terminal import show
from tritaudit.storage import write_file

__all__ = ["Files", "run_matrix"]


@dataclass(frozen=True, slots=True)
class Files:
    """Where the result is written to, beside the terminal."""

    json: str | None = None
    markdown: str | None = None


def run_matrix(
    targets: Sequence[str] | None,
    triton: str,
    backend: BackendChoice,
    plan: Plan,
    files: Files,
    *,
    offline: bool,
) -> int:
    """Run cases on every version, one after another; the exit code is that of the worst run.

    Raises:
        Usage: a target names nothing, a file does not load, or a version is none.
        BackendError: a version cannot be had or does not run.
        ReportWriteError: after everything is printed.
    """
    try:
        wanted = versions(triton)
    except ValueError as error:
        raise Usage(f"--triton: {error}") from error
    named = targets_of(targets, settings_of(None))
    console, reports = output(), list[Report]()
    with console.status("") as status:
        folders = []
        for version in wanted:  # all are there before the first one runs
            status.update(f"triton {version}: looking for it")
            folders.append(_overlay(version, offline=offline))
        for version, folder in zip(wanted, folders, strict=True):
            status.update(f"triton {version}, {len(reports) + 1} of {len(wanted)}")
            report, stopped = _run(version, folder, named, backend, plan)
            if stopped:
                return exit_code(report, stopped)
            reports.append(report)
    told = matrix(reports)
    show(console, render_matrix(told, console.width))
    _write(files.json, render_json(told))
    _write(files.markdown, render_markdown(told))
    codes = [exit_code(report) for report in reports]
    return max(codes, key=(NOTHING_UNEXPECTED, FINDINGS, UNABLE).index)


def _overlay(version: str, *, offline: bool) -> Path | None:
    try:
        return overlay(version, offline=offline)
    except OverlayError as error:
        raise BackendError(str(error)) from error


def _run(
    version: str, folder: Path | None, targets: Sequence[str], backend: BackendChoice, plan: Plan
) -> tuple[Report, str]:
    """The report of one version, and the signal that ended it early, "" if none did."""
    silent = Console(file=io.StringIO())
    with open_backend(backend, folder) as supervisor:
        loaded = supervisor.environment().triton
        if Version(Version(loaded).public) != Version(Version(version).public):
            raise BackendError(f"triton {version} was to run, and {loaded} was loaded")
        listing = cases_of(supervisor, targets)
        skipped = skipped_results(listing, supervisor.backend)
        report = audit(supervisor, listing.cases, plan, silent, skipped)
    return report, supervisor.stopped


def _write(path: str | None, text: str) -> None:
    if path is None:
        return
    try:
        write_file(Path(path), text)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportWriteError(f"the matrix {path} cannot be written: {why}") from error
