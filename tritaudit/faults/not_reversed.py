"""The output equals the input: nothing was reversed.

## What happens

Every element stands where it stood.

## Why

`tl.flip` returns a new tile and leaves its argument alone; a call whose result is dropped does
nothing, and no warning is given. Two reversals undo each other: a tile that is loaded from
mirrored addresses and then flipped is in its old order. Or the launch function hands back its
input.

## How to see it

Any test sees it that has two different elements on the axis. A single element, constants and
palindromes look right, and so does everything that does not depend on the order.

## Wrong

`flip/result_dropped`:

```python
x = tl.load(x_ptr + offs, mask=mask, other=0)
tl.flip(x, 0)
tl.store(out_ptr + offs, x, mask=mask)
```

## Right

`flip/mirrored_tiles`:

```python
x = tl.load(x_ptr + src, mask=src >= 0, other=0)
dst = start + lanes
tl.store(out_ptr + dst, tl.flip(x, 0), mask=dst < n)
```

## Fix

Use the result of `tl.flip`, and reverse once: either the lanes (with `tl.flip`) and the order of
the tiles, or the addresses (`n - 1 - offs`), not both.
"""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import KEEP, Motion, Way, asked, axis_names, candidate, one_axis
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every axis keeps its order; or the only one to be reversed does, and is moved as well."""
    flipped = asked(trial)
    if flipped is None:
        return
    names = axis_names(trial, len(flipped.shape))
    yield candidate(Motion((KEEP,) * len(names)), names, "not-reversed")
    if len(flipped.dims) == 1:
        yield from one_axis(trial, lambda rule: (Way("ahead", rule),), "not-reversed", flat=False)


FAULT = Fault("not-reversed", candidates=candidates)
