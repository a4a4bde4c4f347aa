"""Take the absolute value of signed integers and repair what is still negative afterwards.

Claims B6 and B20: after `tl.abs` only the minimum is negative, and its complement is the maximum.
The language says so, and the interpreter agrees. On NVIDIA GPUs Triton before 3.8 gets int16 wrong:
it emits abs.s16, which the assembler computes in a 32-bit register, where abs(-32768) is +32768.
Stored as 16 bits that is -32768 again, but converted to int64 it is +32768, and the arithmetic
shift that this selection is compiled to finds no sign: the result is -32767. From 3.8 on neg and
max are emitted instead, and the result is right.

Right everywhere: `abs/saturating`, which never computes the abs of a minimum.
"""

import torch
import triton
import triton.language as tl

from tritaudit import SIGNED_INTS, Abs, Case, Known, Tensor, Tile


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    a = tl.abs(x)
    tl.store(out_ptr + offs, tl.where(a < 0, ~a, a), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(overflow="saturate"),
    inputs=[Tensor("x", "N", dtypes=SIGNED_INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect=Known("value-mismatch", triton="<3.8", backend="gpu", dtypes="int16"),
    twin="abs/saturating",
)
