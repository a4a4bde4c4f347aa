"""Probe: whether `tl.flip` moves integers and booleans unchanged.

Claim A4: on every version, at every width, minimum and maximum included. Even where it multiplies
and adds, up to Triton 3.2, a sum with a single term that is not zero cannot overflow. The
interpreter of 3.2 holds that sum in 64 bits, though, and stores it so: each lane of a narrower type
overwrites its neighbours, which the later lanes repair, and the last one writes up to 7 bytes
beyond the end.
"""

import torch
import triton
import triton.language as tl

from tritaudit import BOOL, INTS, Case, Flip, Known, Tensor


@triton.jit
def probe_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    y = tl.flip(x, 0)
    dst = offs - (BLOCK - n)
    tl.store(out_ptr + dst, y, mask=dst >= 0)


def run(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    probe_kernel[(1,)](x, out, n, BLOCK=max(2, triton.next_power_of_2(n)))


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=INTS + BOOL)],
    axes={"N": (1, 32)},
    expect=Known("out-of-bounds-write", triton="<3.3", backend="interpreter"),
    twin="flip/address_remap",
)
