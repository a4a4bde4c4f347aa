"""Take the absolute value of signed integers, with the maximum in place of an overflow.

Claim B20: after `tl.abs` only the minimum is still negative. Its complement is the maximum of the
type, the nearest value that the type has. The output keeps the type of the input.
"""

import torch
import triton
import triton.language as tl

from tritaudit import SIGNED_INTS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    a = tl.abs(x)
    tl.store(out_ptr + offs, tl.where(a < 0, ~a, a), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(overflow="saturate"),
    inputs=[Tensor("x", "N", dtypes=SIGNED_INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
