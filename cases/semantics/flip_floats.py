"""Probe: whether `tl.flip` moves the bits of floats unchanged.

Claim A4: from Triton 3.3 on it does, NaN payloads, infinities and -0.0 included. Up to 3.2 it is a
multiplication with a mask of 0 and 1 followed by a sum: one NaN or infinity turns its whole tile
into NaN, and -0.0 comes out as +0.0.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, Case, Flip, Known, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    y = tl.flip(x, 0)
    dst = offs - (BLOCK - n)
    tl.store(out_ptr + dst, y, mask=dst >= 0)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    probe_kernel[(1,)](x, out, n, BLOCK=max(2, triton.next_power_of_2(n)))


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS)],
    axes={"N": (1, 32)},
    expect=(
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
    ),
    twin="flip/address_remap",
)
