"""Mirror an image left to right in two-dimensional tiles loaded from the mirrored place.

Claims A22 to A24: `tl.flip` reverses a tile in itself, so the tile has to be the right one already.
The program for columns [c, c + BW) loads the BW columns that end c before the right edge, counted
from the end: the padding of the outermost tile then lies to the left of the image, and flips to
lanes that the store masks. Right for every height and width.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def mirror_kernel(x_ptr, out_ptr, H, W, across, BH: tl.constexpr, BW: tl.constexpr):
    # All programs on one axis of the grid: the others take no more than 65,535.
    rows = tl.program_id(0) // across * BH + tl.arange(0, BH)
    start = tl.program_id(0) % across * BW
    dst = start + tl.arange(0, BW)
    src = W - start - BW + tl.arange(0, BW)
    inside = rows[:, None] < H
    x = tl.load(
        x_ptr + rows[:, None] * W + src[None, :], mask=inside & (src[None, :] >= 0), other=0
    )
    tl.store(
        out_ptr + rows[:, None] * W + dst[None, :], tl.flip(x, 1), mask=inside & (dst[None, :] < W)
    )


def run(x: torch.Tensor, out: torch.Tensor, *, BH: int, BW: int, num_warps: int = 4) -> None:
    H, W = x.shape
    across = triton.cdiv(W, BW)
    grid = (triton.cdiv(H, BH) * across,)
    mirror_kernel[grid](x, out, H, W, across, BH=BH, BW=BW)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    tiles=[Tile("BH", axis="H", sizes=2), Tile("BW", axis="W", sizes=(4, 8))],
    axes={"H": (1, 3)},
    # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
    # stores sums of integers below 64 bits with 8 bytes each, over their neighbours.
    expect=(
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
        Known("value-mismatch", triton="<3.3", backend="interpreter"),
    ),
)
