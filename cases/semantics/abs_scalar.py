"""Probe: whether `tl.abs` of a negative literal is that number's absolute value.

Claim B12: a Python number in a kernel becomes a constant, and `tl.abs(-2.5)` is 2.5. Here it is the
factor of a product: x * tl.abs(-2.0) is exact, apart from values that overflow, which become
infinite as in torch.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * tl.abs(-2.0), mask=mask)


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2.0


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    probe_kernel[(1,)](x, out, n, BLOCK=triton.next_power_of_2(n))


case = Case(
    run=run,
    contract=Reference(doubled, tolerance="exact"),
    inputs=[Tensor("x", "N", dtypes=("float32", "float64"))],
    axes={"N": (1, 64)},
)
