"""Add a vector to its own reverse, in one kernel.

Claims A28 and A33: flip and addition fuse into one launch and no reversed copy is ever stored. The
mirrored tile is loaded beside the straight one, so that the sum is over the whole vector and not
within a tile. One addition is rounded once, so the result is exact in the sense that no other value
of the dtype is nearer.
"""

import torch
import triton
import triton.language as tl

from tritaudit import SIGNED_INTS, Case, Known, Reference, Tensor, Tile


@triton.jit
def symmetric_add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    start = tl.program_id(0) * BLOCK
    offs = start + lanes
    src = n - start - BLOCK + lanes
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    mirrored = tl.load(x_ptr + src, mask=src >= 0, other=0)
    tl.store(out_ptr + offs, x + tl.flip(mirrored, 0), mask=offs < n)


def symmetric_add(x: torch.Tensor) -> torch.Tensor:
    return x + x.flip(0)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    symmetric_add_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    # Integer sums wrap, as they do in torch.
    contract=Reference(symmetric_add, tolerance="exact", overflow="wrap"),
    # No bfloat16: the interpreter adds it as raw 16-bit integers.
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64", *SIGNED_INTS))],
    tiles=[Tile("BLOCK", axis="N", sizes=(4, 16, 128))],
    # Before 3.3 a flip is a multiplication by 0 and 1 and a sum (claim A4), and the interpreter
    # stores sums of integers below 64 bits with 8 bytes each, the last one beyond the end.
    expect=(
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
        Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    ),
)
