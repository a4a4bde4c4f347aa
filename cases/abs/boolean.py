"""Take the absolute value of booleans: nothing changes.

Claim B10: `tl.abs` accepts one-bit integers, which Triton treats as unsigned, so True stays True.
Read as a signed one-bit integer, True would be -1.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, Abs, Case, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=BOOL)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
