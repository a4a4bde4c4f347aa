"""Take the absolute value of 8-bit floats.

Claim B10: for all 256 bit patterns of both formats the result is the pattern without its sign bit.
float8_e4m3fn has a NaN but no infinity; float8_e5m2 has both. torch has no abs for either on the
CPU, so this is compared bit by bit.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FP8, Abs, Case, Tensor, Tile


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
    inputs=[Tensor("x", "N", dtypes=FP8)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
