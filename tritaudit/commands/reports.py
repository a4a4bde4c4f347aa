"""`--report FORMAT=PATH`: which renderer, and a write that leaves no half file."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tritaudit.commands import Usage
from tritaudit.model import Report

__all__ = [
    "FORMATS",
    "ReportFile",
    "ReportWriteError",
    "parse_reports",
    "write_page",
    "write_reports",
]

#: the module of each format; its function `render` takes a Report and gives text.
FORMATS = {"json": "tritaudit.report.json_report"}


class ReportWriteError(RuntimeError):
    """A report could not be written: one sentence."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report that was asked for."""

    format: str
    path: str


def parse_reports(texts: Iterable[str]) -> tuple[ReportFile, ...]:
    """The values of `--report`.

    Raises:
        Usage: a value is not FORMAT=PATH, or there is no such format.
    """
    files = []
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or not path or name not in FORMATS:
            known = ", ".join(f"{name}=PATH" for name in FORMATS)
            raise Usage(f"--report {text!r} is not one of {known}")
        files.append(ReportFile(name, path))
    return tuple(files)


def write_reports(report: Report, files: Iterable[ReportFile]) -> None:
    """Write every report that can be written.

    Raises:
        ReportWriteError: one or several could not; each has its sentence.
    """
    failures = []
    for file in files:
        text = importlib.import_module(FORMATS[file.format]).render(report)
        try:
            _write(Path(file.path), text)
        except OSError as error:
            why = error.strerror or str(error)
            failures.append(f"the {file.format} report {file.path} cannot be written: {why}")
    if failures:
        raise ReportWriteError("\n".join(failures))


def write_page(path: str, text: str) -> None:
    """Write a page.

    Raises:
        ReportWriteError: it cannot be written.
    """
    try:
        _write(Path(path), text)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportWriteError(f"the page {path} cannot be written: {why}") from error


def _write(path: Path, text: str) -> None:
    """Replace a file at once, by a new one in the same folder; write into what is no file."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
