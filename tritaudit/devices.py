"""Which GPU a process sees: one of several, chosen by the variable that its runtime reads.

A runtime reads the variable when it is first used, so it is set in a process that has not touched a
device. What the user has set there stays the list that is chosen from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

__all__ = ["in_words", "only"]

#: per kind of build of torch: the variables that name the visible devices, the one that counts
#: first. ROCm reads that of CUDA where its own is not set.
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "cuda": ("CUDA_VISIBLE_DEVICES",),
    "hip": ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
    "xpu": ("ZE_AFFINITY_MASK",),
}


def only(build: str, index: int, variables: Mapping[str, str]) -> tuple[str, str]:
    """The variable and the value with which a process sees one device alone.

    Args:
        build: "cuda", "hip" or "xpu".
        index: of the device, among those that are visible now.
        variables: the environment as it is now. Its list may have numbers, UUIDs or names of MIG
            instances, which the runtime reads, not this function.
    """
    names = _VARIABLES[build]
    visible = next((variables[name] for name in names if variables.get(name)), "")
    chosen = visible.split(",")[index].strip() if visible else str(index)
    return names[0], chosen


def in_words(names: Iterable[str]) -> str:
    """The devices of a machine: "NVIDIA H200", "2 x NVIDIA H200"; "" where there are none."""
    counted = Counter(names).items()
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counted)
