"""-0.0 came out as +0.0 where bits must move unchanged.

## What happens

The element is in the right place and compares equal, but its sign bit is gone.

## Why

Something was computed where something should only be moved. Adding zeros does it: +0.0 + -0.0 is
+0.0 in IEEE 754, so a sum of products with a one-hot row loses the sign, and so does `x + 0`. Up
to Triton 3.2 `tl.flip` was such a sum (claim A4).

## How to see it

`==`, `torch.equal` and `assert_close` all take -0.0 and +0.0 for equal (claim B53). Compare the
bits: `x.view(torch.int32)`. It matters where the sign is used: `1 / x` is -Inf or +Inf, and
`atan2`, `copysign` and `signbit` differ.

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

Move elements by address, or with `tl.flip` on Triton 3.3 or newer. Where arithmetic has to do it,
view the floats as integers first (`x.to(tl.int32, bitcast=True)`): adding integer zeros changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.faults.motions import by_sums
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, fixed
from tritaudit.tensors import bits_of, from_bits, is_nan, is_negative_zero
from tritaudit.trial import Trial


def _is_zero(x: torch.Tensor) -> torch.Tensor:
    return is_negative_zero(x) | (bits_of(x) == 0)


def _other_zeros(trial: Trial) -> torch.Tensor:
    """Where a formula gives another zero, or zero for a number: then -0.0 is nothing special."""
    if contract_of(trial).moves_only:
        return torch.zeros_like(trial.wrong)
    right = trial.expected.value
    return trial.wrong & _is_zero(trial.got) & ~is_negative_zero(right) & ~is_nan(right)


def _candidate(always: bool) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        right = trial.expected.value
        zeros = is_negative_zero(right)
        # A zero that is summed with other zeros keeps its sign when all of them are negative.
        where = zeros if always else zeros & trial.wrong
        faults = ("signed-zero-lost",) if bool(where.any()) else ()
        # A NaN that went through the same arithmetic is still one, with another payload.
        where = where | (is_nan(right) & is_nan(trial.got)) | _other_zeros(trial)
        if not bool(where.any()):
            return None
        bits = torch.where(zeros, torch.zeros_like(bits_of(right)), bits_of(right))
        return Claim(fixed(from_bits(bits, dtype_of(right.dtype))), where, faults)

    return Candidate(
        f"zero lost {always}",
        "signed-zero-lost",
        predict,
        statement="-0.0 comes out as +0.0" + ("" if always else " (not everywhere)"),
        parameters=(("everywhere", "yes" if always else "no"),),
        partial=True,
        general=0 if always else 1,
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every -0.0 that should come out, or some."""
    if bool((is_negative_zero(trial.expected.value) & trial.wrong).any()):
        yield _candidate(True)
        yield _candidate(False)
        yield from by_sums(trial, "signed-zero-lost")


FAULT = Fault("signed-zero-lost", candidates=candidates)
