"""`--report FORMAT=PATH`: which renderer, where to, and a write that leaves no half file."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tritaudit.commands import Usage
from tritaudit.model import Report
from tritaudit.report.json_report import ReportError, parse
from tritaudit.report.places import relocated
from tritaudit.storage import write_file
from tritaudit.targets import nearest

__all__ = [
    "FORMATS",
    "STDOUT",
    "ReportFile",
    "ReportWriteError",
    "check_writable",
    "parse_reports",
    "read_report",
    "with_defaults",
    "write_page",
    "write_reports",
]

#: the module of each format; its function `render` takes a Report and gives text.
FORMATS = {
    "json": "tritaudit.report.json_report",
    "junit": "tritaudit.report.junit",
    "sarif": "tritaudit.report.sarif",
    "github": "tritaudit.report.github",
    "markdown": "tritaudit.report.markdown",
    "html": "tritaudit.report.html",
}
#: the path that stands for standard output.
STDOUT = "-"
#: formats whose readers know only paths inside the repository.
_IN_REPOSITORY = ("sarif", "github")


class ReportWriteError(RuntimeError):
    """A report could not be written: one sentence, or a line for each."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report that was asked for.

    `append`: add it to what the file holds. `implied`: nobody asked, it is what GitHub wants.
    """

    format: str
    path: str
    append: bool = False
    implied: bool = False


def parse_reports(
    texts: Iterable[str], folder: Path | None = None, place: str = "--report"
) -> tuple[ReportFile, ...]:
    """The values of `--report`, or of a configuration whose paths are relative to a folder.

    `place` is what a message blames.

    Raises:
        Usage: a value is not FORMAT=PATH, there is no such format, or two go to standard output.
    """
    files = []
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or not path:
            known = ", ".join(FORMATS)
            raise Usage(f"{place} {text!r} is not FORMAT=PATH; formats are {known}")
        if name not in FORMATS:
            near = nearest(name, list(FORMATS), 1) or f"; formats are {', '.join(FORMATS)}"
            raise Usage(f"{place} {text!r}: no format is named {name!r}{near}")
        if folder is not None and path != STDOUT:
            path = str(folder / path)
        files.append(ReportFile(name, path))
    if sum(file.path == STDOUT for file in files) > 1:
        raise Usage("only one report can go to standard output")
    return tuple(files)


def with_defaults(
    files: tuple[ReportFile, ...], environment: Mapping[str, str]
) -> tuple[ReportFile, ...]:
    """The reports that were asked for, and in GitHub Actions annotations and a step summary."""
    asked = {file.format for file in files}
    if environment.get("GITHUB_ACTIONS") == "true" and "github" not in asked:
        files += (ReportFile("github", STDOUT, implied=True),)
    summary = environment.get("GITHUB_STEP_SUMMARY")
    if summary:
        files += (ReportFile("markdown", summary, append=True, implied=True),)
    return files


def check_writable(files: Iterable[ReportFile]) -> None:
    """Find out before a run that a report cannot be written after it. Nothing is made.

    Raises:
        ReportWriteError: one or several cannot; each has its sentence.
    """
    failures = [
        f"the {file.format} report {file.path} cannot be written: {why}"
        for file in files
        if file.path != STDOUT and (why := _obstacle(Path(file.path)))
    ]
    if failures:
        raise ReportWriteError("\n".join(failures))


def _obstacle(path: Path) -> str:
    """What is in the way of writing a file, "" where nothing is."""
    try:
        path = path.resolve()
        if path.is_dir():
            return "it is a folder"
        if path.exists() and not path.is_file():
            return ""  # a device or a pipe, which is written into
        above = next(folder for folder in path.parents if folder.exists())
    except OSError as error:
        return error.strerror or str(error)
    if not above.is_dir():
        return f"{above} is no folder"
    return "" if os.access(above, os.W_OK | os.X_OK) else f"{above} cannot be written to"


def write_reports(report: Report, files: Iterable[ReportFile]) -> None:
    """Write every report that can be written, those to standard output last.

    Raises:
        ReportWriteError: one or several could not; each has its sentence.
        BrokenPipeError: nobody reads standard output any more; all others are written.
    """
    failures = []
    for file in sorted(files, key=lambda f: f.path == STDOUT):
        try:
            _put(report, file)
        except BrokenPipeError:
            raise
        except OSError as error:
            why = error.strerror or str(error)
            where = "to standard output" if file.path == STDOUT else file.path
            failures.append(f"the {file.format} report {where} cannot be written: {why}")
    if failures:
        raise ReportWriteError("\n".join(failures))


def _put(report: Report, file: ReportFile) -> None:
    if file.append:
        _append(report, Path(file.path))
    elif file.path == STDOUT:
        sys.stdout.write(_render(report, file.format))
        sys.stdout.flush()
    else:
        write_file(Path(file.path), _render(report, file.format))


def _append(report: Report, path: Path) -> None:
    """Add a step summary to those of earlier commands, as far as GitHub takes them together."""
    from tritaudit.report.markdown import MOST_BYTES, render

    there = path.stat().st_size if path.exists() else 0
    with path.open("a", encoding="utf-8") as file:
        file.write(render(report, max(MOST_BYTES - there, 0)))


def _render(report: Report, format: str) -> str:
    if format in _IN_REPOSITORY:
        report = relocated(report, _path_in_repository)
    if format == "sarif":
        from tritaudit.faults import FAULT_IDS, info
        from tritaudit.report.sarif import render

        return render(report, {fault: info(fault).title for fault in FAULT_IDS})
    text = importlib.import_module(FORMATS[format]).render(report)
    assert isinstance(text, str)
    return text


def _path_in_repository(path: str) -> str:
    """A path of a report relative to the root of the repository, where it lies in one."""
    full, root = (Path.cwd() / path).resolve(), _repository()
    inside = path and root is not None and full.is_relative_to(root)
    return str(full.relative_to(root)) if inside and root else path


def _repository() -> Path | None:
    here = Path.cwd().resolve()
    return next((f for f in (here, *here.parents) if (f / ".git").exists()), None)


def read_report(path: str) -> Report:
    """The report in a JSON file.

    Raises:
        Usage: it cannot be read, or is none.
    """
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Usage(f"{path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, ReportError) as error:
        raise Usage(f"{path}: {error}") from error


def write_page(path: str, text: str) -> None:
    """Write a page.

    Raises:
        ReportWriteError: it cannot be written.
    """
    try:
        write_file(Path(path), text)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportWriteError(f"the page {path} cannot be written: {why}") from error
