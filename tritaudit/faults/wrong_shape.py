"""The output has another shape than the contract asks for."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Another shape was returned."""
    if trial.seen.shape is None:
        return None
    wanted = tuple(trial.expected.value.shape)
    return Direct((f"the output has the shape {trial.seen.shape}, not {wanted}",))


FAULT = Fault("wrong-shape", direct=direct)
