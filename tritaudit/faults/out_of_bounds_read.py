"""Memory beside an input was read, and its values reached the output."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Elements that change with the guard bands around the inputs."""
    if trial.strays is None or not bool((trial.strays & trial.wrong).any()):
        return None
    count = int((trial.strays & trial.wrong).sum())
    return Direct(
        (f"{count} of {trial.wrong.numel()} output elements change with memory beside the inputs",),
        where=trial.strays & trial.wrong,
    )


FAULT = Fault("out-of-bounds-read", direct=direct)
