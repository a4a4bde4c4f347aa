"""Take the absolute value of floats by hand, keeping what is at least zero.

Claim B42: -0.0 >= 0 is true, so -0.0 is kept, sign and all. A NaN is not >= 0, so it is negated:
what happens to its sign depends on the version (0 - x before Triton 3.8, a flip of the sign bit
from then on), but it stays a NaN, which is no fault.

Right: `abs/vector`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.where(x >= 0, x, -x), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    # No bfloat16: the interpreter compares and negates it as raw 16-bit integers.
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect="signed-zero-kept",
    twin="abs/vector",
)
