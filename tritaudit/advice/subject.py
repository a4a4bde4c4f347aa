"""What an explanation is about: a finding, its kernel's source, and how its elements move."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tritaudit.advice.kernel import Kernel
from tritaudit.model import Cell, Finding


@dataclass(frozen=True, slots=True)
class Subject:
    """A finding with what is known around it: its kernel's source and the case's contract."""

    finding: Finding
    kernel: Kernel
    contract: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        return dict(self.finding.proof.parameters)

    @property
    def sizes(self) -> dict[str, int]:
        return dict(self.finding.example.sizes)

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return [name for name, _ in self.finding.example.dtypes]

    @property
    def source(self) -> str:
        """The name of the first input."""
        dtypes = self.finding.example.dtypes
        return dtypes[0][0] if dtypes else "x"

    def call(self, *names: str) -> str:
        """The first call of one of these names, with its line: "`tl.flip(x, 0)` (line 23)"."""
        for name in names:
            for call in self.kernel.calls(name):
                return f"`{self.kernel.source(call)}` (line {call.lineno})"
        return ""

    def first_wrong(self) -> Cell | None:
        cells = self.finding.excerpt.cells if self.finding.excerpt is not None else ()
        return next((c for c in cells if c.wrong), None)


@dataclass(frozen=True, slots=True)
class Move:
    """One axis that moves the wrong way: its way, its extent, its tile in words and in elements."""

    axis: str
    way: str
    extent: int
    tile: str
    size: int

    @property
    def lanes(self) -> int:
        """Masked lanes of the last tile."""
        return -self.extent % self.size if self.size else 0

    def named(self) -> str:
        """`BLOCK = 4`, or the size alone where the tile has no name."""
        return str(self.size) if self.tile == str(self.size) else f"{self.tile} = {self.size}"


_POWER = re.compile(r"(?:max\((\d+), )?next_power_of_2\(\w*\)\)?\Z")


def moves(subject: Subject) -> list[Move]:
    """The moves that the proof names, axis by axis; of the flat tensor under the name "flat"."""
    out = []
    tiles, sizes = dict(subject.finding.example.tiles), subject.sizes
    for axis, text in subject.parameters.items():
        way, _, tile = text.partition(" ")
        extent = math.prod(sizes.values()) if axis == "flat" else sizes.get(axis)
        if extent is None or way not in _WAYS:
            continue
        size = tile_size(tile, extent, tiles) if tile else 0
        if size is not None:
            name = tile if tile.isidentifier() else _tile_name(subject.kernel, axis)
            out.append(Move(axis, way, extent, name or str(size), size))
    return out


def _tile_name(kernel: Kernel, axis: str) -> str:
    """What a kernel calls the tile along an axis, where the case has no name for it."""
    found = [i for load in kernel.loads[:1] for i in kernel.indices(load)]
    for index in found:
        if len(found) == 1 or index.extent.lower() == axis.lower():
            return kernel.tile_of(index)
    return ""


def tile_size(text: str, extent: int, tiles: dict[str, int]) -> int | None:
    if text in tiles:
        return tiles[text]
    if text.isdigit():
        return int(text)
    power = _POWER.match(text)
    if power is None:
        return None
    return max(int(power[1] or 1), 1 << max(extent - 1, 0).bit_length())


_WAYS = ("keep", "reverse", "local", "within", "order", "front", "mirrored")


def moved(subject: Subject) -> Move | None:
    """The move of a tile that the proof is about."""
    return next((m for m in moves(subject) if m.size), None)


def axis_of(move: Move) -> str:
    return "the flat tensor" if move.axis == "flat" else move.axis


def number_of(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
