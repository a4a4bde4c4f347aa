"""Reverse every row of a matrix, with the tiles of a row on the second axis of the grid.

Claims A20 and A38: the mirrored addresses are right for every height and width. The launch is not:
the first axis of a CUDA grid takes 2**31 - 1 programs, the other two 65,535 each. A row of more
tiles than that is refused with "invalid argument", and no program runs. The interpreter knows no
such limit, and no test with ordinary widths comes near it.

Right: `flip/rows_remap`, which counts rows and tiles on the first axis.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def reverse_rows_kernel(x_ptr, out_ptr, W, stride_h, stride_w, BLOCK_W: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = cols < W
    x = tl.load(x_ptr + row * stride_h + (W - 1 - cols) * stride_w, mask=mask)
    tl.store(out_ptr + row * W + cols, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK_W: int) -> None:
    H, W = x.shape
    grid = (H, triton.cdiv(W, BLOCK_W))
    reverse_rows_kernel[grid](x, out, W, x.stride(0), x.stride(1), BLOCK_W=BLOCK_W)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[
        Tensor("x", "H W", dtypes=FLOATS + INTS),
    ],
    tiles=[Tile("BLOCK_W", axis="W", sizes=(16, 32))],
    axes={"H": (1, 4)},
    expect=Known("crash", backend="gpu"),
    twin="flip/rows_remap",
)
