"""Take the absolute value of a vector with input and output exchanged in the launch.

Claim B46: what looks like old data in the output is mostly this. Both arguments are pointers, so
nothing objects: the kernel takes the absolute value of whatever is in the output and writes it over
the input.

Right: `abs/vector`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
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
    inputs=[Tensor("x", "N", dtypes=FLOATS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect=("unwritten-output", "input-mutated"),
    twin="abs/vector",
)
