"""The tiles change places, but each keeps its inner order."""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import Way, one_axis
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """The tiles are counted from the padded end, or from the last element."""
    yield from one_axis(
        trial, lambda rule: (Way("order", rule), Way("front", rule)), "tile-order-only"
    )


FAULT = Fault("tile-order-only", candidates=candidates)
