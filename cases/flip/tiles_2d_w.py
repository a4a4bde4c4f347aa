"""Mirror an image left to right in two-dimensional tiles that keep their places.

Claims A22 to A24: flipping a [BH, BW] tile along its columns mirrors the image only where one tile
spans the whole width exactly. With W = 2 * BW each half is mirrored in itself and the halves are
not exchanged. A tile that covers the width and is padded is not enough either: its padding comes to
the front of every row.

Right: `flip/tiles_2d_w_mirrored`, or `flip/rows_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def mirror_kernel(x_ptr, out_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    rows = tl.program_id(1) * BH + tl.arange(0, BH)
    cols = tl.program_id(0) * BW + tl.arange(0, BW)
    offs = rows[:, None] * W + cols[None, :]
    mask = (rows[:, None] < H) & (cols[None, :] < W)
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    tl.store(out_ptr + offs, tl.flip(x, 1), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BH: int, BW: int) -> None:
    H, W = x.shape
    grid = (triton.cdiv(W, BW), triton.cdiv(H, BH))
    mirror_kernel[grid](x, out, H, W, BH=BH, BW=BW)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    tiles=[Tile("BH", axis="H", sizes=2), Tile("BW", axis="W", sizes=(4, 8))],
    axes={"H": (1, 3)},
    expect=(
        "block-local-flip",
        "padding-leak",
        # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
        # stores sums of integers below 64 bits with 8 bytes each, over their neighbours.
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
        Known("value-mismatch", triton="<3.3", backend="interpreter"),
    ),
    twin="flip/tiles_2d_w_mirrored",
)
