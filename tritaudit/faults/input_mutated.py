"""An input was changed."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Inputs whose bits differ after the launch."""
    evidence = [
        f"{int(mask.sum())} of {mask.numel()} elements of {name} were changed"
        for name, mask in trial.seen.mutated.items()
    ]
    return Direct(tuple(evidence)) if evidence else None


FAULT = Fault("input-mutated", direct=direct)
