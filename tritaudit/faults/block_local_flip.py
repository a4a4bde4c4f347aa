"""Each tile is reversed in itself, and the tiles keep their places.

## What happens

Eight elements in tiles of four come out in the order `3 2 1 0 7 6 5 4`; reversed they would be
`7 6 5 4 3 2 1 0`. Every element is in the right place of the wrong tile.

## Why

`tl.flip` reverses one tile: the block of values that one program holds. It knows neither the axis
that the tile was cut from nor the other programs, and it changes no address. A program that loads
tile `pid`, flips it and stores it to tile `pid` leaves the tiles where they were (claim A6). The
same happens along one axis of a two-dimensional tile (claims A23, A24).

## How to see it

An axis that fits into one tile comes out right, so a test with N = BLOCK passes, and so does every
test of a kernel whose tile is `next_power_of_2(N)`. With two tiles or more everything is wrong
except the middle one of an odd number of whole tiles. What is computed afterwards may hide it: the
sum, the maximum and the histogram of the axis are right.

## Wrong

`flip/tile_per_program`:

```python
offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
mask = offs < n
x = tl.load(x_ptr + offs, mask=mask, other=0)
y = tl.flip(x, 0)
tl.store(out_ptr + offs, y, mask=mask)
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

Exchange the tiles as well: the program that stores tile `pid` loads the BLOCK elements that end
`pid * BLOCK` before the end, masked where they reach over the start. Counting from the end also
takes care of the last, shorter tile.

Or leave `tl.flip` out and load from `n - 1 - offs`, as `flip/address_remap` does. That is right
for every N, and faster along a contiguous axis: 2^26 float32 on an H200 took 0.13 ms, the time of
a copy, against 0.65 ms with mirrored tiles of 1024 and `tl.flip` (Triton 3.6.0, claim A10).
"""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import Way, one_axis
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """The last tile is reversed with its padding, or only as far as it is valid."""
    yield from one_axis(
        trial, lambda rule: (Way("local", rule), Way("within", rule)), "block-local-flip"
    )


FAULT = Fault("block-local-flip", candidates=candidates)
