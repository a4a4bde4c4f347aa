"""Triton refuses the kernel where the contract is legal."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """A compile error, or a trace error of the interpreter."""
    error = trial.seen.error
    return Direct((error.message,)) if error is not None and error.kind == "rejected" else None


FAULT = Fault("api-rejects", direct=direct)
