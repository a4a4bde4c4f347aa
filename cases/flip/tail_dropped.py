"""Reverse a vector with a grid that is rounded down: the tail is never written.

Claim A17: the kernel itself is that of `flip/address_remap`, mask included, and right. The launch
divides n by BLOCK and drops the rest, so the last n % BLOCK elements of out keep what was there
before. A vector shorter than a tile gets no program at all. Multiples of the tile are right.

Right: `flip/address_remap`, which rounds up with `triton.cdiv`.
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
    reverse_kernel[(n // BLOCK,)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect="unwritten-output",
    twin="flip/address_remap",
)
