"""The absolute value of a zero came out as -0.0.

## What happens

The absolute value of -0.0, or of +0.0, is -0.0. All other values are right.

## Why

`-0.0 < 0` is false, so `tl.where(x < 0, -x, x)` passes -0.0 through; `-0.0 >= 0` is true, so
`tl.where(x >= 0, x, -x)` does the same (claim B42). `+0.0 > 0` is false, so
`tl.where(x > 0, x, -x)` negates +0.0: it repairs the one zero and breaks the other, from Triton
3.8 on (before, `-x` was `0 - x`, which is +0.0 for both). A comparison cannot tell the two zeros
apart, only the sign bit can. The compiler does not repair it: the selection was never folded into a
bit operation in ten versions (claim B43).

## How to see it

`==`, `torch.equal` and `assert_close` take -0.0 and +0.0 for equal (claim B53). Compare the bits
(`x.view(torch.int32)`), or `torch.signbit(out).any()`. A value that is rounded or multiplied to
zero has a sign half of the time; `1 / x` turns it into -Inf.

## Wrong

`abs/where_lt`:

```python
x = tl.load(x_ptr + offs, mask=mask)
tl.store(out_ptr + offs, tl.where(x < 0, -x, x), mask=mask)
```

## Right

`abs/vector`:

```python
x = tl.load(x_ptr + offs, mask=mask)
tl.store(out_ptr + offs, tl.abs(x), mask=mask)
```

## Fix

Write `tl.abs(x)`. It clears the sign bit, one `and` in the PTX where the selection takes a compare
and a select (claims B2, B5), and it is right for NaN, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from tritaudit.contracts import Abs, Operations
from tritaudit.dtypes import dtype_of, to_signed
from tritaudit.faults.protocol import Candidate, Claim, Fault, evaluate
from tritaudit.tensors import abs_bits, bits_of, from_bits, has_sign, is_nan, is_negative_zero
from tritaudit.trial import Trial


def _kept(x: torch.Tensor) -> torch.Tensor:
    return torch.where(is_negative_zero(x), x, abs_bits(x))


def _negated(x: torch.Tensor) -> torch.Tensor:
    return _with_zeros(x, ~is_negative_zero(x))


def _negative(x: torch.Tensor) -> torch.Tensor:
    return _with_zeros(x, torch.ones(x.shape, dtype=torch.bool, device=x.device))


def _with_zeros(x: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
    """The absolute values, with a sign on those zeros that `negative` marks."""
    d, magnitude = dtype_of(x.dtype), bits_of(abs_bits(x))
    if not d.is_float:
        return from_bits(magnitude, d)
    sign = to_signed(d.sign_bit, d.bits)
    return from_bits(torch.where((magnitude == 0) & negative, sign, magnitude).to(d.carrier), d)


#: what becomes of the two zeros: the operation, in words, and how special it is.
WAYS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str, int]] = {
    "kept": (_kept, "-0.0 stays -0.0", 0),
    "negated": (_negated, "+0.0 comes out as -0.0", 0),
    "negative": (_negative, "+0.0 and -0.0 both come out as -0.0", 1),
}


def _candidate(name: str) -> Candidate:
    operation, statement, general = WAYS[name]

    def predict(trial: Trial) -> Claim | None:
        if not dtype_of(trial.expected.value.dtype).is_float:
            return None
        predicted = evaluate(trial, Operations(absolute=operation))
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        right = trial.expected.value
        where = is_negative_zero(predicted.value) & ~is_negative_zero(right)
        # Where other values are negative as well, it is not the zero that is special.
        where = where | other_negatives(trial)
        if not bool(where.any()):
            return None
        predicted.demand_bits()
        return Claim(predicted, where, ("signed-zero-kept",))

    return Candidate(
        f"zero {name}",
        "signed-zero-kept",
        predict,
        statement=statement,
        parameters=(("zeros", name),),
        partial=True,
        general=general,
    )


def other_negatives(trial: Trial) -> torch.Tensor:
    """Where an Abs contract is broken by a value below zero."""
    if not isinstance(trial.case.contract, Abs):
        return torch.zeros_like(trial.wrong)
    got = trial.got
    return trial.wrong & has_sign(got) & ~is_negative_zero(got) & ~is_nan(got)


def candidates(trial: Trial) -> Iterator[Candidate]:
    """-0.0 stays as it is, +0.0 is negated, or both come out negative; everything else is right."""
    if bool((is_negative_zero(trial.got) & trial.wrong).any()):
        for name in WAYS:
            yield _candidate(name)


FAULT = Fault("signed-zero-kept", candidates=candidates)
