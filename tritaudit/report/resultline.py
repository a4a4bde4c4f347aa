"""One line for a case: verdict, name, smallest failing sizes or what was covered, time."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from rich.text import Text

from tritaudit.model import CaseResult, Outcome
from tritaudit.report.severity import OUTCOMES, outcome_look
from tritaudit.report.wording import (
    coverage_pieces,
    fault_in_short,
    line,
    pad,
    seconds,
    shorten,
    wrapped,
)

#: the time stands at the right edge, but no further right than this.
_WIDEST = 132
_TIME = 6
_WORD = max(len(look.word) for look in OUTCOMES.values())
#: (text, rich style) of what a line says between name and time.
_Piece = tuple[str, str]


def name_column(names: Iterable[str], width: int) -> int:
    """How many cells the names of cases get in lines of `width` cells: two fifths at most."""
    longest = max((cell_len(line(name)) for name in names), default=0)
    return max(12, min(longest, width * 2 // 5))


def render_result_line(
    result: CaseResult,
    width: int = 80,
    *,
    name_width: int | None = None,
    show_backend: bool = False,
) -> Text:
    """The line of a case; faults that do not fit go to lines below, aligned under the first.

    Args:
        result: the verdict.
        width: terminal cells of a line.
        name_width: cells for the name, the same for all lines of a run (see `name_column`).
        show_backend: whether to name the backend (where a run has several).
    """
    width = min(width, _WIDEST)
    names = name_width or name_column([result.case], width)
    look = outcome_look(result.outcome)
    head = _WORD + 1 + names + 2
    room = max(width - head - _TIME - 1, 10)
    out = Text(no_wrap=True, overflow="ignore")
    out.append(pad(look.word, _WORD) + " ", look.style)
    out.append(pad(shorten(line(result.case), names), names) + "  ", _name_style(result))
    lines = _flow(_pieces(result, show_backend, room), room)
    out.append_text(lines[0])
    out.append(" " * (room - cell_len(lines[0].plain)) + " ")
    out.append(seconds(result.seconds).rjust(_TIME), "dim")
    for more in lines[1:]:
        out.append("\n" + " " * head).append_text(more)
    return out


def _name_style(result: CaseResult) -> str:
    return "bold" if outcome_look(result.outcome).attention else ""


def _pieces(result: CaseResult, show_backend: bool, room: int) -> tuple[list[_Piece], list[_Piece]]:
    """What has to be said (more lines if need be), and what is said as far as there is room."""
    must: list[_Piece] = [(line(result.backend), "cyan")] if show_backend else []
    for finding in sorted(result.findings, key=lambda f: f.expected):
        must.append((fault_in_short(finding), "blue" if finding.expected else "bold red"))
    must += [(f"{line(fault)} did not show", "yellow") for fault in result.missing]
    covered = [(piece, "dim") for piece in coverage_pieces(result.coverage)]
    told = bool(result.findings or result.missing)
    match result.outcome:
        case Outcome.PASS | Outcome.KNOWN | Outcome.FAIL:
            reason = line(result.reason)  # an expected fault that the search did not come to
            return must + ([(reason, "yellow")] if reason else []), covered
        case Outcome.STALE | Outcome.ERROR:
            reason = line(result.reason)
            if reason and not told:
                must.append((shorten(reason, room), ""))  # whole in the panel that follows
            return must, []
        case Outcome.SKIP:
            return [*must, (line(result.reason), "dim")], []


def _flow(pieces: tuple[list[_Piece], list[_Piece]], room: int) -> list[Text]:
    must, may = pieces
    lines = [Text()]
    for text, style in must:
        used = cell_len(lines[-1].plain)
        if used and used + 2 + cell_len(text) <= room:
            lines[-1].append("  ").append(text, style)
            continue
        rows = [Text(row, style) for row in wrapped(text, room)]
        lines = [*lines, *rows] if used else rows or lines
    for number, (text, style) in enumerate(may):
        used = cell_len(lines[-1].plain)
        glue = " · " if used else ""
        if used + len(glue) + cell_len(text) <= room:
            lines[-1].append(glue, "dim").append(text, style)
        elif not number:
            break  # the rest says little without the number of examples
    return lines
