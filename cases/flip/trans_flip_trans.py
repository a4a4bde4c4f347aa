"""Turn an image upside down by transposing each tile, flipping its last axis and transposing back.

Claim A37: this is the way to flip the first axis of a tile where Triton allows only the last one,
before 3.4. It is right on every version. It is no gain from 3.4 on: the same instructions come out
as for `tl.flip(x, 0)`. The band of rows is loaded from the mirrored place, so that the bands change
places as well and any padding falls outside the image.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def upside_down_kernel(x_ptr, out_ptr, H, W, across, BH: tl.constexpr, BW: tl.constexpr):
    # All programs on one axis of the grid: the others take no more than 65,535.
    start = tl.program_id(0) // across * BH
    dst = start + tl.arange(0, BH)
    src = H - start - BH + tl.arange(0, BH)
    cols = tl.program_id(0) % across * BW + tl.arange(0, BW)
    inside = cols[None, :] < W
    x = tl.load(
        x_ptr + src[:, None] * W + cols[None, :], mask=inside & (src[:, None] >= 0), other=0
    )
    y = tl.trans(tl.flip(tl.trans(x), 1))
    tl.store(out_ptr + dst[:, None] * W + cols[None, :], y, mask=inside & (dst[:, None] < H))


def run(x: torch.Tensor, out: torch.Tensor, *, BH: int, BW: int, num_warps: int = 4) -> None:
    H, W = x.shape
    across = triton.cdiv(W, BW)
    grid = (triton.cdiv(H, BH) * across,)
    upside_down_kernel[grid](x, out, H, W, across, BH=BH, BW=BW)


case = Case(
    run=run,
    contract=Flip("H"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    tiles=[Tile("BH", axis="H", sizes=(4, 8)), Tile("BW", axis="W", sizes=2)],
    axes={"W": (1, 3)},
    # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
    # stores sums of integers below 64 bits with 8 bytes each, over their neighbours.
    expect=(
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
        Known("value-mismatch", triton="<3.3", backend="interpreter"),
    ),
)
