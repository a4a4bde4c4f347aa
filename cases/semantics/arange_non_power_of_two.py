"""Probe: whether a tile may have exactly as many lanes as the data.

Claims A14, B30 and B31: the length of `tl.arange` has to be a power of two, on every version:
"arange's range must be a power of 2". A tile of 3 * K lanes, which would spare the mask, does not
compile. This is why tiles are padded at all, and where `tl.flip` of padded tiles goes wrong.

Right: `flip/address_remap`, with a tile of any power of two and a mask.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * (3 * BLOCK) + tl.arange(0, 3 * BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + (n - 1 - offs), mask=mask, other=0)
    tl.store(out_ptr + offs, x, mask=mask)


def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    n = x.numel()
    probe_kernel[(triton.cdiv(n, 3 * BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes="int32")],
    tiles=[Tile("BLOCK", axis="N", sizes=(8, 32))],
    axes={"N": (1, 256)},
    expect="api-rejects",
    twin="flip/address_remap",
)
