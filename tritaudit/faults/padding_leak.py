"""Masked lanes of a padded tile reach valid positions of the output."""

from __future__ import annotations

from collections.abc import Iterator

from tritaudit.faults.motions import Way, one_axis
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """One padded tile, or several that are reversed over the padded length."""
    yield from one_axis(
        trial, lambda rule: (Way("local", rule), Way("mirrored", rule)), "padding-leak"
    )


FAULT = Fault("padding-leak", candidates=candidates)
