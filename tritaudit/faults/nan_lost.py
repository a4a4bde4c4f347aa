"""NaN came out as a number.

## What happens

An input element is NaN, and the output holds a number in its place, as if nothing had been wrong.

## Why

Every comparison with NaN is false. A NaN falls through all branches of a `tl.where`, into whatever
the last one gives: two selections that each default to 0 make 0 of it. Compiled, `tl.max` and
`tl.maximum` drop NaN (`tl.maximum` unless it is given `propagate_nan=tl.PropagateNan.ALL`); the
interpreter agrees with that only since 3.5.1 and 3.8.

## How to see it

A test with `randn` never holds a NaN. Put one in and check `torch.isnan(out)` in its place. A lost
NaN is worse than a spread one: the overflow that made it is no longer visible downstream.

## Wrong

`abs/two_relus`:

```python
positive = tl.where(x > 0, x, 0.0)
negative = tl.where(x < 0, -x, 0.0)
tl.store(out_ptr + offs, positive + negative, mask=mask)
```

## Right

`abs/vector`:

```python
x = tl.load(x_ptr + offs, mask=mask)
tl.store(out_ptr + offs, tl.abs(x), mask=mask)
```

## Fix

Write `tl.abs(x)`, which keeps NaN with its payload (claim B16). In a selection let the branch that
is taken when the comparison is false carry x: `tl.where(x < limit, other, x)`.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, evaluate, fixed
from tritaudit.tensors import bits_of, from_bits, is_nan
from tritaudit.trial import Trial

_AS = {"0": 0.0, "+Inf": float("inf"), "-Inf": float("-inf")}


def _others(trial: Trial, bits: int) -> torch.Tensor:
    """Where a formula gives the same in place of a number: then NaN is nothing special."""
    if contract_of(trial).moves_only:
        return torch.zeros_like(trial.wrong)
    return trial.wrong & (bits_of(trial.got) == bits) & ~is_nan(trial.expected.value)


def _replaced(name: str, number: float) -> Candidate:
    """The kernel treats a NaN input as this number.

    Nothing is claimed of a NaN that came out: a maximum that passes over NaN gives one if it gets
    nothing else.
    """

    def predict(trial: Trial) -> Claim | None:
        where = is_nan(trial.expected.value) & ~is_nan(trial.got)
        inputs = {}
        for key, x in trial.inputs.items():
            d = dtype_of(x.dtype)
            if not d.is_float:
                inputs[key] = x
                continue
            number_bits = bits_of(torch.full_like(x, number, dtype=torch.float32).to(x.dtype))
            inputs[key] = from_bits(torch.where(is_nan(x), number_bits, bits_of(x)), d)
        predicted = evaluate(trial, inputs=inputs)
        given = bits_of(torch.full((1,), number).to(trial.got.dtype))
        where = where | _others(trial, int(given))
        if predicted is None or not bool(where.any()):
            return None
        return Claim(predicted, where, ("nan-lost",))

    return Candidate(
        f"nan as {name}",
        "nan-lost",
        predict,
        statement=f"a NaN is treated as {name}",
        parameters=(("NaN taken as", name),),
        partial=True,
    )


def _constant(bits: int, text: str) -> Candidate:
    """Every NaN comes out as one constant."""

    def predict(trial: Trial) -> Claim | None:
        right = trial.expected.value
        if str(right.dtype) != text.split()[0]:
            return None
        value = torch.where(is_nan(right), bits, bits_of(right))
        where = is_nan(right) | _others(trial, bits)
        if not bool(where.any()):
            return None
        return Claim(fixed(from_bits(value, dtype_of(right.dtype))), where, ("nan-lost",))

    return Candidate(
        f"nan constant {text}",
        "nan-lost",
        predict,
        statement="every NaN comes out as the same number",
        parameters=(("constant", text),),
        partial=True,
        general=2,
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """NaN taken as a number at the input, or replaced by a constant at the output."""
    lost = is_nan(trial.expected.value) & trial.wrong & ~is_nan(trial.got)
    if not bool(lost.any()):
        return
    for name, number in _AS.items():
        yield _replaced(name, number)
    bits = int(bits_of(trial.got)[lost].reshape(-1)[0].item())
    yield _constant(bits, f"{trial.got.dtype} 0x{bits & dtype_of(trial.got.dtype).mask:x}")


FAULT = Fault("nan-lost", candidates=candidates)
