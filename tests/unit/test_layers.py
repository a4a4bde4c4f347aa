"""Who may import whom. Read from the sources, so nothing is imported here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tritaudit"

#: a module imports from its own package and from lines above its own.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("model",),
    ("acceptance", "choices", "comparison", "matrix", "merging", "overlays", "sharding"),
    (
        "plain",
        "devices",
        "inflight",
        "gpuslots",
        "verdict",
        "targets",
        "repro",
        "report",
        "profiles",
    ),
    ("storage",),
    ("dtypes",),
    ("tensors",),
    ("allocation", "trial"),
    ("contracts",),
    ("divergence", "faults"),
    ("config",),
    ("advice",),
    ("tuning",),
    ("backend", "generate", "catalogue"),
    ("batch", "bisect", "blocks", "calls", "claims", "exhaustive", "interpreter"),
    ("confirm", "examine", "fleet", "present", "unnoticed"),
    ("strictness",),
    ("ledger",),
    ("naming",),
    ("search", "draft"),
    ("ir",),
    ("bench", "doctor"),
    ("worker", "forkserver"),
    ("unit",),
    ("supervisor",),
    ("selftest",),
    ("commands",),
    ("cli", "testing"),
    ("pytest_cases",),
    ("pytest_plugin",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
HEAVY = ("torch", "triton", "hypothesis", "numpy")
#: where a heavy module may be imported when the file is loaded, and where inside a function. The
#: worker asks for versions, in a process that has imported them anyway.
LOADS = {
    "triton": {
        "backend",
        "blocks",
        "ir.recorder",
        "interpreter.fast",
        "interpreter.strict",
        "tuning",
    },
    "hypothesis": {"generate", "search"},
    "numpy": {"backend", "interpreter.fast", "interpreter.strict"},
}
CALLS = {"triton": {"bench.measure", "worker"}, "numpy": {"worker"}, "torch": {"worker"}}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    """`faults.crash` for faults/crash.py, `faults` for its __init__, "" for the root's."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def statements(node: ast.AST, *, functions: bool) -> Iterator[ast.stmt]:
    """Statements of a module; those for a type checker only are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and not functions:
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from statements(child, functions=functions)


def imports(module: str, *, functions: bool) -> set[str]:
    """Dotted names of what a module imports."""
    found: set[str] = set()
    for node in statements(tree(MODULES[module]), functions=functions):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = whole.removeprefix("tritaudit.") in MODULES
                found.add(whole if is_module else str(node.module))
    return found


def own(names: set[str]) -> set[str]:
    """The names of this package, without its own; "" is its __init__."""
    return {
        name.removeprefix("tritaudit").removeprefix(".")
        for name in names
        if name.partition(".")[0] == "tritaudit"
    }


@pytest.mark.parametrize("module", [m for m in MODULES if m])
def test_a_module_imports_only_from_layers_above_its_own(module: str) -> None:
    top = module.partition(".")[0]
    assert top in RANK, f"{top} has no place in LAYERS"
    for other in own(imports(module, functions=True)) - {""}:
        other_top = other.partition(".")[0]
        assert other_top == top or RANK[other_top] < RANK[top], f"{module} imports {other}"


def test_the_api_of_authors_loads_nothing_before_it_is_used() -> None:
    assert own(imports("", functions=False)) == set()


@pytest.mark.parametrize("heavy", list(LOADS))
def test_only_some_modules_import_what_is_heavy(heavy: str) -> None:
    for functions, allowed in (
        (False, LOADS[heavy]),
        (True, LOADS[heavy] | CALLS.get(heavy, set())),
    ):
        users = {
            module
            for module in MODULES
            if any(n.partition(".")[0] == heavy for n in imports(module, functions=functions))
        }
        assert users <= allowed


@pytest.mark.parametrize(
    "start",
    [
        "__main__",
        *(f"commands.{name}" for name in ("bench", "doctor", "explain", "ir", "run")),
        "supervisor",
    ],
)
def test_the_process_of_the_command_line_loads_nothing_heavy(start: str) -> None:
    seen, left = set[str](), [start]
    while left:
        module = left.pop()
        if module in seen:
            continue
        seen.add(module)
        names = imports(module, functions=False)
        assert not {n.partition(".")[0] for n in names} & set(HEAVY), f"{module} by way of {start}"
        left += [m for m in own(names) if m in MODULES]
        left += [package for package in [module.rpartition(".")[0]] if package]
    assert len(seen) > 1


def test_a_function_may_import_torch_only_in_the_worker() -> None:
    for module in MODULES:
        late = imports(module, functions=True) - imports(module, functions=False)
        if any(name.partition(".")[0] == "torch" for name in late):
            assert module in CALLS["torch"]
