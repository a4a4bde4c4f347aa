"""abs left values negative, or made them so."""

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
    return -x if d.is_signed_int else x.clone()


WAYS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "unchanged": (_unchanged, "every value keeps its sign"),
    "negative": (_negative, "every value comes out negative"),
    "negated": (_negated, "every value is negated"),
}


def _candidate(name: str) -> Candidate:
    operation, statement = WAYS[name]

    def predict(trial: Trial) -> Claim | None:
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
