"""Take the absolute value of int32 through float32.

Claim B3: `tl.abs` has an operation for each kind of type, so that there is no need for fabs on a
converted integer. float32 holds 24 bits: from 2**24 + 1 on, odd values and then more and more
others come back as a neighbour. The minimum is right: the output is int64, and 2**31 is a power of
two.

Right: `abs/widened`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    tl.store(out_ptr + offs, tl.abs(x).to(tl.int64), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes="int32")],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    out_dtype="int64",
    expect="precision-loss",
    twin="abs/widened",
)
