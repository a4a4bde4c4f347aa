"""The interpreter and the GPU disagree on the same example.

## What happens

The same kernel with the same inputs gives other bits under `TRITON_INTERPRET=1` than compiled. At
least one of them is not what the author tested.

## Why

The interpreter runs the kernel's operations with NumPy, one program after the other. It differs
from a compiled kernel, without a message, where

- a Python float meets a float64 tensor: the interpreter keeps a double, a compiled kernel gets a
  float32 (claim B38b);
- bfloat16 is computed with: the interpreter works on the raw 16-bit integers;
- float32 is stored as bfloat16: it truncates where the GPU rounds;
- an `if` asks a whole tile, or Python's `max` compares two (claims B1, B23);
- programs write what other programs read: its order is fixed, that of a GPU is not (claim A18).

## How to see it

Run one example on both and compare bits. A kernel that was only tested in the interpreter has been
tested for its indices, not for its arithmetic.

## Wrong

```python
@triton.jit
def threshold_kernel(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.where(tl.abs(x) > limit, x, 0.0), mask=offs < n)
```

## Right

```python
@triton.jit
def threshold_kernel(x_ptr, out_ptr, n, limit_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    limit = tl.load(limit_ptr)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.where(tl.abs(x) > limit, x, 0.0), mask=offs < n)
```

## Fix

Find the operation in the list above and write it so that both agree: pass a float64 scalar as a
tensor, convert bfloat16 with `.to(tl.float32)` before computing, choose per element with
`tl.where`. Take the GPU's answer for the truth about the kernel, and the interpreter's for a hint.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Fault

# Seen by the supervisor alone, which has the outputs of both backends.
FAULT = Fault("backend-divergence")
