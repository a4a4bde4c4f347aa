"""Probe: what `tl.abs` makes of the minimum of a signed type.

Claim B20: it returns it unchanged, a negative number, at all four widths. That does not depend on
the driver or the GPU, as is said: the compiler defines the result (`llvm.abs` without poison).
Every answer in the type of the input would be wrong, so the contract cannot be met in it.
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
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=SIGNED_INTS)],
    axes={"N": (1, 128)},
    expect="int-abs-overflow",
    twin="abs/widened",
)
