"""Values passed through a narrower type.

## What happens

Large integers come out rounded: 16,777,217 as 16,777,216 after a way through float32. Floats lose
the low bits of their mantissa, or overflow, after a way through float16 or bfloat16.

## Why

A float type holds only so many bits: integers up to 2^24 are exact in float32, up to 2^11 in
float16, up to 2^8 in bfloat16, up to 2^53 in float64. A cast "to be safe" before abs, a `tl.dot`
whose default lowers float32 to TF32, a Python float argument that becomes float32 in the kernel
(claim B38b), and an output that is allocated narrower than the input all pass the values through
such a type.

## How to see it

Small integers are exact in every float type, and `assert_close` allows float32 a relative error of
1.3e-6, so a test with small or random values passes. Use values with all bits set (the type's
maximum, 2^24 + 1) and compare exactly.

## Wrong

`abs/through_float32`:

```python
x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
tl.store(out_ptr + offs, tl.abs(x).to(tl.int64), mask=mask)
```

## Right

`abs/widened`:

```python
x = tl.load(x_ptr + offs, mask=mask)
wide = x.to(out_ptr.dtype.element_ty)
tl.store(out_ptr + offs, tl.abs(wide), mask=mask)
```

## Fix

Leave the cast out: `tl.abs` and `tl.flip` work on every type and width. Where a wider type is
needed, take one that holds every value of the narrow one: int32 fits into int64 and float64, not
into float32.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.contracts import Abs, Operations, convert
from tritaudit.dtypes import DType, dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, evaluate
from tritaudit.model import FLOATS, FP8, SIGNED_INTS, UNSIGNED_INTS
from tritaudit.trial import Trial


def through(x: torch.Tensor, name: str, wraps: bool = False) -> torch.Tensor | None:
    """`x` converted to a dtype and back; None where the conversion is not defined.

    A float that rounding took out of the range of an integer type comes back as the end of that
    range, as on a GPU, or (`wraps`) as x86 converts it: by its low bits, infinity as the minimum.
    """
    own, narrow = dtype_of(x.dtype), dtype_of(name)
    if own.kind == "bool" or own.name == name:
        return None
    if own.is_int and narrow.is_float:
        if own.kind == "uint" and own.bits == 64:
            return None
        wide = convert(x, dtype_of("int64"))
        back = wide.to(narrow.torch).to(torch.float64)
        if wraps:
            return convert(
                _by_low_bits(back, 32 if own.is_signed_int and own.bits < 64 else 64), own
            )
        top = float((1 << (own.bits - (1 if own.is_signed_int else 0))) - 1)
        return convert(back.clamp(-top - 1, top).to(torch.int64), own)
    if own.is_float and narrow.is_int:
        return None
    return convert(convert(x, narrow), own)


def _by_low_bits(number: torch.Tensor, bits: int) -> torch.Tensor:
    """float64 integers modulo 2**64 as int64, infinities as the minimum of `bits` bits."""
    below = torch.where(number >= 2.0**63, number - 2.0**64, number)
    finite = torch.where(torch.isfinite(number), below, -(2.0 ** (bits - 1)))
    return finite.to(torch.int64)


def holds(name: str, integer: DType) -> bool:
    """Whether a float type holds every value of an integer type, so that nothing is lost in it."""
    width = integer.bits - (1 if integer.is_signed_int else 0)
    return dtype_of(name).mantissa + 1 >= width


def narrower(name: str) -> list[str]:
    """The dtypes that hold less than all values of a dtype, widest first."""
    own = dtype_of(name)
    if own.is_float:
        listed = [
            n
            for n in ("float32", "float16", "bfloat16", *FP8)
            if dtype_of(n).mantissa < own.mantissa or dtype_of(n).exponent < own.exponent
        ]
        return [n for n in listed if n in (*FLOATS, *FP8) and n != name]
    ints = [n for n in (*SIGNED_INTS, *UNSIGNED_INTS) if dtype_of(n).bits < own.bits]
    floats = [n for n in ("float64", "float32", "bfloat16", "float16") if not holds(n, own)]
    return [*floats, *sorted(ints, key=lambda n: -dtype_of(n).bits)]


def _candidate(name: str, wraps: bool = False) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        inputs = {}
        for key, x in trial.inputs.items():
            passed = through(x, name, wraps) if name in narrower(str(x.dtype)[6:]) else None
            inputs[key] = x if passed is None else passed
        predicted = evaluate(trial, inputs=inputs)
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        predicted.any_nan = True
        return Claim(predicted, None, ("precision-loss",))

    return Candidate(
        f"through {name} {'wrapping' if wraps else ''}".strip(),
        "precision-loss",
        predict,
        statement=f"the values pass through {name}",
        parameters=(("through", name),),
        general=1 if wraps else 0,
    )


def _abs_in(name: str) -> Candidate:
    """abs of integers computed in a float type."""

    def faulty(x: torch.Tensor) -> torch.Tensor:
        wide = convert(x, dtype_of("int64"))
        return convert(convert(wide, dtype_of(name)).abs(), dtype_of("float64"))

    def predict(trial: Trial) -> Claim | None:
        own = dtype_of(trial.source.dtype)
        if not own.is_int or holds(name, own):
            return None
        predicted = evaluate(trial, Operations(absolute=faulty))
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        return Claim(predicted, None, _shown(trial))

    return Candidate(
        f"abs in {name}",
        "precision-loss",
        predict,
        statement=f"the absolute value is computed in {name}",
        parameters=(("abs in", name),),
        general=1,
    )


def _shown(trial: Trial) -> tuple[str, ...]:
    """What abs in a float type shows: the minimum is exact in it, and overflows on the way back."""
    x = trial.source
    lowest = x == torch.iinfo(x.dtype).min if dtype_of(x.dtype).is_signed_int else None
    if lowest is None or not bool((trial.wrong & lowest).any()):
        return ("precision-loss",)
    lossy = bool((trial.wrong & ~lowest).any())
    return ("precision-loss", "int-abs-overflow") if lossy else ("int-abs-overflow",)


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every type that is narrower than the first input's."""
    for name in narrower(trial.example.dtype()):
        yield _candidate(name)
        if dtype_of(name).is_float and dtype_of(trial.source.dtype).is_int:
            yield _candidate(name, wraps=True)
    if dtype_of(trial.source.dtype).is_int and isinstance(contract_of(trial), Abs):
        for name in ("float16", "bfloat16", "float32", "float64"):
            yield _abs_in(name)


FAULT = Fault("precision-loss", candidates=candidates)
