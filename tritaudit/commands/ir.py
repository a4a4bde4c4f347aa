"""`tritaudit ir`: what the compiler made of a case's kernels, and what it costs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from tritaudit import __version__
from tritaudit.commands import NOTHING_UNEXPECTED, UNABLE, Usage
from tritaudit.commands.functions import FunctionOptions, calls_of
from tritaudit.commands.reports import STDOUT, ReportWriteError
from tritaudit.commands.session import cases_of, output
from tritaudit.forkserver import BackendError, Call, Died, Overdue, Raised, Returned
from tritaudit.ir.model import STAGES, Answer, Question, Refused, Target
from tritaudit.ir.render import render_answers, render_comparison, render_listing
from tritaudit.model import Backend, CallSpec, CaseInfo
from tritaudit.plain import from_plain, to_plain
from tritaudit.report.terminal import show
from tritaudit.storage import write_file
from tritaudit.supervisor import Supervisor
from tritaudit.targets import nearest
from tritaudit.unit import request_for

__all__ = ["SCHEMA", "Plan", "check_launch", "ir", "named_numbers", "numbers", "put_json"]

SCHEMA = "tritaudit-ir/1"
#: seconds for all kernels of a case, and for one compilation.
_LIMIT, _KERNEL_LIMIT = 600.0, 120.0
#: elements of a tile that nobody chose: one for each lane of four warps.
_USUAL_TILE = 128


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compile, as it was asked for on the command line."""

    case: str
    compare: str | None = None
    target: str = ""
    stages: tuple[str, ...] = ()
    num_warps: tuple[int, ...] = ()
    dims: tuple[int, ...] = ()
    tiles: tuple[tuple[str, int], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    json: str | None = None


def numbers(option: str, text: str | None, low: int) -> tuple[int, ...]:
    """The numbers of an option such as 1,4,8.

    Raises:
        Usage: one is no whole number from `low` on.
    """
    parts = [part.strip() for part in text.split(",")] if text is not None else []
    for part in parts:
        if not re.fullmatch(r"-?[0-9]{1,6}", part) or int(part) < low:
            raise Usage(f"{option} {text!r} is not a list of numbers such as 1,4,8")
    return tuple(dict.fromkeys(int(part) for part in parts))


def named_numbers(option: str, texts: Sequence[str], low: int) -> tuple[tuple[str, int], ...]:
    """The values of an option that may be repeated: BLOCK=128, or H=32,W=64.

    Raises:
        Usage: a value is not NAME=NUMBER, or the number is less than `low`.
    """
    found: dict[str, int] = {}
    for text in (part for given in texts for part in given.split(",")):
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)=([0-9]{1,12})\s*", text)
        if match is None or int(match[2]) < low:
            raise Usage(f"{option} {text!r} is not NAME=NUMBER with a number from {low}")
        found[match[1]] = int(match[2])
    return tuple(found.items())


def ir(plan: Plan, function: FunctionOptions) -> int:
    """Compile the kernels of a case, and of another one to compare it with; the exit code.

    Raises:
        Usage: a case, target, stage, tile or axis does not exist.
        BackendError: triton cannot be imported.
        ReportWriteError: the JSON file cannot be written; all is printed by then.
    """
    _check(plan)
    dtypes = function.dtypes()
    if len(dtypes) > 1:
        raise Usage("--dtype takes one dtype here")
    targets = [plan.case, *([plan.compare] if plan.compare else [])]
    with Supervisor(Backend.GPU) as supervisor:
        cases = _cases(supervisor, targets, calls_of(function, targets))
        asked = _questions(cases, plan, dtypes[0] if dtypes else "")
        answers = [_ask(supervisor, question) for question in asked]
    _check_stages(plan, answers)
    if plan.json != STDOUT:
        _print(output(), answers, plan)
    if plan.json is not None:
        value = {"schema": SCHEMA, "tritaudit": __version__, "answers": to_plain(tuple(answers))}
        put_json(plan.json, value)
    return UNABLE if any(not answer.kernels for answer in answers) else NOTHING_UNEXPECTED


def _check(plan: Plan) -> None:
    if plan.target:
        try:
            Target.parse(plan.target)
        except ValueError as error:
            raise Usage(f"--target: {error}") from error
    for stage in plan.stages:
        if stage not in STAGES:
            near = nearest(stage, STAGES) or f"; stages are {', '.join(STAGES)}"
            raise Usage(f"--stage: no stage is named {stage!r}{near}")
    check_launch(plan.tiles, plan.num_warps)


def check_launch(tiles: Sequence[tuple[str, int]], num_warps: Sequence[int]) -> None:
    """Refuse what no kernel can be launched with.

    Raises:
        Usage: a tile or a number of warps is no power of two.
    """
    for name, size in tiles:
        if size & (size - 1):
            raise Usage(f"--tile {name}={size}: tl.arange takes powers of two only")
    for warps in num_warps:
        if warps & (warps - 1) or warps > 32:
            raise Usage(f"--num-warps {warps}: the number of warps is a power of two up to 32")


def _cases(
    supervisor: Supervisor, targets: Sequence[str], calls: Sequence[CallSpec]
) -> tuple[CaseInfo, ...]:
    """The cases of targets, in the order of the targets."""
    found: dict[tuple[str, str], CaseInfo] = {}
    for number, target in enumerate(targets):
        own = calls[number : number + 1]
        for case in cases_of(supervisor, [target], own).cases:
            found.setdefault((case.path, case.name), case)
    return tuple(found.values())


# --------------------------------------------------------------------------- the questions


def _questions(cases: Sequence[CaseInfo], plan: Plan, dtype: str) -> list[Question]:
    tiles = _tiles(cases, plan.tiles)
    axes = dict.fromkeys(axis for case in cases for axis, _, _ in case.axes)
    for name, _ in plan.sizes:
        if name not in axes:
            raise Usage(f"--size: no axis is named {name!r}; axes are {', '.join(axes)}")
    dims = plan.dims or (None,)
    return [
        Question(
            request=request_for(case, str(Backend.GPU)),
            target=plan.target,
            num_warps=plan.num_warps,
            dim=dim,
            dtype=dtype,
            tiles=tiles,
            sizes=plan.sizes,
        )
        for case in cases
        for dim in dims
    ]


def _tiles(
    cases: Sequence[CaseInfo], given: Sequence[tuple[str, int]]
) -> tuple[tuple[str, int], ...]:
    """A size for each tile: the given one, else the one nearest to the usual that all declare."""
    declared: dict[str, list[tuple[int, ...]]] = {}
    for case in cases:
        for name, sizes in case.tiles:
            declared.setdefault(name, []).append(sizes)
    for name, _ in given:
        if name not in declared:
            known = f"tiles are {', '.join(declared)}" if declared else "there is none"
            raise Usage(f"--tile: no tile is named {name!r}; {known}")
    chosen = {
        name: max(max(s[0] for s in lists), min(_USUAL_TILE, *(s[-1] for s in lists)))
        for name, lists in declared.items()
    }
    return tuple({**chosen, **dict(given)}.items())


def _ask(supervisor: Supervisor, question: Question) -> Answer:
    """The answer to a question; a compiler that ends the process is an answer, too."""
    call = Call("compile", to_plain(question), _LIMIT, _KERNEL_LIMIT)
    ended = supervisor.call(call)
    case = question.request.case
    match ended:
        case Returned(value={"answer": answer}):
            return from_plain(Answer, answer)
        case Returned(value={"problem": problem}):
            raise Usage(str(problem))
        case Died():
            last = ended.output.strip().rpartition("\n")[2]
            why = f"the compiler ended the process ({ended.how}){f': {last}' if last else ''}"
        case Overdue():
            why = f"the compiler had not ended after {ended.seconds:.0f} s"
        case Raised():
            raise BackendError(f"{case} cannot be compiled: {ended.message}")
        case Returned():
            raise BackendError(f"{case} cannot be compiled: no answer")
    refused = (Refused(None, why),)
    triton = supervisor.environment().triton
    told = Answer(case, question.target, triton, question.dtype, question.sizes, question.tiles)
    return replace(told, refused=refused, dim=question.dim)


# --------------------------------------------------------------------------- the answers


def _check_stages(plan: Plan, answers: Sequence[Answer]) -> None:
    for answer in answers:
        for kernel in answer.kernels:
            for name in plan.stages:
                if kernel.stage(name) is None:
                    has = ", ".join(stage.name for stage in kernel.stages)
                    raise Usage(f"--stage: {answer.target} has no {name}; stages are {has}")


def _print(console: Console, answers: Sequence[Answer], plan: Plan) -> None:
    for answer in answers:
        for kernel in answer.kernels:
            for name in plan.stages:
                stage = kernel.stage(name)
                if stage is not None:
                    show(console, render_listing(answer, kernel, stage))
                    console.print()
    show(console, render_answers(answers, console.width))
    first = answers[0]
    for other in answers[1:] if plan.compare else []:
        if other.case != first.case and other.dim == first.dim:
            sentence = render_comparison(first, other, console.width)
            if sentence is not None:
                console.print()
                show(console, sentence)


def put_json(path: str, value: object) -> None:
    """Write a value as JSON, `-` to standard output.

    Raises:
        ReportWriteError: the file cannot be written.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    if path == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        write_file(Path(path), text)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportWriteError(f"the JSON file {path} cannot be written: {why}") from error
