"""The output has another dtype than the contract asks for."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Another dtype was returned."""
    if trial.seen.dtype is None:
        return None
    wanted = trial.case.output_dtype(trial.example.dtype())
    return Direct((f"the output is {trial.seen.dtype}, not {wanted}",))


FAULT = Fault("wrong-dtype", direct=direct)
