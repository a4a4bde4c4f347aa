"""Take the absolute value of a tile with a Python `if`.

Claim B1: `if x < 0` asks one question about a whole tile. The compiler refuses it: with a message
from Triton 3.4 on, and by an abort of the process before. The interpreter does not refuse. It takes
the branch, always, so that every element is negated and positive values come out negative.

Right: `abs/vector`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Abs, Case, Known, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    if x < 0:
        x = -x
    tl.store(out_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    # No bfloat16: the interpreter negates it as a raw 16-bit integer.
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64))],
    expect=(
        Known("sign-kept", backend="interpreter"),
        Known("crash", triton="<3.4", backend="gpu"),
        Known("api-rejects", triton=">=3.4", backend="gpu"),
    ),
    twin="abs/vector",
)
