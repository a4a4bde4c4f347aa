"""Reverse a key-value cache along time, flipping one tile of time steps in its own place.

Claims A6 and A23: the cache is [batch, head, time, feature]; a program takes BLOCK_T time steps of
one head, as [feature, time] so that time is the last axis, and flips that. Each tile of time steps
is reversed in itself and stays where it was, and the padded last tile puts its padding first.

Right: `flip/kv_cache_remap`.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, Case, Flip, Known, Tensor, Tile


@triton.jit
def reverse_time_kernel(cache_ptr, out_ptr, T, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    head = tl.program_id(1) * T * D
    times = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    features = tl.arange(0, BLOCK_D)
    offs = head + times[None, :] * D + features[:, None]
    mask = (times[None, :] < T) & (features[:, None] < D)
    x = tl.load(cache_ptr + offs, mask=mask, other=0)
    tl.store(out_ptr + offs, tl.flip(x, 1), mask=mask)


def run(cache: torch.Tensor, out: torch.Tensor, *, BLOCK_T: int) -> None:
    B, H, T, D = cache.shape
    grid = (triton.cdiv(T, BLOCK_T), B * H)
    block_d = triton.next_power_of_2(D)
    reverse_time_kernel[grid](cache, out, T, D, BLOCK_T=BLOCK_T, BLOCK_D=block_d)


case = Case(
    run=run,
    contract=Flip("T"),
    inputs=[Tensor("cache", "B H T D", dtypes=FLOATS)],
    tiles=[Tile("BLOCK_T", axis="T", sizes=(4, 8))],
    axes={"B": (1, 2), "H": (1, 2), "T": (1, 12), "D": (1, 2)},
    expect=(
        "block-local-flip",
        "padding-leak",
        # Before 3.3 the flip itself is a multiplication by 0 and 1 and a sum (claim A4).
        Known("nan-contamination", triton="<3.3"),
        Known("signed-zero-lost", triton="<3.3"),
    ),
    twin="flip/kv_cache_remap",
)
