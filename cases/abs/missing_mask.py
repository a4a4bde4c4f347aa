"""Take the absolute value of a vector without a mask.

Claim B28: the last program reads and writes a full tile, whatever is left of the vector. The output
itself is right. What lies behind it in memory is overwritten, which shows up later and elsewhere.

Right: `abs/vector`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, tl.abs(x))


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    abs_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=FLOATS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect="out-of-bounds-write",
    twin="abs/vector",
)
