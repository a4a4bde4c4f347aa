"""The tables of `tritaudit list`: cases with their contracts, and faults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.text import Text

from tritaudit.model import CaseInfo, Known, Severity
from tritaudit.report.severity import severity_look
from tritaudit.report.wording import dtypes_in_short, line, pad, shorten

#: from this width on, a case takes one line with its title at the end.
_ONE_LINE = 120


def render_case_list(infos: Sequence[CaseInfo], width: int | None = 80) -> Text:
    """Name, contract, dtypes, expectation and title of every case.

    Args:
        infos: the cases, in the order in which they are shown.
        width: terminal cells of a line; None for one unshortened line a case (a pipe).
    """
    rows = [
        [line(i.name), line(i.contract), dtypes_in_short(i.dtypes), _expectation(i.expect)]
        for i in infos
    ]
    out = Text(no_wrap=True, overflow="ignore")
    spans = [max((cell_len(r[k]) for r in rows), default=0) for k in range(4)]
    one_line = width is None or width >= _ONE_LINE
    if width is not None:
        spans = _narrowed(spans, width, 30 if one_line else 0)
    for info, row in zip(infos, rows, strict=True):
        out.append("\n" if out.plain else "")
        _columns(out, row, spans)
        title = line(info.title)
        if one_line:
            room = None if width is None else width - sum(spans) - 8
            out.append("  " + (title if room is None else shorten(title, room)), "dim")
        elif title and width is not None:
            out.rstrip()
            out.append("\n    " + shorten(title, width - 4), "dim")
        out.rstrip()
    return out


def _narrowed(spans: list[int], width: int, title: int) -> list[int]:
    """Column widths that leave room for the title: the widest column gives way first."""
    spans = list(spans)
    while sum(spans) + 6 + title > width and max(spans) > 8:
        spans[spans.index(max(spans))] -= 1
    return spans


def _columns(out: Text, row: Sequence[str], spans: Sequence[int]) -> None:
    styles = ("bold", "", "dim", "blue")
    for text, span, style in zip(row, spans, styles, strict=True):
        out.append(pad(shorten(text, span), span), style).append("  ")


def _expectation(expect: Iterable[Known]) -> str:
    return ", ".join(_known(k) for k in expect)


def _known(known: Known) -> str:
    conditions = [
        f"triton{known.triton}" if known.triton else "",
        known.backend or "",
        dtypes_in_short(known.dtypes) if known.dtypes else "",
    ]
    where = " ".join(c for c in conditions if c)
    return line(f"{known.fault} ({where})" if where else known.fault)


def render_fault_list(rows: Iterable[tuple[str, Severity, str]], width: int | None = 80) -> Text:
    """Id, severity and title of every fault, one line each.

    Args:
        rows: (id, severity, title) of each fault.
        width: terminal cells of a line; None for unshortened lines (a pipe).
    """
    listed = [
        (line(fault), severity_look(severity), line(title)) for fault, severity, title in rows
    ]
    ids = max((cell_len(fault) for fault, _, _ in listed), default=0)
    words = max((len(look.word) for _, look, _ in listed), default=0)
    out = Text(no_wrap=True, overflow="ignore")
    for fault, look, title in listed:
        out.append("\n" if out.plain else "")
        out.append(pad(fault, ids) + "  ", "bold").append(pad(look.word, words) + "  ", look.style)
        out.append(title if width is None else shorten(title, max(width - ids - words - 4, 20)))
    return out
