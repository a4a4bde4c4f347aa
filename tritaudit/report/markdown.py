"""The Markdown report, as the summary of a GitHub step or a comment.

Foreign text stands in `<code>` with every character that Markdown or HTML could read as its own
written as an entity: pipes, backticks, brackets, mentions. GitHub refuses a summary of more than
1 MiB, so findings that do not fit are left out and counted.
"""

from __future__ import annotations

import re

from tritaudit.model import CaseResult, Finding, Outcome, Report
from tritaudit.report.severity import OUTCOMES, outcome_look, severity_look
from tritaudit.report.terminal import circumstances, plain, render_panel
from tritaudit.report.wording import (
    count,
    coverage_pieces,
    explain_command,
    fault_in_short,
    line,
    seconds,
    sentence,
)

#: bytes of the whole text; a little less than GitHub takes.
MOST_BYTES = 1_000_000
#: bytes that the closing line may need.
_RESERVED = 300

#: all but letters, digits and what means nothing within a line; `_` only where it could open or
#: close emphasis, so that most names stay readable in the source.
_SPECIAL = re.compile(r"[^\w \-.,/=]|(?<![a-z0-9])_|_(?![a-z0-9])", re.ASCII | re.IGNORECASE)
_FENCE = re.compile(r"`{3,}")


def render(report: Report, most_bytes: int = MOST_BYTES) -> str:
    """The report as Markdown of at most `most_bytes` bytes that ends in a newline."""
    text = f"## tritaudit\n\n{_counts(report)}\n\n{escape(' · '.join(circumstances(report)))}\n"
    if report.ended:
        text += f"\n**The run ended early.** {escape(sentence(report.ended))}\n"
    text += "".join(f"\n{escape(sentence(remark))}\n" for remark in report.remarks)
    attention = [r for r in report.results if outcome_look(r.outcome).attention]
    quiet = [r for r in report.results if not outcome_look(r.outcome).attention]
    sections = [_table(attention)] if attention else []
    sections += [_details(f) for f in report.unexpected()]
    if quiet:
        summary = f"<summary>{count(len(quiet), 'other case')}</summary>"
        sections.append(f"\n<details>{summary}\n\n{_table(quiet)}\n</details>\n")
    left = 0
    for section in sections:
        if _bytes(text) + _bytes(section) + _RESERVED > most_bytes:
            left += 1
        else:
            text += section
    if left:
        text += f"\n{count(left, 'section')} did not fit; the JSON report has everything.\n"
    return text


def _bytes(text: str) -> int:
    return len(text.encode("utf-8"))


def escape(text: str) -> str:
    """Text in which nothing is Markdown or HTML; letters beyond ASCII stay as they are."""

    def entity(match: re.Match[str]) -> str:
        character = match[0]
        return character if ord(character) > 127 else f"&#{ord(character)};"

    return _SPECIAL.sub(entity, text)


def code(text: str) -> str:
    """A name in a fixed-width font."""
    return f"<code>{escape(line(text))}</code>"


def _counts(report: Report) -> str:
    parts = [f"**{count(len(report.results), 'case')}**"]
    for outcome, look in OUTCOMES.items():
        number = sum(r.outcome is outcome for r in report.results)
        if number:
            words = f"{number} {look.plural}"
            parts.append(f"**{words}**" if look.attention else words)
    examples = sum(r.coverage.examples for r in report.results)
    parts.append(f"{count(examples, 'example')} in {seconds(report.seconds)}")
    return " · ".join(parts)


def _table(results: list[CaseResult]) -> str:
    rows = "".join(_row(r) for r in results)
    return f"\n| | case | backend | what | time |\n|---|---|---|---|---:|\n{rows}"


def _row(result: CaseResult) -> str:
    what = [code(fault_in_short(f)) + (" (known)" if f.expected else "") for f in result.findings]
    what += [f"{code(fault)} did not show" for fault in result.missing]
    if result.outcome in (Outcome.ERROR, Outcome.SKIP, Outcome.STALE) and result.reason:
        what.append(escape(line(result.reason)))
    if not what:
        what = [escape(" · ".join(coverage_pieces(result.coverage)))]
    look = outcome_look(result.outcome)
    cells = [
        f"{look.symbol} {look.word}",
        code(result.case),
        escape(line(result.backend)),
        "<br>".join(what),
        seconds(result.seconds),
    ]
    return f"| {' | '.join(cells)} |\n"


def _details(finding: Finding) -> str:
    look = severity_look(finding.severity)
    title = f"{look.symbol} {code(finding.fault)} in {code(finding.case)}"
    body = _fenced(plain(render_panel(finding, 100)), "text")
    command = _fenced(explain_command(finding), "sh")
    return f"\n<details><summary>{title}</summary>\n\n{body}\n{command}\n</details>\n"


def _fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text."""
    longest = max((len(m) for m in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"
