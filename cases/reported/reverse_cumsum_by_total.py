"""Sum each row from its end as total - prefix + x, which cancels.

Reported of a library's reverse cumulative sum: on paper the sum of elements i to N - 1 is the total
less the prefix sum, plus element i. In float32 the total of 32 times 1e8 and 32 times 1 has no room
for the ones: the last 32 results come out as 0 or 1 in place of 32, 31, ..., 1. One NaN or Inf at
the start of a row, which only its own sum may see, makes the whole row NaN.

A reference in float32 loses digits as well, though not here; the reference in float64 loses none.

Right: `reported/reverse_cumsum`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor, Tile


@triton.jit
def reverse_cumsum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < n
    x = tl.load(x_ptr + row * n + lanes, mask=mask, other=0).to(tl.float32)
    total = tl.sum(x, 0)
    tl.store(out_ptr + row * n + lanes, total - tl.cumsum(x, 0) + x, mask=mask)


def reverse_cumsum(x: torch.Tensor) -> torch.Tensor:
    return x.flip(1).cumsum(1).flip(1)


def magnitude(x: torch.Tensor) -> torch.Tensor:
    return reverse_cumsum(x.abs())


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    rows, n = x.shape
    reverse_cumsum_kernel[(rows,)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Reference(reverse_cumsum, tolerance=64, scale=magnitude),
    inputs=[Tensor("x", "M N", dtypes=("float32",))],
    tiles=[Tile("BLOCK", axis="N", sizes=(64,))],
    axes={"M": (1, 3), "N": (1, 64)},
    expect="value-mismatch",
    twin="reported/reverse_cumsum",
)
