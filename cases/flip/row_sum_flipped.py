"""Sum the rows of a matrix after flipping each: the padding is flipped too and adds nothing.

Claim A31: flipping a row before summing it does not change the sum. The flip of a padded tile moves
its zeros to the front, which is harmless here, since no lane is stored by its position. It is not
free either: the compiler does not remove the flip.

Only integers, summed in 64 bits, where the order of the additions cannot matter. A sum of floats in
another order differs without bound in ulp as soon as large terms cancel, so no tolerance would both
pass a right kernel and catch a wrong one on arbitrary bit patterns.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, W, BLOCK_W: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_W)
    x = tl.load(x_ptr + row * W + cols, mask=cols < W, other=0)
    total = tl.sum(tl.flip(x.to(tl.int64), 0), axis=0)
    tl.store(out_ptr + row, total)


def row_sum(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.int64).flip(1).sum(1)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    H, W = x.shape
    # tl.flip refuses a tile of one element on every version, so the smallest tile is 2.
    block = max(2, triton.next_power_of_2(W))
    row_sum_kernel[(H,)](x, out, W, BLOCK_W=block)


case = Case(
    run=run,
    contract=Reference(row_sum),
    inputs=[Tensor("x", "H W", dtypes=("int8", "int16", "int32"))],
    axes={"H": (1, 3), "W": (1, 20)},
    out_dtype="int64",
    out_shape="H",
)
