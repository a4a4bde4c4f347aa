"""Each tile is reversed in itself, and the tiles keep their places."""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import Way, one_axis
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """The last tile is reversed with its padding, or only as far as it is valid."""
    yield from one_axis(
        trial, lambda rule: (Way("local", rule), Way("within", rule)), "block-local-flip"
    )


FAULT = Fault("block-local-flip", candidates=candidates)
