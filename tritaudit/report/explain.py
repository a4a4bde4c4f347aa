"""The full explanation of a finding, for `tritaudit explain`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from tritaudit.model import Example, Fill, FillKind, Finding, Location
from tritaudit.report import mapdraw, prose
from tritaudit.report.bits import render_bits, worth_a_bit_table
from tritaudit.report.excerpt import caption, render_excerpt
from tritaudit.report.mapview import flat_position
from tritaudit.report.severity import severity_look
from tritaudit.report.terminal import (
    WIDEST,
    assert_close_text,
    captured,
    proof_text,
    repro_line,
    show,
)
from tritaudit.report.wording import (
    block,
    count,
    dtypes_in_short,
    example_label,
    example_values,
    line,
    sentence,
)

#: source lines shown before and after the offending one.
_CONTEXT = 3
#: faults that put right values in wrong places: their bits say nothing.
PLACES = frozenset(
    {
        "alias-race",
        "block-local-flip",
        "not-reversed",
        "off-by-one",
        "out-of-bounds-read",
        "padding-leak",
        "stride-ignored",
        "tile-order-only",
        "unwritten-output",
        "wrong-axis",
    }
)


@dataclass(frozen=True, slots=True)
class Source:
    """Some lines of a file. `first` is the number of the first one, counted from 1."""

    first: int
    lines: tuple[str, ...]


def read_source(location: Location | None, context: int = _CONTEXT) -> Source | None:
    """The lines around a location, None where the file cannot be read."""
    if location is None:
        return None
    try:
        text = Path(location.path).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    rows = text.splitlines()
    if not 1 <= location.line <= len(rows):
        return None
    begin, end = _function(text, location.line) or (1, len(rows))
    first, last = max(location.line - context, begin), min(location.line + context, end)
    while not rows[first - 1].strip() and first < location.line:
        first += 1
    while not rows[last - 1].strip() and last > location.line:
        last -= 1
    return Source(first, tuple(rows[first - 1 : last]))


def _function(text: str, line_number: int) -> tuple[int, int] | None:
    """The first and last line of the innermost function around a line."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= line_number <= (node.end_lineno or node.lineno)
    ]
    return max(found, default=None)


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding and what explains it; the fields are those of `render_explanation`."""

    finding: Finding
    source: Source | None = None
    why: str = ""
    fix: str = ""
    twin: str = ""
    twin_path: str = ""


def print_explanation(console: Console, explained: Explained) -> None:
    """Print the explanation of a finding."""
    e = explained
    drawn = render_explanation(
        e.finding,
        console.width,
        source=e.source,
        why=e.why,
        fix=e.fix,
        twin=e.twin,
        twin_path=e.twin_path,
    )
    show(console, drawn)


def render_explanation(
    finding: Finding,
    width: int = 80,
    *,
    source: Source | None = None,
    why: str = "",
    fix: str = "",
    twin: str = "",
    twin_path: str = "",
) -> RenderableType:
    """The explanation, for print with crop=False (the line to paste is never wrapped).

    Args:
        finding: what to explain.
        width: terminal cells of a line.
        source: lines around the finding's location, see `read_source`.
        why: why the fault happens, in sentences (see `tritaudit.report.prose`).
        fix: the smallest change that repairs it, in sentences and lines of code.
        twin: the name of a right kernel with the same contract, and
        twin_path: its file.
    """
    width = min(width, WIDEST)
    parts: list[RenderableType] = [_header(finding, width), Text()]
    parts.append(Text(sentence(finding.summary)))
    parts += [Text(sentence(s)) for s in finding.evidence]
    if why:
        parts += [Text(), *prose.in_text(why, width)]
    parts += _section("Where it happens", _where(finding, source))
    parts += _section("Where each element came from", _map(finding, width - 2))
    parts += _section("The output", _output(finding, width - 2))
    parts += _section("Bit by bit", _bits(finding, width - 2))
    parts += _section("How this is known", _proof(finding))
    parts += _section("What an ordinary test would have said", _unnoticed(finding))
    parts += _section("How to repair it", _repair(fix, twin, twin_path, width - 2))
    if finding.output:
        parts += _section("What the kernel printed", [captured(finding.output)])
    parts += [Text(), Text("To see this again, paste:", "bold"), repro_line(finding)]
    return Group(*parts)


def _section(title: str, body: Sequence[RenderableType]) -> list[RenderableType]:
    if not body:
        return []
    return [
        Text(),
        Text(title, "bold"),
        *(Padding(part, (0, 0, 0, 2), expand=False) for part in body),
    ]


def _header(finding: Finding, width: int) -> Text:
    look = severity_look(finding.severity)
    text = Text.assemble((line(finding.fault), f"bold {look.style}"), (" in ", ""))
    text.append(line(finding.case), "bold")
    text.append("\n" + "─" * width + "\n", look.style)
    text.append(example_label(finding.example), "bold")
    text.append(f"  {line(finding.dtype)}, {values_in_words(finding)}")
    text.append(f", on the {line(finding.backend)}", "dim")
    return text


def values_in_words(finding: Finding) -> str:
    """How the inputs were filled; the elements that were set by hand by name, where they show."""
    example, excerpt = finding.example, finding.excerpt
    if not example.edits or len(example.edits) > 2 or len(example.dtypes) != 1 or excerpt is None:
        return example_values(example)
    at = {flat_position(c.index, excerpt.shape): c for c in excerpt.cells}
    name, words = example.dtypes[0][0], []
    for edit in example.edits:
        cell = at.get(edit.index)
        if cell is None or cell.input_bits != edit.bits:
            return example_values(example)
        words.append(f"{line(name)}[{','.join(map(str, cell.index))}] = {line(cell.input)}")
    total = len(excerpt.cells) if len(excerpt.cells) == excerpt.total else 0
    rest = "" if total == len(example.edits) else f"{example_values(replace(example, edits=()))}, "
    return rest + ", ".join(words)


def _where(finding: Finding, source: Source | None) -> list[RenderableType]:
    if finding.location is None:
        return []
    at = finding.location
    text = Text(f"{line(at.path)}:{at.line}", no_wrap=True, overflow="ellipsis")
    rows = source or (Source(at.line, (at.text,)) if at.text else None)
    for number, row in enumerate(rows.lines, rows.first) if rows else ():
        here = number == at.line
        text.append(f"\n{'>' if here else ' '} {number:>4} ", "bold red" if here else "dim")
        text.append(block(row).rstrip(), "bold" if here else "")
    return [text]


def _map(finding: Finding, width: int) -> list[RenderableType]:
    index_map = finding.index_map
    if index_map is None:
        return []
    out = Text(no_wrap=True, overflow="ignore")
    if index_map.example is not None:
        out.append(f"{map_place(index_map.example)}\n", "dim")
    table = mapdraw.render_runs(index_map)
    if table is not None:
        out.append_text(table).append("\n\n")
    drawn = mapdraw.render_map(index_map, width)
    out.append_text(drawn)
    signs = mapdraw.legend(index_map, drawn.plain)
    return [out, Text(signs, "dim")] if signs else [out]


def map_place(example: Example) -> str:
    """Which example a map is from that is not the finding's own."""
    return (
        f"at {example_label(example)} {line(example.dtype())}, a larger example of the same fault"
    )


def _output(finding: Finding, width: int) -> list[RenderableType]:
    """The values, unless the map above says the same of numbered elements."""
    example = finding.example
    numbered = example.fill == Fill(FillKind.INDEX) and not example.edits
    index_map = finding.index_map
    same = index_map is not None and index_map.example is None
    if finding.excerpt is None or (same and numbered):
        return []
    head = Text(caption(finding.excerpt), "dim")
    return [head, render_excerpt(finding.excerpt, width)]


def _bits(finding: Finding, width: int) -> list[RenderableType]:
    if finding.excerpt is None or finding.index_map is not None or finding.fault in PLACES:
        return []
    if not worth_a_bit_table(finding.excerpt):
        return []
    return [render_bits(finding.excerpt, width)]


def _proof(finding: Finding) -> list[RenderableType]:
    proof = finding.proof
    text = proof_text(finding, rivals=False)
    out: list[RenderableType] = [] if text is None else [text]
    for fault, by in proof.rivals:
        out.append(Text(f"{line(fault)} is ruled out" + (f" by {line(by)}" if by else "")))
    if proof.parameters and not proof.statement:
        pairs = [f"{line(name)} = {line(value)}" for name, value in proof.parameters]
        out.append(Text("With " + ", ".join(pairs) + ".", "dim"))
    if finding.seen > 1:
        seen = f"The search saw it in {count(finding.seen, 'example')}"
        kinds = dtypes_in_short(finding.dtypes)
        out.append(Text(f"{seen}, in {kinds}." if kinds else f"{seen}.", "dim"))
    return out


def _unnoticed(finding: Finding) -> list[RenderableType]:
    close = assert_close_text(finding.assert_close_passes)
    out: list[RenderableType] = [] if close is None else [close]
    return out + [Text(sentence(s)) for s in finding.unnoticed]


def _repair(fix: str, twin: str, twin_path: str, width: int) -> list[RenderableType]:
    out: list[RenderableType] = prose.in_text(fix, width) if fix else []
    if twin:
        where = f" ({line(twin_path)})" if twin_path else ""
        out.append(Text(f"A right kernel to read: {line(twin)}{where}"))
    return out
