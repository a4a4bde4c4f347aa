"""Probe: whether `tl.flip(x, -1)` means the last axis, as in PyTorch.

Claim A27: it does from Triton 3.4 on. Before, every negative axis is refused, even -1, which is the
only axis that those versions can flip; the message says that only the last axis is supported.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Known, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    y = tl.flip(x, -1)
    dst = offs - (BLOCK - n)
    tl.store(out_ptr + dst, y, mask=dst >= 0)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    probe_kernel[(1,)](x, out, n, BLOCK=max(2, triton.next_power_of_2(n)))


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes="int32")],
    axes={"N": (1, 32)},
    expect=Known("api-rejects", triton="<3.4"),
    twin="flip/single_tile_shifted",
)
