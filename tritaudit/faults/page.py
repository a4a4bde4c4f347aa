"""Writes the documentation page of all faults from their docstrings.

    python -m tritaudit.faults.page docs/faults.md

A test compares the page with what this module makes, so run it after a docstring has changed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tritaudit.faults import FAULT_IDS, FaultInfo, info
from tritaudit.targets import builtin_root

#: the sections of every fault's text, in order.
SECTIONS = ("What happens", "Why", "How to see it", "Wrong", "Right", "Fix")

_HEAD = """\
# Faults

The kinds of bugs that tritaudit names. A fault is named only if it predicts the wrong output bit
for bit, in the smallest example and in further ones; what no fault predicts is `value-mismatch`.
`tritaudit explain FAULT` prints the same text, and `tritaudit list --faults` the table.

Kernels named like `flip/single_tile` are files of the catalogue. Claims such as A16 are explained
in [claims.md](claims.md). This page is made from the docstrings in `tritaudit/faults/` by
`python -m tritaudit.faults.page docs/faults.md`.
"""
_CODE_SPAN = re.compile(r"`([a-z]+/[a-z0-9_]+)`")
_FENCE = re.compile(r"(```.*?```)", re.DOTALL)


def page() -> str:
    """The page of all faults, as Markdown: a table, then a section for each."""
    infos = [info(fault) for fault in FAULT_IDS]
    rows = [f"| [`{i.id}`](#{i.id}) | {i.severity} | {i.title} |" for i in infos]
    table = ["| id | severity | what happened |", "|---|---|---|", *rows]
    return "\n".join([_HEAD, *table, "", *map(_section, infos)])


def _section(fault: FaultInfo) -> str:
    body = fault.text.strip().replace("\n## ", "\n### ")
    parts = _FENCE.split(body)
    linked = "".join(part if part.startswith("```") else _linked(part) for part in parts)
    return f"## {fault.id}\n\n{linked}\n"


def _linked(text: str) -> str:
    """Names of catalogue cases as links to their files."""

    def link(match: re.Match[str]) -> str:
        name = match[1]
        known = (builtin_root() / f"{name}.py").is_file()
        return f"[`{name}`](../cases/{name}.py)" if known else match[0]

    return _CODE_SPAN.sub(link, text)


def main(arguments: Sequence[str]) -> int:
    """Write the page to the file that is named, or to standard output."""
    if arguments:
        Path(arguments[0]).write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
