"""The tiles change places, but each keeps its inner order.

## What happens

Eight elements in tiles of four come out as `4 5 6 7 0 1 2 3`: the second tile is where the first
should be, read forwards.

## Why

The addresses were mirrored tile by tile and not element by element: program `pid` loads tile
`num_programs - 1 - pid`, with lanes that still count upwards. It is the counterpart of
`block-local-flip`: there the lanes turn and the tiles stay.

Counted from the padded end, the last tile also brings its padding to the front, which is a
`padding-leak` of its own.

## How to see it

Wrong for every axis longer than one element that is not constant within its tiles, at powers of
two as well. A test on one tile sees that nothing was reversed at all. Only inputs whose tiles are
palindromes hide it.

## Wrong

`flip/tiles_reordered`:

```python
lanes = tl.arange(0, BLOCK)
src = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK + lanes
dst = tl.program_id(0) * BLOCK + lanes
x = tl.load(x_ptr + src, mask=src < n, other=0)
tl.store(out_ptr + dst, x, mask=dst < n)
```

## Right

`flip/mirrored_tiles`:

```python
lanes = tl.arange(0, BLOCK)
start = tl.program_id(0) * BLOCK
src = n - start - BLOCK + lanes
x = tl.load(x_ptr + src, mask=src >= 0, other=0)
dst = start + lanes
tl.store(out_ptr + dst, tl.flip(x, 0), mask=dst < n)
```

## Fix

Flip the lanes too, and count the tiles from the last element instead of from the padded end. Or
mirror the address of every element, `n - 1 - dst`, which does both at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import Way, one_axis
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """The tiles are counted from the padded end, or from the last element."""
    yield from one_axis(
        trial, lambda rule: (Way("order", rule), Way("front", rule)), "tile-order-only"
    )


FAULT = Fault("tile-order-only", candidates=candidates)
