"""Where in a repository a finding belongs, for readers that know only paths inside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

from tritaudit.model import CaseResult, Finding, Location, Report
from tritaudit.report.wording import line


def path_in_repository(location: Location | None) -> str | None:
    """The path of a location with forward slashes, None where it leads out of the repository.

    Paths of a report are relative to the working directory where they can be; one that is absolute
    or goes up is of no file that a repository holds.
    """
    if location is None or not location.path:
        return None
    windows = "\\" in location.path or PureWindowsPath(location.path).drive != ""
    path = PureWindowsPath(location.path) if windows else PurePosixPath(location.path)
    posix = PurePosixPath(path.as_posix())
    if path.is_absolute() or path.drive or path.root or ".." in posix.parts:
        return None
    return line(str(posix)) or None


def uri_in_repository(location: Location | None) -> str | None:
    """As `path_in_repository`, as a relative URI."""
    path = path_in_repository(location)
    return None if path is None else quote(path)


def place_of(finding: Finding, result: CaseResult) -> Location | None:
    """The finding's own location, else that of its case."""
    return finding.location if finding.location is not None else result.location


def _moved(finding: Finding, move: Callable[[Location | None], Location | None]) -> Finding:
    launches = tuple(place for place in map(move, finding.launches) if place is not None)
    return replace(finding, location=move(finding.location), launches=launches)


def relocated(report: Report, move: Callable[[str], str]) -> Report:
    """The report with every path of a location passed through `move`."""

    def moved(location: Location | None) -> Location | None:
        return None if location is None else replace(location, path=move(location.path))

    results = tuple(
        replace(
            r,
            location=moved(r.location),
            findings=tuple(_moved(f, moved) for f in r.findings),
        )
        for r in report.results
    )
    return replace(report, results=results)
