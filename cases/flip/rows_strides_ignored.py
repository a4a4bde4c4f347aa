"""Reverse every row of a matrix, taking its memory for row-major.

Claim A11: `torch.flip` copies, and what it returns is contiguous; `x.t()`, a slice with a step and
`expand` are views that are not. This kernel computes row * W + column. A transposed matrix has the
same shape and other strides, so the kernel reads the elements of other rows, without any error.
Contiguous inputs are right, and tests seldom use others.

Right: `flip/rows_remap`, which passes the strides.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_rows_kernel(x_ptr, out_ptr, W, BLOCK_W: tl.constexpr):
    row = tl.program_id(1)
    cols = tl.program_id(0) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = cols < W
    x = tl.load(x_ptr + row * W + (W - 1 - cols), mask=mask)
    tl.store(out_ptr + row * W + cols, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK_W: int) -> None:
    H, W = x.shape
    reverse_rows_kernel[(triton.cdiv(W, BLOCK_W), H)](x, out, W, BLOCK_W=BLOCK_W)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS, layouts=("contiguous", "transposed"))],
    tiles=[Tile("BLOCK_W", axis="W", sizes=(16, 64))],
    axes={"H": (1, 4)},
    expect="stride-ignored",
    twin="flip/rows_remap",
)
