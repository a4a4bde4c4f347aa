"""The absolute value of -0.0 came out as -0.0.

## What happens

The absolute value of -0.0 is -0.0. All other values are right.

## Why

`-0.0 < 0` is false, so `tl.where(x < 0, -x, x)` passes -0.0 through; `-0.0 >= 0` is true, so
`tl.where(x >= 0, x, -x)` does the same (claim B42). A comparison cannot tell the two zeros apart,
only the sign bit can. The compiler does not repair it: the selection was never folded into a bit
operation in ten versions (claim B43).

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

from collections.abc import Iterator

import torch

from tritaudit.contracts import Operations
from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, aligned, evaluate
from tritaudit.tensors import abs_bits, has_sign, is_nan, is_negative_zero
from tritaudit.trial import Trial


def _predict(trial: Trial) -> Claim | None:
    if not dtype_of(trial.expected.value.dtype).is_float:
        return None

    def faulty(x: torch.Tensor) -> torch.Tensor:
        return torch.where(is_negative_zero(x), x, abs_bits(x))

    predicted = evaluate(trial, Operations(absolute=faulty))
    if predicted is None or predicted.value.shape != trial.wrong.shape:
        return None
    right = trial.expected.value
    where = is_negative_zero(predicted.value) & ~is_negative_zero(right)
    x = aligned(trial)
    if x is not None and contract_is_abs(trial):
        where = where & is_negative_zero(x)
    # Where other values are negative as well, it is not the zero that is special.
    where = where | other_negatives(trial)
    if not bool(where.any()):
        return None
    predicted.demand_bits()
    return Claim(predicted, where, ("signed-zero-kept",))


def other_negatives(trial: Trial) -> torch.Tensor:
    """Where an Abs contract is broken by a value below zero."""
    if not contract_is_abs(trial):
        return torch.zeros_like(trial.wrong)
    got = trial.got
    return trial.wrong & has_sign(got) & ~is_negative_zero(got) & ~is_nan(got)


def contract_is_abs(trial: Trial) -> bool:
    """Whether the contract is Abs itself."""
    from tritaudit.contracts import Abs

    return isinstance(trial.case.contract, Abs)


def candidates(trial: Trial) -> Iterator[Candidate]:
    """-0.0 stays as it is; everything else is right."""
    if bool((is_negative_zero(trial.got) & trial.wrong).any()):
        yield Candidate(
            "zero kept",
            "signed-zero-kept",
            _predict,
            statement="-0.0 stays -0.0",
            partial=True,
        )


FAULT = Fault("signed-zero-kept", candidates=candidates)
