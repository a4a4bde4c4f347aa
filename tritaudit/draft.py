"""A first case file for a function: `tritaudit new mypkg.ops:reverse_rows`.

The function is called on small tensors of powers of two, where most kernels are right, to see how
many axes and which dtypes it takes and what it does: what torch's flip or abs gives there is taken
for its promise. Where it is something else, the promise is left to be filled in. The rest is read
from its signature and from the constexprs of its kernels.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from tritaudit.backend import device, prepare
from tritaudit.calls import arguments_of, bound_call, load_function
from tritaudit.dtypes import dtype_of
from tritaudit.model import CallSpec, CaseError
from tritaudit.present import kernels
from tritaudit.targets import CatalogueError
from tritaudit.tensors import abs_bits, flip_bits, from_bits, number_as, same_bits

__all__ = ["draft"]

#: dtypes that are tried, in the order in which a case file names them.
TRIED = ("float32", "float16", "bfloat16", "int32", "int8", "uint8", "bool")
#: the axes of tensors of 1, 2, ... axes in a case file, and their sizes when they are tried.
AXES = ("N", "M N", "B M N", "A B M N")
SIZES = (8, 4, 2, 2)


class _InPlaceError(Exception):
    """A function returned nothing and changed its input."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of a function."""

    call: CallSpec
    module: str
    name: str
    tensor: str
    title: str
    axes: tuple[str, ...]
    dtypes: tuple[str, ...]
    contract: str  # "" where nobody knows
    how: str
    kernels: tuple[str, ...]
    own_tiles: tuple[str, ...]
    blocks: tuple[str, ...]


def draft(call: CallSpec) -> str:
    """The text of a case file for a function. `call` may say what it promises.

    Raises:
        CatalogueError: the function cannot be loaded or called.
    """
    prepare()
    function = load_function(call.target)
    try:
        tensor, run = bound_call(call, function)
    except CaseError as error:
        raise CatalogueError(f"{call.target}: {error}") from error
    found, dtypes = _accepted(call, run)
    axes = tuple(AXES[found - 1].split())
    contract, how = _promise(call, run, axes, dtypes)
    launched = list(kernels(function))
    parameters = _parameters(function)
    blocks = [name for kernel in launched for name in _constexprs(kernel)]
    doc = inspect.cleandoc(getattr(function, "__doc__", None) or "").partition("\n")[0]
    seen = _Seen(
        call=call,
        module=_module(call.target),
        name=call.target.rpartition(":")[2],
        tensor=tensor,
        title=doc or f"Audit {call.target}.",
        axes=axes,
        dtypes=dtypes,
        contract=contract,
        how=how,
        kernels=tuple(dict.fromkeys(kernel.__name__ for kernel in launched)),
        own_tiles=tuple(n for n in dict.fromkeys(blocks) if n in parameters),
        blocks=tuple(n for n in dict.fromkeys(blocks) if n not in parameters),
    )
    return _text(seen)


def _module(target: str) -> str:
    """How the case file imports the function.

    Raises:
        CatalogueError: the function's file is not below the working directory.
    """
    head = target.rpartition(":")[0]
    if not head.endswith(".py"):
        return head
    try:
        path = Path(head).expanduser().resolve().relative_to(Path.cwd().resolve())
    except ValueError as error:
        raise CatalogueError(f"{head} is not below the working directory") from error
    parts = path.with_suffix("").parts
    if not all(part.isidentifier() for part in parts):
        raise CatalogueError(f"{head} cannot be imported by a name: {'.'.join(parts)}")
    return ".".join(parts)


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _constexprs(kernel: Any) -> list[str]:
    """The names of a kernel's constexprs that look like blocks."""
    source = inspect.get_annotations(kernel)
    return [name for name, kind in source.items() if "constexpr" in str(kind) and name.isupper()]


# --------------------------------------------------------------------------- what it does


def _accepted(call: CallSpec, run: Callable[..., Any]) -> tuple[int, tuple[str, ...]]:
    """The fewest axes that a function takes, and its dtypes.

    Raises:
        CatalogueError: it takes none of the tensors, with what it said to the last.
    """
    last = ""
    for ndim in (call.ndim,) if call.ndim else range(_least(call), len(AXES) + 1):
        taken = []
        for name in call.dtypes or TRIED:
            try:
                _result(run, _tensor(ndim, name), call)
            except _InPlaceError as error:
                raise CatalogueError(
                    f"{call.target} returns None and changes its input: if that is what it is for, "
                    "say --in-place"
                ) from error
            except Exception as error:
                last = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            else:
                taken.append(name)
        if taken:
            return ndim, tuple(taken)
    raise CatalogueError(f"{call.target} takes none of the tensors that were tried ({last})")


def _least(call: CallSpec) -> int:
    return max((a + 1 if a >= 0 else -a for a in call.flip), default=1)


def _tensor(ndim: int, dtype: str) -> torch.Tensor:
    """-3, -2, -1, 0, 1, ... in a dtype (unsigned: 0, 1, 2, ...), of small powers of two."""
    shape = tuple(reversed(SIZES[:ndim]))
    d = dtype_of(dtype)
    count = torch.arange(int(torch.tensor(shape).prod())) % 64
    numbers = count if d.kind in ("uint", "bool") else count - 3
    return number_as(numbers, d).reshape(shape).to(device())


def _result(run: Callable[..., Any], x: torch.Tensor, call: CallSpec) -> torch.Tensor:
    """What a function makes of a tensor."""
    given = from_bits(x.view(dtype_of(x.dtype).carrier).clone(), dtype_of(x.dtype))
    out = torch.empty_like(given)
    value = run(given, out=out) if "out" in inspect.signature(run).parameters else run(given)
    if call.in_place:
        return given
    if "out" in inspect.signature(run).parameters:
        return out
    if call.output is not None:
        value = value[call.output]
    if value is None and not bool(same_bits(given, x).all()):
        raise _InPlaceError
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"it returned {type(value).__name__}, not a tensor")
    return value


def _promise(
    call: CallSpec, run: Callable[..., Any], axes: tuple[str, ...], dtypes: tuple[str, ...]
) -> tuple[str, str]:
    """The contract as it is written, and how it is known; "" and why where it is not."""
    if call.absolute:
        extra = "" if call.absolute == "exact" else f'overflow="{call.absolute}"'
        return f"Abs({extra})", "as you said"
    if call.flip:
        return _flip(tuple(axes[a] for a in call.flip)), "as you said"
    if call.reference:
        return f"Reference({call.reference}, as_returned=True)", "as you said"
    x = _tensor(len(axes), dtypes[0])
    got = _result(run, x, replace(call, dtypes=()))
    shape = " x ".join(map(str, x.shape))
    for named, right in _guesses(x, axes):
        if got.shape == right.shape and got.dtype == right.dtype:
            same = same_bits(got.contiguous(), right)
            if bool(same.all()):
                return named, f"seen on a tensor of {shape}"
    what = "neither Abs() nor a Flip of any axis"
    return "", f"on a tensor of {shape} ({dtypes[0]}) it was {what}"


def _guesses(x: torch.Tensor, axes: tuple[str, ...]) -> Iterator[tuple[str, torch.Tensor]]:
    yield "Abs()", abs_bits(x)
    for count in range(1, len(axes) + 1):
        for dims in itertools.combinations(range(len(axes)), count):
            yield _flip(tuple(axes[d] for d in dims)), flip_bits(x, dims)


def _flip(axes: tuple[str, ...]) -> str:
    return f"Flip({', '.join(repr(a) for a in axes)})".replace("'", '"')


# --------------------------------------------------------------------------- the text


def _text(seen: _Seen) -> str:
    contract = seen.contract.partition("(")[0]
    names = sorted({"Case", "Tensor", contract, *(["Tile"] if seen.own_tiles else [])} - {""})
    parts = [f'"""{seen.title.rstrip(".")}."""', "", *_imports(seen)]
    parts += ["", f"from tritaudit import {', '.join(names)}", "", *_run(seen)]
    parts += ["case = Case("]
    parts += [f"    run={'run' if _needs_run(seen) else seen.name.rpartition('.')[2]},"]
    if seen.contract:
        known = (
            f"    # What it promises ({seen.how}). See also: Flip, Abs, Reference(torch.fliplr)."
        )
        parts += [known, f"    contract={seen.contract},"]
    else:
        parts += ["    # What it promises is to be filled in:", f"    # {seen.how}."]
        parts += [f'    # Flip("{seen.axes[-1]}"), Abs() or Reference(a torch function).']
        parts += ["    contract=None,"]
    parts += _inputs(seen) + _tiles(seen)
    parts += ["    # Bounds of an axis, where there are any (the default is from 1 on):"]
    parts += [f'    # axes={{"{seen.axes[-1]}": (0, 4096)}},']
    parts += ["    # Faults that are known and accepted for now:"]
    parts += ['    # expect="padding-leak",', ")"]
    return "\n".join(parts) + "\n"


def _imports(seen: _Seen) -> list[str]:
    lines = []
    if seen.call.reference:
        lines += ["import torch", ""] if seen.call.reference.startswith("torch.") else []
        if not lines:
            lines += [f"import {seen.call.reference.rpartition('.')[0]}"]
    return [*lines, f"from {seen.module} import {seen.name.partition('.')[0]}"]


def _needs_run(seen: _Seen) -> bool:
    return bool(seen.call.arguments or seen.own_tiles)


def _run(seen: _Seen) -> list[str]:
    """A launch function, where the function needs more than its tensor."""
    if not _needs_run(seen):
        return ["" for _ in range(1)]
    given = [f"{name}={value!r}" for name, value in arguments_of(seen.call).items()]
    given = [g for g in given if g.partition("=")[0] not in seen.own_tiles]
    given += [f"{tile}={tile}" for tile in seen.own_tiles]
    star = f", *, {', '.join(seen.own_tiles)}" if seen.own_tiles else ""
    tensor = seen.tensor
    call = f"{seen.name}({', '.join([tensor, *given])})"
    return ["", f"def run({tensor}{star}):", f"    return {call}", "", ""]


def _inputs(seen: _Seen) -> list[str]:
    dtypes = ", ".join(f'"{d}"' for d in seen.dtypes) + ("," if len(seen.dtypes) == 1 else "")
    lines = [
        "    inputs=Tensor(",
        f'        "{seen.tensor}",',
        f'        "{" ".join(seen.axes)}",',
        f"        # The dtypes that {seen.name} took; leave out what it is not meant for.",
        f"        dtypes=({dtypes}),",
        '        # How it may lie in memory: add "transposed", "strided", "offset", "expanded".',
        '        layouts=("contiguous",),',
        "    ),",
    ]
    if seen.call.in_place:
        lines.append(f'    in_place="{seen.tensor}",')
    if seen.call.output is not None:
        lines.append(f"    output={seen.call.output},")
    return lines


def _tiles(seen: _Seen) -> list[str]:
    lines = []
    for tile in seen.own_tiles:
        lines.append(f"    # A constexpr of the kernel that {seen.name} takes: its sizes to try.")
        lines.append(f'    tiles=Tile("{tile}", axis="{seen.axes[-1]}", sizes=(16, 64, 128)),')
    if seen.blocks:
        which, are = " and ".join(seen.kernels), "is" if len(seen.blocks) == 1 else "are"
        lines += [
            f"    # {which}: {', '.join(seen.blocks)} {are} chosen by {seen.name} itself.",
            "    # Sizes around the blocks that are seen are tried; name others here:",
            f'    # edges={{"{seen.axes[-1]}": (1024,)}},',
        ]
    return lines
