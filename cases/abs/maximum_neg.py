"""Take the absolute value of signed integers as the maximum of x and -x.

Claim B23: this is said to be more predictable than `tl.abs` at the minimum. It is the same: -(-128)
is -128 in int8, and the maximum of -128 and -128 is -128. The compiler folds it into the very same
operation. (For floats, what becomes of -0.0 and of a NaN's payload differs between versions and
backends, one more reason to write `tl.abs`.)

Right: `abs/widened`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import SIGNED_INTS, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.maximum(x, -x), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=SIGNED_INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect="int-abs-overflow",
    twin="abs/widened",
)
