"""Take the absolute value of unsigned integers on a signed view of them.

Claims B3 and B7: abs of an unsigned value is the value itself. torch on the CPU lacks most of the
arithmetic of uint16, uint32 and uint64, and a signed view of the same bits is the usual detour.
For abs it is a wrong turn: the upper half of the range is negative there, and 200 comes out as 56.

Right: `abs/unsigned`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import UNSIGNED_INTS, Abs, Case, Tensor, Tile

SIGNED = {
    torch.uint8: torch.int8,
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}


@triton.jit
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    signed = SIGNED[x.dtype]
    abs_kernel[(triton.cdiv(n, BLOCK),)](x.view(signed), out.view(signed), n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=UNSIGNED_INTS)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    expect="unsigned-as-signed",
    twin="abs/unsigned",
)
