"""What is asked of the compiler, and what it answered: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from tritaudit.model import UnitRequest

__all__ = [
    "STAGES",
    "Answer",
    "Argument",
    "Call",
    "Compiled",
    "Costs",
    "Question",
    "Refused",
    "Stage",
    "Target",
]

#: the forms that a kernel passes through, in order; the last two are of NVIDIA, then of AMD.
STAGES = ("ttir", "ttgir", "llir", "ptx", "sass", "amdgcn")
#: lanes of a warp, by the kind of GPU.
_LANES = {"cuda": 32, "hip": 64}


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU to compile for: `cuda:90`, `hip:gfx942`."""

    backend: str
    arch: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """The target that a text names.

        Raises:
            ValueError: it names none; the message is a sentence.
        """
        backend, _, arch = text.partition(":")
        number = arch.isascii() and arch.isdigit()
        if (backend == "cuda" and number) or (backend == "hip" and arch.startswith("gfx")):
            return cls(backend, arch)
        raise ValueError(f"{text!r} is no target; targets are like cuda:90, cuda:80, hip:gfx942")

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"

    @property
    def lanes(self) -> int:
        """Lanes of a warp. AMD's gfx10 to gfx12 have 32, its others 64."""
        if self.backend == "hip" and self.arch.startswith(("gfx10", "gfx11", "gfx12")):
            return 32
        return _LANES[self.backend]

    @property
    def assembly(self) -> str:
        """The stage in which the costs are counted."""
        return "ptx" if self.backend == "cuda" else "amdgcn"


@dataclass(frozen=True, slots=True)
class Question:
    """A case to compile: for which GPU, with how many warps, and in which sizes.

    `target` "" is the GPU at hand, else cuda:90. `num_warps` empty is what the case launches with.
    `dim` replaces the axis of every `tl.flip` of the kernel. Tiles and sizes that are not given
    are chosen.
    """

    request: UnitRequest
    target: str = ""
    num_warps: tuple[int, ...] = ()
    dim: int | None = None
    dtype: str = ""
    tiles: tuple[tuple[str, int], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of `tl.flip` or `tl.abs` in a kernel. Columns are bytes from 0, the end is beyond."""

    name: str  # "flip" or "abs"
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a kernel in the launch: its type or value, and what Triton may assume."""

    name: str
    value: str
    aligned: bool = False


@dataclass(frozen=True, slots=True)
class Costs:
    """What a kernel needs, counted in the code of one program.

    `shared_bytes` of a program, `registers` and `spills` (32-bit words in local memory) of a
    thread, None where the tools of the target do not tell. A loop counts once.
    """

    shuffles: int
    barriers: int
    shared_loads: int
    shared_stores: int
    shared_bytes: int
    registers: int | None
    spills: int | None
    instructions: int


@dataclass(frozen=True, slots=True)
class Stage:
    """One form of a kernel, without its tables of locations.

    Attributes:
        name: one of STAGES.
        rows: its text, a line each.
        marked: rows that stem from a call (see Compiled.calls).
        near: rows that stem from the same source lines, but not from the call itself.
        operations: operations of the marked rows and how often each occurs, most frequent first.
        mentions: lines of the whole text, tables of locations included, that contain "flip".
    """

    name: str
    rows: tuple[str, ...]
    marked: tuple[int, ...] = ()
    near: tuple[int, ...] = ()
    operations: tuple[tuple[str, int], ...] = ()
    mentions: int = 0


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel as it was launched, compiled for a target."""

    kernel: str
    path: str
    line: int
    grid: tuple[int, ...]
    arguments: tuple[Argument, ...]
    num_warps: int
    costs: Costs
    calls: tuple[Call, ...] = ()
    stages: tuple[Stage, ...] = ()
    #: configurations of an autotuned kernel, of which the first one was compiled; 0: not tuned.
    configurations: int = 0

    def stage(self, name: str) -> Stage | None:
        """A stage by its name."""
        return next((stage for stage in self.stages if stage.name == name), None)


@dataclass(frozen=True, slots=True)
class Refused:
    """A kernel that was not compiled, and why; `path` and `line` of the author's code if known."""

    num_warps: int | None
    message: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The kernels of one question, in the order of their launches, for each number of warps."""

    case: str
    target: str
    triton: str
    dtype: str
    sizes: tuple[tuple[str, int], ...]
    tiles: tuple[tuple[str, int], ...]
    kernels: tuple[Compiled, ...] = ()
    refused: tuple[Refused, ...] = ()
    dim: int | None = None
