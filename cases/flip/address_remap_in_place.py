"""Reverse a vector in place with the address remap: programs read what others have overwritten.

Claim A18: the programs of `flip/address_remap` are independent as long as they write somewhere
else. When x is the output as well, a program that writes the front of x destroys what the program
for the back has still to read. One after the other, the second half of the result is a copy of the
already reversed front. Side by side on a GPU it is a race: as long as all programs are resident at
once, each has usually read before another writes, so that small vectors come out right and large
ones do not.

Right: `flip/address_remap`, with an output of its own.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
    tl.store(x_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    in_place="x",
    # On an H200 the race is lost from some 30,000 elements on (tiles of 16), each time differently.
    expect="alias-race",
    twin="flip/address_remap",
)
