"""Turn an image upside down in two-dimensional tiles with mirrored row addresses.

Claim A38: along the rows the remap costs nothing. Each row of a tile is still contiguous in memory;
only the row that it comes from changes, H - 1 - r for row r. Right for every height and width, on
every version, and for images that are not contiguous.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Tensor, Tile


@triton.jit
def upside_down_kernel(
    x_ptr, out_ptr, H, W, stride_h, stride_w, across, BH: tl.constexpr, BW: tl.constexpr
):
    # All programs on one axis of the grid: the others take no more than 65,535.
    rows = tl.program_id(0) // across * BH + tl.arange(0, BH)
    cols = tl.program_id(0) % across * BW + tl.arange(0, BW)
    mask = (rows[:, None] < H) & (cols[None, :] < W)
    src = (H - 1 - rows[:, None]) * stride_h + cols[None, :] * stride_w
    x = tl.load(x_ptr + src, mask=mask)
    tl.store(out_ptr + rows[:, None] * W + cols[None, :], x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BH: int, BW: int) -> None:
    H, W = x.shape
    across = triton.cdiv(W, BW)
    grid = (triton.cdiv(H, BH) * across,)
    upside_down_kernel[grid](x, out, H, W, x.stride(0), x.stride(1), across, BH=BH, BW=BW)


case = Case(
    run=run,
    contract=Flip("H"),
    inputs=[
        Tensor(
            "x",
            "H W",
            dtypes=FLOATS + INTS,
            layouts=("contiguous", "strided", "transposed"),
        ),
    ],
    tiles=[Tile("BH", axis="H", sizes=(8, 32)), Tile("BW", axis="W", sizes=(16, 64))],
)
