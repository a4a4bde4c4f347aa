"""Reversal, absolute value and negation of FlagGems.

FlagGems stands in for torch, so `abs` of the smallest integer may wrap as torch's does. It asks for
a device when it is imported: this file needs a GPU.
"""

import torch

from tritaudit import FLOATS, INTS, SIGNED_INTS, Abs, Case, Flip, Reference, SkipFile, Tensor

try:
    import flag_gems
except RuntimeError as error:
    raise SkipFile(f"FlagGems does not load here: {str(error).split('!')[0].strip()}") from error

LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded")
NUMBERS = (*FLOATS, *INTS[:5], "bool")


def flip_case(dims: tuple[int, ...]) -> Case:
    return Case(
        run=lambda x: flag_gems.ops.flip(x, dims),
        contract=Flip(*("MN"[d] for d in dims)),
        inputs=Tensor("x", "M N", dtypes=NUMBERS, layouts=LAYOUTS),
    )


cases = {
    "flip_rows": flip_case((0,)),
    "flip_columns": flip_case((1,)),
    "flip_both": flip_case((0, 1)),
    "abs": Case(
        run=flag_gems.ops.abs,
        contract=Abs(overflow="wrap"),
        inputs=Tensor("x", "M N", dtypes=(*FLOATS, *SIGNED_INTS), layouts=LAYOUTS),
    ),
    "abs_in_place": Case(
        run=flag_gems.ops.abs_,
        contract=Abs(overflow="wrap"),
        inputs=Tensor("x", "M N", dtypes=(*FLOATS, *SIGNED_INTS), layouts=LAYOUTS[:4]),
        in_place="x",
    ),
    "neg": Case(
        run=flag_gems.ops.neg,
        contract=Reference(torch.neg, tolerance="exact", overflow="wrap"),
        inputs=Tensor("x", "M N", dtypes=(*FLOATS, *SIGNED_INTS), layouts=LAYOUTS),
    ),
}
