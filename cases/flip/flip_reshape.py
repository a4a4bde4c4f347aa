"""Reverse the four channels of each pixel by a reshape, a flip and a reshape back.

Claim A39: flip and reshape are said to lose each other's meaning when combined. They do not. A flat
tile of 4 * BLOCK values is seen as BLOCK pixels of 4 channels (RGBA to ABGR), flipped along the
channels and flattened again. A pixel is never split between tiles, and the padding of the last tile
is whole pixels, which stay where they are.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor, Tile


@triton.jit
def swap_channels_kernel(x_ptr, out_ptr, pixels, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * (BLOCK * 4) + tl.arange(0, BLOCK * 4)
    mask = offs < pixels * 4
    flat = tl.load(x_ptr + offs, mask=mask, other=0)
    rgba = tl.reshape(flat, (BLOCK, 4))
    abgr = tl.flip(rgba, 1)
    tl.store(out_ptr + offs, tl.reshape(abgr, (BLOCK * 4,)), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    pixels = x.shape[0]
    swap_channels_kernel[(triton.cdiv(pixels, BLOCK),)](x, out, pixels, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("C"),
    inputs=[Tensor("x", "P C", dtypes=FLOATS + INTS)],
    tiles=[Tile("BLOCK", axis="P", sizes=(2, 4, 8))],
    axes={"C": (4, 4)},
    # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
    # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
    expect=(
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
)
