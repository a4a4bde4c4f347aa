"""-0.0 came out as +0.0 where bits must move unchanged."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tritaudit.faults.protocol import Candidate, Claim, Fault, fixed
from tritaudit.tensors import is_negative_zero
from tritaudit.trial import Trial


def _candidate(always: bool) -> Candidate:
    def predict(trial: Trial) -> Claim | None:
        where = is_negative_zero(trial.expected.value)
        if not always:
            # A zero that is summed with other zeros keeps its sign when all of them are negative.
            where = where & trial.wrong
        if not bool(where.any()):
            return None
        zero = torch.zeros_like(trial.expected.value)
        return Claim(fixed(zero), where, ("signed-zero-lost",))

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


FAULT = Fault("signed-zero-lost", candidates=candidates)
