"""The launch gave no output: the process was killed, the device failed, or run gave no tensor.

## What happens

The launch function raised an exception, the device reported an error (an illegal memory access),
or the process was ended by a signal. The tool runs every case in a process of its own and writes
down the example before each launch, so that the finding names the example that did it. A launch
function that returns None, or a tensor on another device, has no output either.

## Why

Mostly an address far outside of any tensor. On a GPU this is an asynchronous error that makes
every later call of the process fail too; in the interpreter it is a plain SIGSEGV, because a load
reads the process's own memory. An address a little way out does not crash: see
`out-of-bounds-read` and `out-of-bounds-write`. Triton up to 3.3 aborts the process where it should
report an error, for instance on an `if` over a tile (claim B1).

## How to see it

A test run dies and takes the tests after it along. On a GPU, `CUDA_LAUNCH_BLOCKING=1` moves the
error to the launch that caused it, and `compute-sanitizer` names the address. Offsets in 32 bits
wrap at 2^31 elements (claim A17), which no small test reaches.

## Wrong

```python
index = tl.load(index_ptr + row)
x = tl.load(x_ptr + index * W + cols, mask=cols < W)
```

## Right

```python
index = tl.load(index_ptr + row).to(tl.int64)
inside = (index >= 0) & (index < H)
x = tl.load(x_ptr + index * W + cols, mask=inside & (cols < W), other=0)
```

## Fix

Mask every load and store with conditions on the very indices of its address, those that come from
data included, and compute offsets of large tensors in int64: `tl.program_id(0).to(tl.int64)`.
Where run raised, the evidence holds the exception.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """An error of the device or an exception of the author's code.

    A process that was killed can say nothing more: its supervisor reports it.
    """
    error = trial.seen.error
    if error is None or error.kind not in ("device", "raised", "returned"):
        return None
    return Direct((error.message,))


FAULT = Fault("crash", direct=direct)
