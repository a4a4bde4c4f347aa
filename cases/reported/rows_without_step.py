"""Reverse the rows of a matrix, with the step of -1 missing from the address.

Reported of a compiler: a slice x[::-1] lost its step on the way to the address, so every program
read from where the reversal starts, and the last row came out in all of them. A matrix of one row,
or of equal rows, is right.

Right: `reported/rows_by_step`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def rows_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    start = m - 1
    x = tl.load(x_ptr + start * n + cols, mask=mask)
    tl.store(out_ptr + row * n + cols, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    m, n = x.shape
    rows_kernel[(m,)](x, out, m, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("M"),
    inputs=[Tensor("x", "M N", dtypes=("float32", "int32"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16,))],
    axes={"M": (1, 9), "N": (1, 16)},
    expect="value-mismatch",
    twin="reported/rows_by_step",
)
