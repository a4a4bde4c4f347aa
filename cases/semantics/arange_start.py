"""Probe: whether `tl.arange` may start at a number that is no power of two.

Claim B30: only the length has to be a power of two, not the ends, as is said. `tl.arange(3, 3 + B)`
counts from 3. Taking the 3 off again gives the usual offsets, so this is a plain reversal by
mirrored addresses.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(3, 3 + BLOCK) - 3
    mask = offs < n
    x = tl.load(x_ptr + (n - 1 - offs), mask=mask, other=0)
    tl.store(out_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    probe_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes="int32")],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64))],
)
