"""What is to be measured, and what was: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from tritaudit.ir.model import Costs
from tritaudit.model import UnitRequest

__all__ = ["Entry", "Measured", "Timing", "Work"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a case in certain sizes, or a torch expression on the inputs of a case.

    `group` is what rows are compared in. `num_warps` None is what the case launches with.
    """

    case: str
    group: str
    sizes: tuple[tuple[str, int], ...]
    tiles: tuple[tuple[str, int], ...] = ()
    num_warps: int | None = None
    dtype: str = "float32"
    #: the name of a torch expression (see `tritaudit.bench.measure`), "" for the kernel.
    expression: str = ""

    @property
    def variant(self) -> str:
        """What tells this row from others of its case: `BLOCK=1024, 4 warps`."""
        words = [" ".join(f"{name}={size}" for name, size in self.tiles)]
        if self.num_warps is not None:
            words.append(f"{self.num_warps} warp{'' if self.num_warps == 1 else 's'}")
        return ", ".join(word for word in words if word)

    @property
    def label(self) -> str:
        """The row in one line."""
        return self.expression or " ".join([self.case, *([self.variant] if self.variant else [])])


@dataclass(frozen=True, slots=True)
class Work:
    """All rows of a case, measured in one process."""

    request: UnitRequest
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of a launch: the median, and what a fifth of the launches is below and above."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A row with its times.

    Attributes:
        time: of the kernel; None where there is a `problem`.
        moved: bytes that have to be read and written: all inputs and the output.
        copy: of a copy of the first input by torch.
        torch: of the plain torch function, None where it has none for the dtype.
        torch_name: that function, as `torch.flip`.
        correct: whether the output was right before the measurement; None: not known.
        problem: why there is no time, or why it is not known whether the output was right.
    """

    entry: Entry
    time: Timing | None = None
    moved: int = 0
    copy: Timing | None = None
    torch: Timing | None = None
    torch_name: str = ""
    correct: bool | None = None
    costs: Costs | None = None
    problem: str = ""
