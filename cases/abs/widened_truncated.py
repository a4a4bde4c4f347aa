"""Take the absolute value of signed integers in a wider type and store it in the narrow one.

Claim B22: widening before `tl.abs`, "and truncating afterwards as needed", is no cure. 128 is right
in the wide type, and the store into an int8 output cuts it to -128 again. Only an output that can
hold the answer helps.

Right: `abs/widened`, with a wide output; `abs/saturating`, if the type has to stay.
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
    wide = tl.abs(x.to(tl.int64))
    tl.store(out_ptr + offs, wide.to(x.dtype), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=("int8", "int16", "int32"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect="int-abs-overflow",
    twin="abs/widened",
)
