"""Opt-in changes to Triton's interpreter: a fast one and a strict one.

`--fast-interpreter` does the same with less work, see `tritaudit.interpreter.fast`. The first
launches of every case run on the stock interpreter as well, and a case on which the two differ in
one bit is done again on the stock one.

`--strict-interpreter` does what a GPU may do and the stock interpreter never does, see
`tritaudit.interpreter.strict`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from tritaudit import backend
from tritaudit.backend import BackendUnavailableError
from tritaudit.interpreter.compare import same_observation
from tritaudit.interpreter.part import Part
from tritaudit.model import Backend, Case, Example
from tritaudit.trial import Observation

if TYPE_CHECKING:
    from tritaudit.interpreter.fast import Fast
    from tritaudit.interpreter.strict import Strict

__all__ = ["FastDiffersError", "Part", "is_strict", "launch", "strict_in", "use"]

#: launches of a case that are compared: the first ones whatever they are, then the first with each
#: combination of dtypes and tiles, up to a number of all.
FIRST, COMPARED = 3, 12


class FastDiffersError(Exception):
    """The fast interpreter gave other bits than the stock one, or it cannot be compared with it."""


class _Mode:
    """How the interpreter of this process runs."""

    def __init__(self) -> None:
        self.fast: Fast | None = None
        self.strict: Strict | None = None
        self.compared: set[object] = set()
        self.launches = 0


_MODE = _Mode()


def use(*, fast: bool = False, strict: int | None = None) -> None:
    """Choose how the interpreter of this process runs from now on.

    Args:
        fast: the fast one.
        strict: the seed of the strict one's order of programs; None: not strict.

    Raises:
        BackendUnavailableError: this version cannot, or this process has the GPU.
    """
    for mode in (_MODE.fast, _MODE.strict):
        if mode is not None:
            mode.switch(False)
    _MODE.fast, _MODE.strict, _MODE.launches = None, None, 0
    _MODE.compared.clear()
    if not fast and strict is None:
        return
    if backend.current() is not Backend.INTERPRETER:
        raise BackendUnavailableError("only the interpreter can be made fast or strict")
    # The interpreter itself is not imported where kernels run on a GPU.
    if strict is not None:
        from tritaudit.interpreter.strict import Strict

        _MODE.strict = Strict(strict)
        _MODE.strict.switch(True)
    if fast:
        from tritaudit.interpreter.fast import Fast

        _MODE.fast = Fast()
        _MODE.fast.switch(True)


def is_strict() -> bool:
    """Whether the strict interpreter runs in this process."""
    return _MODE.strict is not None


@contextlib.contextmanager
def strict_in(*parts: Part) -> Iterator[None]:
    """The strict interpreter with only some of its parts for the time of a block."""
    assert _MODE.strict is not None
    before = _MODE.strict.parts
    _MODE.strict.parts = frozenset(parts)
    try:
        yield
    finally:
        _MODE.strict.parts = before


def launch(
    case: Case,
    example: Example,
    poison: int,
    values: dict[str, torch.Tensor],
    refill: int | None = None,
) -> Observation:
    """`tritaudit.backend.launch`, and in fast mode a comparison with the stock interpreter.

    Raises:
        FastDiffersError: the two disagree, or the stock one disagrees with itself.
    """
    fast = _MODE.fast
    if fast is None or not _to_compare(example):
        return backend.launch(case, example, poison, values, refill)
    with fast.stock():
        stock = backend.launch(case, example, poison, values, refill)
    seen = backend.launch(case, example, poison, values, refill)
    if same_observation(stock, seen):
        return seen
    with fast.stock():
        again = backend.launch(case, example, poison, values, refill)
    where = f"{example.label()} {example.dtype()}"
    if same_observation(stock, again):
        raise FastDiffersError(f"the fast interpreter differs from the stock one at {where}")
    raise FastDiffersError(f"the stock interpreter does not repeat its own result at {where}")


def _to_compare(example: Example) -> bool:
    """Whether this launch is one of those that are compared; counts them."""
    if len(_MODE.compared) >= COMPARED:
        return False
    _MODE.launches += 1
    kind: object = (example.dtypes, example.tiles)
    if _MODE.launches <= FIRST:
        kind = (kind, _MODE.launches)
    if kind in _MODE.compared:
        return False
    _MODE.compared.add(kind)
    return True
