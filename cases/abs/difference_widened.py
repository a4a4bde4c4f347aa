"""Take the absolute difference of two vectors of signed integers in the next wider type.

Claim B25: the difference of two int8 values needs nine bits. Both are converted to int16 before
they are subtracted, and the output is int16: |-128 - 127| is 255. The same for int16 and int32.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor, Tile

WIDER = {"int8": "int16", "int16": "int32", "int32": "int64"}


@triton.jit
def difference_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(out_ptr.dtype.element_ty)
    y = tl.load(y_ptr + offs, mask=mask).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + offs, tl.abs(x - y), mask=mask)


def absolute_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x - y).abs()


def run(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    difference_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Reference(absolute_difference),
    inputs=[Tensor("x", "N", dtypes=tuple(WIDER)), Tensor("y", "N", dtypes=tuple(WIDER))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    out_dtype=lambda dtype: WIDER[dtype],
)
