"""From files to cases: load a file, find the cases in it, and say what is wrong with it.

Loading a file runs it, so that is done in a worker process, where torch and triton are importable;
the command line gets `CaseInfo` values back.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import re
import sys
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType, TracebackType

from tritaudit.faults import FAULT_IDS
from tritaudit.model import Case, CaseError, CaseInfo, SkipFile
from tritaudit.report.wording import count, listed
from tritaudit.targets import (
    PROMISES,
    CatalogueError,
    LoadProblem,
    Source,
    builtin_root,
    nearest,
    python_files,
    shown_path,
)

__all__ = [
    "NO_CASE",
    "Listing",
    "cases_in",
    "execute",
    "find_cases",
    "load_case",
    "problem_of",
]

#: what is said of a file that was named and holds no case.
NO_CASE = "no case in this file: none of its variables holds a Case"


@dataclass(frozen=True, slots=True)
class Listing:
    """The cases of some targets, sorted by name; the problems; the files that had to be skipped."""

    cases: tuple[CaseInfo, ...] = ()
    problems: tuple[LoadProblem, ...] = ()
    skipped: tuple[LoadProblem, ...] = ()


def load_case(path: str, variable: str, root: str) -> Case:
    """The case in a variable of a file. The folders stay importable for the life of the process.

    Args:
        variable: a name, or `cases.KEY` for an entry of a list (its number) or of a dict.

    Raises:
        CatalogueError: the file does not load any more, or the variable holds no case.
    """
    sys.path[:0] = _import_paths(path, root)
    try:
        module = execute(path)
    except Exception as error:
        raise CatalogueError(str(problem_of(error, path))) from error
    case = dict(cases_in(module, frozenset())).get(variable)
    if case is None:
        raise CatalogueError(f"{shown_path(path)}: {variable} is not a Case")
    return case


def find_cases(
    sources: Sequence[Source],
    problems: Sequence[LoadProblem] = (),
    builtin: Path | None = None,
    announce: Callable[[str], None] = lambda path: None,
) -> Listing:
    """Load files and describe their cases.

    Args:
        sources: what `resolve` gave.
        problems: those that `resolve` met; they come first in the result.
        builtin: the folder of the catalogue (None: `builtin_root()`).
        announce: called with the path of each file before it is run.
    """
    catalogue = builtin_root() if builtin is None else builtin
    cases: dict[tuple[str, str], CaseInfo] = {}
    bad, skipped = list(problems), list[LoadProblem]()
    for source in sources:
        announce(source.path)
        loaded = _load(source, catalogue)
        bad += loaded.problems
        skipped += loaded.skipped
        cases.update({(c.path, c.variable): c for c in loaded.cases})
    bad += _same_names(list(cases.values()))
    listed = sorted(cases.values(), key=lambda c: (c.name, c.path))
    return Listing(tuple(listed), tuple(bad), tuple(skipped))


def _same_names(cases: list[CaseInfo]) -> list[LoadProblem]:
    first: dict[str, CaseInfo] = {}
    problems = []
    for case in cases:
        other = first.setdefault(case.name, case)
        if other is not case:
            place = f"{shown_path(other.path)}:{other.line}"
            message = f"the case name {case.name!r} is taken by {place}"
            problems.append(LoadProblem(shown_path(case.path), case.line, message))
    return problems


def _load(source: Source, builtin: Path) -> Listing:
    """The cases of one file."""
    shown = shown_path(source.path)
    try:
        with tokenize.open(source.path) as file:
            text = file.read()
        tree = ast.parse(text, source.path)
    except (OSError, SyntaxError, ValueError) as error:
        return Listing(problems=(problem_of(error, source.path),))
    if not source.named and "tritaudit" not in text and not _names_a_case(tree):
        return Listing()  # a file of a folder that cannot hold a case is not even run
    with _importable(source):
        try:
            module = execute(source.path)
        except ModuleNotFoundError as error:
            if error.name is None or _is_own(error.name, source):
                return Listing(problems=(problem_of(error, source.path),))
            line = _line_in(error.__traceback__, source.path)
            message = f"needs the module {error.name!r}, which is not installed"
            return Listing(skipped=(LoadProblem(shown, line, message, source.name),))
        except SkipFile as error:
            line = _line_in(error.__traceback__, source.path)
            return Listing(skipped=(LoadProblem(shown, line, str(error), source.name),))
        except (Exception, SystemExit) as error:
            return Listing(problems=(problem_of(error, source.path),))
        return _describe_all(source, tree, module, builtin)


@contextlib.contextmanager
def _importable(source: Source) -> Iterator[None]:
    """Make helpers beside a file importable, and forget them: another root has its own."""
    paths = _import_paths(source.path, source.root)
    modules = set(sys.modules)
    sys.path[:0] = paths
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for path in paths:
            with contextlib.suppress(ValueError):
                sys.path.remove(path)
        for name in set(sys.modules) - modules:
            origin = getattr(sys.modules[name], "__file__", None)
            if origin and Path(origin).is_relative_to(source.root):
                del sys.modules[name]


def _import_paths(path: str, root: str) -> list[str]:
    return list(dict.fromkeys((str(Path(path).parent), root)))


def execute(path: str) -> ModuleType:
    """Run a file as a module of a name that no other file has."""
    name = f"tritaudit_case_{Path(path).stem}_{hashlib.sha256(path.encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CatalogueError(f"{shown_path(path)} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_own(module: str, source: Source) -> bool:
    """Whether a module that was not found belongs to the case's folders, or to tritaudit."""
    top = module.partition(".")[0]
    folders = _import_paths(source.path, source.root)
    return top == "tritaudit" or any(
        Path(f, top).is_dir() or Path(f, f"{top}.py").exists() for f in folders
    )


def problem_of(error: BaseException, path: str) -> LoadProblem:
    """One sentence for an exception of a case file, with the line in the file that led to it."""
    if isinstance(error, SyntaxError) and error.filename:
        return LoadProblem(shown_path(error.filename), error.lineno or 0, f"{error.msg}")
    line = _line_in(error.__traceback__, path)
    if isinstance(error, CaseError):
        return LoadProblem(shown_path(path), line, str(error))
    if isinstance(error, SystemExit):
        return LoadProblem(shown_path(path), line, "the file ends the process when it is loaded")
    if isinstance(error, OSError) and not line:
        return LoadProblem(shown_path(path), 0, f"cannot be read: {error.strerror or error}")
    told = _misused(error) if isinstance(error, TypeError) else ""
    if told:
        return LoadProblem(shown_path(path), line, told)
    first = str(error).strip().splitlines()[:1]
    message = ": ".join([type(error).__name__, *first])
    return LoadProblem(shown_path(path), line, message)


def _misused(error: TypeError) -> str:
    """What is wrong with the arguments of `Case(...)` and its like; "" for another error."""
    import tritaudit  # the command line, which needs no torch, has no case file to look at

    name, dot, problem = str(error).partition(".__init__() ")
    if not dot or name not in tritaudit.__all__:
        return ""
    takes = inspect.signature(getattr(tritaudit, name)).parameters.values()
    names = [p.name for p in takes if p.kind is not p.VAR_POSITIONAL]
    unknown = re.match(r"got an unexpected keyword argument '(\w+)'", problem)
    if unknown:
        if not names:
            return f"{name} takes its arguments by position, and none named {unknown[1]!r}"
        near = nearest(unknown[1], names) or f"; it takes {', '.join(names)}"
        return f"{name} takes no argument {unknown[1]!r}{near}"
    if problem.startswith("missing "):
        lacking = re.findall(r"'(\w+)'", problem)
        return f"{name} needs {listed(lacking)} as well"
    twice = re.match(r"got multiple values for argument '(\w+)'", problem)
    if twice:
        return f"{name} gets {twice[1]!r} twice, by position and by name"
    return f"{name} takes {count(len(names), 'argument')} at most: {', '.join(names)}"


def _line_in(traceback: TracebackType | None, path: str) -> int:
    """The line of the innermost frame inside a file; 0 where there is none."""
    line = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


# --------------------------------------------------------------------------- cases to descriptions


@dataclass(frozen=True, slots=True)
class _Bindings:
    """What the module-level statements of a file bind: variable -> lines; lines of `Case(...)`.

    `looped` are variables that get a `Case(...)` in a loop.
    """

    assigned: dict[str, int]
    constructed: dict[str, list[int]]
    looped: dict[str, int]
    imported: frozenset[str]


def _bindings(tree: ast.Module) -> _Bindings:
    assigned: dict[str, int] = {}
    constructed: dict[str, list[int]] = {}
    looped: dict[str, int] = {}
    imported: set[str] = set()
    loops = [n for n in _module_level(tree) if isinstance(n, (ast.For, ast.While))]
    in_loops = {id(n) for loop in loops for n in _module_level(loop)}
    for node in _module_level(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= {(a.asname or a.name).partition(".")[0] for a in node.names}
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            for name in (n for n in ast.walk(target) if isinstance(n, ast.Name)):
                assigned[name.id] = node.lineno
                value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
                if node in tree.body and _constructs_case(value):
                    constructed.setdefault(name.id, []).append(node.lineno)
                if id(node) in in_loops and _constructs_case(value):
                    looped[name.id] = node.lineno
    return _Bindings(assigned, constructed, looped, frozenset(imported))


def _module_level(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement that runs when the module is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from _module_level(child)


def _constructs_case(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    return (isinstance(called, ast.Name) and called.id == "Case") or (
        isinstance(called, ast.Attribute) and called.attr == "Case"
    )


def _describe_all(source: Source, tree: ast.Module, module: ModuleType, builtin: Path) -> Listing:
    bound = _bindings(tree)
    owned: dict[str, Case] = {}
    for variable, case in cases_in(module, bound.imported):
        if all(case is not other for other in owned.values()):
            owned[variable] = case
    shown = shown_path(source.path)
    if source.named and (not owned or _is_function(module, source)):
        return Listing(problems=(LoadProblem(shown, 0, _no_case(module, source)),))
    cases, problems = [], []
    for variable, case in owned.items():
        base, _, key = variable.partition(".")
        if not _WORD.match(key or "0"):
            message = (
                f"the key {key!r} of {base} is no name for a case: use letters, digits, _ and -"
            )
            problems.append(LoadProblem(shown, bound.assigned.get(base, 1), message))
            continue
        problems += _overwritten(variable, bound, shown)
        line = _line_of(tree, key, bound.assigned.get(base, 1))
        info = _describe(source, module, variable, case, line, builtin)
        cases.append(info)
        problems += _unknown_faults(info, tree)
    problems += [
        LoadProblem(shown, _line_of_entry(tree, variable, place), message)
        for variable, place, message in _no_cases(module, bound.imported)
    ]
    problems += _unknown_twins(cases, tree, source, builtin)
    return _select(source, cases, problems)


_WORD = re.compile(r"[A-Za-z0-9_-]+\Z")


def cases_in(module: ModuleType, imported: frozenset[str]) -> Iterator[tuple[str, Case]]:
    """The cases in the public variables of a module, those in lists and dicts among them.

    An entry is named after its place: `cases.0` or `cases.KEY`.
    """
    for variable, value in list(vars(module).items()):
        if variable.startswith("_") or variable in imported:
            continue
        if isinstance(value, Case):
            yield variable, value
        for key, entry in _entries(value):
            if isinstance(entry, Case):
                yield f"{variable}.{key}", entry


def _entries(value: object) -> list[tuple[object, object]]:
    """The keys and entries of a dict, the places and entries of a list."""
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, (list, tuple)) else []


def _no_cases(module: ModuleType, imported: frozenset[str]) -> Iterator[tuple[str, int, str]]:
    """What stands among cases in a list or dict and is none: variable, place, and what it is."""
    for variable, value in list(vars(module).items()):
        entries = [] if variable.startswith("_") or variable in imported else _entries(value)
        if not any(isinstance(entry, Case) for _, entry in entries):
            continue
        for place, (key, entry) in enumerate(entries):
            if not isinstance(entry, Case):
                what = f"of type {type(entry).__name__}"
                yield variable, place, f"entry {key!r} of {variable} is {what}, not a Case"


def _line_of_entry(tree: ast.Module, variable: str, place: int) -> int:
    """The line of an entry of a list or dict that is written out, else of its variable."""
    line = 0
    for node in _module_level(tree):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == variable for target in targets):
            line, value = node.lineno, node.value
            written = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [])
            if place < len(written):
                line = written[place].lineno
    return line


def _wanted(source: Source) -> str:
    """The variable that a target names, "" where it names none."""
    return "" if source.pattern == "*" else source.pattern.partition(":")[2] or "case"


def _is_function(module: ModuleType, source: Source) -> bool:
    value = getattr(module, _wanted(source), None) if _wanted(source) else None
    return callable(value) and not isinstance(value, Case)


def _no_case(module: ModuleType, source: Source) -> str:
    if _is_function(module, source):
        return f"{_wanted(source)} is a function and no Case: say what it promises with {PROMISES}"
    return NO_CASE


def _overwritten(variable: str, bound: _Bindings, shown: str) -> list[LoadProblem]:
    """What is wrong with a variable that got several cases, of which only the last is left."""
    lines = bound.constructed.get(variable, [])
    if len(lines) > 1:
        message = f"the variable {variable!r} holds a second Case; line {lines[0]} made one too"
        return [LoadProblem(shown, lines[1], message)]
    if variable in bound.looped:
        message = f"the loop leaves only its last Case in {variable!r}: collect them in a list"
        return [LoadProblem(shown, bound.looped[variable], message)]
    return []


def _names_a_case(tree: ast.Module) -> bool:
    """Whether a file binds `case` or `cases`, perhaps by a helper that makes them."""
    return not _bindings(tree).assigned.keys().isdisjoint(("case", "cases"))


def _describe(
    source: Source, module: ModuleType, variable: str, case: Case, line: int, builtin: Path
) -> CaseInfo:
    suffix = "" if variable == "case" else f":{variable}"
    doc = inspect.cleandoc(module.__doc__ or "")
    from_catalogue = Path(source.root) == builtin.resolve()
    name = f"{source.name}{suffix}"
    return CaseInfo(
        name=name,
        path=source.path,
        line=line,
        variable=variable,
        contract=case.contract.describe(),
        title=doc.partition("\n")[0].strip(),
        doc=doc,
        dtypes=case.inputs[0].dtypes,
        axes=tuple((axis, *case.bounds(axis)) for axis in case.axis_names()),
        tiles=tuple((tile.name, tile.sizes) for tile in case.tiles),
        expect=case.expect,
        twin=case.twin,
        target=name if from_catalogue else f"{shown_path(source.path)}{suffix}",
    )


def _line_of(tree: ast.Module, text: str, otherwise: int) -> int:
    """The line of a file that writes a text."""
    lines = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value == text]
    return min(lines, default=otherwise)


def _unknown_faults(info: CaseInfo, tree: ast.Module) -> list[LoadProblem]:
    return [
        LoadProblem(
            shown_path(info.path),
            _line_of(tree, known.fault, info.line),
            f"expect names the unknown fault {known.fault!r}{nearest(known.fault, FAULT_IDS)}",
        )
        for known in info.expect
        if known.fault not in FAULT_IDS
    ]


def _unknown_twins(
    cases: list[CaseInfo], tree: ast.Module, source: Source, builtin: Path
) -> list[LoadProblem]:
    names = {c.name for c in cases}
    problems = []
    for info in cases:
        twin = info.twin
        if twin is None or (twin in names and twin != info.name):
            continue
        stem = twin.partition(":")[0]
        own = stem == source.name
        roots = (Path(source.root), builtin)
        if own or not any((root / f"{stem}.py").is_file() for root in roots):
            near = nearest(twin, sorted({s.name for s in _siblings(source, builtin)} - {info.name}))
            message = f"twin names {twin!r}, which is no case{near}"
            line = _line_of(tree, twin, info.line)
            problems.append(LoadProblem(shown_path(info.path), line, message))
    return problems


def _siblings(source: Source, builtin: Path) -> list[Source]:
    roots = dict.fromkeys((source.root, str(builtin.resolve())))
    return [Source(str(p), root) for root in roots for p in python_files(Path(root))]


def _is_chosen(name: str, pattern: str) -> bool:
    """Whether a target means a case: itself, or the list or dict that it stands in."""
    return pattern == "*" or fnmatchcase(name, pattern) or name.startswith(f"{pattern}.")


def _select(source: Source, cases: list[CaseInfo], problems: list[LoadProblem]) -> Listing:
    """The cases that the target of a file means."""
    chosen = tuple(c for c in cases if _is_chosen(c.name, source.pattern))
    if cases and not chosen:
        variable = _wanted(source)
        near = nearest(variable, [c.variable for c in cases])
        message = f"no case in the variable {variable!r}{near}"
        problems = [*problems, LoadProblem(shown_path(source.path), 0, message)]
    return Listing(chosen, tuple(problems))
