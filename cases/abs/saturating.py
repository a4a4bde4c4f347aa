"""Take the absolute value of signed integers, with the maximum in place of an overflow.

Claim B20: only the minimum has no absolute value in its own type. Raised by one before `tl.abs`, it
gives the maximum, the nearest value that the type has, and no other value is changed. The output
keeps the type of the input.
"""

import torch
import triton
import triton.language as tl

from tritaudit import SIGNED_INTS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, HIGHEST: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    a = tl.abs(tl.maximum(x, -HIGHEST))
    tl.store(out_ptr + offs, a.to(x.dtype), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    highest = torch.iinfo(x.dtype).max
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, HIGHEST=highest, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(overflow="saturate"),
    inputs=[Tensor("x", "N", dtypes=SIGNED_INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
