"""One NaN or Inf makes other elements of its tile NaN.

## What happens

A single NaN or Inf in the input, and every other element of the tile comes out as NaN. Finite
inputs are right to the last bit.

## Why

The elements are moved by arithmetic: each is multiplied by 0 or 1 and the products are summed.
That is exact for finite numbers. But 0 * NaN and 0 * Inf are NaN, and a sum with one NaN in it is
NaN, so the one bad element reaches all places, and not only its own.

`tl.flip` itself did this up to Triton 3.2: one NaN in eight elements gave eight, one Inf gave
seven. From 3.3 it moves bits (claim A4). A permutation by `tl.dot` with a matrix of zeros and ones
does it on every version.

## How to see it

A test with `randn` never holds a NaN. Put one into the first element and compare the others, with
`equal_nan=True`.

## Wrong

`flip/one_hot_sum`:

```python
exchange = (lanes[:, None] + lanes[None, :] == BLOCK - 1).to(x.dtype)
y = tl.sum(x[None, :] * exchange, axis=1)
```

## Right

`flip/address_remap`:

```python
x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
tl.store(out_ptr + offs, x, mask=mask)
```

## Fix

Move elements by address, or with `tl.flip` on Triton 3.3 or newer. Where the sum has to stay,
select in place of multiplying:
`tl.where(lanes[:, None] + lanes[None, :] == BLOCK - 1, x[None, :], 0.0)` keeps a NaN out of the
sums that it is no part of; `-0.0` still comes out as `+0.0`.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.faults.motions import TileRule, axis_names, by_sums, tile_rules
from tritaudit.faults.protocol import Candidate, Claim, Fault, fixed
from tritaudit.tensors import bits_of, from_bits, is_nan
from tritaudit.trial import Trial


def _finite(x: torch.Tensor) -> torch.Tensor:
    d = dtype_of(x.dtype)
    wide = x.to(torch.float32) if d.bits == 8 else x
    return torch.isfinite(wide)


def _others(bad: torch.Tensor, dim: int, tile: int) -> torch.Tensor:
    """Where another element of the same tile along `dim` is bad."""
    line = bad.movedim(dim, -1).to(torch.int64)
    extent = line.shape[-1]
    padded = torch.nn.functional.pad(line, (0, -extent % tile))
    tiles = padded.reshape(*padded.shape[:-1], padded.shape[-1] // tile, tile)
    counts = tiles.sum(-1, keepdim=True).expand(tiles.shape).reshape(padded.shape)
    other: torch.Tensor = counts[..., :extent] - line > 0
    return other.movedim(-1, dim)


def _all_others(bad: torch.Tensor) -> torch.Tensor:
    return bad.sum() - bad.to(torch.int64) > 0


def _candidate(dim: int | None, name: str, rule: TileRule | None) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        right = trial.expected.value
        if not dtype_of(right.dtype).is_float or right.shape != trial.source.shape:
            return None
        bad = ~_finite(right)
        if dim is None:
            near = _all_others(bad)
        else:
            extent = right.shape[dim]
            near = _others(bad, dim, rule.of(trial, extent) if rule is not None else extent)
        # A NaN that went through the arithmetic keeps neither sign nor payload.
        where = near | is_nan(right)
        if not bool(where.any()):
            return None
        quiet = torch.full_like(bits_of(right), -1)
        faults = ("nan-contamination",) if bool((near & ~is_nan(right)).any()) else ()
        return Claim(fixed(from_bits(quiet, dtype_of(right.dtype))), where, faults)

    scope = "the whole tensor" if dim is None else f"a tile along {name}"
    tile = "" if rule is None else rule.text(name)
    return Candidate(
        f"contaminated {dim} {tile}",
        "nan-contamination",
        predict,
        statement=f"a NaN or Inf makes every other element of {scope} NaN"
        + (f" (tile {tile})" if tile else ""),
        parameters=(("axis", name), ("tile", tile)),
        partial=True,
        general=rule.general if rule is not None else 2,
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Tiles of every axis, whole rows, and the whole tensor."""
    if not dtype_of(trial.got.dtype).is_float or not bool((is_nan(trial.got) & trial.wrong).any()):
        return
    shape = trial.wrong.shape
    if trial.source.shape != shape:
        return
    names = axis_names(trial, len(shape))
    for dim in range(len(shape)):
        for rule in tile_rules(trial, names[dim], shape[dim]):
            yield _candidate(dim, names[dim], rule)
        yield _candidate(dim, names[dim], None)
    yield _candidate(None, "all", None)
    yield from by_sums(trial, "nan-contamination")


FAULT = Fault("nan-contamination", candidates=candidates)
