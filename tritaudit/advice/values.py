"""Changes of kernels that compute values: absolute values, casts, arithmetic."""

from __future__ import annotations

import ast

from tritaudit.advice.kernel import Kernel, argument
from tritaudit.advice.patch import Edit, Patch, applied, replaced

#: how many bits an integer dtype has for numbers, its sign included.
_BITS = {f"{kind}{bits}": bits for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


def wider(name: str, than: str) -> bool:
    """Whether a signed integer dtype holds every value, and every negated one, of another."""
    if not name.startswith("int") or than not in _BITS:
        return False
    return _BITS[name] > _BITS[than]


def _patch(kernel: Kernel, words: str, edits: list[Edit]) -> Patch | None:
    return Patch(words, kernel.text, applied(kernel.text, edits)) if edits else None


def handwritten_abs(kernel: Kernel) -> list[tuple[ast.Call, ast.expr, str]]:
    """Selections that stand for abs: the call, what it takes the absolute value of, the comparison.

    `tl.where(x < 0, -x, x)`, `tl.where(x >= 0, x, -x)` and `tl.maximum(x, -x)`, in any order.
    """
    found = []
    for call in (*kernel.calls("where"), *kernel.calls("maximum")):
        arguments = [ast.unparse(a) for a in call.args]
        if len(arguments) == 3 and isinstance(call.args[0], ast.Compare):
            condition, first, second = arguments
            for x in call.args[1:]:
                name = ast.unparse(x)
                low = {f"{name} < 0", f"{name} <= 0", f"{name} < 0.0", f"{name} <= 0.0"}
                high = {f"{name} > 0", f"{name} >= 0", f"{name} > 0.0", f"{name} >= 0.0"}
                if (condition in low and (first, second) == (f"-{name}", name)) or (
                    condition in high and (first, second) == (name, f"-{name}")
                ):
                    found.append((call, x, condition))
        elif len(arguments) == 2:
            for x, other in (call.args, reversed(call.args)):
                if ast.unparse(other) == f"-{ast.unparse(x)}":
                    found.append((call, x, ""))
    return found


def abs_for_selection(kernel: Kernel) -> Patch | None:
    """`tl.where(x < 0, -x, x)` becomes `tl.abs(x)`."""
    edits = [
        replaced(call, f"tl.abs({kernel.source(x)})") for call, x, _ in handwritten_abs(kernel)
    ]
    return _patch(kernel, "`tl.abs` clears the sign bit, whatever the value:", edits)


def abs_for_branch(kernel: Kernel) -> Patch | None:
    """`if x < 0: x = -x` becomes `x = tl.abs(x)`."""
    for node in ast.walk(kernel.function):
        match node:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), ops=[ast.Lt() | ast.LtE()]),
                body=[
                    ast.Assign(
                        targets=[ast.Name(id=target)],
                        value=ast.UnaryOp(op=ast.USub(), operand=ast.Name(id=operand)),
                    )
                ],
                orelse=[],
            ) if name == target == operand and ast.unparse(node.test).endswith((" 0", " 0.0")):
                words = "Ask every element instead of the whole tile:"
                return _patch(kernel, words, [replaced(node, f"{name} = tl.abs({name})")])
    return None


def widened_before_abs(kernel: Kernel) -> Patch | None:
    """`tl.abs(x).to(wide)`, or a store into a wider output, becomes `tl.abs(x.to(wide))`."""
    found = kernel.calls("abs")
    if len(found) != 1 or len(found[0].args) != 1:
        return None
    call = found[0]
    operand = _operand(kernel, call.args[0])
    for node in ast.walk(kernel.function):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[wide]):
                if value is call:
                    text = f"tl.abs({operand}.to({kernel.source(wide)}))"
                    return _patch(kernel, "Widen before `tl.abs`:", [replaced(node, text)])
    if len(kernel.stores) != 1:
        return None
    wide_type = f"{kernel.stores[0].pointer}.dtype.element_ty"
    text = f"tl.abs({operand}.to({wide_type}))"
    return _patch(kernel, "Widen before `tl.abs`:", [replaced(call, text)])


def _operand(kernel: Kernel, node: ast.expr) -> str:
    simple = isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
    return kernel.source(node) if simple else f"({kernel.source(node)})"


def widened_loads(kernel: Kernel) -> Patch | None:
    """Convert what is loaded to the type of the output before anything is computed."""
    if len(kernel.stores) != 1 or not kernel.loads:
        return None
    casts = [c for c in kernel.calls("to") if not _to_output(kernel, c)]
    if casts or "dtype=" in ast.unparse(kernel.function):
        return None  # something else may narrow what was widened
    wide = f"{kernel.stores[0].pointer}.dtype.element_ty"
    edits = []
    for load in kernel.loads:
        statement = kernel.statement(load.call)
        if not isinstance(statement, ast.Assign) or statement.value is not load.call:
            return None
        edits.append(replaced(load.call, f"{kernel.source(load.call)}.to({wide})"))
    return _patch(kernel, "Widen the operands, before anything is computed:", edits)


def _to_output(kernel: Kernel, call: ast.Call) -> bool:
    wanted = argument(call, 0, "dtype")
    text = kernel.source(wanted) if wanted is not None else ""
    return text == f"{kernel.stores[0].pointer}.dtype.element_ty"


def cast_to_output(kernel: Kernel, narrow: str) -> Patch | None:
    """A cast to a narrow type becomes one to the type of the output."""
    if len(kernel.stores) != 1:
        return None
    casts = []
    for call in kernel.calls("to"):
        wanted = argument(call, 0, "dtype")
        if wanted is not None and kernel.source(wanted).rpartition(".")[2] == narrow:
            casts.append(wanted)
    if len(casts) != 1:
        return None
    wide = f"{kernel.stores[0].pointer}.dtype.element_ty"
    return _patch(kernel, f"Leave {narrow} out of the way:", [replaced(casts[0], wide)])


def flip_with_dim(kernel: Kernel) -> Patch | None:
    """`tl.flip(x)` of a one-dimensional tile becomes `tl.flip(x, 0)`."""
    subscripts = any(isinstance(n, ast.Subscript) for n in ast.walk(kernel.function))
    edits = [
        replaced(f.call, f"{kernel.source(f.call).removesuffix(')')}, 0)")
        for f in kernel.flips
        if f.literal and f.dim is None and f.call.args and not f.call.keywords
    ]
    return None if subscripts else _patch(kernel, "Write the axis out:", edits)


def flips_of_one_axis(kernel: Kernel) -> Patch | None:
    """`tl.flip(x, (0, 1))` becomes `tl.flip(tl.flip(x, 0), 1)`."""
    edits = []
    for flip in kernel.flips:
        dims = argument(flip.call, 1, "dim")
        if isinstance(dims, ast.Tuple) and flip.operand in flip.call.args:
            text = kernel.source(flip.operand)
            for dim in dims.elts:
                text = f"tl.flip({text}, {kernel.source(dim)})"
            edits.append(replaced(flip.call, text))
    return _patch(kernel, "`tl.flip` takes one axis at a time (from Triton 3.4 any):", edits)
