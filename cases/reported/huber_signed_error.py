"""Compute the Huber loss with a test of the signed error in place of its absolute value.

Reported of a library's loss: `d <= delta` without the absolute value is true for every negative
error, which then gets the quadratic part however large it is. For d = -3 and delta = 1 that is 4.5
in place of 2.5. A test with predictions above their targets passes.

Right: `loss/huber`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Scalar, Tensor, Tile


@triton.jit
def huber_kernel(x_ptr, y_ptr, out_ptr, n, delta, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offs, mask=mask).to(tl.float32)
    d = x - y
    loss = tl.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))
    tl.store(out_ptr + offs, loss, mask=mask)


def huber(x: torch.Tensor, y: torch.Tensor, delta: float) -> torch.Tensor:
    return torch.nn.functional.huber_loss(x, y, reduction="none", delta=delta)


def run(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, *, delta: float, BLOCK: int) -> None:
    n = x.numel()
    huber_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, delta, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Reference(huber, tolerance=4),
    inputs=[Tensor("x", "N"), Tensor("y", "N")],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64))],
    scalars=[Scalar("delta", values=(1.0, 4.0))],
    expect="value-mismatch",
    twin="loss/huber",
)
