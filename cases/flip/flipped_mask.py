"""Reverse a vector with one padded tile, and flip the mask along with it.

Claim A41: the padding does move to the front, and flipping the mask as well is the usual advice
against it. The flipped mask does select the data lanes. But they are the last N lanes of the tile,
and a store to the same offsets writes them to out[BLOCK-N:BLOCK]: BLOCK - N elements land beyond
the end of out, as many at its front are never written, and the rest is shifted. No error is raised.

Right: `flip/single_tile_shifted` moves the addresses instead of the mask.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, INTS, Case, Flip, Known, Tensor


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    tl.store(out_ptr + offs, tl.flip(x, 0), mask=tl.flip(mask, 0))


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    # tl.flip refuses a tile of one element on every version, so the smallest tile is 2.
    block = max(2, triton.next_power_of_2(n))
    reverse_kernel[(1,)](x, out, n, BLOCK=block)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=FLOATS + INTS)],
    axes={"N": (1, 32)},
    expect=(
        "out-of-bounds-write",
        "unwritten-output",
        # Before 3.3 the flip itself is a multiplication by 0 and 1 and a sum (claim A4).
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
    ),
    twin="flip/single_tile_shifted",
)
