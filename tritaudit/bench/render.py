"""The table, the bars and the sentences of `tritaudit bench`. Pure: rows in, renderables out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from tritaudit.bench.model import Measured, Timing
from tritaudit.bench.table import bandwidth, groups, ratio, slower
from tritaudit.report.wording import line, pad, shorten, wrapped

__all__ = ["render_bench"]

#: headings in two lines, and widths.
_COLUMNS = (
    ("", "ms", 8),
    ("", "GB/s", 6),
    ("times", "copy", 6),
    ("times", "torch", 6),
    ("", "shuffles", 8),
    ("shared", "bytes", 7),
    ("regis-", "ters", 6),
)
#: cells of the longest bar, and of the label before it.
_BAR, _LABEL = 60, 46


def render_bench(rows: Sequence[Measured], width: int) -> RenderableType:
    """A table by groups, bars by groups, and what is how many times slower than what.

    Args:
        width: terminal cells of a line.
    """
    parts: list[RenderableType] = [_table(rows)]
    bars = [_bars(name, members, width) for name, members in groups(rows).items()]
    parts += [part for bar in bars if bar is not None for part in (Text(), bar)]
    sentences = _sentences(rows, width)
    return Group(*parts, *([Text(), sentences] if sentences.plain else []))


# --------------------------------------------------------------------------- table


def _table(rows: Sequence[Measured]) -> Text:
    room = max([len(_variant(row)) + 4 for row in rows] + [len("  copy of the input")]) + 1
    text = Text(no_wrap=True, overflow="ignore")
    for upper in (True, False):
        heads = [(a if upper else b).rjust(cells) for a, b, cells in _COLUMNS]
        text.append(" " * room + " ".join(heads) + ("\n" if upper else ""), "dim")
    for name, members in groups(rows).items():
        text.append(f"\n{line(name)}", "bold")
        case = ""
        for row in members:
            own = row.entry.expression or row.entry.case
            if own != case:
                text.append(f"\n  {line(own)}", "cyan")
            text.append_text(_place(row, room, "  " + line(own) if own != case else ""))
            text.append_text(_cells(row))
            case = own
        text.append_text(_baselines(members, room))
    return text


def _place(row: Measured, room: int, before: str) -> Text:
    """What stands before the numbers of a row: its variant on a line of its own, if it has one."""
    variant = _variant(row)
    if not variant and before and len(before) < room:
        return Text(" " * (room - len(before)))
    return Text("\n" + pad(f"    {variant}", room))


def _variant(row: Measured) -> str:
    return "" if row.entry.expression else line(row.entry.variant)


def _cells(row: Measured) -> Text:
    if row.time is None:
        return Text(line(row.problem) or "not measured", "red")
    costs = row.costs
    values = (
        f"{row.time.median:.4f}",
        _whole(bandwidth(row)),
        _times(ratio(row.time, row.copy)),
        _times(ratio(row.time, row.torch)),
        "" if costs is None else f"{costs.shuffles:,}",
        "" if costs is None else f"{costs.shared_bytes:,}",
        "" if costs is None or costs.registers is None else f"{costs.registers}",
    )
    text = Text(_joined(values))
    if row.correct is False:
        text.append("  wrong result", "bold red")
    elif row.problem:
        text.append(f"  {line(row.problem)}", "yellow")
    return text


def _baselines(members: Sequence[Measured], room: int) -> Text:
    """What a copy and torch take for the same input, once for each input of a group."""
    text = Text(style="dim")
    seen = set()
    for row in members:
        for name, time in (("copy of the input", row.copy), (row.torch_name, row.torch)):
            key = (name, row.entry.sizes, row.entry.dtype)
            if time is None or key in seen:
                continue
            seen.add(key)
            text.append(f"\n{pad('  ' + line(name), room)}{_joined((f'{time.median:.4f}',))}")
    return text


def _joined(values: Sequence[str]) -> str:
    cells = zip(values, _COLUMNS, strict=False)
    return " ".join(value.rjust(width) for value, (_, _, width) in cells)


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


# --------------------------------------------------------------------------- bars


def _bars(name: str, members: Sequence[Measured], width: int) -> Text | None:
    """A bar for each row of a group, a copy and torch; as long as the time. None: no times."""
    times = _distinct(members)
    if len(times) < 2:
        return None
    longest = max(time.median for _, time, _ in times)
    label = min(max(len(text) for text, _, _ in times), _LABEL, max(width - 26, 12))
    room = min(max(width - label - 14, 8), _BAR)
    text = Text(line(name), "bold", no_wrap=True, overflow="ignore")
    for told, time, style in times:
        cells = max(1, round(room * time.median / longest)) if longest > 0 else 1
        text.append(f"\n  {pad(shorten(told, label), label)} ", "")
        text.append("█" * cells, style).append(f" {time.median:.3f} ms", "")
    return text


def _distinct(members: Sequence[Measured]) -> list[tuple[str, Timing, str]]:
    found: dict[str, tuple[str, Timing, str]] = {}
    for row in members:
        if row.time is not None:
            style = "red" if row.correct is False else "cyan"
            label = line(row.entry.label)
            found[label] = (label, row.time, style)
    for row in members:
        for name, time in (("copy", row.copy), (row.torch_name, row.torch)):
            if time is not None:
                found.setdefault(name, (name, time, "dim"))
    return list(found.values())


def _sentences(rows: Sequence[Measured], width: int) -> Text:
    told = [f"{found.sentence()}." for found in slower(rows)]
    wrong = dict.fromkeys(row.entry.case for row in rows if row.correct is False)
    told += [f"{case} gives wrong results: tritaudit explain {case} says why." for case in wrong]
    wraps = ["\n  ".join(wrapped(line(sentence), width - 2)) for sentence in told]
    return Text("\n".join(wraps))
