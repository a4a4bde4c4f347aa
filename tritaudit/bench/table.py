"""What follows from the times: bandwidth, ratios, and who is how many times slower than whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tritaudit.bench.model import Measured, Timing

__all__ = ["Slower", "bandwidth", "groups", "ratio", "slower"]

#: ratios below this are within what two measurements of the same thing differ by.
_NOTABLE = 1.1


def bandwidth(row: Measured) -> float | None:
    """Gigabytes a second, of the bytes that have to be moved."""
    return None if row.time is None else row.moved / row.time.median / 1e6


def ratio(time: Timing | None, other: Timing | None) -> float | None:
    """How many times as long one takes as another."""
    if time is None or other is None or other.median <= 0:
        return None
    return time.median / other.median


def groups(rows: Iterable[Measured]) -> dict[str, list[Measured]]:
    """The rows by group, groups and rows in the order in which they come."""
    found: dict[str, list[Measured]] = {}
    for row in rows:
        found.setdefault(row.entry.group, []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class Slower:
    """`row` takes `times` as long as `than`, the fastest right kernel of the same group."""

    row: str
    than: str
    times: float
    group: str

    def sentence(self) -> str:
        """The finding in words."""
        return f"{self.row} is {self.times:.1f} times slower than {self.than}"


def slower(rows: Sequence[Measured]) -> list[Slower]:
    """The kernels that are notably slower than the fastest right one of their group."""
    found = []
    for name, members in groups(rows).items():
        kernels = [r for r in members if r.time is not None and not r.entry.expression]
        right = [r for r in kernels if r.correct is not False]
        if not right:
            continue
        best = min(right, key=lambda r: r.time.median if r.time else 0.0)
        for row in kernels:
            times = ratio(row.time, best.time)
            if row is not best and times is not None and times >= _NOTABLE:
                same = row.entry.variant == best.entry.variant
                than = best.entry.case if same else best.entry.label
                found.append(Slower(row.entry.label, than, times, name))
    return found
