"""Take the absolute value of a vector of signed integers in the next wider type.

Claim B22: converted first, abs(int8 -128) is the int16 128. The output has the wider type as well;
that is what makes room for the answer.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Abs, Case, Tensor, Tile

WIDER = {"int8": "int16", "int16": "int32", "int32": "int64"}


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    wide = x.to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + offs, tl.abs(wide), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=tuple(WIDER))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    out_dtype=lambda dtype: WIDER[dtype],
)
