"""Scale each row by its largest magnitude, with nothing done about rows of zeros and about NaN.

Reported of row quantisers. A row of zeros is divided by zero: its levels are 0/0, NaN, and what an
int8 makes of that differs by device. A NaN in a row is lost: `tl.max` passes over it, so the row is
scaled as if it were not there.

Triton's interpreter passes over NaN in `tl.max`, as compiled kernels do, from 3.5.1 on. There a
signalling NaN is more than lost: it takes along the larger elements before it (numpy's `fmax` makes
a NaN of the pair, and drops that at the next element), so `nan-lost` does not say it all.

Right: `reported/row_quantiser`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Known, Reference, Tensor, Tile


@triton.jit
def quantise_kernel(x_ptr, level_ptr, absmax_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < n
    x = tl.load(x_ptr + row * n + lanes, mask=mask, other=0).to(tl.float32)
    largest = tl.max(tl.abs(x), 0)
    level = tl.floor(x / largest * 127 + 0.5)
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
case = Case(
    contract=Reference(levels, atol=1),
    output=0,
    expect=("value-mismatch", Known("nan-lost", triton=">=3.5.1")),
    twin="reported/row_quantiser",
    **shared,
)
absmax = Case(
    contract=Reference(largest_magnitude, tolerance="exact"),
    output=1,
    out_shape="M",
    expect=(
        Known("value-mismatch", triton=">=3.5.1", backend="interpreter"),
        Known("nan-lost", backend="gpu"),
    ),
    twin="reported/row_quantiser:absmax",
    **shared,
)
