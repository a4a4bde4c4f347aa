"""Probe: whether a masked load without `other` fills the padding with zeros.

Claims A15 and B29: on paper the masked lanes are undefined. In practice they are 0, in the
interpreter and in the code for NVIDIA GPUs, and many kernels rely on it. This one sums rows of a
padded tile, padding and all: one masked lane that is not zero makes the sum wrong.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, W, BLOCK_W: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_W)
    x = tl.load(x_ptr + row * W + cols, mask=cols < W)
    tl.store(out_ptr + row, tl.sum(x.to(tl.int64), axis=0))


def row_sum(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.int64).sum(1)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    H, W = x.shape
    probe_kernel[(H,)](x, out, W, BLOCK_W=triton.next_power_of_2(W))


case = Case(
    run=run,
    contract=Reference(row_sum),
    inputs=[Tensor("x", "H W", dtypes=("int8", "int16", "int32"))],
    axes={"H": (1, 4), "W": (1, 130)},
    out_dtype="int64",
    out_shape="H",
)
