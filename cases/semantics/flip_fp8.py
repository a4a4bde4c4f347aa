"""Probe: whether `tl.flip` accepts 8-bit floats.

Claim A4: from Triton 3.3 on it does, and moves all 256 bit patterns of both formats unchanged. Up
to 3.2 it multiplies them with a mask, which is no operation for them: "unexpected type fp8e4nv and
int1".
"""

import torch
import triton
import triton.language as tl

from tritaudit import FP8, Case, Flip, Known, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    # No `other`: 0 has no conversion to 8-bit floats in the interpreter. The padding is not stored.
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.flip(x, 0)
    dst = offs - (BLOCK - n)
    tl.store(out_ptr + dst, y, mask=dst >= 0)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    probe_kernel[(1,)](x, out, n, BLOCK=max(2, triton.next_power_of_2(n)))


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FP8)],
    axes={"N": (1, 32)},
    expect=Known("api-rejects", triton="<3.3"),
    twin="flip/address_remap",
)
