"""In place: elements are read after they were overwritten.

## What happens

The output is its own input, and some elements are read after another program has stored over them.
Where the programs run one after the other, as in the interpreter, the second half of the result is
a copy of the reversed first half. On a GPU it depends on timing: 1,185,120 of 4,194,304 elements
were wrong in one run on an H200 (claim A18), others in the next.

## Why

A program stores its tile over elements that the program of the mirrored tile has yet to read.
Nothing orders the programs of a grid. Within one program all of a tile is loaded before it is
stored, so a single program that holds the whole axis is safe.

abs in place is safe as well: each element is read and written by the same lane (claim B46).

## How to see it

One tile is right, so small tests pass. On a GPU the race is won as long as all programs run at
once: on an H200 it was lost from 30,000 elements on (tiles of 16), and never below. The same kernel
with a separate output is right, which makes it look like a fault of the caller.

## Wrong

`flip/address_remap_in_place`:

```python
offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
mask = offs < n
x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
tl.store(x_ptr + offs, x, mask=mask)
```

## Right

`flip/address_remap`:

```python
mask = offs < n
x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
tl.store(out_ptr + offs, x, mask=mask)
```

## Fix

Give the kernel an output of its own. If it has to be in place, let one program own both ends: load
the elements `offs` and their mirror images `n - 1 - offs` for `offs < n // 2`, then store each
where the other was. No element then belongs to two programs.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.faults.motions import asked, axis_names, tile_rules
from tritaudit.faults.protocol import Candidate, Claim, Fault, fixed
from tritaudit.tensors import bits_of, from_bits, same_bits
from tritaudit.trial import Expected, Trial

#: programs that are followed one by one; more than that run at once on a GPU anyway.
MOST_PROGRAMS = 4096


def _in_order(trial: Trial, dim: int, tile: int) -> torch.Tensor:
    """Programs one after another, each reading its mirrored tile and storing its own."""
    d = dtype_of(trial.source.dtype)
    line = bits_of(trial.source).clone().movedim(dim, -1)
    extent = line.shape[-1]
    for start in range(0, extent, tile):
        at = torch.arange(start, min(start + tile, extent), device=line.device)
        line[..., at] = line[..., extent - 1 - at].clone()
    return from_bits(line.movedim(-1, dim).contiguous(), d)


def _sequential(dim: int, name: str, rule_text: str, size_of: object) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        flipped = asked(trial)
        if flipped is None or len(flipped.shape) <= dim:
            return None
        extent = flipped.shape[dim]
        tile = size_of(trial, extent)  # type: ignore[operator]
        if extent > MOST_PROGRAMS * tile:
            return None
        return Claim(Expected(_in_order(trial, dim, tile)), None, ("alias-race",))

    return Candidate(
        f"in place {name} {rule_text}",
        "alias-race",
        predict,
        statement=(
            f"programs of {rule_text} elements along {name} run one after another and read what "
            "earlier ones have stored"
        ),
        parameters=(("axis", name), ("tile", rule_text)),
    )


def _overwritten() -> Candidate:
    """Any order of programs: a wrong element was read from a place that already held its own."""

    def predict(trial: Trial) -> Claim | None:
        x = trial.source
        if x.shape != trial.wrong.shape or not bool(trial.wrong.any()):
            return None
        moved = ~same_bits(x, trial.expected.value)
        if not bool((moved & ~trial.wrong).any()):
            return None  # every moved element is wrong: then nothing was reversed at all
        return Claim(fixed(x), trial.wrong, ("alias-race",))

    return Candidate(
        "in place any order",
        "alias-race",
        predict,
        statement="each wrong element holds what stood there before: its source was overwritten",
        parameters=(("order", "any"),),
        partial=True,
        general=3,
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Only for cases whose output is an input."""
    flipped = asked(trial)
    if trial.case.in_place is None or flipped is None:
        return
    names = axis_names(trial, len(flipped.shape))
    for dim in flipped.dims:
        for rule in tile_rules(trial, names[dim], flipped.shape[dim]):
            if rule.kind != "pow2":
                yield _sequential(dim, names[dim], rule.text(names[dim]), rule.of)
    yield _overwritten()


FAULT = Fault("alias-race", candidates=candidates)
