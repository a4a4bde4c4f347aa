"""Memory beside a tensor was written."""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def _places(name: str, places: tuple[int, ...], count: int) -> str:
    before = sum(1 for p in places if p < 0)
    after = len(places) - before
    parts = []
    if before:
        parts.append(f"{before} before its start (nearest {-max(p for p in places if p < 0)})")
    if after:
        beyond = min(p for p in places if p >= 0)
        word = "after its end" if beyond >= count else "between its elements"
        parts.append(f"{after} {word} (first at index {beyond} of {count})")
    return f"elements of memory beside {name} were written: " + ", ".join(parts)


def direct(trial: Trial) -> Direct | None:
    """Guard bands of the output or of an input that changed."""
    evidence = []
    if trial.seen.outside:
        evidence.append(_places("the output", trial.seen.outside, trial.wrong.numel()))
    for name, places in trial.seen.beside_inputs:
        evidence.append(_places(name, places, trial.inputs[name].numel()))
    return Direct(tuple(evidence)) if evidence else None


FAULT = Fault("out-of-bounds-write", direct=direct)
