"""Equal launches give different results.

## What happens

The same kernel on the same inputs in the same memory gives other bits the second time.

## Why

The order of the programs of a grid is not defined. Where the result depends on it, it varies:
`tl.atomic_add` of floats rounds in the order in which the additions arrive; two programs store
different values to one address; one reads what another writes. Memory that was never initialised
(`torch.empty` as an accumulator) varies as well.

## How to see it

Run it twice and compare the bits. The interpreter runs the programs in order and one at a time, so
there everything is deterministic, uninitialised memory apart. `assert_close` hides differences of
rounding, and small grids fit onto the GPU at once and tend to run in the same order every time.

## Wrong

```python
row, part = tl.program_id(0), tl.program_id(1)
cols = part * BLOCK + tl.arange(0, BLOCK)
x = tl.load(x_ptr + row * W + cols, mask=cols < W, other=0.0)
tl.atomic_add(out_ptr + row, tl.sum(tl.abs(x), axis=0))
```

## Right

```python
row = tl.program_id(0)
total = tl.zeros((BLOCK,), tl.float32)
for start in range(0, W, BLOCK):
    cols = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * W + cols, mask=cols < W, other=0.0)
    total += tl.abs(x)
tl.store(out_ptr + row, tl.sum(total, axis=0))
```

## Fix

Let one program own every output element. Where a sum has to be split, store the partial sums and
add them in a second launch, in a fixed order. Integer atomics do commute; float atomics do not.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.report.wording import share
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Elements that differ between two launches with the same inputs and the same memory."""
    if trial.unstable is None or not bool(trial.unstable.any()):
        return None
    count, total = int(trial.unstable.sum()), trial.unstable.numel()
    told = share(count, total, "element", "differs", "differ")
    return Direct((f"{told} between two equal launches",), where=trial.unstable)


FAULT = Fault("nondeterministic", direct=direct)
