"""Reverse the rows of a view whose row stride is 2^30 elements, with offsets in int32.

Reported of several libraries: `row * stride` is computed in int32, because a program id and a
stride below 2^31 are both int32. Row 319 of a stride of 7,864,320 wraps; here it is row 2 of a
stride of 2^30: 2^31 comes out as -2^31, and another place of memory is read. No test of ordinary
size sees it.

The rows lie in a buffer of 2^32 bytes, of which only their own pages are ever touched: on the CPU
this takes address space and no memory. On a GPU it takes the 4 GiB. The view begins in the middle,
so that the wrapped offset stays inside and reads the -1 that lies there. Without that luck it is an
illegal memory access.

Right: `reported/row_offsets_int64`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile

STRIDE = 1 << 30


@triton.jit
def rows_kernel(x_ptr, out_ptr, m, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    src = (m - 1 - row) * stride
    x = tl.load(x_ptr + src + cols, mask=mask)
    tl.store(out_ptr + row * n + cols, x, mask=mask)


def far_apart(x: torch.Tensor) -> torch.Tensor:
    """The values of `x` in rows that lie STRIDE elements apart."""
    store = torch.empty(4 * STRIDE + 64, dtype=x.dtype, device=x.device)
    view = store.as_strided(x.shape, (STRIDE, 1), 2 * STRIDE)
    # Where a wrapped offset reads.
    store[: x.shape[1]] = -1
    return view.copy_(x)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    m, n = x.shape
    rows_kernel[(m,)](far_apart(x), out, m, n, STRIDE, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("M"),
    inputs=[Tensor("x", "M N", dtypes=("int8",))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16,))],
    axes={"M": (1, 3), "N": (1, 16)},
    expect="value-mismatch",
    twin="reported/row_offsets_int64",
)
