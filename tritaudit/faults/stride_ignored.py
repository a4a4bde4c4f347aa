"""Memory order was read in place of logical order.

## What happens

The kernel treats its input as contiguous. For a transposed, sliced or expanded tensor it reads the
elements in the order in which they lie in memory: other elements than the caller meant, or memory
between and behind them.

## Why

A kernel gets a pointer and nothing else: shape and strides stay behind unless they are passed as
arguments. `row * W + col` is right where `x.stride() == (W, 1)`. `x.t()`, `x[:, ::2]` and
`x.expand(...)` have the same shape as a contiguous tensor and other strides, and none of them
copies.

## How to see it

A test on fresh tensors is always right, because they are contiguous. `torch.flip` itself gives
back a contiguous copy (claim A11), so its result is no help either. Pass a view, for instance
`torch.randn(w, h).t()`.

## Wrong

`flip/rows_strides_ignored`:

```python
x = tl.load(x_ptr + row * W + (W - 1 - cols), mask=mask)
tl.store(out_ptr + row * W + cols, x, mask=mask)
```

## Right

`flip/rows_remap`:

```python
x = tl.load(x_ptr + row * stride_h + (W - 1 - cols) * stride_w, mask=mask)
tl.store(out_ptr + row * W + cols, x, mask=mask)
```

## Fix

Pass `x.stride(k)` for every axis and multiply each index with its own stride. Where only
contiguous tensors are meant, say so in the launch function: `x = x.contiguous()` costs a copy, an
assertion costs nothing. `x.numel()` and a flat index are right for contiguous tensors alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, evaluate
from tritaudit.model import Layout
from tritaudit.tensors import GUARD, from_bits, guarded_copy, strides_of
from tritaudit.trial import Trial

Strides = tuple[int, ...]


def row_major(shape: tuple[int, ...]) -> Strides:
    """The strides of a contiguous tensor."""
    return strides_of(shape, Layout.CONTIGUOUS)[0]


def read_with(value: torch.Tensor, layout: Layout, wrong: Strides, poison: int) -> torch.Tensor:
    """What a kernel sees that takes a tensor of a layout to have other strides than it has."""
    # Reads past a shorter storage (an expanded tensor) come from the guard band.
    span = sum((n - 1) * s for n, s in zip(value.shape, wrong, strict=True))
    buffer = guarded_copy(value, GUARD[poison], span + 64, layout)
    seen = buffer.store.as_strided(value.shape, wrong, buffer.start)
    return from_bits(seen.contiguous(), dtype_of(value.dtype))


def _candidate(
    name: str, key: str, statement: str, strides: Callable[[Strides, Strides], Strides]
) -> Candidate:
    """`strides` gives the wrong strides for the right ones and those of a contiguous tensor."""

    def predict(trial: Trial) -> Claim | None:
        layout, value = trial.example.layout(name), trial.inputs[name]
        shape = tuple(value.shape)
        right, _ = strides_of(shape, layout)
        wrong = strides(right, row_major(shape))
        if wrong == right or not value.numel():
            return None
        seen = read_with(value, layout, wrong, trial.seen.poison)
        predicted = evaluate(trial, inputs={**trial.inputs, name: seen})
        if predicted is None:
            return None
        predicted.impossible = predicted.undecided = None
        return Claim(predicted, None, ("stride-ignored",))

    return Candidate(
        f"memory order {name} {key}",
        "stride-ignored",
        predict,
        statement=statement,
        parameters=(("input", name), *((("strides", key),) if key else ())),
        general=1 if key else 0,
    )


def _contiguous(name: str, axes: tuple[str, ...]) -> Iterator[Candidate]:
    """All strides taken for those of a contiguous tensor, or some."""
    yield _candidate(
        name, "", f"{name} is read in memory order, as if it were contiguous", lambda _, flat: flat
    )
    for count in range(1, len(axes)):
        for some in itertools.combinations(range(len(axes)), count):
            words = " and ".join(axes[k] for k in some)
            yield _candidate(
                name,
                words,
                f"the stride of {words} in {name} is taken to be that of a contiguous tensor",
                lambda right, flat, some=some: tuple(  # type: ignore[misc]
                    flat[k] if k in some else right[k] for k in range(len(right))
                ),
            )


def _exchanged(name: str, axes: tuple[str, ...]) -> Iterator[Candidate]:
    """Two strides in the wrong order."""
    for first, second in itertools.combinations(range(len(axes)), 2):
        words = f"{axes[first]} for {axes[second]}"
        yield _candidate(
            name,
            words,
            f"the strides of {axes[first]} and {axes[second]} in {name} are exchanged",
            lambda right, _, a=first, b=second: tuple(  # type: ignore[misc]
                right[{a: b, b: a}.get(k, k)] for k in range(len(right))
            ),
        )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Wrong strides for each input."""
    for spec in trial.case.inputs:
        if trial.example.layout(spec.name) not in (Layout.CONTIGUOUS, Layout.OFFSET):
            yield from _contiguous(spec.name, spec.axes)
        yield from _exchanged(spec.name, spec.axes)


FAULT = Fault("stride-ignored", candidates=candidates)
