"""Masked lanes of a padded tile reach valid positions of the output.

## What happens

Five elements in a tile of eight come out as `0 0 0 x4 x3`. The output begins with what the masked
lanes held, and as many elements of the input are missing: here x0, x1 and x2.

## Why

A tile has a power-of-two size (claim A14); what lies beyond the axis is masked at the load and
holds `other`. `tl.flip` turns the whole tile around, so the padding that stood behind the data
stands before it. The mask of the store has not moved: it still lets the first n lanes through,
padding first, and drops the data behind them (claims A16, A20).

The same happens when whole tiles change places and the last one is padded.

## How to see it

A full tile has no padding, so every N that is a multiple of BLOCK is right, and every power of two
where the tile is `next_power_of_2(N)`. These are the sizes that tests use. One element beside them
the damage is large: N = 100 in a tile of 128 gives 100 wrong elements of 100, 28 of them zero.

Without `other` the value is undefined by contract. In practice it was 0, in the interpreter and on
an H200 (claim B29). Where it is neutral for what follows, a leak does no harm:
`flip/row_sum_flipped` adds zeros.

## Wrong

`flip/single_tile`:

```python
offs = tl.arange(0, BLOCK)
mask = offs < n
x = tl.load(x_ptr + offs, mask=mask, other=0)
y = tl.flip(x, 0)
tl.store(out_ptr + offs, y, mask=mask)
```

## Right

`flip/single_tile_shifted`:

```python
offs = tl.arange(0, BLOCK)
x = tl.load(x_ptr + offs, mask=offs < n, other=0)
y = tl.flip(x, 0)
dst = offs - (BLOCK - n)
tl.store(out_ptr + dst, y, mask=dst >= 0)
```

## Fix

Store every lane BLOCK - n further to the left and mask what falls off the front. With several
tiles, load them from the mirrored place (`flip/mirrored_tiles`), or load from `n - 1 - offs`
without `tl.flip` (`flip/address_remap`).

Do not flip the mask instead. It selects the data lanes, but at their old addresses:
`flip/flipped_mask` shifts the result and writes BLOCK - n elements beyond the end (claim A41).
"""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import Way, one_axis
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """One padded tile, or several that are reversed over the padded length."""
    yield from one_axis(
        trial, lambda rule: (Way("local", rule), Way("mirrored", rule)), "padding-leak"
    )


FAULT = Fault("padding-leak", candidates=candidates)
