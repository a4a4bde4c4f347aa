"""Take the absolute value of a vector of floats.

Claims B5, B14, B16, B17 and B26: `tl.abs` clears the sign bit and leaves the others alone. So -0.0
becomes +0.0, -Inf becomes +Inf, a NaN stays a NaN, and every other value is exact: there is nothing
to tolerate, the comparison is bit by bit. Right for every length, with the usual mask.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=FLOATS, layouts=("contiguous", "offset"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
