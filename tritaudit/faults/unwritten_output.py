"""Elements of the output were never written.

## What happens

Some elements, or all, hold what was in memory before the launch. `torch.empty` does not clear it:
the values may be zeros, old results that look right, or anything.

The tool fills the output with two different patterns in two launches. An element that kept both
was not written. Where the launch function fills its output itself (`torch.zeros_like`, say), an
element counts only if it is wrong: it keeps 0 in one launch, and the pattern in the next.

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

from collections.abc import Iterator

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.faults.motions import TileRule
from tritaudit.faults.protocol import Candidate, Claim, Direct, Fault, fixed
from tritaudit.report.wording import share
from tritaudit.tensors import bits_of, from_bits
from tritaudit.trial import Trial


def pattern(trial: Trial, missing: torch.Tensor) -> str:
    """Which elements were not written, in words."""
    total, count = missing.numel(), int(missing.sum())
    if count == total:
        return "nothing was written"
    axes = trial.out_axes
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
    return share(count, total, "element", "was", "were") + " not written"


def direct(trial: Trial) -> Direct | None:
    """Elements that kept what the output was filled with in launches with two fills."""
    missing = trial.unwritten
    if missing is None or not bool(missing.any()):
        return None
    words = pattern(trial, missing)
    return Direct((words,), where=missing, parameters=(("pattern", words),))


def _kept_in_place(axis: str, dim: int, rule: TileRule, whole: bool) -> Candidate:
    """In place there is no poison: what was not written is what stood there before."""

    def predict(trial: Trial) -> Claim | None:
        x, right = trial.source, trial.expected.value
        if x.shape != right.shape or x.dtype != right.dtype:
            return None
        extent = right.shape[dim]
        tile = rule.of(trial, extent)
        start = (max(extent - 1, 0) if whole else extent) // tile * tile
        line = [-1 if k == dim else 1 for k in range(right.dim())]
        tail = (torch.arange(extent, device=right.device) >= start).reshape(line)
        value = torch.where(tail, bits_of(x), bits_of(right))
        faults = ("unwritten-output",) if start < extent else ()
        return Claim(fixed(from_bits(value, dtype_of(right.dtype))), None, faults)

    last = "the last tile" if whole else "the tail after the last whole tile"
    tile = rule.text(axis)
    return Candidate(
        f"kept in place {axis} {tile} {whole}",
        "unwritten-output",
        predict,
        statement=f"{last} of {tile} along {axis} stays as it was",
        parameters=((axis, f"{'last' if whole else 'partial'} {tile}"),),
        general=rule.general,
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Tails of a tensor that is changed in place."""
    if trial.case.in_place is None:
        return
    for dim, axis in enumerate(trial.out_axes):
        for tile in trial.case.tiles_of(axis):
            for whole in (False, True):
                yield _kept_in_place(axis, dim, TileRule("named", tile.name), whole)


FAULT = Fault("unwritten-output", direct=direct, candidates=candidates)
