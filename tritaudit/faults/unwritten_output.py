"""Elements of the output were never written."""

from __future__ import annotations

import torch

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def pattern(trial: Trial, missing: torch.Tensor) -> str:
    """Which elements were not written, in words."""
    total, count = missing.numel(), int(missing.sum())
    if count == total:
        return "nothing was written"
    axes = trial.case.out_axes()
    for dim, axis in enumerate(axes):
        line = missing.movedim(dim, -1).reshape(-1, missing.shape[dim])
        if not bool((line == line[:1]).all()):
            continue
        flags = line[0].tolist()
        first = flags.index(True)
        if all(flags[first:]):
            for tile in trial.case.tiles_of(axis):
                size = trial.example.tile(tile.name)
                if first == len(flags) // size * size:
                    return f"the tail of {axis} after the last whole {tile.name} was dropped"
            return f"the tail of {axis} from {first} on was not written"
        last = len(flags) - 1 - flags[::-1].index(True)
        if all(flags[: last + 1]):
            return f"the head of {axis} up to {last} was not written"
    return f"{count} of {total} elements were not written"


def direct(trial: Trial) -> Direct | None:
    """Elements that kept the poison in runs with two poisons."""
    missing = trial.unwritten
    if missing is None or not bool(missing.any()):
        return None
    words = pattern(trial, missing)
    return Direct((words,), where=missing, parameters=(("pattern", words),))


FAULT = Fault("unwritten-output", direct=direct)
