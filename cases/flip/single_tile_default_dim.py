"""Reverse a vector with `tl.flip(x)`, leaving the axis to the default.

Claims A5 and A13: `tl.flip(x)` without an axis is the first thing that anyone writes. It means the
last axis up to Triton 3.3.1 and again from 3.9.0. From 3.4 to 3.8 it does not compile: the check of
the axis compares None with a number. The kernel is right wherever it compiles.

Right on every version: `flip/single_tile_shifted`, the same kernel with the axis written out.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, INTS, Case, Flip, Known, Tensor


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    y = tl.flip(x)
    dst = offs - (BLOCK - n)
    tl.store(out_ptr + dst, y, mask=dst >= 0)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    # tl.flip refuses a tile of one element on every version, so the smallest tile is 2.
    block = max(2, triton.next_power_of_2(n))
    reverse_kernel[(1,)](x, out, n, BLOCK=block)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS + BOOL)],
    axes={"N": (1, 32)},
    expect=(
        Known("api-rejects", triton=">=3.4,<3.9"),
        # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
        # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
    twin="flip/single_tile_shifted",
)
