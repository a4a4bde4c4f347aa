"""Masked lanes of a padded tile reach valid positions of the output.

## What happens

Five elements in a tile of eight come out as `0 0 0 x4 x3`. The output begins with what the masked
lanes held, and as many elements of the input are missing: here x0, x1 and x2.

## Why

A tile has a power-of-two size (claim A14); what lies beyond the axis is masked at the load and
holds `other`. `tl.flip` turns the whole tile around, so the padding that stood behind the data
stands before it. The mask of the store has not moved: it still lets the first n lanes through,
padding first, and drops the data behind them (claims A16, A20).

The same happens when whole tiles change places and the last one is padded. Without any flip,
padding comes out where the mask of a load is one element too short, and where a reduction counts
it: `tl.sum(x + 1)` adds 1 for every masked lane.

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

import math
from collections.abc import Iterator

import torch

from tritaudit.contracts import Reference
from tritaudit.dtypes import dtype_of
from tritaudit.faults.motions import (
    KEEP,
    REVERSE,
    Motion,
    TileRule,
    Way,
    asked,
    axis_names,
    candidate,
    leaks,
    one_axis,
    tile_rules,
)
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, evaluate
from tritaudit.tensors import bits_of, from_bits, number_as
from tritaudit.trial import Trial


def _masks(trial: Trial) -> Iterator[Candidate]:
    """All is in its place, and a mask is one element too short, or the wrong way round."""
    flipped = asked(trial)
    if flipped is None:
        return
    names = axis_names(trial, len(flipped.shape))
    right = tuple(REVERSE if k in flipped.dims else KEEP for k in range(len(flipped.shape)))
    for leak in leaks(trial):
        for dim in flipped.dims:
            for kind in ("headless", "tailless", "nothing"):
                ways = (*right[:dim], Way(kind), *right[dim + 1 :])
                yield candidate(Motion(ways, leak=leak), names, "padding-leak")


def _padded(x: torch.Tensor, dim: int, size: int, number: float) -> torch.Tensor:
    """`x` with `number` behind its end along `dim`, up to a multiple of `size`."""
    d = dtype_of(x.dtype)
    shape = list(x.shape)
    shape[dim] = -shape[dim] % size
    filler = bits_of(number_as(torch.full(shape, number), d)).to(x.device)
    return from_bits(torch.cat([bits_of(x), filler], dim), d)


def _in_reduction(axis: str, rule: TileRule, number: float) -> Candidate:
    """The padding of an axis that the reference sums, or reduces in another way, takes part."""

    def predict(trial: Trial) -> Claim | None:
        extent = trial.example.size(axis)
        size = rule.of(trial, extent)
        inputs = dict(trial.inputs)
        for spec in trial.case.inputs:
            if axis in spec.axes:
                x = inputs[spec.name].contiguous()
                inputs[spec.name] = _padded(x, spec.axes.index(axis), size, number)
        predicted = evaluate(trial, inputs=inputs)
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        return Claim(predicted, None, ("padding-leak",) if extent % size else ())

    tile = rule.text(axis)
    return Candidate(
        f"padding {number} of {axis} {tile}",
        "padding-leak",
        predict,
        statement=f"{axis} is padded to {tile}, and its masked lanes take part as {number}",
        parameters=((axis, f"padded {tile}"), ("masked lanes", str(number))),
        general=rule.general,
    )


def _reductions(trial: Trial) -> Iterator[Candidate]:
    """Padding of 1, -1, 0, an infinity, or what a sum differs by for each masked lane."""
    if not isinstance(contract_of(trial), Reference):
        return
    axes = trial.case.axis_names()
    if not set(trial.out_axes) <= set(axes):
        return
    reduced = [a for a in axes if a not in trial.out_axes]
    for axis in reduced:
        extent = trial.example.size(axis)
        for rule in tile_rules(trial, axis, extent):
            for number in _per_lane(trial, -extent % rule.of(trial, extent)):
                yield _in_reduction(axis, rule, number)


def _per_lane(trial: Trial, lanes: int) -> list[float]:
    found: list[float] = [1, -1, 0]
    if dtype_of(trial.example.dtype()).is_float:
        # What makes a maximum or a minimum ignore a lane, unless abs comes in between.
        found += [math.inf, -math.inf]
    if lanes and dtype_of(trial.got.dtype).is_signed_int and bool(trial.wrong.any()):
        # Where the padding is added, every lane of it adds the same.
        off = int(
            (trial.got.to(torch.int64) - trial.expected.value.to(torch.int64))[trial.wrong][0]
        )
        if off and off % lanes == 0:
            found.append(off // lanes)
    return list(dict.fromkeys(found))


def candidates(trial: Trial) -> Iterator[Candidate]:
    """One padded tile, or several that are reversed over the padded length; then masks."""
    yield from one_axis(
        trial, lambda rule: (Way("local", rule), Way("mirrored", rule)), "padding-leak"
    )
    yield from _masks(trial)
    yield from _reductions(trial)


FAULT = Fault("padding-leak", candidates=candidates)
