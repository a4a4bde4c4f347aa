"""abs left -0.0 negative."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.contracts import Operations
from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, aligned, evaluate
from tritaudit.tensors import abs_bits, has_sign, is_negative_zero
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
        where = where & is_negative_zero(x) & has_sign(x)
    if not bool(where.any()):
        return None
    predicted.ulps = None
    return Claim(predicted, where, ("signed-zero-kept",))


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
