"""Reverse a key-value cache along time by loading time steps from mirrored addresses.

Claims A17 and A38: the cache is [batch, head, time, feature]; time step t of the result is time
step T - 1 - t. The features of a time step stay contiguous, so the loads stay wide.
"""

import torch
import triton
import triton.language as tl

from tritaudit import FLOATS, FP8, Case, Flip, Tensor, Tile


@triton.jit
def reverse_time_kernel(cache_ptr, out_ptr, T, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    head = tl.program_id(1) * T * D
    times = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    features = tl.arange(0, BLOCK_D)
    mask = (times[:, None] < T) & (features[None, :] < D)
    src = head + (T - 1 - times[:, None]) * D + features[None, :]
    x = tl.load(cache_ptr + src, mask=mask)
    tl.store(out_ptr + head + times[:, None] * D + features[None, :], x, mask=mask)


def run(cache: torch.Tensor, out: torch.Tensor, *, BLOCK_T: int) -> None:
    B, H, T, D = cache.shape
    grid = (triton.cdiv(T, BLOCK_T), B * H)
    block_d = triton.next_power_of_2(D)
    reverse_time_kernel[grid](cache, out, T, D, BLOCK_T=BLOCK_T, BLOCK_D=block_d)


case = Case(
    run=run,
    contract=Flip("T"),
    inputs=[Tensor("cache", "B H T D", dtypes=FLOATS + FP8)],
    tiles=[Tile("BLOCK_T", axis="T", sizes=(8, 16))],
    axes={"B": (1, 2), "H": (1, 2), "T": (1, 20), "D": (1, 4)},
)
