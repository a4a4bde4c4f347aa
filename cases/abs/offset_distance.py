"""Keep what lies within a radius of a target position, and set the rest to zero.

Claim B35: `tl.abs(offs - target)` is the distance of a lane from a position, computed from signed
32-bit offsets. A window of attention around one token is made like this. With offsets and targets
that are positions in a tensor, the difference is far from wrapping. (An unsigned target would make
the difference unsigned, and `tl.abs` would do nothing to it.)
"""

import torch
import triton
import triton.language as tl

from tritaudit import SIGNED_INTS, Case, Reference, Scalar, Tensor, Tile


@triton.jit
def window_kernel(x_ptr, out_ptr, n, target, radius, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    near = tl.abs(offs - target) <= radius
    tl.store(out_ptr + offs, tl.where(near, x, 0), mask=mask)


def window(x: torch.Tensor, target: int, radius: int) -> torch.Tensor:
    positions = torch.arange(x.numel(), device=x.device)
    return torch.where((positions - target).abs() <= radius, x, torch.zeros_like(x))


def run(x: torch.Tensor, out: torch.Tensor, *, target: int, radius: int, BLOCK: int) -> None:
    n = x.numel()
    window_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, target, radius, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Reference(window, tolerance="exact"),
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64", *SIGNED_INTS))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    scalars=[Scalar("target", values=(0, 13, 64)), Scalar("radius", values=(0, 5, 40))],
)
