"""Take the absolute value of a vector of signed integers in their own type.

Claim B20: the minimum of a signed type has no positive counterpart in it, and `tl.abs` returns it
unchanged: abs(int8 -128) is -128, at every width, on every version and GPU. `torch.abs` does the
same, so a comparison with torch finds nothing.

Right: `abs/widened`, into a wider type; `abs/saturating`, if the maximum is an acceptable answer.
Where torch's own answer is what is wanted, the contract is `Abs(overflow="wrap")`.
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
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)


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
