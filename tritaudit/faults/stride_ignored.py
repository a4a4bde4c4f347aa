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

from collections.abc import Iterator

from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, evaluate
from tritaudit.model import Layout
from tritaudit.tensors import GUARD, from_bits, guarded_copy
from tritaudit.trial import Trial


def _candidate(name: str) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        layout = trial.example.layout(name)
        value = trial.inputs[name]
        if layout in (Layout.CONTIGUOUS, Layout.OFFSET) or not value.numel():
            return None
        # Reads past a shorter storage (an expanded tensor) come from the guard band.
        buffer = guarded_copy(value, GUARD[trial.seen.poison], value.numel() + 64, layout)
        flat = buffer.store[buffer.start : buffer.start + value.numel()]
        seen = from_bits(flat.reshape(value.shape).contiguous(), dtype_of(value.dtype))
        predicted = evaluate(trial, inputs={**trial.inputs, name: seen})
        if predicted is None:
            return None
        predicted.impossible = predicted.undecided = None
        return Claim(predicted, None, ("stride-ignored",))

    return Candidate(
        f"memory order {name}",
        "stride-ignored",
        predict,
        statement=f"{name} is read in memory order, as if it were contiguous",
        parameters=(("input", name),),
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """One candidate for each input that is not contiguous."""
    for spec in trial.case.inputs:
        if trial.example.layout(spec.name) not in (Layout.CONTIGUOUS, Layout.OFFSET):
            yield _candidate(spec.name)


FAULT = Fault("stride-ignored", candidates=candidates)
