"""Reverse a vector by multiplying each tile with an exchange matrix and summing.

Claim A4: row j of the matrix is 1 in column BLOCK - 1 - j and 0 elsewhere, so the sum of x times a
row is the mirrored element, exact for every finite value. But 0 * NaN and 0 * Inf are NaN: a single
one turns every element of its tile into NaN. And a sum that starts at +0.0 turns -0.0 into +0.0.
Triton up to 3.2 lowered `tl.flip` itself like this.

Right: `flip/mirrored_tiles` (from Triton 3.3 on) and `flip/address_remap`, which only move bits.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    start = tl.program_id(0) * BLOCK
    src = n - start - BLOCK + lanes
    x = tl.load(x_ptr + src, mask=src >= 0, other=0.0)
    exchange = (lanes[:, None] + lanes[None, :] == BLOCK - 1).to(x.dtype)
    y = tl.sum(x[None, :] * exchange, axis=1)
    dst = start + lanes
    tl.store(out_ptr + dst, y, mask=dst < n)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    # No bfloat16: the interpreter multiplies and adds it as raw 16-bit integers.
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(8, 32))],
    expect=("nan-contamination", "signed-zero-lost"),
    twin="flip/address_remap",
)
