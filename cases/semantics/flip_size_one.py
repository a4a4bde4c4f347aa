"""Probe: whether `tl.flip` accepts a tile of one element.

Claims A13 and A20: reversing one element is legal and does nothing, but no version compiles it.
The lowering takes log2(size) steps, here none, and then asks a scalar for its shape. A kernel that
takes its tile size from the data fails on a vector, or a row, of one.

Right: a smallest tile of 2, as in `flip/single_tile_shifted`, or `flip/address_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + (n - 1 - offs), mask=mask, other=0)
    # One element is its own reverse.
    tl.store(out_ptr + offs, tl.flip(x, 0), mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    probe_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes="int32")],
    tiles=[Tile("BLOCK", axis="N", sizes=1)],
    axes={"N": (1, 8)},
    expect="api-rejects",
    twin="flip/address_remap",
)
