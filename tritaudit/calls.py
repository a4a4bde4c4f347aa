"""From a function to a case: what `tritaudit run mypkg.ops:reverse_rows --flip 1` means.

Importing the function runs the user's code, so that is done in a worker process. The case is made
from the same `CallSpec` when the cases are listed and again in the process that audits it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import math
import pkgutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tritaudit.catalogue import Listing, execute, load_case, problem_of
from tritaudit.contracts import Abs, AnyContract, Flip, Reference
from tritaudit.dtypes import dtype_of
from tritaudit.model import CallSpec, Case, CaseError, CaseInfo, Example, Tensor, UnitRequest
from tritaudit.report.wording import count
from tritaudit.targets import CatalogueError, LoadProblem, function_target, nearest, shown_path

__all__ = [
    "arguments_of",
    "bound_call",
    "case_of",
    "chosen_axes",
    "describe_calls",
    "load_function",
    "load_object",
]

#: dtypes of a function whose dtypes nobody named: floats, and the integers that abs gets wrong.
DTYPES = ("float32", "float16", "int32")
ABS_DTYPES = (*DTYPES, "int8")
#: how many axes a reference is offered when nobody says how many it takes.
MOST_AXES = 4
#: sizes of the axes at which a reference is tried before anything runs, where they are allowed.
TRIED_SIZES = (0, 1, 2, 3, 4, 5, 16, 17)
#: elements of the largest tensor that it is tried with.
TRIED_ELEMENTS = 1 << 18
#: sizes of the axes, all of them different, from which the axes of its output are read off.
TELLING_SIZES = ((3, 5, 7, 11, 2, 13, 1, 4), (5, 4, 3, 2, 7, 1, 13, 11))


def case_of(request: UnitRequest) -> Case:
    """The case of a unit: from its file, or made for its function.

    Raises:
        CatalogueError: the file or the function does not load any more.
    """
    if request.call is None:
        return load_case(request.path, request.variable, request.root)
    return _load(request.call).case


def describe_calls(
    calls: Sequence[CallSpec], announce: Callable[[str], None] = lambda target: None
) -> Listing:
    """The cases of functions, and what is wrong with those that cannot be audited.

    Args:
        announce: called with each target before its module is imported.
    """
    cases, problems = [], []
    for call in calls:
        announce(call.target)
        try:
            cases.append(_describe(_load(call)))
        except CatalogueError as error:
            problems.append(LoadProblem("", 0, str(error)))
    return Listing(tuple(cases), tuple(problems))


# --------------------------------------------------------------------------- importing


def load_object(target: str) -> Any:
    """What a target such as `mypkg.ops:reverse_rows` or `ops.py:reverse_rows` names.

    Raises:
        CatalogueError: it cannot be imported, or there is nothing of that name.
    """
    parts = function_target(target)
    if parts is None:
        raise CatalogueError(f"{target!r} is not of the form module:function or file.py:function")
    head, name = parts
    module = _file_module(head) if head.endswith(".py") else _import(head)
    return _attribute(module, name, head)


def _file_module(head: str) -> ModuleType:
    """The module of a file: by its dotted name where it lies in a package, else by itself."""
    path = Path(head).expanduser().resolve()
    if not path.is_file():
        raise CatalogueError(f"no such file: {head}")
    root, names = path.parent, [path.stem]
    while (root / "__init__.py").is_file():
        names.insert(0, root.name)
        root = root.parent
    _importable_from(root)
    if len(names) > 1:
        return _import(".".join(names))
    try:
        return execute(str(path))
    except ModuleNotFoundError as error:
        raise CatalogueError(_missing(error, shown_path(path))) from error
    except (Exception, SystemExit) as error:
        raise CatalogueError(str(problem_of(error, str(path)))) from error


def _importable_from(*folders: Path) -> None:
    """Put folders before all else that is importable, once."""
    for folder in reversed(folders):
        if sys.path[:1] != [str(folder)]:
            sys.path.insert(0, str(folder))


def _import(name: str) -> ModuleType:
    _importable_from(Path.cwd())
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            raise CatalogueError(_no_module(name, missing)) from error
        raise CatalogueError(_missing(error, name)) from error
    except (Exception, SystemExit) as error:
        raise CatalogueError(_failed_import(name, error)) from error


def _missing(error: ModuleNotFoundError, place: str) -> str:
    return f"{place} needs the module {error.name!r}, which is not installed"


def _no_module(name: str, missing: str) -> str:
    """That there is no module, and which ones have a name like it."""
    parent = missing.rpartition(".")[0]
    folders = getattr(sys.modules.get(parent), "__path__", []) if parent else sys.path
    known = [m.name for m in pkgutil.iter_modules(folders)]
    last = missing.rpartition(".")[2]
    near = nearest(last, [k for k in known if not k.startswith("_")])
    where = f" in {parent}" if parent else ""
    return f"no module is named {last!r}{where}{near} (for {name})"


def _failed_import(name: str, error: BaseException) -> str:
    """One sentence for an exception of a module, with the line of its file that led to it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is not None and spec.origin:
        return str(problem_of(error, spec.origin))
    first = str(error).strip().partition("\n")[0]
    return f"{name} cannot be imported: {type(error).__name__}: {first}"


def _attribute(module: ModuleType, name: str, head: str) -> Any:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            known = [n for n, v in vars(value).items() if callable(v) and not n.startswith("_")]
            near = nearest(part, known)
            raise CatalogueError(f"{head} has no function {part!r}{near}")
        value = getattr(value, part)
    return value


# --------------------------------------------------------------------------- functions


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A function with its place and the case that was made for it."""

    call: CallSpec
    function: Any
    path: str
    line: int
    case: Case


def load_function(target: str) -> Any:
    """The function that a target names.

    Raises:
        CatalogueError: it cannot be imported, or it is something else.
    """
    function = load_object(target)
    _refuse(function, target)
    return function


def _load(call: CallSpec) -> _Loaded:
    function = load_function(call.target)
    path, line = _place(function)
    try:
        case = _case(call, function)
    except CaseError as error:
        raise CatalogueError(f"{call.target}: {error}") from error
    return _Loaded(call, function, path, line, case)


def _refuse(value: Any, target: str) -> None:
    """Refuse what is no function of a tensor.

    Raises:
        CatalogueError: with what the value is.
    """
    what = ""
    if isinstance(value, Case):
        what = "a Case already: audit it without --flip, --abs and --reference"
    elif type(value).__module__.startswith("triton.") and hasattr(value, "fn"):
        what = "a Triton kernel: name the function that launches it"
    elif isinstance(value, type):
        what = "a class: name a function that takes a tensor"
    elif inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value):
        what = "async: name a function that returns its tensor when it is called"
    elif not callable(value):
        what = f"a value of type {type(value).__name__}, not a function"
    if what:
        raise CatalogueError(f"{target} is {what}")


def _place(function: Any) -> tuple[str, int]:
    """The file and line of a function; of its module where it has none of its own."""
    plain = inspect.unwrap(function)
    while isinstance(plain, functools.partial):
        plain = plain.func
    code = getattr(plain, "__code__", None)
    if code is not None:
        return code.co_filename, code.co_firstlineno
    module = sys.modules.get(getattr(plain, "__module__", None) or type(plain).__module__)
    return getattr(module, "__file__", None) or "", 1


def _describe(loaded: _Loaded) -> CaseInfo:
    call, case = loaded.call, loaded.case
    doc = inspect.cleandoc(getattr(loaded.function, "__doc__", None) or "")
    return CaseInfo(
        name=_name(call.target),
        path=loaded.path,
        line=loaded.line,
        variable="",
        contract=case.contract.describe(),
        title=doc.partition("\n")[0].strip(),
        doc=doc,
        dtypes=case.inputs[0].dtypes,
        axes=tuple((axis, *case.bounds(axis)) for axis in case.axis_names()),
        tiles=(),
        expect=(),
        target=call.target,
        options=call.options(),
        call=call,
    )


def _name(target: str) -> str:
    """`mypkg.ops:f`, or `kernels/ops:f` for a file below the working directory (else `ops:f`)."""
    head, _, function = target.rpartition(":")
    if not head.endswith(".py"):
        return target
    path = Path(shown_path(Path(head).expanduser()))
    stem = path.stem if path.is_absolute() else path.with_suffix("").as_posix()
    return f"{stem}:{function}"


# --------------------------------------------------------------------------- the case


def _case(call: CallSpec, function: Any) -> Case:
    """The case of a function.

    Raises:
        CaseError: the promise and the function, or the parts of the promise, do not fit.
    """
    name, run = bound_call(call, function)
    contract, axes, dtypes = _promise(call)
    dtypes = call.dtypes or dtypes
    bounds = call.sizes if len(call.sizes) != 1 else call.sizes * len(axes)
    if call.sizes and len(bounds) != len(axes):
        raise CaseError(
            f"--sizes names {count(len(bounds), 'axis', 'axes')}, but the tensor has {len(axes)}"
        )
    make = functools.partial(
        Case,
        run=run,
        contract=contract,
        inputs=Tensor(name, axes, dtypes, call.layouts or ("contiguous",)),
        axes=dict(zip(axes, bounds, strict=True)) if call.sizes else None,
        in_place=name if call.in_place else None,
        output=call.output,
    )
    case = make()
    if not isinstance(contract, Reference):
        return case
    _try(case, contract)
    return make(out_shape=_output_axes(case, contract))


def _try(case: Case, reference: Reference) -> None:
    """See that a reference takes what it will be given.

    Raises:
        CaseError: it refuses a dtype or a size, or returns no tensor.
    """
    [x] = case.inputs
    bounds = [case.bounds(axis) for axis in x.axes]
    for dtype in x.dtypes:
        for sizes in dict.fromkeys(tuple(_within(n, b) for b in bounds) for n in TRIED_SIZES):
            if math.prod(sizes) <= TRIED_ELEMENTS:
                _form(case, reference, dtype, sizes)


def _output_axes(case: Case, reference: Reference) -> tuple[str, ...] | None:
    """Those axes of the input that a reference keeps, in their order; None where it makes others.

    They are names alone: the shape of each output is that of what the reference returns.
    """
    found = {_axes_of(case, reference, sizes) for sizes in TELLING_SIZES}
    return found.pop() if len(found) == 1 else None


def _within(size: int, bounds: tuple[int, int | None]) -> int:
    low, high = bounds
    return max(low, size if high is None else min(size, high))


def _form(
    case: Case, reference: Reference, dtype: str, sizes: Sequence[int]
) -> tuple[tuple[int, ...], str]:
    """The shape and the dtype of what a reference makes of ones."""
    [x] = case.inputs
    pairs = tuple(zip(x.axes, sizes, strict=True))
    example = Example(pairs, (), (), ((x.name, dtype),), ((x.name, "contiguous"),))
    value = torch.ones(tuple(sizes)).to(dtype_of(dtype).torch)
    return reference.form(case, example, {x.name: value})


def _axes_of(case: Case, reference: Reference, sizes: Sequence[int]) -> tuple[str, ...] | None:
    """Those axes of the input that its output has at some sizes; None where it has others."""
    [x] = case.inputs
    chosen = [_within(n, case.bounds(a)) for a, n in zip(x.axes, sizes, strict=False)]
    if len(set(chosen)) < len(x.axes) or math.prod(chosen) > TRIED_ELEMENTS:
        return None
    try:
        shape, _ = _form(case, reference, x.dtypes[0], chosen)
    except CaseError:
        return None
    names = dict(zip(chosen, x.axes, strict=True))
    if len(set(shape)) != len(shape) or not set(shape) <= set(names):
        return None
    return tuple(names[n] for n in shape)


def chosen_axes(call: CallSpec, case: Case, *, refused: bool, wrong: bool) -> str:
    """A remark on how many axes the tensors had, where the tool chose that and it may be to blame.

    Args:
        refused: the function raised for every tensor that was tried.
        wrong: it was found to be wrong, in whatever way.
    """
    axes = len(case.inputs[0].axes)
    if call.ndim or not (refused or (wrong and axes > 2)):
        return ""
    had = count(axes, "axis", "axes")
    option = "--abs" if call.absolute else f"--reference {call.reference}"
    option = f"--flip {','.join(map(str, call.flip))}" if call.flip else option
    reason = f"the fewest for which {option} makes sense; --ndim sets another number"
    if refused:
        return f"the function refuses every tensor of {had}, {reason}"
    return f"the tensors had {had}, {reason}"


def _promise(call: CallSpec) -> tuple[AnyContract, tuple[str, ...], tuple[str, ...]]:
    """The contract, the names of the axes, and the dtypes if the user named none."""
    if call.absolute:
        overflow: Any = call.absolute
        return Abs(overflow), _axes(call.ndim or 1), ABS_DTYPES
    if call.flip:
        ndim = call.ndim or max(a + 1 if a >= 0 else -a for a in call.flip)
        places = [_axis(a, ndim) for a in call.flip]
        if len(set(places)) != len(places):
            raise CaseError(f"--flip {','.join(map(str, call.flip))} names an axis twice")
        axes = _axes(ndim)
        return Flip(*(axes[p] for p in places)), axes, DTYPES
    reference = _reference(call)
    ndim, dtypes = _accepted(reference.fn, call)
    return reference, _axes(ndim), dtypes


def _axes(ndim: int) -> tuple[str, ...]:
    return tuple(f"dim{k}" for k in range(ndim))


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise CaseError(f"--flip {axis} names no axis of a tensor of {ndim}")
    return axis % ndim


def _reference(call: CallSpec) -> Reference:
    fn = _importable(call.reference)
    if not callable(fn):
        raise CaseError(f"--reference {call.reference} is {type(fn).__name__}, not a function")
    tolerance: Any = "exact" if call.exact else call.ulp
    return Reference(fn, tolerance, rtol=call.rtol, atol=call.atol, as_returned=True)


def _importable(name: str) -> Any:
    """What `torch.fliplr`, `mypkg.oracles:right` or `oracles.py:right` names.

    Raises:
        CaseError: nothing.
    """
    try:
        if ":" in name:
            return load_object(name)
        head, dot, last = name.rpartition(".")
        if not dot:
            raise CatalogueError(f"{name!r} is not of the form module.function")
        return _attribute(_longest(head), last, head)
    except CatalogueError as error:
        raise CaseError(f"--reference: {error}") from error


def _longest(dotted: str) -> Any:
    """The module, or the class or namespace in a module, that a dotted name means."""
    head, _, tail = dotted.rpartition(".")
    if not head or importlib.util.find_spec(head) is None:
        return _import(dotted)
    try:
        return _import(dotted)
    except CatalogueError:
        return _attribute(_longest(head), tail, head)


def _accepted(fn: Callable[..., Any], call: CallSpec) -> tuple[int, tuple[str, ...]]:
    """The fewest axes and the dtypes that a reference takes; the dtypes that were named, if any.

    Raises:
        CaseError: it refuses everything that it is offered.
    """
    last = ""
    for ndim in (call.ndim,) if call.ndim else range(1, MOST_AXES + 1):
        taken = []
        for dtype in call.dtypes or DTYPES:
            try:
                # What torch refuses in a narrow dtype is looked up in the widened one.
                fn(torch.ones((2,) * ndim, dtype=_taken(dtype, named=bool(call.dtypes))))
            except Exception as error:
                what = str(error).strip().partition("\n")[0]
                last = f"{dtype}: {type(error).__name__}: {what}"
            else:
                taken.append(dtype)
        if taken:
            return ndim, call.dtypes or tuple(taken)
    raise CaseError(f"--reference {call.reference} takes no tensor of this kind ({last})")


def _taken(dtype: str, *, named: bool) -> torch.dtype:
    """The dtype in which a reference is asked whether it takes another."""
    d = dtype_of(dtype)
    if not named or d.kind == "bool":
        return d.torch
    return torch.float64 if d.is_float else torch.int64


# --------------------------------------------------------------------------- calling


def bound_call(call: CallSpec, function: Any) -> tuple[str, Callable[..., Any]]:
    """The name of the tensor, and a function of it alone (and of `out`, where that is needed).

    Raises:
        CaseError: the function needs something that is not given, or does not take what is.
    """
    given = arguments_of(call)
    own = call.target.rpartition(":")[2]
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin: found out when it is called
        return "x", _bound(function, own, given, takes_out=False)
    kinds = inspect.Parameter
    places = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.VAR_POSITIONAL)
    first = next((p for p in parameters if p.kind in places), None)
    if first is None:
        raise CaseError("the function takes no argument by position, so it can get no tensor")
    if first.name == "self":
        raise CaseError("this is a method: name a function that takes a tensor")
    others = [p for p in parameters if p is not first]
    _check_given(given, first, others)
    _check_needed(given, others)
    takes_out = any(p.name == "out" and p.default is kinds.empty for p in others)
    name = first.name if first.kind is not kinds.VAR_POSITIONAL else "x"
    return name, _bound(function, own, given, takes_out and "out" not in given)


def arguments_of(call: CallSpec) -> dict[str, Any]:
    """The further arguments of a call, as values."""
    return {name: _argument(text) for name, text in call.arguments}


def _check_given(
    given: dict[str, Any], first: inspect.Parameter, others: list[inspect.Parameter]
) -> None:
    kinds = inspect.Parameter
    anything = any(p.kind is kinds.VAR_KEYWORD for p in others)
    places = (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    by_name = [p.name for p in others if p.kind in places]
    for name in given:
        if name == first.name:
            raise CaseError(f"--arg {name}=...: {name} is the tensor itself")
        if name not in by_name and not anything:
            raise CaseError(f"the function has no parameter {name!r}{nearest(name, by_name)}")


def _check_needed(given: dict[str, Any], others: list[inspect.Parameter]) -> None:
    kinds = inspect.Parameter
    named = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    needed = [p for p in others if p.kind in named and p.default is kinds.empty]
    missing = [p for p in needed if p.name not in given and p.name != "out"]
    if any(p.kind is kinds.POSITIONAL_ONLY for p in missing):
        raise CaseError("the function needs more than a tensor by position: write a case for it")
    if missing:
        names = " and ".join(repr(p.name) for p in missing)
        options = " ".join(f"--arg {p.name}=VALUE" for p in missing)
        raise CaseError(f"the function needs {names}, without a default: give {options}")


def _bound(function: Any, name: str, given: dict[str, Any], takes_out: bool) -> Callable[..., Any]:
    """The function with its further arguments. `__wrapped__` leads to the kernels behind it."""

    @functools.wraps(function, updated=())
    def run(x: torch.Tensor, **keywords: Any) -> Any:
        return function(x, **given, **keywords)

    kinds = inspect.Parameter
    parameters = [kinds("x", kinds.POSITIONAL_ONLY)]
    if takes_out:
        parameters.append(kinds("out", kinds.KEYWORD_ONLY))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.audited_as = f"`{name}`"  # type: ignore[attr-defined]
    return run


def _argument(text: str) -> Any:
    """A Python literal, a name in torch such as `torch.float16`, else the text itself."""
    if text.startswith("torch.") and text.count(".") == 1 and hasattr(torch, text[6:]):
        return getattr(torch, text[6:])
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
