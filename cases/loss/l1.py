"""Compute the absolute error of each element, in float32.

Claim B26: the same as `torch.nn.functional.l1_loss(reduction="none")`. The difference of two half
precision values is rounded to float32 and then to the output. With 24 bits in between, the second
rounding never goes wrong because of the first, so there is nothing to tolerate. (The store to
bfloat16 is rounded on a GPU; the interpreter truncates it.)
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor, Tile


@triton.jit
def l1_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offs, mask=mask).to(tl.float32)
    tl.store(out_ptr + offs, tl.abs(x - y), mask=mask)


def l1(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.l1_loss(x, y, reduction="none")


def run(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    l1_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK)


DTYPES = ("float16", "bfloat16", "float32")

case = Case(
    run=run,
    contract=Reference(l1, tolerance="exact"),
    inputs=[Tensor("x", "N", dtypes=DTYPES), Tensor("y", "N", dtypes=DTYPES)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
)
