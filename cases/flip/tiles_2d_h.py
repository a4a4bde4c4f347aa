"""Turn an image upside down in two-dimensional tiles that keep their places.

Claims A27b and A41: flipping a [BH, BW] tile along its rows is allowed from Triton 3.4 on; before,
only the last axis is. It has the same two faults as along the columns. Bands of BH rows keep their
places, and the last band, where it is padded, gets its padding first: the rows that it should hold
are lost.

Right on every version: `flip/tiles_2d_h_remap`; with a flip, `flip/trans_flip_trans`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def upside_down_kernel(x_ptr, out_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    rows = tl.program_id(0) * BH + tl.arange(0, BH)
    cols = tl.program_id(1) * BW + tl.arange(0, BW)
    offs = rows[:, None] * W + cols[None, :]
    mask = (rows[:, None] < H) & (cols[None, :] < W)
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    tl.store(out_ptr + offs, tl.flip(x, 0), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BH: int, BW: int) -> None:
    H, W = x.shape
    grid = (triton.cdiv(H, BH), triton.cdiv(W, BW))
    upside_down_kernel[grid](x, out, H, W, BH=BH, BW=BW)


case = Case(
    run=run,
    contract=Flip("H"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    tiles=[Tile("BH", axis="H", sizes=(4, 8)), Tile("BW", axis="W", sizes=2)],
    axes={"W": (1, 3)},
    expect=(
        Known("block-local-flip", triton=">=3.4"),
        Known("padding-leak", triton=">=3.4"),
        Known("api-rejects", triton="<3.4"),
    ),
    twin="flip/tiles_2d_h_remap",
)
