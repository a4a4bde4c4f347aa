"""The smallest change of a kernel that repairs a fault, as a change of its source.

Each function looks for one way in which kernels are written wrong, and gives the whole changed
source; None where the kernel is written in another way. A change is only made where it is right for
every size, dtype and value, so the conditions are strict.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from tritaudit.advice.kernel import (
    Access,
    Index,
    Kernel,
    allocates_without_dtype,
    argument,
    constant,
    launches,
    passed,
    terms,
)


@dataclass(frozen=True, slots=True)
class Patch:
    """A changed source: what the change does, and the text before and after."""

    words: str
    old: str
    new: str

    def lines(self) -> list[str]:
        """The changed lines: `-` and the number of a line that goes, `+` before one that comes."""
        old, new = self.old.splitlines(), self.new.splitlines()
        out = []
        for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
            if kind == "equal":
                continue
            margin = min(map(_indent, [*old[i1:i2], *new[j1:j2]]))
            out += [f"- {i + 1:>3}  {old[i][margin:]}" for i in range(i1, i2)]
            out += [f"+ {'':>3}  {new[j][margin:]}" for j in range(j1, j2)]
        return out


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


@dataclass(frozen=True, slots=True)
class Edit:
    """A part of the text, from (line, column) to (line, column), and what stands there then."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def replaced(node: ast.AST, text: str) -> Edit:
    """An edit of a whole node."""
    at = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return Edit(at, (node.end_lineno, node.end_col_offset), text)  # type: ignore[attr-defined]


def removed(statement: ast.stmt) -> Edit:
    """An edit that takes away the lines of a statement."""
    return Edit((statement.lineno, 0), ((statement.end_lineno or statement.lineno) + 1, 0), "")


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits that do not overlap. Columns count bytes, as those of `ast` do."""
    rows = text.encode().split(b"\n")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)
    data = text.encode()
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        first, last = (starts[line - 1] + column for line, column in (edit.start, edit.end))
        data = data[:first] + edit.text.encode() + data[last:]
    return data.decode()


def _changed(kernel: Kernel, words: str, edits: list[Edit]) -> Patch | None:
    return Patch(words, kernel.text, applied(kernel.text, edits)) if edits else None


def _read_again(kernel: Kernel, text: str) -> Kernel | None:
    """The same function of a changed source."""
    try:
        module = ast.parse(text)
    except SyntaxError:
        return None
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == kernel.name:
            return Kernel(kernel.path, text, node, module)
    return None


# --------------------------------------------------------------------------- mirrored addresses


def mirror_in_place_of_flip(kernel: Kernel) -> Patch | None:
    """Leave `tl.flip` out and mirror the index of its axis in the address of the load.

    Needs one load and one store with the same offsets and masks, and nothing but flips between.
    """
    if not kernel.flips or not all(f.literal for f in kernel.flips):
        return None
    plain = _read_again(kernel, applied(kernel.text, _without_flips(kernel)))
    if plain is None or plain.flips or len(plain.loads) != 1 or len(plain.stores) != 1:
        return None
    load, store = plain.loads[0], plain.stores[0]
    found = plain.indices(load)
    if not _moves(plain, load, store) or len(found) != len(load.mask or ()):
        return None
    rank = 1 + max((i.dim or 0 for i in found), default=0)
    dims = {(rank - 1 if f.dim is None else f.dim % rank) for f in kernel.flips}
    flipped = [i for i in found if (i.dim or 0) in dims]
    if len(flipped) != len(dims):
        return None
    edits = _mirrored_load(plain, load, flipped)
    if not edits:
        return None
    words = "Load from the mirrored address and leave `tl.flip` out: right for every size."
    return Patch(words, kernel.text, applied(plain.text, edits))


def _without_flips(kernel: Kernel) -> list[Edit]:
    """Edits that leave every flip out; a variable that only names the unflipped tile goes too."""
    calls = {id(f.call): f for f in kernel.flips}
    inner = {id(n) for f in kernel.flips for n in ast.walk(f.operand)}
    edits = []
    for flip in kernel.flips:
        if id(flip.call) in inner:
            continue  # the edit of the outer one takes it along
        operand = flip.operand
        while id(operand) in calls:
            operand = calls[id(operand)].operand
        statement = kernel.statement(flip.call)
        match statement:
            case ast.Expr(value=value) if value is flip.call:
                edits.append(removed(statement))
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if value is flip.call:
                edits += _merged(kernel, statement, operand, target)
            case _:
                edits.append(replaced(flip.call, kernel.source(operand)))
    return edits


def _merged(kernel: Kernel, flip: ast.stmt, operand: ast.expr, target: str) -> list[Edit]:
    """`x = load; y = flip(x)` becomes `y = load`, where nothing else reads x."""
    if isinstance(operand, ast.Name) and kernel.uses(operand.id) == 1:
        for node in ast.walk(kernel.function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name) as left]) if name == operand.id:
                    return [removed(flip), replaced(left, target)]
    assert isinstance(flip, ast.Assign)
    return [replaced(flip.value, kernel.source(operand))]


def _moves(kernel: Kernel, load: Access, store: Access) -> bool:
    """Whether a kernel stores what it loads, unchanged, at the same offsets under the same mask."""
    value = argument(store.call, 1, "value")
    if value is None or ast.unparse(kernel.resolved(value)) != ast.unparse(
        kernel.resolved(load.call)
    ):
        return False
    return _offsets(kernel, load) == _offsets(kernel, store) and _same(load.mask, store.mask)


def _offsets(kernel: Kernel, access: Access) -> list[str]:
    parsed = (ast.parse(text, mode="eval").body for text in access.offsets)
    return [ast.unparse(kernel.resolved(node)) for node in parsed]


def _same(a: tuple[ast.expr, ...] | None, b: tuple[ast.expr, ...] | None) -> bool:
    return bool(a) and bool(b) and sorted(map(ast.dump, a or ())) == sorted(map(ast.dump, b or ()))


def _mirrored_load(kernel: Kernel, load: Access, flipped: list[Index]) -> list[Edit]:
    """Edits that mirror some indices in the address of a load; none where one is not in it once.

    Where an index stands in the definition of a variable that the store uses as well, the load gets
    a variable of its own.
    """
    address = argument(load.call, 0, "pointer")
    statement = kernel.statement(load.call)
    assert address is not None and statement is not None
    written = address
    for index in flipped:
        written = kernel.resolved(written, until=index.name)
    text = " + ".join(ast.unparse(term) for term in terms(written)[1:])
    for index in flipped:
        shown = ast.unparse(ast.parse(index.text, mode="eval").body)
        names = [n for n in ast.walk(written) if isinstance(n, ast.Name) and n.id == index.name]
        if len(names) != 1 or shown not in text:
            return []
        mirrored = f"({index.extent} - 1 - {shown})"
        text = re.sub(rf"(?<!\w){re.escape(shown)}(?!\w)", mirrored, text, count=1)
    if ast.unparse(written) == ast.unparse(address):
        return [replaced(address, f"{load.pointer} + {text}")]
    name = next(n for n in ("src", "source", "mirrored") if n not in kernel.names)
    start = statement.lineno, statement.col_offset
    line = f"{name} = {text}\n{' ' * statement.col_offset}"
    return [Edit(start, start, line), replaced(address, f"{load.pointer} + {name}")]


def mirror_the_stored_index(kernel: Kernel, rank: int) -> Patch | None:
    """Load from `n - 1 - dst` where a one-dimensional kernel stores to `dst`."""
    if rank != 1 or kernel.flips or len(kernel.loads) != 1 or len(kernel.stores) != 1:
        return None
    load, store = kernel.loads[0], kernel.stores[0]
    found = kernel.indices(store)
    if len(found) != 1 or len(store.mask or ()) != 1 or store.offsets != (found[0].name,):
        return None
    index = found[0]
    value = argument(store.call, 1, "value")
    address, mask = argument(load.call, 0, "pointer"), argument(load.call, 1, "mask")
    wanted = argument(store.call, 2, "mask")
    if value is None or address is None or mask is None or wanted is None:
        return None
    if ast.unparse(kernel.resolved(value)) != ast.unparse(kernel.resolved(load.call)):
        return None
    if not _defined_before(kernel, index.name, load.call.lineno):
        return None
    right = f"{load.pointer} + ({index.extent} - 1 - {index.name})"
    if ast.unparse(address) == ast.unparse(ast.parse(right, mode="eval").body):
        return None
    edits = [replaced(address, right)]
    if kernel.source(mask) != kernel.source(wanted):
        edits.append(replaced(mask, kernel.source(wanted)))
    return _changed(kernel, "Mirror the index of every element in the address of the load:", edits)


def _defined_before(kernel: Kernel, name: str, line: int) -> bool:
    definition = kernel.definitions.get(name)
    return definition is not None and definition.lineno < line


def right_mirror(kernel: Kernel) -> Patch | None:
    """`n - offs` becomes `n - 1 - offs` in the address of a load."""
    for load in kernel.loads:
        for index in kernel.indices(load):
            for node in ast.walk(load.call.args[0] if load.call.args else load.call):
                if isinstance(node, ast.BinOp) and _mirrors_wrongly(node, index):
                    text = f"{index.extent} - 1 - {index.text}"
                    words = f"The last index is {index.extent} - 1:"
                    return _changed(kernel, words, [replaced(node, text)])
    return None


def _mirrors_wrongly(node: ast.BinOp, index: Index) -> bool:
    """Whether an expression is `extent - c - index` with a c of 0 or 2."""
    small = {f"{c} - " if c else "" for c in (0, 2)}
    wrong = {f"{index.extent} - {c}{index.text}" for c in small}
    return ast.unparse(node) in {ast.unparse(ast.parse(w, mode="eval").body) for w in wrong}


# --------------------------------------------------------------------------- masks and launches


#: masks of a store that are false inside, and those that are true beyond the end.
SHORT, BEYOND = frozenset({"inverted", "short"}), frozenset({"inverted", "long"})


def wrong_bound(kernel: Kernel, kinds: frozenset[str]) -> tuple[ast.expr, str, str] | None:
    """A condition of a store's mask that is no `index < extent`, the right one, and what it is.

    `index > extent` and `index >= extent` are inverted, `index <= extent` and
    `index < extent + 1` long, `index < extent - 1` short. Only of an index that is stored to.
    """
    for store in kernel.stores:
        address = argument(store.call, 0, "pointer")
        assert address is not None
        for condition in store.mask or ():
            found = _bound(condition)
            if found is None or found[1] not in kernel.parameters or found[2] not in kinds:
                continue
            left, extent, kind = found
            names = [n.id for n in ast.walk(left) if isinstance(n, ast.Name)]
            if any(kernel.contains(address, name) for name in names):
                return condition, f"{kernel.source(left)} < {extent}", kind
    return None


def _bound(condition: ast.expr) -> tuple[ast.expr, str, str] | None:
    """The index of a condition, the variable that it is compared with, and what is wrong."""
    match condition:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[ast.Name(id=name)]):
            return left, name, "inverted"
        case ast.Compare(left=left, ops=[ast.LtE()], comparators=[ast.Name(id=name)]):
            return left, name, "long"
        case ast.Compare(
            left=left,
            ops=[ast.Lt()],
            comparators=[
                ast.BinOp(left=ast.Name(id=name), op=(ast.Add() | ast.Sub()) as op, right=number)
            ],
        ) if (constant(number) or 0) > 0:
            return left, name, "long" if isinstance(op, ast.Add) else "short"
    return None


def right_bound(kernel: Kernel, kinds: frozenset[str]) -> Patch | None:
    """A mask of a store that is wrong at the end becomes `index < extent`."""
    found = wrong_bound(kernel, kinds)
    if found is None:
        return None
    condition, right, kind = found
    words = {
        "inverted": "Turn the mask around: it has to be true inside.",
        "short": "The mask has to be true for the last index, too:",
        "long": "The mask has to be false beyond the last index:",
    }
    return _changed(kernel, words[kind], [replaced(condition, right)])


def masked_store(kernel: Kernel) -> Patch | None:
    """A store without a mask gets that of the load, `index < extent` of the index it stores to."""
    if len(kernel.loads) != 1 or len(kernel.stores) != 1 or kernel.stores[0].mask != ():
        return None
    load, store = kernel.loads[0], kernel.stores[0]
    mask, found = argument(load.call, 1, "mask"), kernel.indices(load)
    given = argument(store.call, 1, "value")
    if mask is None or given is None or len(found) != 1 or len(load.mask or ()) != 1:
        return None
    if store.offsets != (found[0].name,) or found[0].dim is not None:
        return None
    last = max((*store.call.args, *(k.value for k in store.call.keywords)), key=_end)
    edit = Edit(_end(last), _end(last), f", mask={kernel.source(mask)}")
    words = "Give the store the mask that the load has:"
    return _changed(kernel, words, [edit])


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def unused_output(kernel: Kernel, inputs: Iterable[str]) -> str:
    """A pointer that the kernel never uses while it stores to the one it loads from; "" if none."""
    read, written = {a.pointer for a in kernel.loads}, {a.pointer for a in kernel.stores}
    if len(kernel.stores) != 1 or read != written or len(read) != 1:
        return ""
    unused = [p for p in kernel.parameters if not kernel.uses(p)]
    for launch in launches(kernel):
        given = {p: passed(kernel, launch, p) for p in (*unused, *read)}
        names = {p: a.id for p, a in given.items() if isinstance(a, ast.Name)}
        outputs = [p for p in unused if p in names and names[p] not in inputs]
        if len(outputs) == 1 and names.get(next(iter(read)), "") in inputs:
            return outputs[0] if outputs[0].endswith("_ptr") else ""
    return ""


def stored_to_output(kernel: Kernel, inputs: Iterable[str]) -> Patch | None:
    """Store to the pointer that is there for the output."""
    unused = unused_output(kernel, inputs)
    if not unused:
        return None
    address = argument(kernel.stores[0].call, 0, "pointer")
    if address is None:
        return None
    text = f"{unused} + {' + '.join(kernel.stores[0].offsets)}"
    return _changed(kernel, "Store to the output:", [replaced(address, text)])


def wrong_return(kernel: Kernel, inputs: Iterable[str]) -> tuple[ast.Return, str] | None:
    """A return of an input by a function that launches the kernel on an output of its own."""
    written = {a.pointer for a in kernel.stores}
    for launch in launches(kernel):
        target = passed(kernel, launch, next(iter(written))) if len(written) == 1 else None
        returns = [n for n in ast.walk(launch.function) if isinstance(n, ast.Return)]
        match target, returns:
            case ast.Name(id=output), [ast.Return(value=ast.Name(id=name)) as statement]:
                if name in inputs and output not in inputs:
                    return statement, output
    return None


def returned_output(kernel: Kernel, inputs: Iterable[str]) -> Patch | None:
    """Return what the kernel has written."""
    found = wrong_return(kernel, inputs)
    if found is None or found[0].value is None:
        return None
    words = f"Return {found[1]}, which the kernel has written:"
    return _changed(kernel, words, [replaced(found[0].value, found[1])])


def rounded_up_grid(kernel: Kernel) -> Patch | None:
    """A grid `n // BLOCK` becomes `triton.cdiv(n, BLOCK)`, if the store is masked."""
    if not all(store.mask for store in kernel.stores):
        return None
    edits = []
    for launch in launches(kernel):
        for node in ast.walk(launch.grid):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
                left, right = kernel.source(node.left), kernel.source(node.right)
                edits.append(replaced(node, f"triton.cdiv({left}, {right})"))
    return _changed(
        kernel, "Round the number of programs up; the mask takes care of the rest.", edits
    )


def arguments_in_order(kernel: Kernel, inputs: Iterable[str]) -> Patch | None:
    """Exchange the tensors that are passed for the pointers of the one load and the one store."""
    read, written = {a.pointer for a in kernel.loads}, {a.pointer for a in kernel.stores}
    if len(read) != 1 or len(written) != 1 or read == written:
        return None
    edits = []
    for launch in launches(kernel):
        source, target = (passed(kernel, launch, p) for p in (*read, *written))
        match source, target:
            case ast.Name(id=first), ast.Name(id=second):
                if second in inputs and first not in inputs:
                    edits += [replaced(source, second), replaced(target, first)]
    words = f"`{kernel.name}` writes to {next(iter(written))}: pass the output for it."
    return _changed(kernel, words, edits)


def contiguous_input(kernel: Kernel, inputs: Iterable[str]) -> Patch | None:
    """Pass a contiguous copy of the inputs, where no strides are passed."""
    edits = []
    for launch in launches(kernel):
        if ".stride(" in kernel.source(launch.call):
            return None
        for load in kernel.loads:
            given = passed(kernel, launch, load.pointer)
            if isinstance(given, ast.Name) and given.id in inputs:
                edits.append(replaced(given, f"{given.id}.contiguous()"))
    words = (
        "Pass `x.stride(k)` for every axis and use it in the address. If a copy does no harm, this "
        "is enough:"
    )
    return _changed(kernel, words, list(dict.fromkeys(edits)))


def in_its_own_dtype(kernel: Kernel) -> Patch | None:
    """Pass tensors themselves, and no `.view(dtype)` of them."""
    edits = []
    for launch in launches(kernel):
        for node in launch.call.args:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="view"), args=[_]):
                    edits.append(replaced(node, name))
    return _changed(kernel, "Pass the tensors in their own dtype:", edits)


def allocated_like(kernel: Kernel, inputs: Iterable[str]) -> Patch | None:
    """Give an allocation without a dtype the dtype of the first input."""
    first = next(iter(inputs), "")
    edits = []
    for launch in launches(kernel):
        for node in ast.walk(launch.function):
            if allocates_without_dtype(node):
                text = kernel.source(node).removesuffix(")")
                edits.append(replaced(node, f"{text}, dtype={first}.dtype)"))
    return _changed(kernel, "Allocate the output in the dtype of the input:", edits)
