"""Reverse every row of a matrix, one padded row a program.

Claim A20: a tile of the next power of two holds the whole row, so flipping it is said to be the
same as reversing the row. That holds only where the width is a power of two. Elsewhere the padding
comes to the front of each row: [1, 2, 3, 4, 5] becomes [0, 0, 0, 5, 4].

Right: `flip/rows_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor


@triton.jit
def reverse_rows_kernel(x_ptr, out_ptr, W, BLOCK_W: tl.constexpr):
    start = tl.program_id(0) * W
    cols = tl.arange(0, BLOCK_W)
    mask = cols < W
    x = tl.load(x_ptr + start + cols, mask=mask, other=0)
    tl.store(out_ptr + start + cols, tl.flip(x, 0), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    H, W = x.shape
    # tl.flip refuses a tile of one element on every version, so the smallest tile is 2.
    block = max(2, triton.next_power_of_2(W))
    reverse_rows_kernel[(H,)](x, out, W, BLOCK_W=block)


case = Case(
    run=run,
    contract=Flip("W"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS + INTS)],
    axes={"H": (1, 3), "W": (1, 20)},
    expect=(
        "padding-leak",
        # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
        # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
    twin="flip/rows_remap",
)
