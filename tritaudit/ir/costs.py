"""What a kernel costs, counted in the assembly of one program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tritaudit.ir.locations import Row
from tritaudit.ir.model import Costs

__all__ = ["amd_costs", "nvidia_costs", "total"]

#: PTX, by what is counted. `bar.warp.sync` is not among the barriers: it holds up one warp only.
_PTX = {
    "shuffles": re.compile(r"\bshfl\.sync\b"),
    "barriers": re.compile(r"\b(?:bar|barrier)(?:\.cta)?\.sync\b"),
    "shared_loads": re.compile(r"\b(?:ld(?:\.\w+)*\.shared|ldmatrix)\b"),
    "shared_stores": re.compile(r"\b(?:st(?:\.\w+)*\.shared|stmatrix)\b"),
}
#: AMD: lanes exchange through the LDS hardware, by DPP or by permlane.
_AMD = {
    "shuffles": re.compile(r"^\s*(?:ds_b?permute|ds_swizzle|v_permlane|\w+_dpp\b)"),
    "barriers": re.compile(r"^\s*s_barrier(?:_signal)?\b"),
    "shared_loads": re.compile(r"^\s*ds_(?:read|load)"),
    "shared_stores": re.compile(r"^\s*ds_(?:write|store)"),
}


def nvidia_costs(ptx: Sequence[Row], sass: Sequence[Row], usage: str, shared_bytes: int) -> Costs:
    """The costs of a kernel for an NVIDIA GPU.

    Args:
        usage: what `cuobjdump --dump-resource-usage` prints; "" where it cannot be run.
        sass: the rows of SASS, none where nvdisasm cannot be run: PTX is counted then.
    """
    counted = _count(_PTX, ptx)
    registers = re.search(r"\bREG:(\d+)", usage)
    stack = re.search(r"\bSTACK:(\d+)", usage)
    return Costs(
        **counted,
        shared_bytes=shared_bytes,
        registers=int(registers.group(1)) if registers else None,
        spills=int(stack.group(1)) // 4 if stack else None,
        instructions=_instructions(sass or ptx),
    )


def amd_costs(rows: Sequence[Row], text: str, shared_bytes: int) -> Costs:
    """The costs of a kernel for an AMD GPU, from its assembly."""
    registers = re.search(r"\.vgpr_count:\s*(\d+)", text)
    spills = re.search(r"\.vgpr_spill_count:\s*(\d+)", text)
    return Costs(
        **_count(_AMD, rows),
        shared_bytes=shared_bytes,
        registers=int(registers.group(1)) if registers else None,
        spills=int(spills.group(1)) if spills else None,
        instructions=_instructions(rows),
    )


def _count(patterns: dict[str, re.Pattern[str]], rows: Sequence[Row]) -> dict[str, int]:
    code = [row.text for row in rows if row.operation]
    return {
        name: sum(len(pattern.findall(text)) for text in code) for name, pattern in patterns.items()
    }


def _instructions(rows: Sequence[Row]) -> int:
    """Instructions without the padding at the end of SASS."""
    return sum(bool(row.operation) and row.operation not in ("NOP", "s_nop") for row in rows)


def total(costs: Sequence[Costs]) -> Costs:
    """The costs of kernels that run one after another: counts add up, needs are those of the worst.

    Raises:
        ValueError: there is none.
    """

    def worst(values: Iterable[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return max(known, default=None)

    return Costs(
        shuffles=sum(c.shuffles for c in costs),
        barriers=sum(c.barriers for c in costs),
        shared_loads=sum(c.shared_loads for c in costs),
        shared_stores=sum(c.shared_stores for c in costs),
        shared_bytes=max(c.shared_bytes for c in costs),
        registers=worst(c.registers for c in costs),
        spills=worst(c.spills for c in costs),
        instructions=sum(c.instructions for c in costs),
    )
