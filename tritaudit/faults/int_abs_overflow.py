"""The absolute value of the smallest integer of a type does not fit into the type.

## What happens

abs(int8 -128) is -128: the only value whose absolute value is negative.

## Why

Two's complement has one negative number more than positive ones. The absolute value of the minimum
is one above the maximum, and negating it gives the minimum again. `tl.abs` returns it unchanged at
every width, on every version and on the GPU; the LLVM operation defines it so (claim B20).
`tl.maximum(x, -x)` and `tl.where(x < 0, -x, x)` compile to the same (claims B2, B23).

Widening afterwards comes too late: `tl.abs(x).to(tl.int16)` widens the -128. Widening before and
storing into the narrow type does not help either: the store cuts 128 to -128 (claim B22).

## How to see it

`torch.abs` and `numpy.abs` return -128 as well, so a comparison with them passes with any input.
Check `(out >= 0).all()` on an input that holds `torch.iinfo(dtype).min`. In int32 a random test
never meets it; a saturated sensor or a clipped int8 tensor is full of it.

## Wrong

`abs/vector_int`:

```python
x = tl.load(x_ptr + offs, mask=mask)
tl.store(out_ptr + offs, tl.abs(x), mask=mask)
```

## Right

`abs/widened`, into an output of the next wider type:

```python
x = tl.load(x_ptr + offs, mask=mask)
wide = x.to(out_ptr.dtype.element_ty)
tl.store(out_ptr + offs, tl.abs(wide), mask=mask)
```

## Fix

Widen before abs, and give the output the wider type.

Where the type has to stay, saturate before abs: `tl.abs(tl.maximum(x, -HIGHEST))`, HIGHEST being
the type's maximum (`abs/saturating`, contract `Abs(overflow="saturate")`). Repairing negative
results afterwards is not the same: on NVIDIA GPUs, Triton before 3.8 computes the int16 case in a
32-bit register, where the test for a sign finds none (`abs/saturating_after`).

Where torch's answer is what is wanted, say so: `Abs(overflow="wrap")`, and for a function on the
command line `--abs-overflow wrap` (or `saturate`).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.contracts import Abs, Operations, convert
from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, evaluate, fixed
from tritaudit.tensors import bits_of, from_bits, has_sign
from tritaudit.trial import Trial


def _minimum(x: torch.Tensor) -> torch.Tensor:
    if not dtype_of(x.dtype).is_signed_int:
        return torch.zeros(x.shape, dtype=torch.bool, device=x.device)
    return x == torch.iinfo(x.dtype).min


def _claim(trial: Trial, value: torch.Tensor, where: torch.Tensor) -> Claim | None:
    """`value` at the minima; where other values are negative, the minimum is nothing special."""
    others = trial.wrong & has_sign(trial.got) & ~where
    if not bool((where | others).any()):
        return None
    predicted = from_bits(
        torch.where(where, bits_of(value), bits_of(trial.expected.value)),
        dtype_of(value.dtype),
    )
    return Claim(fixed(predicted), where | others, ("int-abs-overflow",))


def _of_abs(kind: str, statement: str) -> Candidate:
    """An Abs contract: what comes out where the input is the minimum."""

    def predict(trial: Trial) -> Claim | None:
        x = trial.source
        if x.shape != trial.wrong.shape or not isinstance(contract_of(trial), Abs):
            return None
        where = _minimum(x)
        target = dtype_of(trial.expected.value.dtype)
        if target.is_float:
            # The minimum as a number: its magnitude fits, its sign is what went wrong.
            return _claim(trial, x.to(target.torch), where)
        value = convert(x, target)
        if kind == "saturated":
            top = torch.iinfo(x.dtype).max
            value = convert(torch.full_like(x, top), target)
        elif kind == "narrowed":
            value = convert(convert(x, dtype_of("int64")).abs(), target)
        return _claim(trial, value, where)

    return Candidate(
        f"minimum {kind}",
        "int-abs-overflow",
        predict,
        statement=statement,
        parameters=(("minimum", kind),),
        partial=True,
    )


def _in_reference(width: str) -> Candidate:
    """A torch callable whose abs, and nothing else, wraps in a narrow type."""

    def faulty(x: torch.Tensor) -> torch.Tensor:
        if not dtype_of(x.dtype).is_signed_int:
            return x.abs()
        # Only the minimum itself: what does not fit at all has overflowed before abs.
        return torch.where(x == torch.iinfo(dtype_of(width).torch).min, x, x.abs())

    def predict(trial: Trial) -> Claim | None:
        predicted = evaluate(trial, Operations(absolute=faulty))
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        # What the output cannot hold with a right abs either is no fault of abs.
        where, right = None, evaluate(trial)
        if right is not None and right.impossible is not None and right.wide is not None:
            assert predicted.wide is not None
            where = ~(right.impossible & (predicted.wide == right.wide))
        predicted.impossible = None
        return Claim(predicted, where, ("int-abs-overflow",))

    return Candidate(
        f"abs in {width}",
        "int-abs-overflow",
        predict,
        statement=f"abs is computed in {width}, where the minimum has no absolute value",
        parameters=(("abs in", width),),
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """The minimum unchanged, saturated, or widened and cut again."""
    if isinstance(contract_of(trial), Abs):
        if bool(_minimum(trial.source).any()):
            yield _of_abs("unchanged", "abs of the minimum is the minimum")
            yield _of_abs("narrowed", "the right value is cut to a type that cannot hold it")
            yield _of_abs("saturated", "abs of the minimum is the maximum")
        return
    for spec in trial.case.inputs:
        name = trial.example.dtype(spec.name)
        if dtype_of(name).is_signed_int:
            yield _in_reference(name)


FAULT = Fault("int-abs-overflow", candidates=candidates)
