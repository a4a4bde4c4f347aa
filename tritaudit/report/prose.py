"""Sentences with code in backticks, and code after them, for a terminal and for a page.

Lines that begin with four spaces are code: they are never joined or broken.
"""

from __future__ import annotations

import re
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


def _parts(text: str) -> list[tuple[bool, str]]:
    """Neighbouring lines of one kind: whether they are code, and the lines."""
    rows = block(text).split("\n")
    grouped = groupby(rows, key=lambda row: row.startswith(_CODE))
    return [(code, "\n".join(lines)) for code, lines in grouped]


def in_text(text: str) -> list[RenderableType]:
    """Prose and code for a terminal."""
    out: list[RenderableType] = []
    for code, lines in _parts(text):
        if not code:
            # The backticks stay: without colour nothing else sets the code apart.
            prose = Text(lines)
            prose.highlight_regex(_SPAN, "cyan")
            out.append(prose)
            continue
        drawn = Text(no_wrap=True, overflow="ellipsis")
        for number, row in enumerate(lines.split("\n")):
            plain = row.removeprefix(_CODE)
            drawn.append("\n" if number else "").append(plain, _STYLES.get(plain[:1], ""))
        out.append(Padding(drawn, (0, 0, 0, 2), expand=False))
    return out


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
