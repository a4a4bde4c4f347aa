"""Reverse a vector with one padded tile: the padding lands in front.

Claim A16: one tile whose size is the next power of two is said to reverse a vector of any length,
as long as load and store are masked. It does not. `tl.flip` reverses the whole tile, so the padding
that stood behind the data stands before it afterwards: out begins with BLOCK - N zeros, and as many
of the first elements of x fall behind the end and are lost. Only a power-of-two length is right,
which is what unit tests tend to use.

Right: `flip/single_tile_shifted` stores each lane BLOCK - N further to the left.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, INTS, Case, Flip, Known, Tensor


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    y = tl.flip(x, 0)
    tl.store(out_ptr + offs, y, mask=mask)


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
        "padding-leak",
        # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
        # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
    twin="flip/single_tile_shifted",
)
