"""Flip a tile and drop the result: the output is the input.

Claim A8: `tl.flip` is said to be a view of the tile that only changes how its lanes are counted. It
is a function that returns a new tensor. Called as a statement, as if it turned x around in place,
it has no effect at all, and what is stored is x as it was loaded.

Right: `flip/mirrored_tiles`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    tl.flip(x, 0)
    tl.store(out_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS + BOOL)],
    tiles=[Tile("BLOCK", axis="N", sizes=(4, 16))],
    expect="not-reversed",
    twin="flip/mirrored_tiles",
)
