"""What was measured: rates, a table of faults, and every miss by name. Pure: nothing is printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tritaudit.faults import FAULT_IDS
from tritaudit.plain import Plain, to_plain
from tritaudit.report.wording import count, line, listed, seconds
from tritaudit.selftest.mutants import Mutant
from tritaudit.selftest.runner import Measured, Subject
from tritaudit.targets import shown_path

__all__ = [
    "DETECTION",
    "RIGHT_NAME",
    "Figures",
    "Row",
    "figures_of",
    "plain_figures",
    "render",
    "render_line",
]

#: the least rates that count as good.
DETECTION, RIGHT_NAME = 0.99, 0.97


@dataclass(frozen=True, slots=True)
class Row:
    """A mutant and what was found in it.

    Attributes:
        detected: an unexpected finding appeared.
        named: all that was planted was found, and nothing that is not true.
        strict: what was planted was found, and nothing else.
    """

    mutant: Mutant
    measured: Measured

    @property
    def detected(self) -> bool:
        return bool(self.measured.found)

    @property
    def named(self) -> bool:
        found, planted = set(self.measured.found), set(self.mutant.faults)
        return planted <= found <= planted | set(self.mutant.also)

    @property
    def strict(self) -> bool:
        return set(self.measured.found) == set(self.mutant.faults)

    @property
    def missing(self) -> tuple[str, ...]:
        """Planted and not found."""
        return tuple(f for f in self.mutant.faults if f not in self.measured.found)

    @property
    def extra(self) -> tuple[str, ...]:
        """Found and not true."""
        true = (*self.mutant.faults, *self.mutant.also)
        return tuple(f for f in self.measured.found if f not in true)


@dataclass(frozen=True, slots=True)
class Figures:
    """A whole measurement.

    Attributes:
        mutants: those that have a fault. equivalent: those that have none.
        right: right kernels and what was found in them.
        errors: what could not be measured.
        left: how many subjects were not measured, because the run ended early.
        seconds: of all searches together.
    """

    mutants: tuple[Row, ...] = ()
    equivalent: tuple[Row, ...] = ()
    right: tuple[Measured, ...] = ()
    errors: tuple[Measured, ...] = ()
    left: int = 0
    seconds: float = 0.0
    examples: int = 0
    versions: tuple[str, ...] = field(default=())

    @property
    def missed(self) -> tuple[Row, ...]:
        return tuple(r for r in self.mutants if not r.detected)

    @property
    def misnamed(self) -> tuple[Row, ...]:
        return tuple(r for r in self.mutants if r.detected and not r.named)

    @property
    def false_alarms(self) -> tuple[Measured, ...]:
        """Right kernels in which something was found."""
        return tuple(m for m in self.right if m.found)

    @property
    def not_equivalent(self) -> tuple[Row, ...]:
        """Mutants that were said to change nothing, and in which something was found."""
        return tuple(r for r in self.equivalent if r.detected)

    @property
    def detection(self) -> float:
        return _rate(sum(r.detected for r in self.mutants), len(self.mutants))

    @property
    def right_name(self) -> float:
        """Of all mutants, not only of those that were detected."""
        return _rate(sum(r.named for r in self.mutants), len(self.mutants))

    @property
    def strict_name(self) -> float:
        return _rate(sum(r.strict for r in self.mutants), len(self.mutants))

    @property
    def good(self) -> bool:
        """Whether the rates are high enough, and nothing right was flagged."""
        clean = not self.false_alarms and not self.not_equivalent
        return clean and self.detection >= DETECTION and self.right_name >= RIGHT_NAME


def _rate(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def figures_of(subjects: Sequence[Subject], measured: Iterable[Measured]) -> Figures:
    """Put measurements in order."""
    by_name = {m.name: m for m in measured}
    rows, equivalent, right, errors = list[Row](), list[Row](), list[Measured](), list[Measured]()
    for subject in subjects:
        result = by_name.get(subject.info.name)
        if result is None:
            continue
        if result.error:
            errors.append(result)
        elif subject.mutant is None:
            right.append(result)
        else:
            kind = equivalent if subject.mutant.equivalent else rows
            kind.append(Row(subject.mutant, result))
    return Figures(
        mutants=tuple(rows),
        equivalent=tuple(equivalent),
        right=tuple(right),
        errors=tuple(errors),
        left=sum(s.info.name not in by_name for s in subjects),
        seconds=sum(m.seconds for m in by_name.values()),
        examples=sum(m.examples for m in by_name.values()),
        versions=tuple(dict.fromkeys(m.versions for m in by_name.values())),
    )


# --------------------------------------------------------------------------- JSON


def plain_figures(figures: Figures, folder: Path | None) -> dict[str, Plain]:
    """All of it as plain data, for a file of JSON."""
    return {
        "version": 1,
        "versions": list(figures.versions),
        "good": figures.good,
        "mutants": len(figures.mutants),
        "detection": figures.detection,
        "right_name": figures.right_name,
        "strict_name": figures.strict_name,
        "right_kernels": len(figures.right),
        "false_alarms": [m.name for m in figures.false_alarms],
        "not_equivalent": [r.mutant.name for r in figures.not_equivalent],
        "left": figures.left,
        "seconds": round(figures.seconds, 1),
        "examples": figures.examples,
        "faults": {f: list(counts) for f, counts in _by_fault(figures.mutants).items()},
        "rows": [_plain_row(r, folder) for r in (*figures.mutants, *figures.equivalent)],
        "right": [to_plain(m) for m in figures.right],
        "errors": [to_plain(m) for m in figures.errors],
    }


def _plain_row(row: Row, folder: Path | None) -> dict[str, Plain]:
    mutant = row.mutant
    return {
        "name": mutant.name,
        "origin": mutant.origin,
        "what": mutant.what,
        "planted": list(mutant.faults),
        "also": list(mutant.also),
        "why": mutant.why,
        "equivalent": mutant.equivalent,
        "file": str(folder / mutant.file) if folder is not None else "",
        "detected": row.detected,
        "named": row.named and not mutant.equivalent,
        "found": list(row.measured.found),
        "examples": list(row.measured.smallest),
        "cut_short": row.measured.cut_short,
        "seconds": row.measured.seconds,
    }


def _by_fault(rows: Iterable[Row]) -> dict[str, tuple[int, int, int]]:
    """For each fault that was planted: mutants, detected ones, and those with the right name."""
    table = {}
    for fault in FAULT_IDS:
        here = [r for r in rows if fault in r.mutant.faults]
        if here:
            detected, named = sum(r.detected for r in here), sum(r.named for r in here)
            table[fault] = (len(here), detected, named)
    return table


# --------------------------------------------------------------------------- text


def render_line(subject: Subject, measured: Measured) -> Text:
    """One line for a kernel as soon as it is measured."""
    word, style = _verdict(subject, measured)
    text = Text.assemble((f"{word:<6}", style), line(measured.name), no_wrap=True)
    found = ", ".join(measured.found) or ("nothing" if not measured.error else measured.error)
    return text.append(f"  {line(found)}  ").append(seconds(measured.seconds), "dim")


def _verdict(subject: Subject, measured: Measured) -> tuple[str, str]:
    if measured.error:
        return "error", "bold magenta"
    if subject.mutant is None:
        return ("ALARM", "bold red") if measured.found else ("right", "green")
    row = Row(subject.mutant, measured)
    if subject.mutant.equivalent:
        return ("ALARM", "bold red") if row.detected else ("same", "blue")
    if not row.detected:
        return "MISS", "bold red"
    return ("found", "green") if row.named else ("NAME", "bold yellow")


def render(figures: Figures, folder: Path | None) -> RenderableType:
    """The table, what went wrong, what is equivalent, and the rates."""
    parts: list[RenderableType] = [_table(figures), Text()]
    for title, rows in (("missed", figures.missed), ("misnamed", figures.misnamed)):
        for row in rows:
            parts += [_miss(title, row, folder), Text()]
    for row in figures.not_equivalent:
        parts += [_miss("not equivalent", row, folder), Text()]
    for measured in figures.false_alarms:
        parts += [_alarm("false alarm", measured), Text()]
    for measured in figures.errors:
        parts += [Text.assemble(("error ", "bold red"), measured.name, f"\n  {measured.error}")]
    parts += [*_equivalents(figures), *_totals(figures)]
    return Group(*parts)


def _table(figures: Figures) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    table.add_column("fault")
    for title in ("planted", "detected", "right name"):
        table.add_column(title, justify="right")
    for fault, (planted, detected, named) in _by_fault(figures.mutants).items():
        table.add_row(fault, str(planted), _count(detected, planted), _count(named, planted))
    return table


def _count(part: int, whole: int) -> Text:
    return Text(str(part), "" if part == whole else "bold red")


def _miss(title: str, row: Row, folder: Path | None) -> Text:
    """A mutant, what was planted, what was found, and where its file is."""
    text = Text.assemble((f"{title} ", "bold red"), (line(row.mutant.name), "bold"))
    text.append(f"\n  {line(row.mutant.what)}")
    text.append(f"\n  planted  {listed(row.mutant.faults) or 'nothing'}")
    found = [line(example) for example in row.measured.smallest]
    text.append(f"\n  found    {found[0] if found else 'nothing'}")
    for example in found[1:]:
        text.append(f"\n           {example}")
    if row.measured.cut_short:
        text.append(f"\n  ended    {line(row.measured.cut_short)}")
    if folder is not None:
        text.append(f"\n  file     {shown_path(folder / row.mutant.file)}", "dim")
    return text


def _alarm(title: str, measured: Measured) -> Text:
    text = Text.assemble((f"{title} ", "bold red"), (line(measured.name), "bold"))
    for example in measured.smallest:
        text.append(f"\n  found    {line(example)}")
    return text


def _equivalents(figures: Figures) -> list[RenderableType]:
    rows = [r for r in figures.equivalent if not r.detected]
    if not rows:
        return []
    head = f"{count(len(rows), 'mutant')} that behave as the original, in which nothing was found:"
    parts: list[RenderableType] = [Text(head, "bold")]
    for row in rows:
        parts.append(Text(f"  {line(row.mutant.name)}: {line(row.mutant.equivalent)}"))
    return [*parts, Text()]


def _totals(figures: Figures) -> list[RenderableType]:
    number = len(figures.mutants)
    detected = sum(r.detected for r in figures.mutants)
    named = sum(r.named for r in figures.mutants)
    strict = sum(r.strict for r in figures.mutants)
    lines = [
        _total("detected", detected, number, DETECTION),
        _total("right name", named, number, RIGHT_NAME),
        Text(f"no other name  {strict} of {number} ({_percent(strict, number)})", "dim"),
        _alarms(figures),
    ]
    cost = f"{count(figures.examples, 'example')} in {seconds(figures.seconds)}"
    lines.append(Text(" · ".join([cost, *(line(v) for v in figures.versions)]), "dim"))
    if figures.left:
        lines.append(Text(f"{figures.left} not measured: the run ended early", "bold yellow"))
    if figures.errors:
        lines.append(Text(f"{count(len(figures.errors), 'search')} could not be done", "bold red"))
    return list(lines)


def _total(title: str, part: int, whole: int, least: float) -> Text:
    reached = _rate(part, whole) >= least
    text = Text(f"{title:<13}  ", "bold")
    text.append(f"{part} of {whole} ({_percent(part, whole)})", "green" if reached else "bold red")
    return text if reached else text.append(f", wanted {least:.0%}")


def _alarms(figures: Figures) -> Text:
    alarms = len(figures.false_alarms)
    text = Text(f"{'false alarms':<13}  ", "bold")
    told = f"{alarms} of {count(len(figures.right), 'right kernel')}"
    return text.append(told, "bold red" if alarms else "green")


def _percent(part: int, whole: int) -> str:
    """A rate, rounded down: what is not all does not read as all."""
    return f"{int(1000 * _rate(part, whole)) / 10:g} %"
