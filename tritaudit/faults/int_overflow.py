"""Integer arithmetic (a difference, a sum) wrapped in a type too narrow for its result.

## What happens

In int8, `abs(100 - (-100))` is 56, not 200: the difference wrapped to -56 before abs saw it. In
uint8, `abs(3 - 5)` is 254: the difference wrapped to 254, and abs of an unsigned value does
nothing.

## Why

Triton computes in the type of its operands; it does not promote int8 to int32 as C does. A
difference needs one bit more than its operands, a sum of k elements log2(k) bits. `tl.abs` of a
wrapped difference is the absolute value of the wrong number (claim B25). `tl.sum` of int8 and
int16 accumulates in int32 from Triton 3.3 on and wraps before that; a store into a narrow output
cuts the result on every version.

## How to see it

Small values are right. torch wraps in the same places, so `(x - y).abs()` in the same dtype as the
reference agrees with the kernel. Compute the reference in int64, and use values near both ends of
the type.

## Wrong

`abs/difference_int8`:

```python
x = tl.load(x_ptr + offs, mask=mask)
y = tl.load(y_ptr + offs, mask=mask)
tl.store(out_ptr + offs, tl.abs(x - y), mask=mask)
```

## Right

`abs/difference_widened`:

```python
x = tl.load(x_ptr + offs, mask=mask).to(out_ptr.dtype.element_ty)
y = tl.load(y_ptr + offs, mask=mask).to(out_ptr.dtype.element_ty)
tl.store(out_ptr + offs, tl.abs(x - y), mask=mask)
```

## Fix

Widen the operands, not the result: `x.to(tl.int16) - y.to(tl.int16)`, and store into a type that
holds the answer. Unsigned operands need a signed wider type, or no difference at all:
`tl.maximum(x, y) - tl.minimum(x, y)` stays inside the unsigned type.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.contracts import Operations, Reference, convert
from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, evaluate
from tritaudit.model import SIGNED_INTS, UNSIGNED_INTS
from tritaudit.trial import Trial


def _claim(trial: Trial, operations: Operations) -> Claim | None:
    predicted = evaluate(trial, operations)
    if predicted is None or predicted.value.shape != trial.wrong.shape:
        return None
    predicted.impossible = predicted.undecided = None
    return Claim(predicted, None, ("int-overflow",))


def _in_width(width: str) -> Candidate:
    return Candidate(
        f"arithmetic in {width}",
        "int-overflow",
        lambda trial: _claim(trial, Operations(width=width)),
        statement=f"the arithmetic wraps in {width}",
        parameters=(("arithmetic in", width),),
    )


def _unsigned(width: str) -> Candidate:
    """abs of an unsigned difference does nothing: |3 - 5| in uint8 is 254."""

    def faulty(x: torch.Tensor) -> torch.Tensor:
        return convert(convert(x, dtype_of(width)), dtype_of(str(x.dtype)))

    return Candidate(
        f"unsigned arithmetic in {width}",
        "int-overflow",
        lambda trial: _claim(trial, Operations(absolute=faulty)),
        statement=f"the difference wraps in {width}, so abs has nothing to do",
        parameters=(("arithmetic in", width),),
    )


def _wide_abs(width: str) -> Candidate:
    """The operand of abs wraps, and is widened before abs: the minimum comes out right."""

    def faulty(x: torch.Tensor) -> torch.Tensor:
        return convert(convert(x, dtype_of(width)), dtype_of("int64")).abs()

    return Candidate(
        f"operand of abs in {width}",
        "int-overflow",
        lambda trial: _claim(trial, Operations(absolute=faulty)),
        statement=f"the difference wraps in {width} and is widened too late",
        parameters=(("difference in", width),),
    )


def _stored() -> Candidate:
    """The arithmetic is wide, the output type is not."""

    def predict(trial: Trial) -> Claim | None:
        predicted = evaluate(trial)
        if predicted is None or predicted.impossible is None or not predicted.impossible.any():
            return None
        where = predicted.impossible
        predicted.impossible = predicted.undecided = None
        return Claim(predicted, where, ("int-overflow",))

    return Candidate(
        "cut on store",
        "int-overflow",
        predict,
        statement="the right value is cut to the type of the output",
        parameters=(("cut", "on store"),),
        partial=True,
        general=1,
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every integer width up to that of the widest input or output, and a cut on store."""
    if not isinstance(contract_of(trial), Reference):
        return
    kinds = [dtype_of(x.dtype) for x in (*trial.inputs.values(), trial.expected.value)]
    integer = [d for d in kinds if d.is_int]
    if not integer:
        return
    widest = max(d.bits for d in integer)
    for name in SIGNED_INTS:
        if dtype_of(name).bits <= widest:
            yield _in_width(name)
            yield _wide_abs(name)
    for name in UNSIGNED_INTS:
        if dtype_of(name).bits <= widest:
            yield _unsigned(name)
    yield _stored()


FAULT = Fault("int-overflow", candidates=candidates)
