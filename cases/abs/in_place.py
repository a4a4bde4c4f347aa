"""Take the absolute value of a vector in place.

Claim B46: reading and writing the same tensor is said to show old data. It does not: every lane
reads the element that it writes, and no other program touches it. (To reverse in place is another
matter, see `flip/address_remap_in_place`.)
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(x_ptr + offs, tl.abs(x), mask=mask)


def run(x: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=FLOATS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    in_place="x",
)
