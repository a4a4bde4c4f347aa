"""What a finding shows of a trial: elements side by side, the index map, the place in the source.

From live tensors to plain data; nothing here launches or judges.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any

import torch

from tritaudit import generate
from tritaudit.contracts import AnyContract
from tritaudit.dtypes import dtype_of, value_text
from tritaudit.faults import info
from tritaudit.faults.diagnosis import Diagnosis
from tritaudit.model import (
    BESIDE,
    MASKED,
    OTHER,
    UNKNOWN,
    UNWRITTEN,
    Cell,
    Example,
    Excerpt,
    Fill,
    FillKind,
    IndexMap,
    Location,
)
from tritaudit.targets import shown_path
from tritaudit.tensors import bits_of, flip_bits, unsigned_bits
from tritaudit.trial import Trial

#: outputs of at most this many elements are shown whole.
WHOLE = 64
#: elements of an excerpt of a larger output.
WINDOW = 40
#: largest output whose index map is recovered.
MAP_ELEMENTS = 4096


# --------------------------------------------------------------------------- ordinary tests


def plain_verdict(trial: Trial) -> bool | None:
    """Whether torch.testing.assert_close against plain torch passes; None where torch has none."""
    if not trial.comparable:
        return None
    contract: AnyContract = trial.case.contract  # type: ignore[assignment]
    try:
        reference = contract.plain(trial.case, trial.example, trial.inputs)
        torch.testing.assert_close(trial.got, reference)
    except AssertionError:
        return False
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        return None
    return True


def view_note(trial: Trial) -> str:
    """A remark on an output that shares memory with an input, where torch's own does not; or ""."""
    name = trial.seen.returned_view
    if name is None:
        return ""
    contract: AnyContract = trial.case.contract  # type: ignore[assignment]
    try:
        plain = contract.plain(trial.case, trial.example, trial.inputs)
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        plain = None
    memory = trial.inputs[name].untyped_storage().data_ptr()
    if plain is not None and plain.untyped_storage().data_ptr() == memory:
        return ""
    return f"the returned tensor shares memory with {name}: what is written to one changes both"


# --------------------------------------------------------------------------- elements


def tiles_of_output(trial: Trial) -> tuple[int, ...]:
    """For each output axis the tile that cuts it, 0 where none does."""
    out = []
    for axis in trial.out_axes:
        cuts = [trial.example.tile(t.name) for t in trial.case.tiles_of(axis)]
        out.append(min(cuts, default=0))
    return tuple(out)


def _window(wrong: torch.Tensor, total: int) -> list[int]:
    """Flat positions to show: all, or those around the first wrong one and some further ones.

    `wrong` are the flat positions that are wrong, in order.
    """
    if total <= WHOLE:
        return list(range(total))
    first = int(wrong[0]) if len(wrong) else 0
    low = max(0, min(first - 6, total - WINDOW))
    high = min(total, low + WINDOW)
    shown = {*range(low, high), *wrong[(wrong < low) | (wrong >= high)][:4].tolist()}
    shown.add(total - 1)
    return sorted(shown)


def excerpt(trial: Trial) -> Excerpt | None:
    """Input, expected and seen elements around the first wrong one; None without an output."""
    if not trial.comparable:
        return None
    wrong, total = trial.wrong.reshape(-1).nonzero().reshape(-1), trial.wrong.numel()
    return Excerpt(
        axes=trial.out_axes,
        shape=tuple(trial.got.shape),
        in_dtype=trial.example.dtype(),
        out_dtype=_name(trial.got),
        tiles=tiles_of_output(trial),
        cells=_cells(trial, _window(wrong, total)),
        wrong=len(wrong),
        total=total,
    )


def changed_input(trial: Trial) -> Excerpt | None:
    """An input that the launch changed, before and after; None where none is known."""
    for spec in trial.case.inputs:
        if spec.name not in trial.seen.after:
            continue
        before, after = trial.inputs[spec.name], trial.seen.after[spec.name]
        mask = trial.seen.mutated[spec.name].cpu().reshape(-1)
        picks = _window(mask.nonzero().reshape(-1), mask.numel())
        at = torch.tensor(picks, dtype=torch.int64)
        old, new = (unsigned_bits(x.cpu().reshape(-1)[at]) for x in (before, after))
        name, shape = _name(before), tuple(before.shape)
        cells = tuple(
            Cell(
                index=_unravel(flat, shape),
                input="",
                expected=value_text(name, one),
                got=value_text(name, two),
                wrong=bool(mask[flat]),
                expected_bits=one,
                got_bits=two,
            )
            for flat, one, two in zip(picks, old, new, strict=True)
        )
        tiles = tuple(
            min((trial.example.tile(t.name) for t in trial.case.tiles_of(axis)), default=0)
            for axis in spec.axes
        )
        wrong, total = int(mask.sum()), mask.numel()
        return Excerpt(spec.axes, shape, name, name, tiles, cells, wrong, total, spec.name)
    return None


def _name(x: torch.Tensor) -> str:
    return str(x.dtype).removeprefix("torch.")


def _cells(trial: Trial, picks: list[int]) -> tuple[Cell, ...]:
    """The elements at flat positions of the output."""
    got, shape = trial.got, tuple(trial.got.shape)
    at = torch.tensor(picks, dtype=torch.int64, device=got.device)

    def taken(x: torch.Tensor) -> list[int]:
        return unsigned_bits(x.contiguous().reshape(-1)[at] if x.numel() else x)

    inputs = [trial.inputs[t.name] for t in trial.case.inputs]
    matching = [(_name(x), taken(x)) for x in inputs if tuple(x.shape) == shape]
    reduced = [] if matching else _reduced(trial, picks)
    rows = zip(picks, taken(got), taken(trial.expected.value), strict=True)
    strange, impossible = _strange(trial, at), _marked(trial.expected.impossible, at)
    wrong, dtype = _marked(trial.wrong, at), _name(got)
    cells = []
    for k, (flat, bits, right) in enumerate(rows):
        no_bits = flat in impossible
        cells.append(
            Cell(
                index=_unravel(flat, shape),
                input=reduced[k]
                if reduced
                else ", ".join(value_text(name, column[k]) for name, column in matching),
                expected=(
                    _impossible_text(trial, flat, dtype) if no_bits else value_text(dtype, right)
                ),
                got=strange.get(flat) or value_text(dtype, bits),
                wrong=flat in wrong,
                input_bits=matching[0][1][k] if matching else None,
                expected_bits=None if no_bits else right,
                got_bits=None if flat in strange else bits,
            )
        )
    return tuple(cells)


#: elements at the front of what was reduced to one that are shown, and how many are shown whole.
_FRONT, _ALL = 2, 4


def _reduced(trial: Trial, picks: list[int]) -> list[str]:
    """For flat positions of the output the elements that were reduced to it, in short.

    Empty where no input has all the axes of the output and some more.
    """
    axes, shape = trial.out_axes, tuple(trial.got.shape)
    columns = []
    for spec in trial.case.inputs:
        x = trial.inputs[spec.name]
        if len(spec.axes) <= len(axes) or not set(axes) <= set(spec.axes) or not x.numel():
            continue
        order = [spec.axes.index(a) for a in axes]
        rest = [k for k in range(x.dim()) if k not in order]
        lines = x.permute(*order, *rest)
        if tuple(lines.shape[: len(axes)]) == shape:
            lines = lines.reshape(math.prod(shape), -1)
            columns.append([_in_short(lines[flat]) for flat in picks])
    return ["; ".join(texts) for texts in zip(*columns, strict=True)]


def _in_short(line: torch.Tensor) -> str:
    """`[1, 2, … 9] of 17`: the first elements of many and the last one."""
    count = line.numel()
    ends = line if count <= _ALL else torch.cat([line[:_FRONT], line[-1:]])
    texts = [value_text(_name(line), bits) for bits in unsigned_bits(ends.contiguous())]
    if count <= _ALL:
        return f"[{', '.join(texts)}]"
    return f"[{', '.join(texts[:_FRONT])}, … {texts[-1]}] of {count}"


def _marked(mask: torch.Tensor | None, at: torch.Tensor) -> set[int]:
    """Those of some flat positions where a mask is set."""
    if mask is None or not mask.numel():
        return set()
    return set(at[mask.reshape(-1)[at]].tolist())


def _strange(trial: Trial, at: torch.Tensor) -> dict[int, str]:
    """Wrong elements whose bits are the tool's own and mean nothing: flat position and word."""
    wrong = _marked(trial.wrong, at)
    out = dict.fromkeys(_marked(trial.strays, at) & wrong, BESIDE)
    if trial.seen.filled is None:
        out.update(dict.fromkeys(_marked(trial.unwritten, at) & wrong, UNKNOWN))
    return out


def _impossible_text(trial: Trial, flat: int, dtype: str) -> str:
    """A value that the dtype of the output cannot hold: the number and a remark."""
    if trial.expected.wide is not None:
        number = int(trial.expected.wide.reshape(-1)[flat].item())
    else:
        number = abs(int(trial.source.reshape(-1)[flat].to(torch.int64).item()))
    return f"{number} (no {dtype})"


def _unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    out = []
    for n in reversed(shape):
        out.append(flat % n)
        flat //= n
    return tuple(reversed(out))


# --------------------------------------------------------------------------- the index map


def map_examples(trial: Trial) -> list[Example]:
    """The examples whose outputs tell where each element came from; empty where that is no use.

    Every element carries its index, in as many digit planes as the dtype needs, and a last example
    of random bits checks that the moves do not depend on the values.
    """
    case, example = trial.case, trial.example
    contract: AnyContract = case.contract  # type: ignore[assignment]
    if not contract.moves_only or not trial.comparable or trial.source.shape != trial.wrong.shape:
        return []
    total = trial.wrong.numel()
    if not 1 < total <= MAP_ELEMENTS or any(x == "expanded" for _, x in example.layouts):
        return []
    kinds = example.dtypes if dtype_of(example.dtype()).tags >= 8 else generate.main_dtypes(case)
    base = dtype_of(kinds[0][1]).tags
    if base < 8:
        return []
    planes = 1
    while base**planes < total:
        planes += 1
    plain = replace(example, dtypes=kinds, edits=())
    fills = [Fill(FillKind.INDEX, k) for k in range(planes)]
    return [replace(plain, fill=fill) for fill in (*fills, Fill(FillKind.RANDOM, 5))]


#: outputs of fewer elements are too small to show how elements move; larger ones hold too many.
TELLING, TELLING_MOST = 5, 64


def telling(smallest: Trial, others: Sequence[Trial]) -> Trial:
    """The trial whose index map shows a fault best.

    Args:
        smallest: the smallest trial that shows it.
        others: further ones, smallest first.
    """
    if smallest.wrong.numel() >= TELLING - 1:
        return smallest
    fits = [t for t in others if TELLING <= t.wrong.numel() <= TELLING_MOST and map_examples(t)]
    # One in which elements come out that can be told apart, before one that is all padding.
    lively = (t for t in fits if torch.unique(bits_of(t.got)).numel() > 2)
    return next(lively, next(iter(fits), smallest))


def index_map(trials: Sequence[Trial]) -> IndexMap | None:
    """The index map from the trials of `map_examples`.

    None if the moves depend on the values, or if all are right: then something else is wrong.
    """
    if not trials or not all(t.comparable for t in trials):
        return None
    first, check = trials[0], trials[-1]
    d = dtype_of(first.got.dtype)
    source = torch.zeros(first.wrong.numel(), dtype=torch.int64)
    tagged = torch.ones_like(source, dtype=torch.bool)
    for k, trial in enumerate(trials[:-1]):
        number = trial.got.to(torch.float64) if d.is_float else trial.got.to(torch.int64)
        digit = number.reshape(-1).cpu()
        whole = (digit >= 1) & (digit <= d.tags) & (digit == digit.to(torch.int64))
        tagged &= whole
        source += (torch.where(whole, digit, 1).to(torch.int64) - 1) * d.tags**k
    tagged &= source < source.numel()
    source = torch.where(tagged, source, OTHER)
    # A tag that came out by chance does not survive other values.
    moved = bits_of(check.source.reshape(-1).cpu())[source.clamp(min=0)]
    holds = bits_of(check.got.reshape(-1).cpu()) == moved
    source = torch.where(tagged & ~holds, OTHER, source)
    unwritten = torch.zeros_like(tagged)
    if first.unwritten is not None:
        unwritten = first.unwritten.reshape(-1).cpu()
    stray = torch.zeros_like(tagged) if first.strays is None else first.strays.reshape(-1).cpu()
    leaked = _leaked(first, source, unwritten | stray)
    source = torch.where((source == OTHER) & leaked[0] & ~stray, MASKED, source)
    source = torch.where(unwritten, UNWRITTEN, source)
    if bool((source == OTHER).sum() * 2 > source.numel()):
        return None
    places = torch.arange(source.numel()).reshape(first.wrong.shape)
    contract: Any = first.case.contract
    right = flip_bits(places, contract.dims(first.case)).reshape(-1)
    if bool((source == right).all()):
        return None
    return IndexMap(
        axes=first.out_axes,
        shape=tuple(first.wrong.shape),
        tiles=tiles_of_output(first),
        source=tuple(source.tolist()),
        expected=tuple(right.tolist()),
        leaked=leaked[1],
        launches=len(trials),
    )


def _leaked(trial: Trial, source: torch.Tensor, known: torch.Tensor) -> tuple[torch.Tensor, str]:
    """Where the one value came out that no input holds: what a masked lane held.

    `known`: where something else is known to be wrong.
    """
    nowhere = torch.zeros_like(known)
    odd = (source == OTHER) & ~known
    if not bool(odd.any()):
        return nowhere, ""
    bits = bits_of(trial.got.reshape(-1).cpu())
    values, counts = torch.unique(bits[odd], return_counts=True)
    value = values[counts.argmax()]
    if bool((bits_of(trial.source.reshape(-1).cpu()) == value).any()):
        return nowhere, ""
    d = dtype_of(trial.got.dtype)
    return bits == value, value_text(d.name, int(value.item()) & d.mask)


# --------------------------------------------------------------------------- the source


_CALLS: dict[str, tuple[str, ...]] = {
    "out-of-bounds-write": ("store",),
    "unwritten-output": ("store",),
    "out-of-bounds-read": ("load",),
    "stride-ignored": ("load",),
    "input-mutated": ("store",),
    "padding-leak": ("flip", "load"),
    "block-local-flip": ("flip", "load"),
    "tile-order-only": ("store", "load"),
    "wrong-axis": ("flip", "load"),
    "not-reversed": ("flip", "store"),
    "off-by-one": ("load", "store"),
    "alias-race": ("load", "store"),
    "nan-contamination": ("flip", "sum", "dot", "store"),
    "signed-zero-lost": ("flip", "sum", "dot", "store"),
    "signed-zero-kept": ("where", "maximum", "abs", "store"),
    "sign-kept": ("abs", "where", "maximum", "store"),
    "nan-lost": ("maximum", "where", "abs", "store"),
    "int-abs-overflow": ("abs", "maximum", "where", "store"),
    "unsigned-as-signed": ("abs", "where", "store"),
    "precision-loss": ("to", "store"),
    "int-overflow": ("abs", "sum", "cumsum", "store"),
}


#: faults that the launch function has, and not a kernel.
_BY_THE_LAUNCHER = ("crash", "wrong-dtype", "wrong-shape")


def locate(trial: Trial, fault: str) -> Location | None:
    """The offending call: where an error came from, else the call of the kernel to look at."""
    error = trial.seen.error
    if error is not None and error.line:
        return _location(error.path, error.line)
    own = _plain_function(trial.case.run)
    functions = _started(trial) or [own]
    by_torch = fault == "input-mutated" and set(trial.seen.mutated) == set(trial.seen.assigned)
    if (fault in _BY_THE_LAUNCHER or by_torch) and own is not None:
        functions = [own]
    for name in (*_CALLS.get(fault, ()), "store"):
        for function in functions:
            line = call_line(function, name) if function is not None else 0
            if line:
                return _location(function.__code__.co_filename, line)
    for function in functions:
        if function is not None:
            return _location(function.__code__.co_filename, function.__code__.co_firstlineno)
    return None


def _started(trial: Trial) -> list[Any]:
    """The kernels that were started, and the functions that they call; all if none is known."""
    known = list(kernels(trial.case.run))
    names = {(s.file, s.name) for s in trial.seen.started}
    started = [k for k in known if _named_as(k) in names]
    if not started:
        return known
    return list(dict.fromkeys(k for s in started for k in (s, *kernels(s))))


def _named_as(function: Any) -> tuple[str, str]:
    return function.__code__.co_filename, function.__code__.co_name


def launch_places(trial: Trial, location: Location | None) -> tuple[Location, ...]:
    """Where the kernel at a location was launched, each place once, in order."""
    if location is None:
        return ()
    places = []
    for function in kernels(trial.case.run):
        here = shown_path(function.__code__.co_filename) == location.path
        if here and location.line in _lines_of(function):
            name = _named_as(function)
            places += [s for s in trial.seen.started if (s.file, s.name) == name and s.path]
    return tuple(dict.fromkeys(_location(s.path, s.line) for s in places))


def _lines_of(function: Any) -> range:
    """The lines of a function in its file, its decorators included; none if it cannot be read."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return range(0)
    return range(first, first + len(lines))


def _location(path: str, line: int) -> Location:
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except OSError:
        lines = []
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return Location(shown_path(path), line, text)


def _plain_function(run: Callable[..., Any]) -> Any:
    while isinstance(run, functools.partial) or hasattr(run, "__wrapped__"):
        run = run.func if isinstance(run, functools.partial) else run.__wrapped__
    return run if hasattr(run, "__code__") else None


def kernels(run: Callable[..., Any]) -> Iterator[Any]:
    """The functions of the Triton kernels that `run` names, directly or through other functions."""
    seen: set[int] = set()
    waiting = [_plain_function(run)]
    while waiting:
        function = waiting.pop(0)
        if function is None or id(function) in seen or len(seen) > 64:
            continue
        seen.add(id(function))
        for value in _named(function):
            fn = getattr(value, "fn", None)
            while fn is not None and not hasattr(fn, "__code__"):
                fn = getattr(fn, "fn", None)  # autotune and heuristics wrap the kernel
            if fn is not None and type(value).__module__.startswith("triton"):
                if id(fn) not in seen:
                    seen.add(id(fn))
                    yield fn
                    waiting.append(fn)
            elif inspect.isclass(value) and _nearby(value, function):
                waiting += [
                    _plain_function(getattr(v, "__func__", v)) for v in vars(value).values()
                ]
            elif callable(value) and _nearby(value, function):
                waiting.append(_plain_function(value))


def _named(function: Any) -> list[Any]:
    """What a function names: globals, what it encloses, and attributes of modules among them."""
    names = list(dict.fromkeys(_names(function.__code__)))
    found = [function.__globals__[n] for n in names if n in function.__globals__]
    found += [c.cell_contents for c in function.__closure__ or () if _filled(c)]
    for module in [value for value in found if inspect.ismodule(value)]:
        if module.__name__.partition(".")[0] not in _FOREIGN:
            found += [vars(module)[n] for n in names if n in vars(module)]
    return found


def _names(code: CodeType) -> Iterator[str]:
    """The names in a function's code and in the functions that it makes."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


#: packages that are nobody's own code.
_FOREIGN = ("torch", "triton", "numpy", "tritaudit", "builtins", "typing", "functools", "math")


def _nearby(value: Any, function: Any) -> bool:
    """Whether a function belongs to the author's code, as far as its module's package tells."""
    ours = (function.__module__ or "").partition(".")[0]
    theirs = (getattr(value, "__module__", None) or "builtins").partition(".")[0]
    return theirs not in _FOREIGN or ours == theirs


def call_line(function: Any, name: str) -> int:
    """The line of the file where a function first calls something of a name, 0 if it does not."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError):
        return 0
    found = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Attribute) and node.func.attr == name)
            or (isinstance(node.func, ast.Name) and node.func.id == name)
        )
    ]
    return first + min(found) - 1 if found else 0


# --------------------------------------------------------------------------- words


def summarise(fault: str) -> str:
    """The one-sentence meaning of a fault."""
    return info(fault).title


def evidence_of(fault: str, trial: Trial, diagnosis: Diagnosis) -> tuple[str, ...]:
    """What was seen besides the values, in sentences."""
    out: list[str] = []
    direct = diagnosis.direct.get(fault)
    if direct is not None:
        out += direct.evidence
    seen = trial.seen
    if fault == "crash" and seen.error is not None:
        name = trial.case.run_name
        out = [f"{name} raised {seen.error.message}" if seen.error.kind == "raised" else out[0]]
    if seen.returned_view is not None:
        out.append(f"the returned tensor shares memory with {seen.returned_view}")
    if seen.tuned:
        out.append(f"autotuned: run as {' and '.join(seen.tuned)}")
    return tuple(out)


#: examples that it takes to say that a value does not depend on the input.
_CONSTANT = 3


def constant(trials: Sequence[tuple[Trial, torch.Tensor]]) -> str:
    """That the marked elements of all trials hold one value whatever the input; "" if not so."""
    texts: set[str] = set()
    wanted: set[int] = set()
    for trial, mask in trials:
        if not trial.comparable:
            return ""
        name = _name(trial.got)
        texts |= {value_text(name, b).removesuffix(".0") for b in unsigned_bits(trial.got[mask])}
        wanted |= set(unsigned_bits(trial.expected.value[mask]))
        if len(texts) > 1:
            return ""
    if len(trials) < _CONSTANT or len(wanted) < _CONSTANT:
        return ""
    (text,) = texts
    return f"{text} comes out there whatever the input, in all {len(trials)} such examples"


__all__ = [
    "changed_input",
    "constant",
    "evidence_of",
    "excerpt",
    "index_map",
    "launch_places",
    "locate",
    "map_examples",
    "plain_verdict",
    "summarise",
    "telling",
    "view_note",
]
