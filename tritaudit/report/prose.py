"""Sentences with code in backticks, and code after them, for a terminal and for a page.

Lines that begin with four spaces are code: they are never joined, and broken between words only
where they would not fit. The lines of a change begin with `-` or `+`.
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tritaudit.report.markup import Child, Html, tag
from tritaudit.report.wording import block

#: what begins a line of code.
_CODE = "    "
_SPAN = re.compile(r"`([^`\n]+)`")
_STYLES = {"-": "red", "+": "green"}
#: cells of the sign of a changed line and of its number.
_MARGIN = 7


def _parts(text: str) -> list[tuple[bool, str]]:
    """Neighbouring lines of one kind: whether they are code, and the lines."""
    rows = block(text).split("\n")
    grouped = groupby(rows, key=lambda row: row.startswith(_CODE))
    return [(code, "\n".join(lines)) for code, lines in grouped]


def in_text(text: str, width: int) -> list[RenderableType]:
    """Prose and code for a terminal, in lines of at most `width` cells."""
    out: list[RenderableType] = []
    for code, lines in _parts(text):
        if not code:
            # The backticks stay: without colour nothing else sets the code apart.
            prose = Text(lines)
            prose.highlight_regex(_SPAN, "cyan")
            out.append(prose)
            continue
        drawn = Text(no_wrap=True, overflow="ellipsis")
        rows = (r for row in lines.split("\n") for r in _broken(row.removeprefix(_CODE), width - 2))
        for number, row in enumerate(rows):
            drawn.append("\n" if number else "").append(row, _STYLES.get(row[:1], ""))
        out.append(Padding(drawn, (0, 0, 0, 2), expand=False))
    return out


def _broken(row: str, width: int) -> list[str]:
    """A line of code in lines that fit; what follows is indented, behind the same sign."""
    if len(row) <= width:
        return [row]
    start = _MARGIN if row[:1] in _STYLES else 0
    code = row[start:].lstrip()
    indent = " " * (len(row) - start - len(code))
    pieces = textwrap.wrap(
        code,
        max(width - start - len(indent), 20),
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    follows = row[:1].ljust(start) if start else ""
    return [f"{follows if k else row[:start]}{indent}{piece}" for k, piece in enumerate(pieces)]


def in_html(text: str) -> list[Html]:
    """Prose and code for a page."""
    out: list[Html] = []
    for code, lines in _parts(text):
        if code:
            rows = [row.removeprefix(_CODE) for row in lines.split("\n")]
            marked: list[Child] = []
            for row in rows:
                class_ = {"-": "gone", "+": "new"}.get(row[:1])
                marked += [tag("span", row, class_=class_), "\n"]
            out.append(tag("pre", marked[:-1]))
        else:
            out.append(tag("p", _spans(lines)))
    return out


def _spans(text: str) -> list[Child]:
    pieces = _SPAN.split(text)
    return [tag("code", p) if k % 2 else p for k, p in enumerate(pieces) if p]
