"""`.tritaudit/`: what one run leaves for the next, as plain JSON files.

    .tritaudit/durations.json                                  seconds of each case, for --shard
    .tritaudit/failures/flip.rows--padding-leak--1a2b3c4d.json one finding: a report of its own

A file is replaced as a whole, so that a run that is killed leaves no half of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tritaudit.model import CaseResult, Finding, Outcome, Report
from tritaudit.report.json_report import ReportError, parse, render
from tritaudit.report.places import relocated

__all__ = ["FOLDER", "Failure", "Storage", "write_file"]

FOLDER = ".tritaudit"
_DURATIONS = "tritaudit-durations/1"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
#: characters of a case's name in a file name; file systems take 255 bytes in all.
_NAME = 120


def write_file(path: Path, text: str) -> None:
    """Replace a file at once, by a new one in the same folder; write into what is no file.

    The folder is made where there is none.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".tmp")
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


@dataclass(frozen=True, slots=True)
class Failure:
    """A stored finding: its file and a report that holds nothing else."""

    path: Path
    report: Report

    @property
    def result(self) -> CaseResult:
        """The case, with this finding alone."""
        return self.report.results[0]

    @property
    def finding(self) -> Finding:
        """The finding."""
        return self.result.findings[0]

    @property
    def target(self) -> str:
        """How the case is named on a command line in the folder of the storage."""
        return self.finding.target or self.finding.case


class Storage:
    """The `.tritaudit` of a folder. Nothing is made before something is written.

    Args:
        folder: where `.tritaudit` lies or will lie; paths in it are relative to this folder.
        here: what the paths of reports are relative to (the working directory).
    """

    def __init__(self, folder: Path, here: Path) -> None:
        self._root = folder.resolve()
        self._here = here.resolve()
        self._folder = self._root / FOLDER

    # ----------------------------------------------------------------- failures

    def failures(self) -> list[Failure]:
        """All stored findings, the newest first. A file that is none is left out."""
        found = []
        for path in sorted((self._folder / "failures").glob("*.json")):
            with contextlib.suppress(OSError, UnicodeDecodeError, ReportError):
                report = parse(path.read_text(encoding="utf-8"))
                if len(report.results) == 1 and len(report.results[0].findings) == 1:
                    found.append((path.stat().st_mtime_ns, Failure(path, report)))
        return [failure for _, failure in sorted(found, key=lambda f: f[0], reverse=True)]

    def save(self, report: Report, result: CaseResult, finding: Finding) -> None:
        """Store a finding of a run, in place of an earlier one of the same fault.

        Raises:
            OSError: it cannot be written.
        """
        target = self.stored_target(finding.target or finding.case)
        kept = replace(finding, target=target)
        alone = replace(result, target=target, findings=(kept,), output="")
        single = replace(report, results=(alone,), ended="", remarks=(), shard=None)
        self._prepare("failures")
        path = self._folder / "failures" / _file_name(kept)
        write_file(path, render(relocated(single, self._stored_path)))
        for other in self.failures():
            if other.path != path and same_failure(other.finding, kept):
                self.drop(other)

    def drop(self, failure: Failure) -> None:
        """Forget a stored finding."""
        failure.path.unlink(missing_ok=True)

    def shown(self, failure: Failure) -> Failure:
        """A stored finding with paths and target as they are written here."""
        report = relocated(failure.report, self._shown_path)
        [result] = report.results
        target = self.shown_target(failure.target)
        findings = tuple(replace(f, target=target) for f in result.findings)
        moved = replace(result, target=target, findings=findings)
        return replace(failure, report=replace(report, results=(moved,)))

    def stored_target(self, target: str) -> str:
        """A target as it is stored: the path of a file relative to the folder of the storage."""
        return self._moved(target, self._here, self._root)

    def shown_target(self, target: str) -> str:
        """A stored target as it is written here."""
        return self._moved(target, self._root, self._here)

    def _moved(self, target: str, start: Path, end: Path) -> str:
        for head, tail in ((target, ""), target.rpartition(":")[::2]):
            if head and (start / head).is_file():
                path = _relative(start / head, end)
                return f"{path}:{tail}" if tail else path
        return target

    def _stored_path(self, path: str) -> str:
        return _relative(self._here / path, self._root) if path else path

    def _shown_path(self, path: str) -> str:
        return _relative(self._root / path, self._here) if path else path

    # ----------------------------------------------------------------- durations

    def durations(self, kind: str) -> dict[str, float]:
        """Seconds by case, of runs of one kind (backend and profile)."""
        found = self._durations().get(kind, {})
        seconds = found if isinstance(found, dict) else {}
        return {name: float(s) for name, s in seconds.items() if isinstance(s, (int, float))}

    def record(self, kind: str, results: Iterable[CaseResult]) -> None:
        """Remember how long cases took that were searched to the end.

        Raises:
            OSError: it cannot be written.
        """
        ended = (Outcome.PASS, Outcome.KNOWN, Outcome.FAIL, Outcome.STALE)
        seconds = {
            r.case: round(r.seconds, 3)
            for r in results
            if r.outcome in ended and not r.coverage.cut_short
        }
        if seconds:
            self._prepare()
            known = self._durations() | {kind: self.durations(kind) | seconds}
            value = {"schema": _DURATIONS, "durations": known}
            write_file(self._folder / "durations.json", json.dumps(value, indent=1) + "\n")

    def _durations(self) -> dict[str, object]:
        with contextlib.suppress(OSError, ValueError):
            value = json.loads((self._folder / "durations.json").read_text(encoding="utf-8"))
            if isinstance(value, dict) and value.get("schema") == _DURATIONS:
                known = value.get("durations")
                return known if isinstance(known, dict) else {}
        return {}

    def _prepare(self, inner: str = "") -> None:
        """Make the folder, and tell git that it is nobody else's business."""
        (self._folder / inner).mkdir(parents=True, exist_ok=True)
        ignore = self._folder / ".gitignore"
        if not ignore.exists():
            write_file(ignore, "*\n")


def same_failure(a: Finding, b: Finding) -> bool:
    """Whether two stored findings are of the same fault in the same case on the same backend."""
    return (a.target or a.case, a.options, a.backend, a.fault) == (
        b.target or b.case,
        b.options,
        b.backend,
        b.fault,
    )


def _file_name(finding: Finding) -> str:
    """`flip.rows--padding-leak--1a2b3c4d.json`: case, fault, and what tells it from others."""
    identity = "\0".join((finding.target, *finding.options, finding.backend, finding.repro))
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    case = _UNSAFE.sub("-", finding.case.replace("/", "."))[:_NAME].strip(".-") or "case"
    return f"{case}--{finding.fault}--{digest}.json"


def _relative(path: Path, folder: Path) -> str:
    """A path relative to a folder where it lies below it, else whole."""
    full = path.resolve()
    return str(full.relative_to(folder)) if full.is_relative_to(folder) else str(full)
