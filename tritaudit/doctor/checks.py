"""From facts to problems. Nothing is looked at here, so that every problem can be arranged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from tritaudit.doctor.model import Cache, Facts, Probe, Problem, Trial
from tritaudit.model import Severity

__all__ = ["is_set", "pins", "problems"]

#: what an environment variable of Triton has to be to count as set.
_TRUE = ("1", "true", "on", "yes", "y")
_INSTALL = {
    "numpy": "pip install numpy",
    "torch": "pip install torch",
    "triton": "pip install triton-windows" if os.name == "nt" else "pip install triton",
    "hypothesis": "pip install hypothesis",
}


def is_set(value: str) -> bool:
    """Whether Triton takes the value of a variable for true."""
    return value.lower() in _TRUE


def problems(
    facts: Facts, cache: Cache, trials: Sequence[Trial] = (), probes: Sequence[Probe] = ()
) -> tuple[Problem, ...]:
    """All problems, the causes before what follows from them."""
    causes = [
        *_modules(facts),
        *_versions(facts),
        *_interpreter_variable(facts),
        *_gpu(facts),
        *_cache(cache),
    ]
    broken = {p.id for p in causes if p.severity is Severity.ERROR}
    explained = broken - {"cache-unwritable"}
    return (*causes, *_trials(trials, bool(explained), cache), *_probes(probes))


def _modules(facts: Facts) -> Iterator[Problem]:
    for module in facts.modules:
        name = module.name
        if not module.error:
            continue
        if not module.installed:
            why = "; Triton's interpreter needs it, and does not say so" if name == "numpy" else ""
            message = f"{name} is not installed{why}"
            yield Problem(f"{name}-missing", Severity.ERROR, message, _INSTALL[name])
            continue
        message = f"{name} cannot be imported: {module.error}"
        remedy = _INSTALL[name].replace("install", "install --force-reinstall")
        yield Problem(f"{name}-broken", Severity.ERROR, message, remedy)


def _versions(facts: Facts) -> Iterator[Problem]:
    triton, numpy = facts.version("triton"), facts.version("numpy")
    if triton and numpy and _is_silent(triton, numpy):
        message = (
            f"the interpreter of Triton {triton} writes nothing with numpy {numpy}: every output "
            "stays as it was, without an error"
        )
        yield Problem("silent-interpreter", Severity.ERROR, message, 'pip install "numpy<2"')
    for pin in pins(facts.requires):
        if triton and not _fits(pin, triton):
            message = (
                f"torch {facts.version('torch')} wants {pin}, and Triton {triton} is installed"
            )
            remedy = f'pip install "{pin.name}{pin.specifier}"'
            yield Problem("triton-pin", Severity.WARNING, message, remedy)


def _is_silent(triton: str, numpy: str) -> bool:
    old = triton.split(".")[:2] in (["3", "0"], ["3", "1"])
    return old and int(numpy.partition(".")[0]) >= 2


def pins(requires: Sequence[str]) -> list[Requirement]:
    """The requirements that hold on this platform."""
    found = []
    for text in requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            requirement.marker = None
            found.append(requirement)
    return found


def _fits(pin: Requirement, version: str) -> bool:
    try:
        return pin.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True


def _interpreter_variable(facts: Facts) -> Iterator[Problem]:
    wanted = is_set(facts.interpret)
    early = "triton" in facts.early
    remedy = "set TRITON_INTERPRET=1 in the shell, before Python starts, or not at all"
    if facts.interpreted is False and wanted:
        message = (
            "TRITON_INTERPRET was set after triton had been imported: kernels are interpreted, but "
            "Triton's own functions, tl.flip among them, are compiled and cannot be called"
        )
        yield Problem("interpret-late", Severity.ERROR, message, remedy)
    elif facts.interpreted and not wanted:
        message = (
            "TRITON_INTERPRET was taken away after triton had been imported: kernels are compiled, "
            "but Triton's own functions are interpreted and cannot be called"
        )
        yield Problem("interpret-late", Severity.ERROR, message, remedy)
    elif early:
        message = (
            "triton is imported when Python starts (by sitecustomize or a .pth file): a script "
            "that sets TRITON_INTERPRET itself is too late"
        )
        yield Problem("interpret-late", Severity.WARNING, message, remedy)
    if is_set(facts.shell) and facts.gpus:
        message = f"TRITON_INTERPRET={facts.shell} is set: kernels run on the CPU beside a GPU"
        yield Problem("interpret-left-on", Severity.WARNING, message, "unset TRITON_INTERPRET")


def _gpu(facts: Facts) -> Iterator[Problem]:
    if facts.gpus or not facts.driver or not facts.version("torch"):
        return
    if facts.torch_build == "cpu":
        message = (
            f"the driver {facts.driver} has a GPU, and torch {facts.version('torch')} is built for "
            "the CPU only"
        )
        remedy = "install torch with CUDA: https://pytorch.org/get-started/locally"
    else:
        told = f" ({facts.warnings[0]})" if facts.warnings else ""
        message = f"the driver {facts.driver} has a GPU, and torch sees none{told}"
        remedy = "check CUDA_VISIBLE_DEVICES, and that the driver is as new as torch's CUDA"
    yield Problem("gpu-unseen", Severity.WARNING, message, remedy)


def _cache(cache: Cache) -> Iterator[Problem]:
    if cache.problem:
        message = (
            f"the folder for compiled kernels, {cache.path}, cannot be written: {cache.problem}"
        )
        remedy = "export TRITON_CACHE_DIR=/tmp/triton-cache, or another folder that can be written"
        yield Problem("cache-unwritable", Severity.ERROR, message, remedy)


def _trials(trials: Sequence[Trial], explained: bool, cache: Cache) -> Iterator[Problem]:
    """Kernels that did not run, where no cause is known that would explain it."""
    for trial in trials:
        if not trial.problem or explained or (trial.backend == "gpu" and cache.problem):
            continue
        message = f"a trivial kernel does not run on the {trial.backend}: {trial.problem}"
        remedy = "pip install --force-reinstall torch triton, and please report this if it stays so"
        yield Problem("kernel-fails", Severity.ERROR, message, remedy)


def _probes(probes: Sequence[Probe]) -> Iterator[Problem]:
    for probe in probes:
        if probe.outcome in ("holds", "fails"):
            continue
        message = f"{probe.name} does not behave as this version of Triton is known to: "
        message += ", ".join(probe.faults) or probe.detail
        remedy = f"tritaudit explain {probe.name}"
        yield Problem("semantics-unknown", Severity.WARNING, message, remedy)
