"""Reverse a vector by mirrored addresses that are one too far.

Claim A17: the mirror of i in n elements is n - 1 - i. With n - i the whole result is shifted by one
place: its first element is read from behind the end of x, and x[0] never comes out. What lies
behind the end is often a zero, and reading it raises no error.

Right: `flip/address_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + (n - offs), mask=mask)
    tl.store(out_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect=("off-by-one", "out-of-bounds-read"),
    twin="flip/address_remap",
)
