"""How the answers of `tritaudit ir` look on a terminal. Pure: answers in, renderables out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from rich.console import Group, RenderableType
from rich.text import Text

from tritaudit.ir.model import Answer, Argument, Call, Compiled, Costs, Refused, Stage
from tritaudit.report.wording import count, line, listed, pad, share, wrapped
from tritaudit.targets import shown_path

__all__ = ["render_answers", "render_comparison", "render_costs", "render_listing"]

#: columns of the table of costs: field, the two lines of the heading, width.
_COLUMNS = (
    ("shuffles", "", "shuffles", 8),
    ("barriers", "", "barriers", 8),
    ("shared_loads", "shared", "loads", 6),
    ("shared_stores", "shared", "stores", 6),
    ("shared_bytes", "shared", "bytes", 6),
    ("registers", "regis-", "ters", 6),
    ("spills", "", "spills", 6),
    ("instructions", "instruc-", "tions", 8),
)
assert {name for name, *_ in _COLUMNS} == {f.name for f in fields(Costs)}
#: operations of a stage that are named.
_MOST_OPERATIONS = 10


def render_answers(answers: Sequence[Answer], width: int) -> RenderableType:
    """Each kernel, what became of its calls stage by stage, and the table of costs.

    Args:
        width: terminal cells of a line.
    """
    parts: list[RenderableType] = []
    for answer in answers:
        parts += [_head(answer, width), *_kernels(answer, width), *_refusals(answer), Text()]
    if any(answer.kernels for answer in answers):
        parts += [render_costs(answers), Text()]
    return Group(*parts[:-1])


def _head(answer: Answer, width: int) -> Text:
    text = Text(line(answer.case), "bold", no_wrap=True, overflow="ignore")
    chosen = [f"{name}={value}" for name, value in (*answer.sizes, *answer.tiles)]
    if answer.dim is not None:
        chosen.append(f"dim={answer.dim}")
    text.append(f"  {line(' '.join([answer.dtype, *chosen]))}", "")
    told = ", ".join(word for word in (answer.target, f"Triton {answer.triton}") if word)
    fits = len(text.plain) + len(told) + 2 <= width
    return text.append(f"{'  ' if fits else chr(10) + '  '}{line(told)}", "dim")


def _kernels(answer: Answer, width: int) -> list[Text]:
    """Each kernel once: with another number of warps only the counts differ."""
    first = answer.kernels[0].num_warps if answer.kernels else 0
    return [_kernel(answer, k, width) for k in answer.kernels if k.num_warps == first]


def _kernel(answer: Answer, kernel: Compiled, width: int) -> Text:
    text = Text(no_wrap=True, overflow="ignore")
    grid = ", ".join(str(n) for n in kernel.grid)
    grid = f"({grid},)" if len(kernel.grid) == 1 else f"({grid})"
    text.append(f"  {kernel.kernel}[{grid}]", "cyan")
    text.append(f" with {count(kernel.num_warps, 'warp')}")
    if kernel.configurations:
        text.append(f", the first of {count(kernel.configurations, 'configuration')}")
    for row in _arguments(kernel.arguments, width - 4):
        text.append(f"\n    {row}", "dim")
    for call in kernel.calls:
        text.append("\n  ").append(_place(call), "underline").append(f"  {line(call.text)}", "bold")
        if answer.dim is not None and call.name == "flip":
            text.append(f", with {answer.dim} in place of its axis,")
    if not kernel.calls:
        return text.append("\n  neither tl.flip nor tl.abs is called: no line is marked")
    text.append(" became" if len(kernel.calls) == 1 else "\n  became")
    for stage in kernel.stages:
        text.append("\n").append_text(_became(stage, width))
    for row in wrapped(_search(kernel), width - 2):
        text.append(f"\n  {row}")
    return text


def _arguments(arguments: Iterable[Argument], width: int) -> list[str]:
    """The arguments of a launch in lines; ÷16 is what Triton may assume of pointers and numbers."""
    words = (f"{a.name}: {a.value}{' ÷16' if a.aligned else ''}" for a in arguments)
    return _filled(words, width)


def _filled(words: Iterable[str], width: int) -> list[str]:
    """Words separated by commas, in lines that break only between two of them."""
    rows = [""]
    for word in words:
        told = line(word)
        if rows[-1] and len(rows[-1]) + len(told) + 3 > width:
            rows[-1] += ","
            rows.append(told)
        else:
            rows[-1] += f", {told}" if rows[-1] else told
    return rows


def _place(call: Call) -> str:
    return line(f"{shown_path(call.path)}:{call.line}")


def _became(stage: Stage, width: int) -> Text:
    """How many lines of a stage stem from the calls, and which operations they are."""
    text = Text(f"    {pad(stage.name, 6)} ", "bold", no_wrap=True, overflow="ignore")
    if not stage.marked:
        return text.append("nothing of its own", "dim")
    lines = share(len(stage.marked), len(stage.rows), "line")
    text.append(f"{pad(lines, 17)} ", "dim")
    words = [f"{name} {number}" for name, number in stage.operations[:_MOST_OPERATIONS]]
    if len(stage.operations) > _MOST_OPERATIONS:
        words.append(f"{count(len(stage.operations) - _MOST_OPERATIONS, 'other')}")
    rows = _filled(words, max(width - 29, 24))
    return text.append(f"\n{' ' * 29}".join(rows), "")


def _search(kernel: Compiled) -> str:
    """Why looking for "flip" in the text finds nothing that is done (claim A47)."""
    stage = kernel.stage("ttir")
    if stage is None or all(call.name != "flip" for call in kernel.calls):
        return ""
    if any("flip" in name.lower() for name, _ in stage.operations):
        return ""
    found = "nothing"
    if stage.mentions:
        names = count(stage.mentions, "line")
        found = f"{names}, which are names of files and functions, and no operation"
    return (
        f'A search for "flip" in this TTIR finds {found}: tl.flip is a library function, taken '
        "apart into what is listed above."
    )


def _refusals(answer: Answer) -> list[Text]:
    return [_refusal(answer, refused) for refused in answer.refused]


def _refusal(answer: Answer, refused: Refused) -> Text:
    warps = "" if refused.num_warps is None else f" with {count(refused.num_warps, 'warp')}"
    head = f"  run ended early{warps}: " if answer.kernels else f"  not compiled{warps}: "
    text = Text(head, "bold red").append(line(refused.message), "")
    if refused.path:
        text.append(f"\n  at {line(shown_path(refused.path))}:{refused.line}", "dim")
    return text


# --------------------------------------------------------------------------- the text of a stage


def render_listing(answer: Answer, kernel: Compiled, stage: Stage) -> Text:
    """The text of a stage: `>>` before what stems from a call, `>` before what shares its line.

    Lines stay whole; print with `show`.
    """
    told = f"{answer.case} {kernel.kernel} {stage.name}, {count(kernel.num_warps, 'warp')}"
    if answer.dim is not None:
        told += f", dim {answer.dim}"
    text = Text(no_wrap=True, overflow="ignore")
    text.append(line(told), "bold").append("  >> from the call, > from the rest of its line", "dim")
    marked, near = set(stage.marked), set(stage.near)
    for number, row in enumerate(stage.rows):
        sign, style = ("> ", "") if number in near else ("  ", "dim")
        if number in marked:
            sign, style = ">>", "bold yellow"
        text.append("\n").append(f"{sign} ", style).append(row.expandtabs(8).rstrip(), style)
    return text


# --------------------------------------------------------------------------- costs


def render_costs(answers: Sequence[Answer]) -> Text:
    """A line for each kernel, number of warps and axis, under the name of its case."""
    labels = [_label(a, k) for a in answers for k in a.kernels]
    room = max([len(label) for label in labels] + [12]) + 2
    text = Text(no_wrap=True, overflow="ignore")
    for upper in (True, False):
        heads = [(a if upper else b).rjust(width) for _, a, b, width in _COLUMNS]
        text.append(" " * room + " ".join(heads) + ("\n" if upper else ""), "dim")
    case = ""
    for answer in answers:
        if answer.kernels and answer.case != case:
            case = answer.case
            text.append(f"\n{line(case)}", "bold")
        for kernel in answer.kernels:
            text.append(f"\n{pad('  ' + _label(answer, kernel), room)}")
            text.append(_row(kernel.costs))
    return text


def _label(answer: Answer, kernel: Compiled) -> str:
    words = [] if answer.dim is None else [f"dim {answer.dim}"]
    names = {k.kernel for k in answer.kernels}
    if len(names) > 1:
        words.append(line(kernel.kernel))
    return ", ".join([*words, count(kernel.num_warps, "warp")])


def _row(costs: Costs) -> str:
    cells = []
    for name, _, _, width in _COLUMNS:
        value = getattr(costs, name)
        cells.append(("?" if value is None else f"{value:,}").rjust(width))
    return " ".join(cells)


def render_comparison(first: Answer, other: Answer, width: int) -> Text | None:
    """A sentence for each number of warps on how two cases differ; None without a pair."""
    sentences = []
    for kernel in first.kernels:
        pair = next((k for k in other.kernels if k.num_warps == kernel.num_warps), None)
        if pair is not None:
            warps = count(pair.num_warps, "warp")
            told = _differences(kernel.costs, pair.costs)
            sentences.append(f"{line(first.case)} against {line(other.case)}, {warps}: {told}")
    text = "\n".join("\n".join(wrapped(sentence, width)) for sentence in sentences)
    return Text(text, no_wrap=True, overflow="ignore") if sentences else None


def _differences(a: Costs, b: Costs) -> str:
    told = []
    for field in fields(Costs):
        one, two = getattr(a, field.name), getattr(b, field.name)
        if one != two and one is not None and two is not None:
            told.append(f"{field.name.replace('_', ' ')} {one:,} against {two:,}")
    return f"{listed(told)}." if told else "the same costs."
