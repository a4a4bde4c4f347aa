"""Set to zero what is no larger than a threshold in absolute value.

Claims B35 and B36: `tl.where(tl.abs(x) > t, x, 0.0)` zeroes small values (it does not clip large
ones), and keeps the dtype of a float input. It moves values and computes none, so it is exact. The
comparison with NaN is false, so a NaN becomes zero, and so does -0.0, as in the same torch code.
"""

import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Scalar, Tensor, Tile


@triton.jit
def threshold_kernel(x_ptr, out_ptr, n, t, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.where(tl.abs(x) > t, x, 0.0), mask=mask)


def hard_threshold(x: torch.Tensor, t: float) -> torch.Tensor:
    return torch.where(x.abs() > t, x, torch.zeros_like(x))


def run(x: torch.Tensor, out: torch.Tensor, *, t: float, BLOCK: int) -> None:
    n = x.numel()
    threshold_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, t, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Reference(hard_threshold, tolerance="exact"),
    # No bfloat16: the interpreter compares it as raw 16-bit integers.
    inputs=[Tensor("x", "N", dtypes=("float16", "float32", "float64"))],
    tiles=[Tile("BLOCK", axis="N", sizes=(16, 64, 1024))],
    # Exact in every dtype: a Python float reaches the kernel as a float32.
    scalars=[Scalar("t", values=(0.0, 0.5, 2.0))],
)
