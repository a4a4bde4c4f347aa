"""The output equals the input: nothing was reversed."""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import KEEP, Motion, asked, axis_names, candidate
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every axis keeps its order."""
    flipped = asked(trial)
    if flipped is not None:
        names = axis_names(trial, len(flipped.shape))
        yield candidate(Motion((KEEP,) * len(names)), names, "not-reversed")


FAULT = Fault("not-reversed", candidates=candidates)
