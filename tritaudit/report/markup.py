"""HTML and SVG from nested calls. Every text and attribute is escaped, and foreign text made safe.

There is no way to put a string into a page unescaped but to build it from `tag`, so that a name
with `<script>` in it stays a name.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import pairwise

from rich.text import Text

from tritaudit.report import tape
from tritaudit.report.wording import block

_VOID = frozenset({"br", "input", "meta"})
#: styles of drawn text and the classes of a page that mean the same.
_CLASSES = {tape.WRONG: "wrong", tape.RIGHT: "right", tape.FAINT: "faint", "bold": "strong"}


class Html(str):
    """Markup that is escaped already."""

    __slots__ = ()


Child = str | Html | Iterable["Child"] | None


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """An element. `class_` names the attribute class, `data_x` data-x; None and False leave out."""
    words = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{words}>")
    return Html(f"<{name}{words}>{''.join(map(content, children))}</{name}>")


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {key}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {key}="{escape(block(text))}"'


def content(child: Child) -> Html:
    """What stands inside an element: markup as it is, text escaped, lists one after another."""
    if child is None:
        return Html("")
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return Html(escape(block(child)))
    return Html("".join(map(content, child)))


def drawn(text: Text) -> Html:
    """A drawing made for a terminal as preformatted text with classes in place of colours.

    `✗` is missing in many fixed-width fonts and would push what follows it out of line.
    """
    pieces = []
    for part in text.split("\n", include_separator=True, allow_blank=True):
        cuts = sorted({0, len(part.plain), *(p for s in part.spans for p in (s.start, s.end))})
        for start, end in pairwise(cuts):
            words = content(part.plain[start:end].replace(tape.MARK, "×"))
            styles = [str(s.style) for s in part.spans if s.start <= start and end <= s.end]
            found = next((_CLASSES[s] for s in reversed(styles) if s in _CLASSES), None)
            pieces.append(tag("span", words, class_=found) if found else words)
    return tag("pre", pieces)
