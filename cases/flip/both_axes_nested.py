"""Rotate a matrix by 180 degrees with two nested flips of one padded tile.

Claims A25 and A26: `tl.flip` takes one axis, so both need two calls, one inside the other. That
rotates the tile. The matrix is rotated with it only where both of its sides are powers of two;
elsewhere the padding of either side comes to the front, and with two padded sides only a corner of
the result is data. Triton before 3.4 refuses the flip of the first axis.

Right: `flip/both_axes_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor


@triton.jit
def rotate_kernel(x_ptr, out_ptr, H, W, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    rows = tl.arange(0, BLOCK_H)
    cols = tl.arange(0, BLOCK_W)
    offs = rows[:, None] * W + cols[None, :]
    mask = (rows[:, None] < H) & (cols[None, :] < W)
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    y = tl.flip(tl.flip(x, 0), 1)
    tl.store(out_ptr + offs, y, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    H, W = x.shape
    # tl.flip refuses a flipped axis of one element on every version, so the smallest side is 2.
    block_h = max(2, triton.next_power_of_2(H))
    block_w = max(2, triton.next_power_of_2(W))
    rotate_kernel[(1,)](x, out, H, W, BLOCK_H=block_h, BLOCK_W=block_w)


case = Case(
    run=run,
    contract=Flip("H", "W"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    axes={"H": (1, 4), "W": (1, 8)},
    expect=(
        Known("padding-leak", triton=">=3.4"),
        Known("api-rejects", triton="<3.4"),
    ),
    twin="flip/both_axes_remap",
)
