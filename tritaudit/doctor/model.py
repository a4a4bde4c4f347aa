"""What the doctor found: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from tritaudit.model import Severity

__all__ = ["Cache", "Examination", "Facts", "Module", "Probe", "Problem", "Trial"]


@dataclass(frozen=True, slots=True)
class Module:
    """A module that was imported, or why it was not; `installed`: it is there, but broken."""

    name: str
    version: str = ""
    file: str = ""
    error: str = ""
    installed: bool = True


@dataclass(frozen=True, slots=True)
class Facts:
    """What a fresh Python finds (see `tritaudit.doctor.facts`).

    Attributes:
        early: modules that were imported before the first line of a script.
        interpret: TRITON_INTERPRET at the end; `shell`: as the command got it.
        interpreted: whether Triton's own functions are interpreted; None: not known.
        requires: torch's requirements of Triton that hold on this platform.
        torch_build: "cpu", "cuda 12.8", ...
        driver: version of the NVIDIA driver, "" where there is none.
    """

    python: str
    executable: str = ""
    platform: str = ""
    modules: tuple[Module, ...] = ()
    early: tuple[str, ...] = ()
    interpret: str = ""
    shell: str = ""
    interpreted: bool | None = None
    requires: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    torch_build: str = ""
    driver: str = ""
    warnings: tuple[str, ...] = ()

    def module(self, name: str) -> Module:
        """A module by its name; one that nobody looked for is not installed."""
        return next((m for m in self.modules if m.name == name), Module(name, installed=False))

    def version(self, name: str) -> str:
        """The version of a module, "" where it cannot be imported."""
        return self.module(name).version


@dataclass(frozen=True, slots=True)
class Cache:
    """Where Triton keeps compiled kernels. `problem`: why nothing can be written there."""

    path: str
    kernels: int = 0
    size: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A kernel on a backend. Without a `problem` it ran and wrote what it should, or was not tried.

    `ran`: the backend started.
    """

    backend: str
    ran: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a case of `cases/semantics` asks, and what this Triton does."""

    name: str
    question: str
    outcome: str
    faults: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, in a sentence, and the one thing to do about it."""

    id: str
    severity: Severity
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Examination:
    """All of it."""

    facts: Facts
    cache: Cache
    trials: tuple[Trial, ...] = ()
    probes: tuple[Probe, ...] = ()
    problems: tuple[Problem, ...] = ()
