"""Memory beside an input was read, and its values reached the output.

## What happens

Output elements hold values that are in no input. The tool surrounds the inputs with guard bands
whose pattern it changes between two launches; an element that changes with them was read from
there. What lies between the elements of a strided tensor does not change: see `stride-ignored`.

## Why

A load without a mask reads what lies behind the tensor (claim B28). A load with a mask does too,
if the mask tests another index than the one that is loaded: `mask = offs < n` says nothing about
`n - offs`, which is n for the first lane.

Reading beside a tensor and masking the value away at the store does no harm to the result and is
not reported; it may still fault at the end of a page.

## How to see it

The value is whatever the neighbour in memory holds, in a fresh process often 0. A test sees it if
that differs from what belongs there. At multiples of the tile a missing mask does nothing.

## Wrong

`flip/address_remap_off_by_one`, where the first lane reads x[n]:

```python
offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
mask = offs < n
x = tl.load(x_ptr + (n - offs), mask=mask)
```

## Right

`flip/address_remap`:

```python
mask = offs < n
x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
```

## Fix

Mask the load with a condition on the index that is loaded, both ends of it:
`(src >= 0) & (src < n)`. Give `other` a value that is neutral for what follows, because without it
the lanes are undefined by contract (claim B29).
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.report.wording import share
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Elements that change with the guard bands around the inputs."""
    if trial.strays is None or not bool((trial.strays & trial.wrong).any()):
        return None
    where = trial.strays & trial.wrong
    told = share(int(where.sum()), where.numel(), "output element", "changes", "change")
    return Direct((f"{told} with memory beside the inputs",), where=where)


FAULT = Fault("out-of-bounds-read", direct=direct)
