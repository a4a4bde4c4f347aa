"""GitHub annotations: workflow commands that mark the lines of a pull request.

GitHub shows ten errors, ten warnings and ten notices of a step, so the tenth says how many more
there are. `%` and line ends are escaped in messages, `:` and `,` in properties too.
"""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.model import CaseResult, Location, Outcome, Report, Severity
from tritaudit.report.places import path_in_repository, place_of
from tritaudit.report.severity import severity_look
from tritaudit.report.wording import (
    block,
    count,
    explain_command,
    fault_in_short,
    line,
    sentence,
)

#: annotations of one kind that GitHub shows for a step.
MOST = 10


def render(report: Report) -> str:
    """One workflow command a line, errors first; empty where nothing is unexpected."""
    by_command: dict[str, list[str]] = {
        severity_look(severity).annotation: [] for severity in Severity
    }
    for result in report.results:
        for command, text in _annotations(result):
            by_command[command].append(text)
    if report.ended:
        title = _command("warning", "The run ended early", sentence(report.ended), None)
        by_command["warning"].insert(0, title)
    for remark in report.remarks:
        by_command["warning"].append(_command("warning", "tritaudit", sentence(remark), None))
    lines: list[str] = []
    for command, texts in by_command.items():
        if len(texts) > MOST:
            left = count(len(texts) - MOST + 1, f"more {command}")
            more = f"{left}; the whole report has them."
            texts = [*texts[: MOST - 1], _command(command, "tritaudit", more, None)]
        lines += texts
    return "".join(f"{text}\n" for text in lines)


def _annotations(result: CaseResult) -> Iterator[tuple[str, str]]:
    for finding in result.findings:
        if finding.expected:
            continue
        command = severity_look(finding.severity).annotation
        title = f"{line(finding.fault)} in {line(finding.case)}"
        message = "\n".join(
            [
                line(finding.summary),
                f"Smallest example: {fault_in_short(finding)} ({line(finding.dtype)})",
                explain_command(finding),
            ]
        )
        yield command, _command(command, title, message, place_of(finding, result))
    if result.outcome in (Outcome.STALE, Outcome.FAIL) and result.missing:
        missing = ", ".join(map(line, result.missing))
        message = f"expected, but did not show: {missing}"
        title = f"stale expectation in {line(result.case)}"
        yield "warning", _command("warning", title, message, result.location)
    if result.outcome is Outcome.ERROR:
        title = f"tritaudit could not judge {line(result.case)}"
        yield "error", _command("error", title, block(result.reason), result.location)


def _command(command: str, title: str, message: str, location: Location | None) -> str:
    properties = []
    path = path_in_repository(location)
    if path is not None and location is not None:
        properties += [f"file={_property(path)}", f"line={max(location.line, 1)}"]
    properties.append(f"title={_property(title)}")
    return f"::{command} {','.join(properties)}::{_message(message)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
