"""Reverse a vector tile by tile, each tile in its own place.

Claim A6: every program flips its tile and stores it where it came from. `tl.flip` knows nothing of
the other programs, so the tiles keep their order and only the elements inside each are reversed.
The last tile is padded as well, and its padding lands in front of its data.

With a single full tile the result is right, so a test with N == BLOCK passes. Right for every N:
`flip/mirrored_tiles` and `flip/address_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    y = tl.flip(x, 0)
    tl.store(out_ptr + offs, y, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS + BOOL)],
    tiles=[Tile("BLOCK", axis="N", sizes=(4, 16, 128))],
    expect=(
        "block-local-flip",
        "padding-leak",
        # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
        # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
    twin="flip/mirrored_tiles",
)
