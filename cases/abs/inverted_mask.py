"""Take the absolute value of a vector under a mask that is the wrong way round.

Claim B47: with `offs > n` in place of `offs < n`, nothing of the output is written. That is said to
be all, but the lanes behind n are selected: with N = 1000 and tiles of 256 the 23 elements after
the end of the output are overwritten, with whatever lies after the end of the input. No error is
raised, and with N a multiple of the tile, nothing is written at all.

Right: `abs/vector`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs > n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=FLOATS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect=("unwritten-output", "out-of-bounds-write"),
    twin="abs/vector",
)
