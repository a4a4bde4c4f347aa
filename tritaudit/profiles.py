"""How hard a run looks: a few seconds before a commit, some minutes in CI, a night."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tritaudit.choices import ProfileChoice
from tritaudit.model import Backend

__all__ = ["PROFILES", "Budget", "Profile"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may spend on a case.

    `examples` of sweep and census together (0: the whole sweep, and a short census); `elements` of
    the largest input that the census draws (0: the default of the backend).
    """

    examples: int = 0
    elements: int = 0


@dataclass(frozen=True, slots=True)
class Profile:
    """Budgets by backend, and the seconds that a case may take."""

    name: ProfileChoice
    purpose: str
    timeout: float
    interpreter: Budget
    gpu: Budget

    def budget(self, backend: Backend) -> Budget:
        """What a search on a backend may spend."""
        return self.gpu if backend is Backend.GPU else self.interpreter


#: their durations for the whole catalogue are in docs/measurements.md.
PROFILES: Mapping[ProfileChoice, Profile] = MappingProxyType(
    {
        p.name: p
        for p in (
            Profile(ProfileChoice.QUICK, "a commit", 30, Budget(60, 96), Budget(2_000, 4_096)),
            Profile(ProfileChoice.CI, "a pull request", 60, Budget(), Budget()),
            Profile(
                ProfileChoice.DEEP, "a night", 1800, Budget(1_500, 1_024), Budget(400_000, 1 << 18)
            ),
        )
    }
)
