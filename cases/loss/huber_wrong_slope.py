"""Compute the Huber loss with a linear part whose slope is 1 instead of delta.

Claim B37: the linear part is delta * (|d| - delta / 2). Without the factor it is right for
delta = 1, the default, and wrong for every other delta, in slope and in value: the two parts no
longer meet.

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
    d = tl.abs(x - y)
    loss = tl.where(d <= delta, 0.5 * d * d, d - 0.5 * delta)
    tl.store(out_ptr + offs, loss, mask=mask)


def huber(x: torch.Tensor, y: torch.Tensor, delta: float) -> torch.Tensor:
    return torch.nn.functional.huber_loss(x, y, reduction="none", delta=delta)


def run(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor, *, delta: float, BLOCK: int) -> None:
    n = x.numel()
    huber_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, delta, BLOCK=BLOCK)


DTYPES = ("float16", "bfloat16", "float32")

case = Case(
    run=run,
    contract=Reference(huber, tolerance=4),
    inputs=[Tensor("x", "N", dtypes=DTYPES), Tensor("y", "N", dtypes=DTYPES)],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    scalars=[Scalar("delta", values=(1.0, 1.5, 4.0))],
    expect="value-mismatch",
    twin="loss/huber",
)
