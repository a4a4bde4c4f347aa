"""Elements of the output were never written.

## What happens

Some elements, or all, hold what was in memory before the launch. `torch.empty` does not clear it:
the values may be zeros, old results that look right, or anything.

The tool fills the output with two different patterns in two launches. An element that kept both
was not written.

## Why

Three causes are common. The grid is rounded down: `n // BLOCK` programs leave the last `n % BLOCK`
elements, and start none at all where n < BLOCK. The mask of the store is the wrong way round, or
narrower than the data (`offs > n`, claim B47). Or the arguments are swapped, so that the kernel
writes its input.

## How to see it

Whole tiles are right where the grid is rounded down. And a caching allocator hands out the block
that was freed last: run the right kernel or the reference first, and its result may stand in the
memory of the next output. Fill the output with NaN before the launch.

## Wrong

`flip/tail_dropped`:

```python
reverse_kernel[(n // BLOCK,)](x, out, n, BLOCK=BLOCK)
```

## Right

`flip/address_remap`:

```python
reverse_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
```

## Fix

Round the grid up with `triton.cdiv(n, BLOCK)` and mask the store with `offs < n`. What the
evidence says tells which of the causes it is: the tail after the last whole tile (the grid),
nothing at all (the mask, or the arguments).
"""

from __future__ import annotations

import torch

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def pattern(trial: Trial, missing: torch.Tensor) -> str:
    """Which elements were not written, in words."""
    total, count = missing.numel(), int(missing.sum())
    if count == total:
        return "nothing was written"
    axes = trial.case.out_axes()
    for dim, axis in enumerate(axes):
        line = missing.movedim(dim, -1).reshape(-1, missing.shape[dim])
        if not bool((line == line[:1]).all()):
            continue
        flags = line[0].tolist()
        first = flags.index(True)
        if all(flags[first:]):
            for tile in trial.case.tiles_of(axis):
                size = trial.example.tile(tile.name)
                if first == len(flags) // size * size:
                    return f"the tail of {axis} after the last whole {tile.name} was dropped"
            return f"the tail of {axis} from {first} on was not written"
        last = len(flags) - 1 - flags[::-1].index(True)
        if all(flags[: last + 1]):
            return f"the head of {axis} up to {last} was not written"
    return f"{count} of {total} elements were not written"


def direct(trial: Trial) -> Direct | None:
    """Elements that kept the poison in runs with two poisons."""
    missing = trial.unwritten
    if missing is None or not bool(missing.any()):
        return None
    words = pattern(trial, missing)
    return Direct((words,), where=missing, parameters=(("pattern", words),))


FAULT = Fault("unwritten-output", direct=direct)
