"""Reverse a vector tile by tile, each tile loaded from the mirrored place.

Claim A6 says where a flip per program goes wrong, this is the cure that keeps `tl.flip`: the
program that writes tile p loads the BLOCK elements that end p tiles before the end of x. Flipped,
they are in order for the store. The tile that reaches over the start of x is masked there, and its
padding is flipped to the lanes behind the end, which the store masks. Right for every N.

On a GPU the exchange between lanes costs time: `flip/address_remap` does the same without it.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    start = tl.program_id(0) * BLOCK
    src = n - start - BLOCK + lanes
    x = tl.load(x_ptr + src, mask=src >= 0, other=0)
    dst = start + lanes
    tl.store(out_ptr + dst, tl.flip(x, 0), mask=dst < n)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS + BOOL, layouts=("contiguous", "offset"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(4, 16, 128))],
    # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
    # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
    expect=(
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
)
