"""Reverse the rows of a matrix with a kernel for vectors: the rows change places too.

Claim A7: `torch.flip` takes the axes to reverse and has no default. A kernel that walks over
x.numel() knows no axes at all: it reverses the matrix as one long vector, so that the last row
comes first. The contract is to reverse within each row. A matrix of one row is right.

Right: `flip/rows_remap`; to reverse both axes, `flip/both_axes_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
    tl.store(out_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    tiles=[Tile("BLOCK", axis="W", sizes=(16, 64))],
    axes={"H": (1, 4)},
    expect="wrong-axis",
    twin="flip/rows_remap",
)
