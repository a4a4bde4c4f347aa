"""Cumulative sums from the end, of flash-linear-attention.

A sum that cancels loses digits of its terms, so the tolerance is in units of the sum of magnitudes.

The kernels stand behind an autotuner, which asks the driver for times. On the interpreter there is
none, so there the kernels are launched without their tuners, in blocks of 16; on a GPU the
library's own functions are called.
"""

import os

import torch
import triton
from fla.ops.utils import cumsum

from tritaudit import Case, Reference, Tensor

CHUNK = 16
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def plain(kernel):
    """A kernel without what is wrapped around it to choose its settings."""
    while hasattr(kernel.fn, "run"):
        kernel = kernel.fn
    return kernel


def run_whole(x: torch.Tensor) -> torch.Tensor:
    """Sums over the whole sequence, from its end."""
    if not INTERPRETED:
        return cumsum.chunk_global_cumsum_scalar(x, reverse=True, output_dtype=x.dtype)
    B, T, H = x.shape
    out = torch.empty_like(x)
    plain(cumsum.chunk_global_cumsum_scalar_kernel)[(B * H,)](
        x, out, 1.0, None, T, B, H, BT=CHUNK, REVERSE=True, HAS_SCALE=False, IS_VARLEN=False
    )
    return out


def run_chunks(x: torch.Tensor) -> torch.Tensor:
    """Sums from the end of each chunk of 16."""
    if not INTERPRETED:
        return cumsum.chunk_local_cumsum_scalar(x, CHUNK, reverse=True, output_dtype=x.dtype)
    B, T, H = x.shape
    out = torch.empty_like(x)
    plain(cumsum.chunk_local_cumsum_scalar_kernel)[(triton.cdiv(T, CHUNK) * B * H,)](
        x, out, 1.0, None, None, T, B, H, BT=CHUNK, REVERSE=True, HAS_SCALE=False, IS_VARLEN=False
    )
    return out


def from_the_end(x: torch.Tensor) -> torch.Tensor:
    return x.flip(1).cumsum(1).flip(1)


def chunks_from_the_end(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([from_the_end(part) for part in x.split(CHUNK, 1)], 1)


def case_of(run, reference) -> Case:
    return Case(
        run=run,
        contract=Reference(reference, tolerance=64, scale=lambda x: reference(x.abs())),
        inputs=Tensor("x", "B T H"),
        axes={"B": (1, 3), "T": (1, 70), "H": (1, 3)},
        edges={"T": CHUNK},
    )


cases = {
    "whole": case_of(run_whole, from_the_end),
    "chunks": case_of(run_chunks, chunks_from_the_end),
}
