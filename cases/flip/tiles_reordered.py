"""Reverse a vector by exchanging tiles, without reversing inside them.

Claims A6 and A9: the program for tile p loads tile P - 1 - p, and nothing reverses the lanes, so
the tiles change places and each keeps its inner order. Where the last tile is padded, its padding
is stored over data at the front, and elements of the first tile are lost. A vector whose tiles read
the same in both directions, one of constants for instance, does not show it.

Right: `flip/mirrored_tiles` flips the lanes as well and counts its tiles from the end.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    src = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK + lanes
    dst = tl.program_id(0) * BLOCK + lanes
    x = tl.load(x_ptr + src, mask=src < n, other=0)
    tl.store(out_ptr + dst, x, mask=dst < n)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS + BOOL)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64))],
    expect=("tile-order-only", "padding-leak"),
    twin="flip/mirrored_tiles",
)
