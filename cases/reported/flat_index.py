"""Reverse the middle axis of a three-dimensional tensor from its flat index.

Every program holds a run of flat indices and takes them apart, last axis first: the last axis
counts fastest, so its index is the remainder by its size. The index along the reversed axis is then
mirrored and the parts are put together again.

Wrong: `reported/flat_index_swapped`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def middle_kernel(x_ptr, out_ptr, n, B, C, BLOCK: tl.constexpr):
    flat = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = flat < n
    c = flat % C
    b = (flat // C) % B
    a = flat // (B * C)
    src = (a * B + (B - 1 - b)) * C + c
    x = tl.load(x_ptr + src, mask=mask)
    tl.store(out_ptr + flat, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    _, B, C = x.shape
    middle_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, B, C, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("B"),
    inputs=[Tensor("x", "A B C", dtypes=("float32", "int32"))],
    tiles=[Tile("BLOCK", axis="C", sizes=(16,))],
    axes={"A": (1, 4), "B": (1, 4), "C": (1, 5)},
)
