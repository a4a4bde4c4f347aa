"""Take the absolute value of a vector into an output that is float32 whatever the input is.

Claim B11: the result of `tl.abs` has the type of its input. The output that it is stored in is made
with `torch.empty(shape)`, whose default dtype is float32, so a float16 caller gets float32 back and
float64 loses more than half of its digits in the store.

Right: `abs/vector`; `torch.empty_like(x)` makes an output of the same dtype.
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
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)


def run(x: torch.Tensor, *, BLOCK: int) -> torch.Tensor:
    n = x.numel()
    out = torch.empty(x.shape, device=x.device)
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
    return out


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64))],
    expect="wrong-dtype",
    twin="abs/vector",
)
