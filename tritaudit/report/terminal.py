"""What `tritaudit run` shows on a terminal: a line a case, a panel a finding, a summary."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tritaudit.model import CaseResult, Finding, Location, Outcome, Proof, Report
from tritaudit.report.excerpt import caption, render_excerpt
from tritaudit.report.listing import render_case_list, render_fault_list
from tritaudit.report.live import LiveProgress
from tritaudit.report.resultline import render_result_line
from tritaudit.report.severity import OUTCOMES, outcome_look, severity_look
from tritaudit.report.wording import (
    block,
    count,
    dtypes_in_short,
    example_label,
    example_values,
    explain_command,
    joined,
    line,
    listed,
    seconds,
    sentence,
)

__all__ = [
    "LiveProgress",
    "plain",
    "print_cut_short",
    "print_finding",
    "print_notes",
    "print_problem",
    "render_case_list",
    "render_fault_list",
    "render_finding",
    "render_panel",
    "render_problem",
    "render_result_line",
    "render_summary",
    "repro_line",
    "show",
]

#: lines of captured output that a report shows; the JSON report has them all.
_OUTPUT_LINES = 20
#: cells of the widest line, as of the lines of a run.
WIDEST = 132


def show(console: Console, drawn: RenderableType) -> None:
    """Print what a renderer of this package returned, without breaking a line that must stay whole.

    `console.print(text)` would join a Text with others and forget that it must not be wrapped. What
    pads lines to one width is left out where it is not a terminal that reads them.
    """
    if console.is_terminal:
        console.print(Group(drawn), crop=False)
        return
    with console.capture() as held:
        console.print(Group(drawn), crop=False)
    rows = (row.rstrip(" ") for row in held.get().split("\n"))
    console.out("\n".join(rows), highlight=False, end="")


def plain(drawn: RenderableType, width: int = 100) -> str:
    """What `show` would print, without colour: for formats that hold plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    show(console, drawn)
    assert isinstance(console.file, io.StringIO)
    rows = console.file.getvalue().splitlines()
    return "\n".join(row.rstrip() for row in rows).rstrip("\n")


# --------------------------------------------------------------------------- findings


def print_finding(console: Console, finding: Finding) -> None:
    """Print the panel of a finding and, below it, its line to paste."""
    show(console, render_finding(finding, console.width))


def render_finding(finding: Finding, width: int = 80) -> RenderableType:
    """The panel of a finding and its line to paste, which is never wrapped: print with `show`.

    Args:
        finding: what to show.
        width: terminal cells of a line.
    """
    return Group(render_panel(finding, width), repro_line(finding), Text())


def render_panel(finding: Finding, width: int = 80) -> Panel:
    """The panel of a finding without the line to paste."""
    width = min(width, WIDEST)
    sections: list[list[RenderableType]] = [[Text(sentence(finding.summary), "bold")]]
    sections.append([_facts(finding)])
    if finding.excerpt is not None:
        head = Text(caption(finding.excerpt), "dim")
        sections.append([head, render_excerpt(finding.excerpt, width - 4)])
    sections.append([Text(sentence(s)) for s in finding.evidence])
    sections.append([*verdicts(finding)])
    if finding.output:
        sections.append([Text("The kernel printed:", "dim"), captured(finding.output)])
    look = severity_look(finding.severity)
    return Panel(
        Group(*_apart(sections)),
        title=_title(finding),
        title_align="left",
        subtitle=Text(line(finding.backend), "dim"),
        subtitle_align="right",
        box=box.ROUNDED,
        border_style="dim" if finding.expected else look.style,
        width=width,
    )


def _apart(sections: Iterable[Sequence[RenderableType]]) -> list[RenderableType]:
    """The sections that say something, an empty line between two of them."""
    out: list[RenderableType] = []
    for section in sections:
        if section:
            out += [Text(), *section] if out else section
    return out


def _title(finding: Finding) -> Text:
    look = severity_look(finding.severity)
    word = "known" if finding.expected else look.word
    title = Text.assemble((f"{word}: ", look.style))
    title.append(line(finding.fault), "bold" if finding.expected else f"bold {look.style}")
    return title.append(f" in {line(finding.case)}")


def _facts(finding: Finding) -> Table:
    """Smallest example, place in the source, dtypes: names left, values right."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    example = Text(example_label(finding.example), "bold")
    example.append(f"  {line(finding.dtype)}, {example_values(finding.example)}", "")
    rows.add_row("smallest example", example)
    others = [d for d in finding.dtypes if d != finding.dtype]
    if others:
        rows.add_row("also in", dtypes_in_short(others))
    if finding.location is not None:
        rows.add_row("at", place(finding.location))
    if finding.accepted:
        rows.add_row("accepted", line(finding.accepted))
    return rows


def place(location: Location) -> Text:
    """`path:line` and, below it, the text of the line."""
    text = Text(f"{line(location.path)}:{location.line}", "underline")
    if location.text:
        text = Text.assemble(text, "\n", (line(location.text), "bold"))
    return text


def verdicts(finding: Finding) -> list[Text]:
    """The proof, and what assert_close would have said: one Text each."""
    texts = (proof_text(finding), assert_close_text(finding.assert_close_passes))
    return [text for text in texts if text is not None]


def assert_close_text(passes: bool | None) -> Text | None:
    """The verdict of an ordinary comparison with torch, None where there is none."""
    if passes is None:
        return None
    text = Text("torch.testing.assert_close against torch: ", "")
    if passes:
        return text.append("would have PASSED", "bold yellow")
    return text.append("would have failed", "bold")


def proof_text(finding: Finding, rivals: bool = True) -> Text | None:
    """The proof in one sentence or two; `rivals` says whether to name what was ruled out."""
    proof = finding.proof
    statement = line(proof.statement)
    sentences = []
    predicted = bool(statement) and statement not in line("; ".join(finding.evidence))
    if predicted:
        sentences.append(Text(sentence(statement)))
    if finding.fault in DIRECTLY and not predicted:
        sentences.append(_seen(finding))
    elif proof.elements:
        sentences.append(_share(proof))
    if proof.rivals and rivals:
        names = listed([line(name) for name, _ in proof.rivals])
        sentences.append(Text(f"Ruled out: {names}."))
    return Text(" ").join(sentences) if sentences else None


#: how the faults are known that are seen without predicting values.
DIRECTLY: Mapping[str, str] = MappingProxyType(
    {
        "api-rejects": "Triton raised the error",
        "backend-divergence": "both backends ran the same example",
        "crash": "the launch raised, or its process was killed",
        "input-mutated": "the inputs were compared bit by bit before and after the launch",
        "nondeterministic": "equal launches were compared bit by bit",
        "out-of-bounds-read": "the output changes with the memory beside the inputs",
        "out-of-bounds-write": "the pattern beside the tensors has changed",
        "timeout": "the launch was given its time and did not end",
        "unwritten-output": "elements kept what the output was filled with before, in two launches "
        "with different fills",
        "wrong-dtype": "the output was looked at",
        "wrong-shape": "the output was looked at",
    }
)


def _seen(finding: Finding) -> Text:
    """How a fault was seen that predicts nothing."""
    text = Text.assemble(("Seen", "bold green"), f": {DIRECTLY[finding.fault]}")
    if finding.proof.probes:
        text.append(f"; in {count(finding.proof.probes, 'further example')}, too")
    return text.append(".")


def _share(proof: Proof) -> Text:
    """How much of what is wrong the fault predicts."""
    number = count(proof.elements, "wrong element")
    alone = proof.elements == 1
    if not proof.explained:
        return Text(f"Nothing explains the {'only wrong element' if alone else number}.")
    if proof.partial:
        share = f": this predicts {proof.explained:,} of {number} bit for bit."
        return Text.assemble(("Partly explained", "bold yellow"), share)
    which = "the only wrong element" if alone else f"all {number}"
    text = Text.assemble(("Proved", "bold green"), f": this predicts {which} bit for bit")
    if proof.probes:
        text.append(f", and {count(proof.probes, 'further example')}")
    return text.append(".")


def captured(output: str) -> Text:
    """What a kernel or a case printed, without control codes, the last lines of it."""
    rows = block(output).rstrip("\n").split("\n")
    text = Text()
    if len(rows) > _OUTPUT_LINES:
        text.append(f"… {count(len(rows) - _OUTPUT_LINES, 'line')} before\n", "dim")
    return text.append("\n".join(rows[-_OUTPUT_LINES:]), "dim")


def repro_line(finding: Finding) -> Text:
    """The line to paste: on a line of its own, whole, without borders."""
    return Text(explain_command(finding), "cyan", no_wrap=True, overflow="ignore")


# --------------------------------------------------------------------------- other results


def print_problem(console: Console, result: CaseResult) -> None:
    """Print what a line cannot hold of an error, a stale expectation or a skip."""
    problem = render_problem(result, console.width)
    if problem is not None:
        show(console, problem)


def render_problem(result: CaseResult, width: int = 80) -> RenderableType | None:
    """What a line cannot hold: the whole reason, the place, what the case printed.

    None for an outcome that needs no such text: pass, known, skip, and fail where no expectation is
    stale and nothing was printed.
    """
    look = outcome_look(result.outcome)
    parts: list[RenderableType] = []
    if result.outcome in (Outcome.STALE, Outcome.FAIL) and result.missing:
        names = listed([line(m) for m in result.missing])
        parts.append(
            Text(
                f"expect= names {names}, which did not show. If the kernel is repaired, "
                "remove the expectation; if not, search longer."
            )
        )
    elif result.outcome in (Outcome.STALE, Outcome.ERROR) and result.reason:
        parts.append(Text(block(result.reason)))
    if result.outcome in (Outcome.STALE, Outcome.ERROR, Outcome.FAIL) and result.output:
        parts += [Text("The case printed:", "dim"), captured(result.output)]
    if not parts:
        return None
    if result.location is not None:
        parts.append(place(result.location))
    title = Text.assemble((look.word, look.style), f" {line(result.case)}")
    return Panel(
        Group(*parts),
        title=title,
        title_align="left",
        border_style=look.style,
        width=min(width, WIDEST),
    )


def print_notes(console: Console, result: CaseResult) -> None:
    """Print the remarks on a case, a line each."""
    for note in result.notes:
        show(console, Text.assemble(("note ", "yellow"), f"{line(result.case)}: {line(note)}"))


def print_cut_short(console: Console, results: Iterable[CaseResult], most: int) -> None:
    """Print for each search that ended early why, and what it did not reach; `most` of them."""
    cut = [r for r in results if r.coverage.cut_short]
    for result in cut[:most]:
        what = f"{line(result.case)}: {line(result.coverage.cut_short)}"
        show(console, Text.assemble(("in part ", "yellow"), what))
    if len(cut) > most:
        more = count(len(cut) - most, "more case" if most else "case")
        text = f"{more} not searched to the end; --verbose says what was not reached"
        show(console, Text.assemble(("in part ", "yellow"), text))


# --------------------------------------------------------------------------- summary


def render_summary(report: Report, width: int = 80) -> Text:
    """Counts, then circumstances, faint and wrapped between words; last why the run ended early."""
    text = Text(no_wrap=True, overflow="ignore")
    text.append(f"{count(len(report.results), 'case')}: ", "bold")
    counts = [
        (f"{number} {look.plural}", look.style)
        for outcome, look in OUTCOMES.items()
        if (number := sum(r.outcome is outcome for r in report.results))
    ]
    for number, (counted, style) in enumerate(counts or [("nothing was run", "bold yellow")]):
        text.append(" · " if number else "").append(counted, style)
    for remark in report.remarks:
        text.append("\n" + joined(sentence(remark).split(), width, " "), "yellow")
    examples = sum(r.coverage.examples for r in report.results)
    words = [f"{count(examples, 'example')} in {seconds(report.seconds)}", *circumstances(report)]
    text.append("\n" + joined(words, width), "dim")
    if report.ended:
        text.append("\n" + joined(line(report.ended).split(), width, " "), "bold yellow")
    return text


def circumstances(report: Report) -> list[str]:
    """Seed, backend, versions and machine of a run, those that are known."""
    e = report.environment
    named = [("triton", e.triton), ("torch", e.torch), ("numpy", e.numpy), ("Python", e.python)]
    out = [f"seed {report.seed}", line(report.profile), line(e.backend)]
    if report.shard is not None:
        out.insert(1, f"shard {report.shard.index}/{report.shard.count}")
    out += [f"{name} {line(version)}" for name, version in named if version]
    out += [line(e.gpu), f"driver {line(e.driver)}" if e.driver else ""]
    return [word for word in out if word]
