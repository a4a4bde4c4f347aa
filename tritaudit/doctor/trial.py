"""A trivial kernel, run on this process's backend: does it run, and does it write?"""

from __future__ import annotations

from tritaudit.backend import launch
from tritaudit.catalogue import load_case
from tritaudit.contracts import AnyContract
from tritaudit.dtypes import dtype_of
from tritaudit.model import Example, Fill, FillKind
from tritaudit.targets import builtin_root
from tritaudit.tensors import POISON, guarded, logical_values, same_bits
from tritaudit.trial import disagrees

__all__ = ["trial"]

_CASE = "abs/vector"
_EXAMPLE = Example(
    sizes=(("N", 5),),
    tiles=(("BLOCK", 16),),
    dtypes=(("x", "float32"),),
    fill=Fill(FillKind.NORMAL, 1),
)


def trial() -> str:
    """What is wrong with the launch of a kernel of the catalogue, "" if nothing is."""
    root = builtin_root()
    case = load_case(str(root / f"{_CASE}.py"), "case", str(root))
    inputs = logical_values(case, _EXAMPLE)
    seen = launch(case, _EXAMPLE, 0, inputs)
    if seen.error is not None:
        return seen.error.message
    assert isinstance(case.contract, AnyContract)
    expected = case.contract.expect(case, _EXAMPLE, inputs)
    if seen.out is None or expected is None:
        return "the launch gave no output"
    out = seen.out.cpu()
    untouched = guarded(tuple(out.shape), dtype_of(out.dtype), POISON[0], 64).view
    if bool(same_bits(out, untouched).all()):
        return "it ran, and its output is as it was before: nothing was written"
    return "it ran, and wrote wrong values" if bool(disagrees(out, expected).any()) else ""
