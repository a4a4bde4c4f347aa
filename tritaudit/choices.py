"""What an option and a configuration choose from."""

from __future__ import annotations

from enum import StrEnum

from tritaudit.model import Severity

__all__ = ["BackendChoice", "FailOn", "ProfileChoice"]


class BackendChoice(StrEnum):
    """Where to run: `auto` is the GPU where there is one, `both` compares it with the other."""

    AUTO = "auto"
    INTERPRETER = "interpreter"
    GPU = "gpu"
    BOTH = "both"


class ProfileChoice(StrEnum):
    """How hard to look; what each means is in `tritaudit.profiles`."""

    QUICK = "quick"
    CI = "ci"
    DEEP = "deep"


class FailOn(StrEnum):
    """The least severity of a finding that makes a run fail."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NEVER = "never"

    def counts(self, severity: Severity) -> bool:
        """Whether a finding of a severity makes a run fail."""
        order = (Severity.NOTE, Severity.WARNING, Severity.ERROR)
        if self is FailOn.NEVER:
            return False
        return order.index(severity) >= order.index(Severity(self.value))
