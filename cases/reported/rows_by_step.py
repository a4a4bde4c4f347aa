"""Reverse the rows of a matrix by a start at the last row and a step of -1.

Wrong: `reported/rows_without_step`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def rows_kernel(x_ptr, out_ptr, m, n, step, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    start = m - 1
    x = tl.load(x_ptr + (start + row * step) * n + cols, mask=mask)
    tl.store(out_ptr + row * n + cols, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    m, n = x.shape
    rows_kernel[(m,)](x, out, m, n, -1, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("M"),
    inputs=[Tensor("x", "M N", dtypes=("float32", "int32"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16,))],
    axes={"M": (1, 9), "N": (1, 16)},
)
