"""Take the absolute value of signed integers and widen the result, too late.

Claim B22: the output is wide enough, but the conversion comes after `tl.abs`. By then the minimum
has already overflowed: abs(int8 -128) is the int8 -128, and its conversion to int16 is -128. Only
int16 is left out: on NVIDIA GPUs it escapes by accident before Triton 3.8, see
`abs/saturating_after`.

Right: `abs/widened`, which converts first.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Abs, Case, Tensor, Tile

WIDER = {"int8": "int16", "int32": "int64"}


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x).to(out_ptr.dtype.element_ty), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=tuple(WIDER))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    out_dtype=lambda dtype: WIDER[dtype],
    expect="int-abs-overflow",
    twin="abs/widened",
)
