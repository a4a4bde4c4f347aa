"""Other axes are reversed than the contract names: another one, too many, or too few.

## What happens

A matrix that should be mirrored left to right is also upside down, or only upside down, or one of
two axes kept its order. All elements are there, in the wrong places.

## Why

Usually one of three things. A kernel for vectors is given a matrix: reversing the flat memory
reverses every axis (claim A7). The number of the axis in the tile is not its number in the tensor:
`tl.flip(x, 1)` of a `[cols, rows]` tile turns rows around. Or only one of two axes was flipped:
`tl.flip` takes a single axis, on every version (claim A2), and without one it takes the last,
where it compiles at all (claim A3).

## How to see it

An axis of size 1 looks the same in both directions, so a test with one row or one column passes,
as do symmetric inputs. Random values at two sizes above 1 show it; different sizes for the axes
also show an axis that was mistaken for the other.

## Wrong

`flip/rows_flattened`, whose contract is to reverse within each row:

```python
offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
mask = offs < n
x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
tl.store(out_ptr + offs, x, mask=mask)
```

## Right

`flip/rows_remap`:

```python
row = tl.program_id(0) // tiles
cols = tl.program_id(0) % tiles * BLOCK_W + tl.arange(0, BLOCK_W)
mask = cols < W
x = tl.load(x_ptr + row * stride_h + (W - 1 - cols) * stride_w, mask=mask)
tl.store(out_ptr + row * W + cols, x, mask=mask)
```

## Fix

Write the address as a sum with one term for every axis, and mirror the index of those axes that the
contract names, no others.

For two axes with `tl.flip`, nest two calls (from Triton 3.4; earlier versions flip only the last
axis, claim A27b). `flip/both_axes_remap` mirrors both addresses and needs none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tritaudit.faults.motions import (
    KEEP,
    REVERSE,
    Motion,
    TileRule,
    Way,
    asked,
    axis_names,
    candidate,
    one_axis,
)
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every set of axes but the right one and the empty one; tiles of an axis that should stay."""
    flipped = asked(trial)
    if flipped is None:
        return
    names = axis_names(trial, len(flipped.shape))
    for ways in itertools.product((KEEP, REVERSE), repeat=len(names)):
        axes = tuple(k for k, way in enumerate(ways) if way is REVERSE)
        if axes and axes != tuple(sorted(flipped.dims)):
            yield candidate(Motion(ways), names, "wrong-axis")
    yield from one_axis(trial, _tiles, "wrong-axis", flat=False, others=True)


def _tiles(rule: TileRule) -> tuple[Way, ...]:
    """What a kernel that flips its tiles does to an axis that is none of its business."""
    kinds = ("local", "within", "order", "front") if rule.kind == "named" else ("local",)
    return tuple(Way(kind, rule) for kind in kinds)


FAULT = Fault("wrong-axis", candidates=candidates)
