"""Mirror an image left to right in two-dimensional tiles with mirrored column addresses.

Claim A38: along the columns the remap is not free. A thread that loads four neighbours in one
instruction when it copies a row loads them one by one when it reads them backwards. It is right for
every height and width, on every version, and for images that are not contiguous.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, FP8, INTS, Case, Flip, Tensor, Tile


@triton.jit
def mirror_kernel(x_ptr, out_ptr, H, W, stride_h, stride_w, BH: tl.constexpr, BW: tl.constexpr):
    rows = tl.program_id(0) * BH + tl.arange(0, BH)
    cols = tl.program_id(1) * BW + tl.arange(0, BW)
    mask = (rows[:, None] < H) & (cols[None, :] < W)
    src = rows[:, None] * stride_h + (W - 1 - cols[None, :]) * stride_w
    x = tl.load(x_ptr + src, mask=mask)
    tl.store(out_ptr + rows[:, None] * W + cols[None, :], x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BH: int, BW: int) -> None:
    H, W = x.shape
    grid = (triton.cdiv(H, BH), triton.cdiv(W, BW))
    mirror_kernel[grid](x, out, H, W, x.stride(0), x.stride(1), BH=BH, BW=BW)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[
        Tensor(
            "x",
            "H W",
            dtypes=FLOATS + INTS + FP8 + BOOL,
            layouts=("contiguous", "strided", "transposed"),
        ),
    ],
    tiles=[Tile("BH", axis="H", sizes=4), Tile("BW", axis="W", sizes=(8, 16))],
)
