"""Take the absolute value of unsigned integers: nothing changes.

Claim B7: for unsigned types `tl.abs` leaves no operation behind, at every width. 255 stays 255.
torch on the CPU has no abs for uint16, uint32 and uint64, so this is compared bit by bit.
"""

import torch
import triton
import triton.language as tl

from tritaudit import UNSIGNED_INTS, Abs, Case, Tensor, Tile


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
    inputs=[Tensor("x", "N", dtypes=UNSIGNED_INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
