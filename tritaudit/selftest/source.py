"""A case file as text and as a syntax tree, and the changes that mutants are made of.

Changes are made to the text, so that all that is not changed reads as its author wrote it. Each
gives a new `CaseSource`, in which the next one is looked for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

__all__ = ["CaseSource", "Mirror", "NoMatch"]

Node = TypeVar("Node", bound=ast.AST)


class NoMatch(Exception):  # noqa: N818 - no error: an operator does not fit a kernel
    """What an operator looks for is not in this file."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """An index `length - 1 - rest`: the whole expression and its two parts."""

    node: ast.expr
    length: str
    rest: str


@dataclass(frozen=True)
class CaseSource:
    """A case file: the name of its case, and its text."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    # ------------------------------------------------------------------ functions and the case

    @cached_property
    def kernel(self) -> ast.FunctionDef:
        """The only function that is compiled.

        Raises:
            NoMatch: there are none or several.
        """
        jitted = [f for f in self._functions() if "jit" in map(_last, f.decorator_list)]
        return self._only(jitted, "kernel")

    @cached_property
    def run(self) -> ast.FunctionDef:
        """The launch function."""
        return self._only([f for f in self._functions() if f.name == "run"], "run")

    @cached_property
    def launch(self) -> ast.Call:
        """The call `kernel[grid](...)`."""
        name = self.kernel.name
        calls = [n for n in ast.walk(self.run) if isinstance(n, ast.Call)]
        found = [
            c
            for c in calls
            if isinstance(c.func, ast.Subscript) and ast.unparse(c.func.value) == name
        ]
        return self._only(found, "launch")

    @cached_property
    def case(self) -> ast.Call:
        """The construction of the case."""
        assigned = [n.value for n in self.tree.body if isinstance(n, ast.Assign)]
        calls = [v for v in assigned if isinstance(v, ast.Call) and _called(v) == "Case"]
        return self._only(calls, "Case")

    def _functions(self) -> list[ast.FunctionDef]:
        return [node for node in self.tree.body if isinstance(node, ast.FunctionDef)]

    def _only(self, found: Sequence[Node], what: str) -> Node:
        if len(found) != 1:
            raise NoMatch(f"{self.name} has {len(found)} of {what}")
        return found[0]

    def option(self, name: str) -> str:
        """An option of the case as text; "" where it is not given."""
        return next((ast.unparse(k.value) for k in self.case.keywords if k.arg == name), "")

    @property
    def contract(self) -> str:
        """Flip, Abs or Reference."""
        return self.option("contract").partition("(")[0]

    @property
    def flipped(self) -> tuple[str, ...]:
        """The axes that a Flip contract names."""
        call = ast.parse(self.option("contract"), mode="eval").body
        if not isinstance(call, ast.Call) or self.contract != "Flip":
            return ()
        return tuple(str(ast.literal_eval(a)) for a in call.args)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the first input."""
        return tuple(str(ast.literal_eval(self._tensors()[0].args[1])).split())

    def _tensors(self) -> list[ast.Call]:
        return _in_order(n for n in ast.walk(self.case) if _called(n) == "Tensor")

    # ------------------------------------------------------------------ what a kernel says

    def calls(self, name: str, inside: ast.AST | None = None) -> list[ast.Call]:
        """Calls of a function by its dotted name, in the kernel unless told where."""
        where = self.kernel if inside is None else inside
        return _in_order(n for n in ast.walk(where) if _called(n) == name)

    def call(self, name: str, inside: ast.AST | None = None) -> ast.Call:
        """The only call of a function.

        Raises:
            NoMatch: there are none or several.
        """
        return self._only(self.calls(name, inside), name)

    def find(self, text: str, inside: ast.AST | None = None) -> ast.expr:
        """The only expression that is written so, but for spaces and parentheses.

        Raises:
            NoMatch: it is not there, or more than once.
        """
        wanted = ast.unparse(ast.parse(text, mode="eval").body)
        where = self.kernel if inside is None else inside
        found = [n for n in ast.walk(where) if isinstance(n, ast.expr) and ast.unparse(n) == wanted]
        return self._only(found, text)

    def mirrors(self) -> list[Mirror]:
        """The indices `length - 1 - rest` of the kernel."""
        found = []
        for node in _in_order(n for n in ast.walk(self.kernel) if _is_difference(n)):
            inner = node.left
            if _is_difference(inner) and ast.unparse(inner.right) == "1":
                found.append(Mirror(node, ast.unparse(inner.left), ast.unparse(node.right)))
        return found

    def comparisons(self, operator: type[ast.cmpop]) -> list[ast.Compare]:
        """The comparisons of the kernel with one operator."""
        return _in_order(
            n
            for n in ast.walk(self.kernel)
            if isinstance(n, ast.Compare) and [type(o) for o in n.ops] == [operator]
        )

    def assigned(self, name: str) -> ast.expr:
        """What the kernel assigns to a name.

        Raises:
            NoMatch: it does so never, or more than once.
        """
        found = [
            n.value
            for n in ast.walk(self.kernel)
            if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [name]
        ]
        return self._only(found, f"an assignment to {name}")

    # ------------------------------------------------------------------ changes

    def put(self, *changes: tuple[ast.expr | ast.stmt, str]) -> CaseSource:
        """Other texts for nodes of which none lies inside another.

        Raises:
            NoMatch: the text is as it was.
        """
        data = self.text.encode()
        starts = [0]
        for row in data.splitlines(keepends=True):
            starts.append(starts[-1] + len(row))
        for node, text in sorted(changes, key=lambda c: -starts[c[0].lineno - 1] - c[0].col_offset):
            assert node.end_lineno is not None and node.end_col_offset is not None
            first = starts[node.lineno - 1] + node.col_offset
            last = starts[node.end_lineno - 1] + node.end_col_offset
            data = data[:first] + text.encode() + data[last:]
        return self._of(data.decode())

    def swap(self, old: str, new: str, inside: ast.AST | None = None) -> CaseSource:
        """Another text for the only expression that is written so.

        Raises:
            NoMatch: it is not there, or more than once.
        """
        return self.put((self.find(old, inside), new))

    def keyword(self, call: ast.Call, keyword: str, value: str | None) -> CaseSource:
        """A call with another value of a keyword that it has, or without it (None).

        Raises:
            NoMatch: it has no such keyword.
        """
        if keyword not in [k.arg for k in call.keywords]:
            raise NoMatch(f"{ast.unparse(call.func)} of {self.name} has no {keyword}")
        return self.put((call, _rewritten(call, keyword, value)))

    def dtypes(self, *names: str) -> CaseSource:
        """Other dtypes for every input."""
        return self.put(*((t, _rewritten(t, "dtypes", repr(names))) for t in self._tensors()))

    def layouts(self, *names: str) -> CaseSource:
        """Other layouts for every input."""
        return self.put(*((t, _rewritten(t, "layouts", repr(names))) for t in self._tensors()))

    def options(self, **values: str | None) -> CaseSource:
        """Other options of the case, which may be new; None takes one out.

        Raises:
            NoMatch: one that is to be taken out is not there.
        """
        source = self
        for name, value in values.items():
            if value is None and not source.option(name):
                raise NoMatch(f"{self.name} has no {name}")
            source = source.put((source.case, _rewritten(source.case, name, value)))
        return source

    def edited(self, edit: Callable[[str], str]) -> CaseSource:
        """The text after a change that is no change of an expression."""
        return self._of(edit(self.text))

    def titled(self, title: str) -> CaseSource:
        """The same with another docstring."""
        docstring = self.tree.body[0]
        assert isinstance(docstring, ast.Expr)
        return self.put((docstring, f'"""{title}"""'))

    def _of(self, text: str) -> CaseSource:
        if text == self.text:
            raise NoMatch(f"nothing of {self.name} was changed")
        ast.parse(text)
        return replace(self, text=text)


def _rewritten(call: ast.Call, keyword: str, value: str | None) -> str:
    """The text of a call in which a keyword has another value, or is no more."""
    values = {str(k.arg): ast.unparse(k.value) for k in call.keywords}
    if value is None:
        values.pop(keyword, None)
    else:
        values[keyword] = value
    parts = [ast.unparse(a) for a in call.args] + [f"{k}={v}" for k, v in values.items()]
    return f"{ast.unparse(call.func)}({', '.join(parts)})"


def _called(node: ast.AST) -> str:
    """The dotted name of what is called; "" for what is no call."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _is_difference(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _in_order(nodes: Iterable[ast.AST]) -> list:  # type: ignore[type-arg]
    """Nodes in the order of the text."""
    placed = [n for n in nodes if isinstance(n, ast.expr)]
    return sorted(placed, key=lambda n: (n.lineno, n.col_offset))
