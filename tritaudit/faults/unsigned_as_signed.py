"""An unsigned value was treated as negative."""

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
