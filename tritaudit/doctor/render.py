"""What `tritaudit doctor` prints. Pure: an examination in, a renderable out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from tritaudit import __version__
from tritaudit.doctor.model import Cache, Examination, Facts, Module, Probe, Problem, Trial
from tritaudit.report.severity import severity_look
from tritaudit.report.wording import count, line, pad, wrapped

__all__ = ["render_examination"]


def render_examination(found: Examination, width: int) -> Text:
    """Versions, the cache, the trials, the table of semantics, and the problems with remedies.

    Args:
        width: terminal cells of a line.
    """
    parts = [_installation(found.facts, found.cache, width)]
    if found.trials:
        parts.append(_trials(found.trials, width))
    if found.probes:
        parts.append(_probes(found.probes, found.facts, width))
    parts.append(_problems(found.problems, width))
    text = Text("\n\n", no_wrap=True, overflow="ignore").join(parts)
    text.no_wrap, text.overflow = True, "ignore"
    return text


def _rows(rows: Iterable[tuple[str, str, str]], width: int) -> Text:
    """Labels on the left, and texts with their styles on the right, wrapped there."""
    listed = list(rows)
    room = max(len(label) for label, _, _ in listed) + 2
    text = Text()
    for label, told, style in listed:
        text.append("\n" if text.plain else "").append(pad(label, room), "dim")
        text.append(f"\n{' ' * room}".join(wrapped(line(told), width - room)), style)
    return text


def _installation(facts: Facts, cache: Cache, width: int) -> Text:
    held = f"{count(cache.kernels, 'kernel')}, {_bytes(cache.size)}"
    rows = [
        ("tritaudit", __version__, ""),
        ("python", f"{facts.python}  {facts.executable}", ""),
        *((module.name, *_module(module, facts)) for module in facts.modules),
        ("driver", facts.driver or "none", ""),
        ("GPU", ", ".join(facts.gpus) or "none", ""),
        ("cache", f"{cache.path} ({held})", ""),
    ]
    return _rows(rows, width)


def _module(module: Module, facts: Facts) -> tuple[str, str]:
    if module.error:
        return ("cannot be imported" if module.installed else "not installed"), "bold red"
    if module.name != "torch" or not facts.torch_build:
        return module.version, ""
    build = "the CPU only" if facts.torch_build == "cpu" else facts.torch_build
    pins = ", ".join(facts.requires) or "no version of Triton"
    return f"{module.version}, built for {build}, asks for {pins}", ""


def _bytes(size: int) -> str:
    value, units = float(size), ["B", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.0f} B" if units[0] == "B" else f"{value:.1f} {units[0]}"


def _trials(trials: Sequence[Trial], width: int) -> Text:
    return _rows(((f"on the {t.backend}", *_ended(t)) for t in trials), width)


def _ended(trial: Trial) -> tuple[str, str]:
    if trial.problem:
        return trial.problem, "red"
    if not trial.ran:
        return "not tried: torch sees none", "dim"
    return "a trivial kernel runs and writes what it should", "green"


def _probes(probes: Sequence[Probe], facts: Facts, width: int) -> Text:
    """The table of this Triton's semantics: a line for each probe of the catalogue."""
    names = [line(probe.name).removeprefix("semantics/") for probe in probes]
    answers = [_answer(probe) for probe in probes]
    first = max(len(name) for name in names) + 2
    second = max(len(told) for told, _ in answers) + 2
    text = Text(f"what Triton {line(facts.version('triton'))} does", "bold")
    for name, (told, style), probe in zip(names, answers, probes, strict=True):
        text.append(f"\n{pad(name, first)}").append(pad(told, second), style)
        room = max(width - first - second, 24)
        indent = f"\n{' ' * (width - room)}"
        text.append(indent.join(wrapped(line(probe.question), room)), "dim")
    return text


def _answer(probe: Probe) -> tuple[str, str]:
    faults = ", ".join(line(fault) for fault in probe.faults)
    match probe.outcome:
        case "holds":
            return "holds", "green"
        case "fails":
            return faults, "blue"
        case _:
            return f"{line(probe.outcome)}: {faults or line(probe.detail)}", "bold yellow"


def _problems(problems: Sequence[Problem], width: int) -> Text:
    if not problems:
        return Text("no problem found", "bold green")
    text = Text()
    for problem in problems:
        look = severity_look(problem.severity)
        head = f"{look.symbol} {look.word}: "
        told = wrapped(f"{head}{line(problem.message)} [{problem.id}]", width - 2)
        text.append("\n" if text.plain else "").append(told[0][: len(head)], f"bold {look.style}")
        text.append("\n  ".join([told[0][len(head) :], *told[1:]]))
        text.append("\n  → ", "dim").append("\n    ".join(wrapped(line(problem.remedy), width - 4)))
    return text
