"""Probe: whether `tl.abs` clears the sign bit of a float and nothing else.

Claims B5 and B14 to B17: -0.0 becomes +0.0, -Inf becomes +Inf, a denormal stays one, and a NaN, a
signalling one included, keeps its payload. This is what `and` with the largest positive pattern
does, and it is what the compiler emits.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, FP8, Abs, Case, Tensor


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
    inputs=[Tensor("x", "N", dtypes=FLOATS + FP8)],
    axes={"N": (1, 256)},
)
