"""The documentation of a fault on a terminal."""

from __future__ import annotations

import re

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.text import Text

from tritaudit.model import Severity
from tritaudit.report.severity import severity_look

_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_CODE_SPAN = re.compile(r"`([^`\n]+)`")


def render_fault(fault: str, severity: Severity, text: str, coloured: bool) -> RenderableType:
    """Id and severity, then the text of a fault (Markdown).

    Without colour, code in a sentence keeps its backticks; else nothing would set it apart.
    """
    look = severity_look(severity)
    head = Text.assemble((fault, f"bold {look.style}"), f"  {look.word}")
    # The colours of the terminal itself: they suit its background, light or dark.
    theme = "ansi_dark" if coloured else "bw"
    body = text if coloured else _with_backticks(text)
    return Group(head, Text(), Markdown(body, code_theme=theme, inline_code_theme=theme))


def _with_backticks(text: str) -> str:
    parts = _FENCE.split(text)
    quoted = (p if p.startswith("```") else _CODE_SPAN.sub(r"`` `\1` ``", p) for p in parts)
    return "".join(quoted)
