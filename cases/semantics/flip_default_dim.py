"""Probe: which axis `tl.flip(x)` reverses when none is named.

Claim A3: it is not all of them, as is said, but the last one. On a [BLOCK_H, BLOCK_W] tile the rows
keep their places. Triton 3.4 to 3.8 does not compile the call at all, since the check of the axis
compares None with a number; 3.9.0 has it back.
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
    y = tl.flip(x)
    dst = cols - (BLOCK_W - W)
    tl.store(out_ptr + rows * W + dst, y, mask=(rows < H) & (dst >= 0))


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    H, W = x.shape
    block_h = max(2, triton.next_power_of_2(H))
    block_w = max(2, triton.next_power_of_2(W))
    probe_kernel[(1,)](x, out, H, W, BLOCK_H=block_h, BLOCK_W=block_w)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[Tensor("x", "H W", dtypes="int32")],
    axes={"H": (1, 4), "W": (1, 8)},
    expect=(
        Known("api-rejects", triton=">=3.4,<3.9"),
        # Triton 3.2 flips by a sum, and its interpreter stores int32 sums with 8 bytes each.
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
    twin="flip/rows_remap",
)
