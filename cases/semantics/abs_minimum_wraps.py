"""Probe: whether `tl.abs` agrees with `torch.abs` on all signed integers, the minimum included.

Claims B19 and B20: it does. Both, and NumPy too, wrap at the minimum. So a test against torch sees
no difference, which is a fact about the test and not about the kernel.
"""

import torch
import triton
import triton.language as tl

from tritaudit import SIGNED_INTS, Abs, Case, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    probe_kernel[(1,)](x, out, n, BLOCK=triton.next_power_of_2(n))


case = Case(
    run=run,
    contract=Abs(overflow="wrap"),
    inputs=[Tensor("x", "N", dtypes=SIGNED_INTS)],
    axes={"N": (1, 128)},
)
