"""Turn an image upside down in two-dimensional tiles loaded from the mirrored place.

Claims A27b and A36: from Triton 3.4 on `tl.flip` reverses the first axis of a tile as well; before,
only the last one. The program for rows [r, r + BH) loads the BH rows that end r above the bottom
edge, so that the bands change places and the padding of the outermost one falls outside the image.
Right for every height and width.

On a GPU this is the axis that costs: with several warps, rows of a tile lie in different warps, and
have to be exchanged through shared memory. `flip/tiles_2d_h_remap` does without.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def upside_down_kernel(x_ptr, out_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    dst = tl.program_id(0) * BH + tl.arange(0, BH)
    src = H - (tl.program_id(0) + 1) * BH + tl.arange(0, BH)
    cols = tl.program_id(1) * BW + tl.arange(0, BW)
    inside = cols[None, :] < W
    x = tl.load(
        x_ptr + src[:, None] * W + cols[None, :], mask=inside & (src[:, None] >= 0), other=0
    )
    tl.store(
        out_ptr + dst[:, None] * W + cols[None, :], tl.flip(x, 0), mask=inside & (dst[:, None] < H)
    )


def run(x: torch.Tensor, out: torch.Tensor, *, BH: int, BW: int, num_warps: int = 4) -> None:
    H, W = x.shape
    grid = (triton.cdiv(H, BH), triton.cdiv(W, BW))
    upside_down_kernel[grid](x, out, H, W, BH=BH, BW=BW, num_warps=num_warps)


case = Case(
    run=run,
    contract=Flip("H"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    tiles=[Tile("BH", axis="H", sizes=4), Tile("BW", axis="W", sizes=2)],
    axes={"W": (1, 3)},
    expect=Known("api-rejects", triton="<3.4"),
    twin="flip/tiles_2d_h_remap",
)
