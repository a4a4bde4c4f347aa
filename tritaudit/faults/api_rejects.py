"""Triton refuses the kernel where the contract is legal.

## What happens

The kernel does not compile, or the interpreter cannot trace it, for sizes and dtypes that the case
declares. The evidence holds Triton's message.

## Why

The API changed, or has limits that its documentation does not mention.

Of `tl.flip`:

- without an axis: refused by 3.4 to 3.8, with a comparison of None as the message (claims A3, A5);
- any axis but the last, and every negative one: refused up to 3.3 (claims A27, A27b);
- a tuple of axes: refused by every version (claim A2);
- a tile of one element along the axis: refused by every version, which is why a kernel with
  `next_power_of_2(N)` fails at N = 1 (claim A13).

Of tiles: `tl.arange` needs a power-of-two range (claims A14, B30). Of Python: an `if` on a tile is
refused from 3.4 and aborted the process before (claim B1).

## How to see it

At the first launch, with the versions of Triton and the sizes that are affected, and with no
others: a kernel that compiles at N = 2 and not at N = 1 has no test at 1. Run the same cases on
every version that you support.

## Wrong

`flip/single_tile_default_dim`, for Triton 3.4 to 3.8:

```python
y = tl.flip(x)
```

## Right

`flip/single_tile_shifted`, for every version:

```python
y = tl.flip(x, 0)
```

## Fix

Write the axis out, count it from the front, and keep it the last one where Triton before 3.4 has
to work (`tl.trans`, flip, `tl.trans` back reaches the others). Take `max(2, next_power_of_2(n))`
for a tile that is flipped. Or mirror the addresses, which needs none of this.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """A compile error, or a trace error of the interpreter."""
    error = trial.seen.error
    return Direct((error.message,)) if error is not None and error.kind == "rejected" else None


FAULT = Fault("api-rejects", direct=direct)
