"""Take the absolute value of floats as relu(x) + relu(-x).

Claims B16 and B39: abs of a NaN is a NaN, and `tl.where` selects per element. A comparison with NaN
is false, so both halves select 0, and a NaN comes out as the number 0. Everything else is right,
-0.0 included.

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
    positive = tl.where(x > 0, x, 0.0)
    negative = tl.where(x < 0, -x, 0.0)
    tl.store(out_ptr + offs, positive + negative, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    # No bfloat16: the interpreter compares and adds it as raw 16-bit integers.
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect="nan-lost",
    twin="abs/vector",
)
