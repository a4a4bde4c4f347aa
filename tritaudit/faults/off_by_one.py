"""The reversal is shifted by one element, or by two.

## What happens

Output i holds x[n - i] in place of x[n - 1 - i]: everything is one position late, the first or the
last element is lost, and at the other end something comes in that does not belong there: the
neighbour in memory, the value of a masked lane, or an element twice.

## Why

The last index is n - 1. `n - offs` reaches from n down to 1; `n - 2 - offs` from n - 2 down to -1.
The mask of the store does not help, because it tests `offs`, and not the mirrored address.

## How to see it

Every test with distinct elements sees it. One with a single element sees what lies beside it: in
the tool that is a guard band, which makes the read out of bounds a finding of its own
(`out-of-bounds-read`); in a test with torch tensors it is whatever the allocator left there, often
zeros.

## Wrong

`flip/address_remap_off_by_one`:

```python
offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
mask = offs < n
x = tl.load(x_ptr + (n - offs), mask=mask)
tl.store(out_ptr + offs, x, mask=mask)
```

## Right

`flip/address_remap`:

```python
mask = offs < n
x = tl.load(x_ptr + (n - 1 - offs), mask=mask)
tl.store(out_ptr + offs, x, mask=mask)
```

## Fix

Mirror with `n - 1 - offs`. To check such a line, put in both ends: offs = 0 has to give n - 1, and
offs = n - 1 has to give 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.contracts import Operations
from tritaudit.dtypes import dtype_of
from tritaudit.faults.motions import asked, axis_names
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, evaluate
from tritaudit.tensors import GUARD, bits_of, flip_bits, from_bits, guarded_copy, strides_of
from tritaudit.trial import Expected, Trial

#: the largest shift that is called by this name.
REACH = 2


def _shifted(
    x: torch.Tensor, dims: tuple[int, ...], axis: int | None, shift: int, edge: str
) -> torch.Tensor:
    """`x` reversed along `dims` and read `shift` further on; what lies beyond depends on `edge`."""
    d = dtype_of(x.dtype)
    right = bits_of(flip_bits(x, dims))
    line = right.reshape(-1) if axis is None else right.movedim(axis, -1)
    extent = line.shape[-1]
    at = torch.arange(extent, device=line.device) + shift
    inside = (at >= 0) & (at < extent)
    at = at % max(extent, 1) if edge == "wrap" else at.clamp(0, max(extent - 1, 0))
    moved = line.index_select(-1, at)
    if edge == "zero":
        moved = torch.where(inside, moved, torch.zeros_like(moved))
    if axis is None:
        return from_bits(moved.reshape(right.shape).contiguous(), d)
    return from_bits(moved.movedim(-1, axis).contiguous(), d)


_EDGES = {
    "zero": "beyond the end a masked lane's 0 comes out",
    "clamp": "the end element is repeated",
    "wrap": "the other end comes in",
}


_MEMORY = "beyond the end, what lies there in memory comes out"


def _from_memory(
    trial: Trial, x: torch.Tensor, dims: tuple[int, ...], axis: int, shift: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """`x` reversed along `dims` with indices along `axis` that are `shift` further on.

    An index beyond the end reads what its address holds: an element of a neighbouring row, or
    memory beside the tensor. Also gives where it is the latter.
    """
    d = dtype_of(x.dtype)
    layout = trial.example.layout(trial.case.inputs[0].name)
    strides, _ = strides_of(tuple(x.shape), layout)
    reach = abs(shift) * max(strides)
    buffer = guarded_copy(x, GUARD[trial.seen.poison], reach, layout)
    address = torch.full((), buffer.start, device=x.device)
    for k, (extent, stride) in enumerate(zip(x.shape, strides, strict=True)):
        index = torch.arange(extent, device=x.device)
        index = extent - 1 - index if k in dims else index
        index = index - shift if k == axis else index
        line = [-1 if j == k else 1 for j in range(x.dim())]
        address = address + (index * stride).reshape(line)
    inside = torch.zeros_like(buffer.store, dtype=torch.bool)
    inside.as_strided(x.shape, strides, buffer.start).fill_(True)
    seen = buffer.store[address].contiguous()
    if d.kind == "bool":
        seen = (seen != 0).to(seen.dtype)  # every other byte is loaded as True
    return from_bits(seen, d), ~inside[address]


def _memory_candidate(axis: int, name: str, shift: int) -> Candidate:
    """Only where the contract is a flip: the operand of a formula lies nowhere in memory."""

    def predict(trial: Trial) -> Claim | None:
        x, flipped = trial.source, asked(trial)
        moves_only = contract_of(trial).moves_only
        if flipped is None or not moves_only or not x.numel():
            return None
        value, beside = _from_memory(trial, x, flipped.dims, axis, shift)
        faults = []
        if bool((trial.wrong & ~beside).any()):
            faults.append("off-by-one")
        if bool(beside.any()):
            faults.append("out-of-bounds-read")
        return Claim(Expected(value), None, tuple(faults))

    return Candidate(
        f"shift {axis} {shift} memory",
        "off-by-one",
        predict,
        statement=f"the reversal along {name} is shifted by {shift:+d}; {_MEMORY}",
        parameters=((name, f"{shift:+d}"), ("edge", "memory")),
    )


def _candidate(axis: int | None, name: str, shift: int, edge: str) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        def faulty(x: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
            return _shifted(x, dims, axis, shift, edge)

        predicted = evaluate(trial, Operations(flip=faulty))
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        return Claim(predicted, None, ("off-by-one",))

    return Candidate(
        f"shift {axis} {shift} {edge}",
        "off-by-one",
        predict,
        statement=f"the reversal along {name} is shifted by {shift:+d}; {_EDGES[edge]}",
        parameters=((name, f"{shift:+d}"), ("edge", edge)),
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Shifts along each reversed axis, and of the flat tensor."""
    flipped = asked(trial)
    if flipped is None:
        return
    names = axis_names(trial, len(flipped.shape))
    places: list[tuple[int | None, str]] = [(dim, names[dim]) for dim in flipped.dims]
    if len(names) > 1:
        places.append((None, "the flat tensor"))
    for shift in (-1, 1, *(s for k in range(2, REACH + 1) for s in (-k, k))):
        for axis, name in places:
            if axis is not None:
                yield _memory_candidate(axis, name, shift)
            for edge in _EDGES:
                yield _candidate(axis, name, shift, edge)


FAULT = Fault("off-by-one", candidates=candidates)
