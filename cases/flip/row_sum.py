"""Sum the rows of a matrix in their own type, as they are and after flipping each.

Claim A31: the flip changes nothing in the sum, and is said to cost nothing measurable. It costs
sixteen times the sum (rows of 4096 float32, H200): the compiler does not remove it. Integers are
summed modulo 2**32 here, where the order of the additions cannot matter; of floats, see
`flip/row_sum_flipped`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Known, Reference, Tensor


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, W, BLOCK_W: tl.constexpr, FLIP: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_W)
    x = tl.load(x_ptr + row * W + cols, mask=cols < W, other=0)
    if FLIP:
        x = tl.flip(x, 0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


def row_sum(x: torch.Tensor) -> torch.Tensor:
    return x.sum(1, dtype=x.dtype)


def launch(x: torch.Tensor, out: torch.Tensor, flip: bool) -> None:
    H, W = x.shape
    # tl.flip refuses a tile of one element on every version, so the smallest tile is 2.
    block = max(2, triton.next_power_of_2(W))
    row_sum_kernel[(H,)](x, out, W, BLOCK_W=block, FLIP=flip)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    launch(x, out, flip=False)


def run_flipped(x: torch.Tensor, out: torch.Tensor) -> None:
    launch(x, out, flip=True)


ROWS = [Tensor("x", "H W", dtypes="int32")]
SIZES = {"H": (1, 3), "W": (1, 20)}
# The interpreter of 3.3 to 3.8 adds int32 in Python, and stores no number that does not fit.
EXPECT = Known("api-rejects", triton=">=3.3,<3.9", backend="interpreter")

case = Case(
    run=run,
    contract=Reference(row_sum, overflow="wrap"),
    inputs=ROWS,
    axes=SIZES,
    out_shape="H",
    expect=EXPECT,
    twin="flip/row_sum_flipped",
)

flipped = Case(
    run=run_flipped,
    contract=Reference(row_sum, overflow="wrap"),
    inputs=ROWS,
    axes=SIZES,
    out_shape="H",
    expect=EXPECT,
    twin="flip/row_sum_flipped",
)
