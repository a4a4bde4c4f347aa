"""Memory order was read in place of logical order."""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, Fault, evaluate
from tritaudit.model import Layout
from tritaudit.tensors import GUARD, from_bits, guarded_copy
from tritaudit.trial import Trial


def _candidate(name: str) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        layout = trial.example.layout(name)
        value = trial.inputs[name]
        if layout in (Layout.CONTIGUOUS, Layout.OFFSET) or not value.numel():
            return None
        # Reads past a shorter storage (an expanded tensor) come from the guard band.
        buffer = guarded_copy(value, GUARD[trial.seen.poison], value.numel() + 64, layout)
        flat = buffer.store[buffer.start : buffer.start + value.numel()]
        seen = from_bits(flat.reshape(value.shape).contiguous(), dtype_of(value.dtype))
        predicted = evaluate(trial, inputs={**trial.inputs, name: seen})
        if predicted is None:
            return None
        predicted.impossible = predicted.undecided = None
        return Claim(predicted, None, ("stride-ignored",))

    return Candidate(
        f"memory order {name}",
        "stride-ignored",
        predict,
        statement=f"{name} is read in memory order, as if it were contiguous",
        parameters=(("input", name),),
    )


def candidates(trial: Trial) -> Iterator[Candidate]:
    """One candidate for each input that is not contiguous."""
    for spec in trial.case.inputs:
        if trial.example.layout(spec.name) not in (Layout.CONTIGUOUS, Layout.OFFSET):
            yield _candidate(spec.name)


FAULT = Fault("stride-ignored", candidates=candidates)
