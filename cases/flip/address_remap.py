"""Reverse a vector by loading from mirrored addresses, without `tl.flip`.

Claim A17: element i of the result is loaded from n - 1 - i. The mask is that of an ordinary copy,
no lane is exchanged with another, and every length is right, none at all included. It only moves
bits, so it holds for every dtype. The offsets are 64 bits wide: with 32 they wrap for vectors of
2**31 elements and more.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, FLOATS, FP8, INTS, Case, Flip, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
    tl.store(out_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[
        Tensor("x", "N", dtypes=FLOATS + INTS + FP8 + BOOL, layouts=("contiguous", "offset")),
    ],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    axes={"N": (0, None)},
)
