"""The calls of `tl.flip` and `tl.abs` in kernels, and the lines of a compiler's text that stem
from them.

`tl.flip` is written in Triton itself, so what comes of it was inlined at the call. `tl.abs` is one
operation at the place of the call. Triton 3.2 to 3.6 gives a call the place of the last argument
that it has read, and its last argument's place to the operation around it; so a place is looked
for within the whole call, and memory accesses never count as part of `tl.abs`.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath

from tritaudit.ir.locations import Chain, Place, Row
from tritaudit.ir.model import Call, Stage

__all__ = ["calls_in", "find_calls", "mark", "through", "with_dim"]

NAMES = ("flip", "abs")
#: what cannot have come of `tl.abs`: memory accesses, waiting for them, and the end of a kernel.
_OTHERS = re.compile(
    r"\b(?:load|store|asm|return|ret|s_waitcnt|s_endpgm)\b|\b(?:ld|st)\.|\b(?:global|buffer)_"
)
#: clears the sign bit of one float, or of each of those that are packed in a register. PTX and SASS
#: give this instruction the place of another one, so it is known by its form.
_SIGN_CLEARED = re.compile(
    r"\band\.b\d+\s.*\b(?:32767|2147450879|2139062143|2147483647|9223372036854775807)\b"
    r"|\b(?:LOP3\.LUT|v_and_b32\w*)\s.*\b0x7f(?:ff7fff|7f7f7f|ffffff|ff)\b"
)
#: what abs of an integer is in SASS, whose places have no columns.
_SASS_ABS = re.compile(r"\bIABS\b|\bV?IMNMX\b")


def find_calls(path: str) -> tuple[Call, ...]:
    """The calls in the kernels of a file, in their order; none where it cannot be read."""
    try:
        with tokenize.open(path) as file:
            text = file.read()
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return ()
    kernels = [node for node in ast.walk(tree) if _is_kernel(node)]
    calls = {_call(node, name, path, text) for k in kernels for node, name in calls_in(k)}
    return tuple(sorted(calls, key=lambda call: (call.line, call.column)))


def _is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        "jit" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def calls_in(tree: ast.AST) -> list[tuple[ast.Call, str]]:
    """Every call of `flip` or `abs`, as a function of a module or as a method."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
            if name in NAMES:
                found.append((node, name))
    return found


def _call(node: ast.Call, name: str, path: str, text: str) -> Call:
    assert node.end_lineno is not None and node.end_col_offset is not None
    words = " ".join((ast.get_source_segment(text, node) or "").split())
    return Call(
        name, path, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, words
    )


# --------------------------------------------------------------------------- marks


def mark(
    name: str,
    rows: Sequence[Row],
    calls: Iterable[Call],
    mentions: int = 0,
    inner: Collection[Place] = (),
) -> Stage:
    """The stage of some rows, with those marked that stem from a call.

    Args:
        mentions: see Stage.
        inner: places of the library that TTIR reaches through a call in a helper of the kernel.
    """
    listed = tuple(calls)
    whole = any(_function(place) == "flip" for r in rows for c in r.chains for place in c[1:-1])
    known = () if whole else inner
    marked, near = [], []
    for number, row in enumerate(rows):
        if not row.operation:
            continue
        if any(
            (chain[:1] and chain[0] in known) or _stems_from(row, chain, call, whole)
            for chain in row.chains
            for call in listed
        ):
            marked.append(number)
        elif any(_on_line(p, call) for chain in row.chains for p in chain for call in listed):
            near.append(number)
    counted = Counter(rows[number].operation for number in marked)
    return Stage(
        name=name,
        rows=tuple(row.text for row in rows),
        marked=tuple(marked),
        near=tuple(near),
        operations=tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0]))),
        mentions=mentions,
    )


def _stems_from(row: Row, chain: Chain, call: Call, whole: bool) -> bool:
    """Whether a row comes of a call by way of a chain.

    `whole`: chains name every function on the way. LLVM before Triton 3.5 names only the innermost
    one and the place in the kernel, so that another library function at the same place cannot be
    told from flip.
    """
    if call.name == "flip":
        return any(
            _within(place, call) and (not whole or _function(inner) == "flip")
            for inner, place in pairwise(chain)
        )
    if _SIGN_CLEARED.search(row.text):
        return True
    if _OTHERS.search(row.text):
        return False
    return any(
        _within(place, call) and (place.column > 0 or bool(_SASS_ABS.search(row.text)))
        for place in chain
    )


def through(rows: Iterable[Row], calls: Collection[Call]) -> frozenset[Place]:
    """The innermost places that stem from calls."""
    return frozenset(
        chain[0]
        for row in rows
        for chain in row.chains
        for call in calls
        if call.name == "flip" and any(_within(place, call) for place in chain[1:])
    )


@cache
def _functions(path: str) -> tuple[tuple[int, int, str], ...]:
    """First line, last line and name of each function of a file."""
    try:
        with tokenize.open(path) as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )


def _function(place: Place) -> str:
    """The name of the function in which a place lies."""
    inside = [
        (first, name) for first, last, name in _functions(place.path) if first <= place.line <= last
    ]
    return max(inside, default=(0, ""))[1]


def _on_line(place: Place, call: Call) -> bool:
    return call.line <= place.line <= call.end_line and _same_file(place.path, call.path)


def _within(place: Place, call: Call) -> bool:
    """Whether a place lies in a call; one without a column does where the line is the call's."""
    if not _on_line(place, call):
        return False
    if not place.column:
        return True
    at, end = (place.line, place.column), (call.end_line, call.end_column)
    return (call.line, call.column) <= at <= end


def _same_file(place: str, path: str) -> bool:
    return place == path or place == PurePosixPath(path).name


# --------------------------------------------------------------------------- another axis


def with_dim(source: str, dim: int, modules: Collection[str] = ("tl",)) -> str:
    """The source of a function with another axis in each call of `flip`, every line kept.

    Args:
        modules: the names of `triton.language` there, which tell `tl.flip(x)` from `x.flip()`.

    Raises:
        ValueError: there is no such call; the message is a sentence.
    """
    code = source.encode()
    starts = [0]
    for row in code.split(b"\n"):
        starts.append(starts[-1] + len(row) + 1)
    edits = [
        _edit(node, dim, modules, starts)
        for node, name in calls_in(ast.parse(source))
        if name == "flip"
    ]
    if not edits:
        raise ValueError("--dim is the axis of tl.flip, which this kernel does not call")
    for start, end, text in sorted(edits, reverse=True):
        lines = b"\n" * code.count(b"\n", start, end)
        code = code[:start] + text.encode() + lines + code[end:]
    return code.decode()


def _edit(
    node: ast.Call, dim: int, modules: Collection[str], starts: Sequence[int]
) -> tuple[int, int, str]:
    """What to replace in a call: first byte, the byte beyond, and the new text."""

    def end_of(part: ast.expr) -> int:
        assert part.end_lineno is not None and part.end_col_offset is not None
        return starts[part.end_lineno - 1] + part.end_col_offset

    called = node.func
    method = isinstance(called, ast.Attribute) and ast.unparse(called.value) not in modules
    given = node.args[0 if method else 1 :] + [k.value for k in node.keywords if k.arg == "dim"]
    if given:
        return starts[given[0].lineno - 1] + given[0].col_offset, end_of(given[0]), str(dim)
    if node.args:
        return end_of(node.args[-1]), end_of(node.args[-1]), f", dim={dim}"
    return end_of(node) - 1, end_of(node) - 1, f"dim={dim}"
