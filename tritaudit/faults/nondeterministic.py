"""Equal launches give different results."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Elements that differ between two launches with the same inputs and the same memory."""
    if trial.unstable is None or not bool(trial.unstable.any()):
        return None
    count, total = int(trial.unstable.sum()), trial.unstable.numel()
    return Direct(
        (f"{count} of {total} elements differ between two equal launches",), where=trial.unstable
    )


FAULT = Fault("nondeterministic", direct=direct)
