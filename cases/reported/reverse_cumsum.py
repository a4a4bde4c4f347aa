"""Sum each row from its end: element i becomes the sum of elements i to N - 1.

The sums run from the end, so that a large element at the start of the row takes part in its own sum
alone. A sum that cancels loses digits of its terms, so the tolerance is in units of the sum of the
magnitudes (`scale`): one unit for each rounding of a row of 64.

Wrong: `reported/reverse_cumsum_by_total`.
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
    src = row * n + n - 1 - lanes
    x = tl.load(x_ptr + src, mask=mask, other=0).to(tl.float32)
    tl.store(out_ptr + src, tl.cumsum(x, 0), mask=mask)


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
)
