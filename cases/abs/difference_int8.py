"""Take the absolute difference of two int8 vectors, subtracting in int8.

Claim B25: the trouble with int8 differences is not only abs(-128). The subtraction wraps first:
100 - (-100) is -56 in int8, and the answer 56, where 200 is true. The output is int16 and could
hold every answer, but the arithmetic is over before the store widens it. torch subtracts in int8 as
well, so a comparison with it finds nothing.

Right: `abs/difference_widened`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor, Tile


@triton.jit
def difference_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x - y), mask=mask)


def absolute_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x - y).abs()


def run(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    difference_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Reference(absolute_difference),
    inputs=[Tensor("x", "N", dtypes="int8"), Tensor("y", "N", dtypes="int8")],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    out_dtype="int16",
    expect="int-overflow",
    twin="abs/difference_widened",
)
