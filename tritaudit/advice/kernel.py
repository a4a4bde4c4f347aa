"""A kernel as its author wrote it: what it loads, stores and flips, with which indices and masks.

Read from the source with `ast`, so that nothing is imported. What is written in another way than
is looked for here is not recognised, and says so with None: advice is then given in general words.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

from tritaudit.model import Location


@dataclass(frozen=True, slots=True)
class Index:
    """A condition `index < extent` of a mask.

    Attributes:
        name: the variable that counts the positions.
        text: as it stands in the condition, `cols[None, :]` or `cols`.
        dim: the dimension of the tile that it runs along, None for a tile of one dimension.
        extent: the variable that holds the size of the axis.
    """

    name: str
    text: str
    dim: int | None
    extent: str


@dataclass(frozen=True, slots=True)
class FlipCall:
    """A `tl.flip(x, 1)` or `x.flip(1)`: what it flips, and the dimension if that is a literal.

    `dim` is None where no dimension is given.
    """

    call: ast.Call
    operand: ast.expr
    dim: int | None
    literal: bool


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store.

    Attributes:
        call: the call.
        pointer: the parameter of the kernel that it starts from.
        offsets: what is added to the pointer, as text, in order.
        mask: the conditions that are joined in its mask, each resolved to a comparison; None where
            the mask is not understood, empty where there is none.
    """

    call: ast.Call
    pointer: str
    offsets: tuple[str, ...]
    mask: tuple[ast.expr, ...] | None

    @property
    def line(self) -> int:
        return self.call.lineno


class Kernel:
    """The function of a file that holds a line."""

    def __init__(
        self,
        path: Path,
        text: str,
        function: ast.FunctionDef,
        module: ast.Module,
        launched: tuple[int, ...] = (),
    ):
        self.path, self.text, self.function, self.module = path, text, function, module
        #: lines of the file in which the example launched it; empty where that is not known.
        self.launched = launched

    # ------------------------------------------------------------------ names

    @property
    def name(self) -> str:
        return self.function.name

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters, in order."""
        a = self.function.args
        return tuple(p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs))

    @cached_property
    def definitions(self) -> dict[str, ast.expr]:
        """Variables that are assigned once, by a plain assignment of the function."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(self.function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    found.setdefault(name, []).append(value)
                case ast.Name(id=name, ctx=ast.Store()) if not _plain_target(node, self.function):
                    found.setdefault(name, []).append(None)
        return {n: v[0] for n, v in found.items() if len(v) == 1 and v[0] is not None}

    @cached_property
    def names(self) -> set[str]:
        """Every name that stands anywhere in the function."""
        return {n.id for n in ast.walk(self.function) if isinstance(n, ast.Name)}

    def uses(self, name: str) -> int:
        """How often a variable is read."""
        return sum(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            for n in ast.walk(self.function)
        )

    # ------------------------------------------------------------------ expressions

    def source(self, node: ast.AST) -> str:
        """An expression as it stands in the file, on one line."""
        return " ".join((ast.get_source_segment(self.text, node) or ast.unparse(node)).split())

    def resolved(self, node: ast.expr, *, until: str = "") -> ast.expr:
        """An expression with variables replaced by what they were assigned.

        With `until`, only those whose definition contains that variable are replaced, and the
        variable itself stays.
        """
        found: ast.expr = _Resolve(self, until).visit(copy.deepcopy(node))
        return found

    def contains(self, node: ast.expr, name: str) -> bool:
        """Whether an expression depends on a variable."""
        seen: set[str] = set()
        waiting: list[ast.expr] = [node]
        while waiting:
            for part in ast.walk(waiting.pop()):
                if not isinstance(part, ast.Name):
                    continue
                if part.id == name:
                    return True
                if part.id in self.definitions and part.id not in seen:
                    seen.add(part.id)
                    waiting.append(self.definitions[part.id])
        return False

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds a node."""
        found: ast.stmt | None = None
        for part in ast.walk(self.function):
            if isinstance(part, ast.stmt) and any(n is node for n in ast.walk(part)):
                found = part
        return found

    # ------------------------------------------------------------------ calls

    def calls(self, name: str) -> list[ast.Call]:
        """The calls of `tl.name(...)`, `x.name(...)` or `name(...)`, in the order of the file."""
        found = [n for n in ast.walk(self.function) if isinstance(n, ast.Call) and _called(n, name)]
        return sorted(found, key=lambda n: (n.lineno, n.col_offset))

    @cached_property
    def loads(self) -> list[Access]:
        return [a for c in self.calls("load") if (a := self._access(c)) is not None]

    @cached_property
    def stores(self) -> list[Access]:
        return [a for c in self.calls("store") if (a := self._access(c)) is not None]

    @cached_property
    def flips(self) -> list[FlipCall]:
        return [f for c in self.calls("flip") if (f := self._flip(c)) is not None]

    def _flip(self, call: ast.Call) -> FlipCall | None:
        of_module = isinstance(call.func, ast.Name) or (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id in self._modules
        )
        if of_module:
            operand, dim = argument(call, 0, "x"), argument(call, 1, "dim")
        else:
            assert isinstance(call.func, ast.Attribute)
            operand, dim = call.func.value, argument(call, 0, "dim")
        if operand is None:
            return None
        return FlipCall(call, operand, constant(dim), dim is None or constant(dim) is not None)

    @cached_property
    def _modules(self) -> set[str]:
        """The names of imported modules, so that `tl.flip` is told from a method of a tile."""
        nodes = [n for n in self.module.body if isinstance(n, (ast.Import, ast.ImportFrom))]
        return {(a.asname or a.name).partition(".")[0] for n in nodes for a in n.names}

    def _access(self, call: ast.Call) -> Access | None:
        address = argument(call, 0, "pointer")
        if address is None:
            return None
        first, *rest = terms(address)
        if not isinstance(first, ast.Name) or first.id not in self.parameters:
            return None
        place = 1 if _called(call, "load") else 2
        mask = argument(call, place, "mask")
        conditions = () if mask is None else self._conditions(mask)
        return Access(call, first.id, tuple(map(self.source, rest)), conditions)

    def _conditions(self, mask: ast.expr) -> tuple[ast.expr, ...] | None:
        if isinstance(mask, ast.Name) and mask.id in self.definitions:
            return self._conditions(self.definitions[mask.id])
        if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
            left, right = self._conditions(mask.left), self._conditions(mask.right)
            return None if left is None or right is None else (*left, *right)
        return (mask,) if isinstance(mask, ast.Compare) and len(mask.ops) == 1 else None

    def indices(self, access: Access) -> list[Index]:
        """The conditions of an access's mask that have the form `index < extent`."""
        found = []
        for condition in access.mask or ():
            match condition:
                case ast.Compare(left=left, ops=[ast.Lt()], comparators=[ast.Name(id=extent)]):
                    name, dim = _indexed(left)
                    if name and extent in self.parameters:
                        found.append(Index(name, self.source(left), dim, extent))
        return found

    def tile_of(self, index: Index) -> str:
        """The constexpr in the `tl.arange(0, BLOCK)` that an index is made of; "" if unknown."""
        definition = self.definitions.get(index.name)
        for node in ast.walk(self.resolved(definition)) if definition is not None else ():
            if isinstance(node, ast.Call) and _called(node, "arange"):
                end = argument(node, 1, "end")
                return end.id if isinstance(end, ast.Name) and end.id in self.parameters else ""
        return ""


class _Resolve(ast.NodeTransformer):
    def __init__(self, kernel: Kernel, until: str) -> None:
        self.kernel, self.until = kernel, until

    def visit_Name(self, node: ast.Name) -> ast.AST:
        definition = self.kernel.definitions.get(node.id)
        if definition is None or node.id == self.until:
            return node
        if self.until and not self.kernel.contains(definition, self.until):
            return node
        return self.visit(copy.deepcopy(definition))  # type: ignore[no-any-return]


def _plain_target(node: ast.Name, function: ast.FunctionDef) -> bool:
    return any(
        isinstance(n, ast.Assign) and len(n.targets) == 1 and n.targets[0] is node
        for n in ast.walk(function)
    )


def _called(call: ast.Call, name: str) -> bool:
    match call.func:
        case ast.Attribute(attr=found) | ast.Name(id=found):
            return found == name
    return False


def _indexed(node: ast.expr) -> tuple[str, int | None]:
    """The variable of `cols`, `cols[None, :]` or `cols[:, None]`, and the dimension it runs on."""
    match node:
        case ast.Name(id=name):
            return name, None
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=parts)):
            slices = [k for k, part in enumerate(parts) if isinstance(part, ast.Slice)]
            return (name, slices[0]) if len(slices) == 1 else ("", None)
    return "", None


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """An argument of a call, given by position or by name."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[place] if place < len(call.args) else None


def terms(node: ast.expr) -> list[ast.expr]:
    """The terms of a sum, left to right."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*terms(node.left), *terms(node.right)]
    return [node]


def constant(node: ast.expr | None) -> int | None:
    """The value of an integer literal, also of a negative one."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


# --------------------------------------------------------------------------- reading


def read_kernel(location: Location | None, launches: Sequence[Location] = ()) -> Kernel:
    """The function around a location.

    Args:
        launches: where an example launched it, as far as that is known.

    Where the file cannot be read or has no function there, one without a body: nothing is
    recognised in it.
    """
    if location is None:
        return _unread()
    try:
        text = Path(location.path).read_text(encoding="utf-8")
        module = ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return _unread()
    around = [
        f
        for f in ast.walk(module)
        if isinstance(f, ast.FunctionDef) and _first_line(f) <= location.line <= _last_line(f)
    ]
    if not around:
        return _unread()
    # 0 is no line: where another file launches it, nothing in this one does.
    lines = tuple(p.line if p.path == location.path else 0 for p in launches)
    return Kernel(Path(location.path), text, max(around, key=lambda f: f.lineno), module, lines)


def _unread() -> Kernel:
    text = "def kernel(): ...\n"
    module = ast.parse(text)
    [function] = module.body
    assert isinstance(function, ast.FunctionDef)
    return Kernel(Path(), text, function, module)


def _first_line(f: ast.FunctionDef) -> int:
    return min([f.lineno, *(d.lineno for d in f.decorator_list)])


def _last_line(f: ast.FunctionDef) -> int:
    return f.end_lineno or f.lineno


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch `kernel[grid](...)`: the call, its grid, and the function that makes it."""

    call: ast.Call
    grid: ast.expr
    function: ast.FunctionDef


def launches(kernel: Kernel) -> Iterator[Launch]:
    """The launches of a kernel in its own file that the example ran.

    Where it is not known which those are: all, if one function alone launches the kernel.
    """
    found = list(_launches(kernel))
    if kernel.launched:
        inside = (range(x.call.lineno, (x.call.end_lineno or x.call.lineno) + 1) for x in found)
        wanted = set(kernel.launched)
        found = [x for x, lines in zip(found, inside, strict=True) if wanted & set(lines)]
    elif len({id(x.function) for x in found}) > 1:
        found = []
    yield from found


def _launches(kernel: Kernel) -> Iterator[Launch]:
    """All launches of a kernel in its own file, each with the innermost function around it."""
    found: dict[int, Launch] = {}
    for function in ast.walk(kernel.module):
        if not isinstance(function, ast.FunctionDef) or function is kernel.function:
            continue
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Subscript(value=ast.Name(id=name), slice=grid)):
                    if name == kernel.name:
                        found[id(node)] = Launch(node, grid, function)  # from outside inwards
    yield from found.values()


def passed(kernel: Kernel, launch: Launch, parameter: str) -> ast.expr | None:
    """The argument that a launch passes for a parameter."""
    if parameter not in kernel.parameters:
        return None
    return argument(launch.call, kernel.parameters.index(parameter), parameter)


def allocates_without_dtype(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a node is a `torch.empty(...)` or `torch.zeros(...)` that names no dtype."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), keywords=given):
            named = {k.arg for k in given}
            return name in ("empty", "zeros") and "dtype" not in named and None not in named
    return False
