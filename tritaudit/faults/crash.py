"""The launch died: the process was killed, the device failed, or run raised."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """An error of the device or an exception of the author's code.

    A process that was killed can say nothing more: its supervisor reports it.
    """
    error = trial.seen.error
    if error is None or error.kind not in ("device", "raised"):
        return None
    return Direct((error.message,))


FAULT = Fault("crash", direct=direct)
