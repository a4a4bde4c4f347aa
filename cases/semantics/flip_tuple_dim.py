"""Probe: whether `tl.flip` takes several axes at once.

Claims A2 and A25: `tl.flip(x, (0, 1))`, with a tuple as for `torch.flip`, is refused by every
version. The messages differ and none says that the axis has to be one integer.

Right: two nested flips from Triton 3.4 on, or `flip/both_axes_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, H, W, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    rows = tl.arange(0, BLOCK_H)[:, None]
    cols = tl.arange(0, BLOCK_W)[None, :]
    x = tl.load(x_ptr + rows * W + cols, mask=(rows < H) & (cols < W), other=0)
    y = tl.flip(x, (0, 1))
    dst_h = rows - (BLOCK_H - H)
    dst_w = cols - (BLOCK_W - W)
    tl.store(out_ptr + dst_h * W + dst_w, y, mask=(dst_h >= 0) & (dst_w >= 0))


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    H, W = x.shape
    block_h = max(2, triton.next_power_of_2(H))
    block_w = max(2, triton.next_power_of_2(W))
    probe_kernel[(1,)](x, out, H, W, BLOCK_H=block_h, BLOCK_W=block_w)


case = Case(
    run=run,
    contract=Flip("H", "W"),
    inputs=[Tensor("x", "H W", dtypes="int32")],
    axes={"H": (1, 4), "W": (1, 8)},
    expect="api-rejects",
    twin="flip/both_axes_remap",
)
