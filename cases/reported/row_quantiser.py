"""Scale each row by its largest magnitude to levels from -127 to 127, and give that magnitude too.

A row of zeros has no largest magnitude to divide by: its levels are zero. A NaN in a row makes the
magnitude and every level of that row NaN, as in torch, so that it is not lost on the way. The
levels are floats here, before they are narrowed; one that lies halfway may be rounded either way.

The kernel has two outputs, so there are two cases: `case` judges the levels, `absmax` the
magnitudes.

Wrong: `reported/row_quantiser_unguarded`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor, Tile


@triton.jit
def quantise_kernel(x_ptr, level_ptr, absmax_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < n
    x = tl.load(x_ptr + row * n + lanes, mask=mask, other=0).to(tl.float32)
    largest = tl.max(tl.abs(x), 0)
    nans = tl.sum((x != x).to(tl.int32), 0)
    largest = tl.where(nans > 0, float("nan"), largest)
    divisor = tl.where(largest == 0, 1.0, largest)
    level = tl.floor(x / divisor * 127 + 0.5)
    tl.store(level_ptr + row * n + lanes, level, mask=mask)
    tl.store(absmax_ptr + row, largest)


def largest_magnitude(x: torch.Tensor) -> torch.Tensor:
    return x.abs().amax(1)


def levels(x: torch.Tensor) -> torch.Tensor:
    largest = x.abs().amax(1, keepdim=True)
    return torch.floor(x / torch.where(largest == 0, 1.0, largest) * 127 + 0.5)


def run(x: torch.Tensor, *, BLOCK: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows, n = x.shape
    level = torch.empty(rows, n, dtype=torch.float32, device=x.device)
    largest = torch.empty(rows, dtype=torch.float32, device=x.device)
    quantise_kernel[(rows,)](x, level, largest, n, BLOCK=BLOCK)
    return level, largest


shared = {
    "run": run,
    "inputs": [Tensor("x", "M N", dtypes=("float32", "float16"))],
    "tiles": [Tile("BLOCK", axis="N", sizes=(32,))],
    "axes": {"M": (1, 3), "N": (1, 32)},
    "out_dtype": "float32",
}
case = Case(contract=Reference(levels, atol=1), output=0, **shared)
absmax = Case(
    contract=Reference(largest_magnitude, tolerance="exact"), output=1, out_shape="M", **shared
)
