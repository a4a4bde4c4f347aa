"""An unsigned value was treated as negative.

## What happens

A uint8 200 comes out as 56: its bits were read as the int8 -56, and that was made positive.

## Why

Memory holds bits; the type of the pointer says what they mean. A tensor passed as
`x.view(torch.int8)`, a `.to(tl.int8, bitcast=True)`, or a kernel written for signed data and
called on unsigned reads the upper half of the range as negative. For the unsigned type itself
`tl.abs` is no operation at all (claim B7).

## How to see it

Values below half of the range (128 for uint8) are right, so a test with small numbers passes.
torch on the CPU has no abs for uint16, uint32 and uint64, so a reference for these is usually
computed through a signed view too, and agrees.

## Wrong

`abs/signed_view`:

```python
signed = SIGNED[x.dtype]
abs_kernel[(triton.cdiv(n, BLOCK),)](x.view(signed), out.view(signed), n, BLOCK=BLOCK)
```

## Right

`abs/unsigned`:

```python
abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
```

## Fix

Pass the tensor in its own dtype: Triton takes uint8 to uint64 pointers. Where a signed view cannot
be avoided, convert back before anything that depends on the sign: `x.to(tl.uint8, bitcast=True)`.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.contracts import Abs, convert
from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, contract_of, evaluate, fixed
from tritaudit.tensors import abs_bits, bits_of, from_bits
from tritaudit.trial import Trial


def _signed(x: torch.Tensor) -> torch.Tensor:
    d = dtype_of(x.dtype)
    return bits_of(x) if d.kind == "uint" else x


def _predict(trial: Trial) -> Claim | None:
    if all(dtype_of(x.dtype).kind != "uint" for x in trial.inputs.values()):
        return None
    if isinstance(contract_of(trial), Abs):
        x = trial.source
        target = dtype_of(trial.expected.value.dtype)
        value = fixed(convert(abs_bits(_signed(x)), target))
        if target.bits == dtype_of(x.dtype).bits:
            value = fixed(from_bits(bits_of(abs_bits(_signed(x))), target))
        return Claim(value, None, ("unsigned-as-signed",))
    predicted = evaluate(trial, inputs={k: _signed(x) for k, x in trial.inputs.items()})
    if predicted is None or predicted.value.shape != trial.wrong.shape:
        return None
    predicted.impossible = None
    return Claim(predicted, None, ("unsigned-as-signed",))


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every unsigned input is read as the signed number of the same bits."""
    if any(dtype_of(x.dtype).kind == "uint" for x in trial.inputs.values()):
        yield Candidate(
            "as signed",
            "unsigned-as-signed",
            _predict,
            statement="unsigned inputs are read as two's complement numbers",
        )


FAULT = Fault("unsigned-as-signed", candidates=candidates)
