"""Reverse a vector with one padded tile, stored so that the padding falls off the front.

Claim A16: after `tl.flip` the padding of a tile stands before the data, BLOCK - N lanes of it. A
store that moves every lane BLOCK - N to the left, and drops those that end up before the start,
puts each element where it belongs, for every N up to the tile size. Nothing of the padding is ever
stored, so its value does not matter.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, INTS, Case, Flip, Known, Tensor


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    y = tl.flip(x, 0)
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
    # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
    # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
    expect=(
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
)
