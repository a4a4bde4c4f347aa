"""Reverse every row of a matrix by loading columns from mirrored addresses.

Claims A20 and A38: column c of the result is column W - 1 - c of the input. Rows wider than a tile
take several programs. The strides of the input come from the tensor, so that a transposed or
strided matrix is reversed in its logical order, whatever its order in memory.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, FP8, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_rows_kernel(x_ptr, out_ptr, W, stride_h, stride_w, tiles, BLOCK_W: tl.constexpr):
    # All programs on one axis of the grid: the others take no more than 65,535.
    row = tl.program_id(0) // tiles
    cols = tl.program_id(0) % tiles * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = cols < W
    x = tl.load(x_ptr + row * stride_h + (W - 1 - cols) * stride_w, mask=mask)
    tl.store(out_ptr + row * W + cols, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK_W: int) -> None:
    H, W = x.shape
    tiles = triton.cdiv(W, BLOCK_W)
    reverse_rows_kernel[(H * tiles,)](x, out, W, x.stride(0), x.stride(1), tiles, BLOCK_W=BLOCK_W)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[
        Tensor(
            "x",
            "H W",
            dtypes=FLOATS + INTS + FP8 + BOOL,
            layouts=("contiguous", "strided", "transposed", "offset", "expanded"),
        ),
    ],
    tiles=[Tile("BLOCK_W", axis="W", sizes=(16, 64))],
    axes={"H": (1, 4)},
)
