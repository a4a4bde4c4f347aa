"""Other axes are reversed than the contract names (another one, too many, or too few)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tritaudit.faults.motions import KEEP, REVERSE, Motion, asked, axis_names, candidate
from tritaudit.faults.protocol import Candidate, Fault
from tritaudit.trial import Trial


def candidates(trial: Trial) -> Iterator[Candidate]:
    """Every set of axes but the right one and the empty one."""
    flipped = asked(trial)
    if flipped is None:
        return
    names = axis_names(trial, len(flipped.shape))
    for ways in itertools.product((KEEP, REVERSE), repeat=len(names)):
        axes = tuple(k for k, way in enumerate(ways) if way is REVERSE)
        if axes and axes != tuple(sorted(flipped.dims)):
            yield candidate(Motion(ways), names, "wrong-axis")


FAULT = Fault("wrong-axis", candidates=candidates)
