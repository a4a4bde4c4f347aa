"""Absolute values came out negative.

## What happens

Values keep their sign, or all come out negative, or all are negated.

## Why

The decision was made once for the tile and not for each element. `if x < 0:` asks a whole tile one
question. The interpreter takes the branch whatever the values are, so that every element is
negated; the compiler refuses it from Triton 3.4 on and aborted the process before (claim B1).
Python's own `max(x, -x)` compares once in the interpreter and returns all of x or all of -x (claim
B23).

Or there is no abs at all: its result was dropped, or a comparison is the wrong way round.

## How to see it

Any test with values of both signs sees it. Under `TRITON_INTERPRET=1` no error is raised, and a
kernel that works there may not compile for a GPU.

## Wrong

`abs/python_if`, in the interpreter:

```python
x = tl.load(x_ptr + offs, mask=mask)
if x < 0:
    x = -x
tl.store(out_ptr + offs, x, mask=mask)
```

## Right

`abs/vector`:

```python
x = tl.load(x_ptr + offs, mask=mask)
tl.store(out_ptr + offs, tl.abs(x), mask=mask)
```

## Fix

Write `tl.abs(x)`. Where the condition is another one, choose per element with `tl.where`, and use
`tl.maximum`, not Python's `max`, for tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from tritaudit.contracts import Operations
from tritaudit.dtypes import dtype_of, to_signed
from tritaudit.faults.protocol import Candidate, Claim, Fault, evaluate
from tritaudit.tensors import abs_bits, bits_of, from_bits
from tritaudit.trial import Trial


def _unchanged(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def _negative(x: torch.Tensor) -> torch.Tensor:
    d = dtype_of(x.dtype)
    if d.is_float:
        return from_bits(bits_of(x) | to_signed(d.sign_bit, d.bits), d)
    return -abs_bits(x) if d.is_signed_int else x.clone()


def _negated(x: torch.Tensor) -> torch.Tensor:
    d = dtype_of(x.dtype)
    if d.is_float:
        return from_bits(bits_of(x) ^ to_signed(d.sign_bit, d.bits), d)
    # Wide, or the minimum would stay negative: a kernel may negate in a wider type.
    return -x.to(torch.int64) if d.is_signed_int else x.clone()


def _subtracted(x: torch.Tensor) -> torch.Tensor:
    """0 - x, which is what `-x` means for floats before Triton 3.8: no zero comes out negative."""
    d = dtype_of(x.dtype)
    if not d.is_float:
        return _negated(x)
    zero = bits_of(x) & to_signed(d.mask >> 1, d.bits) == 0
    return from_bits(torch.where(zero, 0, bits_of(_negated(x))).to(d.carrier), d)


def _from_zero(x: torch.Tensor) -> torch.Tensor:
    """A negation that is a subtraction, as in Triton before 3.8: +0.0 stays as it is."""
    d = dtype_of(x.dtype)
    if not d.is_float:
        return _negated(x)
    return from_bits(torch.where(bits_of(x) == 0, bits_of(x), bits_of(_negated(x))), d)


WAYS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "unchanged": (_unchanged, "every value keeps its sign"),
    "negative": (_negative, "every value comes out negative"),
    "negated": (_negated, "every value is negated"),
    "from zero": (_from_zero, "every value is subtracted from zero"),
    "negative from zero": (
        lambda x: _from_zero(abs_bits(x)),
        "every absolute value is subtracted from zero",
    ),
    "subtracted": (_subtracted, "every value is subtracted from zero"),
}


def _candidate(name: str) -> Candidate:
    operation, statement = WAYS[name]

    def predict(trial: Trial) -> Claim | None:
        if not dtype_of(trial.expected.value.dtype).sign_bit:
            return None  # a type without a sign keeps none: a difference wraps in it
        predicted = evaluate(trial, Operations(absolute=operation))
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        predicted.impossible = None
        return Claim(predicted, None, ("sign-kept",))

    return Candidate(
        f"sign {name}", "sign-kept", predict, statement=statement, parameters=(("values", name),)
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """abs did nothing, made everything negative, or negated everything."""
    del trial
    for name in WAYS:
        yield _candidate(name)


FAULT = Fault("sign-kept", candidates=candidates)
