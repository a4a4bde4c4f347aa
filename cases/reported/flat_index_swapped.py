"""Reverse the middle axis of a three-dimensional tensor from a flat index taken apart backwards.

Reported of a library's flip: the flat index is taken apart first axis first, as if the first axis
counted fastest. Of a tensor of (20, 32, 15) reversed along axis 1, 9598 of 9600 elements are wrong.
Every element is read, so sums, sorts and histograms of the result are right; and where two of the
three sizes are 1 so is all of it.

The elements go where no reversal of axes or tiles takes them, so no fault describes it.

Right: `reported/flat_index`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def middle_kernel(x_ptr, out_ptr, n, A, B, C, BLOCK: tl.constexpr):
    flat = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = flat < n
    a = flat % A
    b = (flat // A) % B
    c = flat // (A * B)
    src = (a * B + (B - 1 - b)) * C + c
    x = tl.load(x_ptr + src, mask=mask)
    tl.store(out_ptr + flat, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    A, B, C = x.shape
    middle_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, A, B, C, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("B"),
    inputs=[Tensor("x", "A B C", dtypes=("float32", "int32"))],
    tiles=[Tile("BLOCK", axis="C", sizes=(16,))],
    axes={"A": (1, 4), "B": (1, 4), "C": (1, 5)},
    expect="value-mismatch",
    twin="reported/flat_index",
)
