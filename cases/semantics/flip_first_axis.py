"""Probe: whether `tl.flip` reverses an axis that is not the last one.

Claim A27b: from Triton 3.4 on, `tl.flip(x, 0)` turns a two-dimensional tile upside down. Before, it
is refused: "Currently only support flipping the last dimension".
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Known, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, H, W, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    rows = tl.arange(0, BLOCK_H)[:, None]
    cols = tl.arange(0, BLOCK_W)[None, :]
    x = tl.load(x_ptr + rows * W + cols, mask=(rows < H) & (cols < W), other=0)
    y = tl.flip(x, 0)
    dst = rows - (BLOCK_H - H)
    tl.store(out_ptr + dst * W + cols, y, mask=(dst >= 0) & (cols < W))


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    H, W = x.shape
    block_h = max(2, triton.next_power_of_2(H))
    block_w = max(2, triton.next_power_of_2(W))
    probe_kernel[(1,)](x, out, H, W, BLOCK_H=block_h, BLOCK_W=block_w)


case = Case(
    run=run,
    contract=Flip("H"),
    inputs=[Tensor("x", "H W", dtypes="int32")],
    axes={"H": (1, 8), "W": (1, 4)},
    expect=Known("api-rejects", triton="<3.4"),
    twin="flip/tiles_2d_h_remap",
)
