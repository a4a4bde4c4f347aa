"""Take the absolute difference of two vectors of floats.

Claims B26 and B54: the subtraction rounds once and `tl.abs` does not round at all, so the result is
the nearest value of the dtype and needs no tolerance.
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


# No bfloat16: the interpreter subtracts it as raw 16-bit integers.
DTYPES = ("float16", "float32", "float64")

case = Case(
    run=run,
    contract=Reference(absolute_difference, tolerance="exact"),
    inputs=[Tensor("x", "N", dtypes=DTYPES), Tensor("y", "N", dtypes=DTYPES)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
