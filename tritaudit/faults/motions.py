"""Wrong ways to move the elements of a tensor, as algebra on index maps.

A motion says, for every axis, where its elements come from: an axis keeps its order, is reversed,
is reversed tile by tile, has its tiles exchanged, ... Each way is a vector of source positions
along that axis, MASKED where a masked lane's value comes out. A tile is given by a rule, not a
number ("the constexpr BLOCK", "the next power of two"), so that the same motion can be tested at
other sizes. Which faults a motion shows follows from the sizes: a kernel that reverses each padded
tile leaks padding at N = 1 and is block-local at N = 2 * BLOCK.

Up to Triton 3.2, `tl.flip` moves elements by arithmetic: it multiplies with 0 and 1 and adds (claim
A4). A motion can be such a one: then a NaN or Inf spreads over its whole tile, from lanes that are
not stored as well, and zeros lose their signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import torch

from tritaudit.contracts import Flip, Operations
from tritaudit.dtypes import dtype_of
from tritaudit.faults.protocol import Candidate, Claim, contract_of, evaluate
from tritaudit.model import MASKED
from tritaudit.tensors import bits_of, from_bits, is_nan, is_negative_zero, number_as
from tritaudit.trial import Trial


@dataclass(frozen=True, slots=True)
class TileRule:
    """How long a tile is: a constexpr of the case, the next power of two, or a constant.

    `size` is the constant, or the least that the next power of two may be.
    """

    kind: str  # "named", "pow2", "const"
    name: str = ""
    size: int = 0

    def of(self, trial: Trial, extent: int) -> int:
        """The tile's length along an axis of `extent` elements."""
        match self.kind:
            case "named":
                return trial.example.tile(self.name)
            case "pow2":
                return max(self.size, 1 << max(extent - 1, 0).bit_length())
            case _:
                return self.size

    def text(self, axis: str) -> str:
        match self.kind:
            case "named":
                return self.name
            case "pow2":
                power = f"next_power_of_2({axis})"
                return f"max({self.size}, {power})" if self.size > 1 else power
            case _:
                return str(self.size)

    @property
    def general(self) -> int:
        return {"named": 0, "pow2": 1}.get(self.kind, 2) + (self.size > 1)


@lru_cache(maxsize=4)  # one prediction asks for the same few, and they can be large
def _sources(kind: str, extent: int, tile: int, lanes: int) -> torch.Tensor:
    at = torch.arange(lanes)
    base, lane = at // tile * tile, at % tile
    match kind:
        case "keep":
            out = at
        case "reverse":
            out = extent - 1 - at
        case "local":  # every tile reversed in itself, the last one with its padding
            out = base + tile - 1 - lane
        case "within":  # every tile reversed in itself, the last one only where it is valid
            out = base + (extent - base).clamp(max=tile) - 1 - lane
        case "order":  # tiles exchanged, counted from the padded end
            out = -(-extent // tile) * tile - tile - base + lane
        case "front":  # tiles exchanged, counted from the last element
            out = extent - tile - base + lane
        case "mirrored":  # reversed over the padded length
            out = -(-extent // tile) * tile - 1 - at
        case "ahead":  # the order is kept, moved to the front by the padding of the last tile
            out = at + -extent % tile
        case "headless":  # reversed, and the first position comes from a masked lane
            out = torch.where(at == 0, MASKED, extent - 1 - at)
        case "tailless":  # reversed, and the last position comes from a masked lane
            out = torch.where(at == extent - 1, MASKED, extent - 1 - at)
        case "nothing":  # every position comes from a masked lane
            out = torch.full_like(at, MASKED)
        case _:
            raise AssertionError(kind)
    return torch.where((out >= 0) & (out < extent), out, MASKED)


@dataclass(frozen=True, slots=True)
class Way:
    """Where the elements of one axis come from."""

    #: keep, reverse, local, within, order, front, mirrored, ahead, headless, tailless, nothing
    kind: str
    tile: TileRule | None = None

    def sources(self, extent: int, tile: int, lanes: int = 0) -> torch.Tensor:
        """The source position of each of `extent` positions; MASKED for a masked lane.

        `lanes`: of so many positions instead, those of whole tiles.
        """
        return _sources(self.kind, extent, tile, lanes or extent)

    def faults(self, extent: int, tile: int, asked: bool) -> frozenset[str]:
        """The faults that this way shows on an axis that the contract reverses (`asked`) or not."""
        sources = self.sources(extent, tile)
        right = (REVERSE if asked else KEEP).sources(extent, 1)
        if torch.equal(sources, right):
            return frozenset()
        masked = sources == MASKED
        found = {"padding-leak"} if bool(masked.any()) else set()
        if not asked:
            moved = bool(((sources != right) & ~masked).any())
            return frozenset(found | {"wrong-axis"} if moved else found)
        match self.kind:
            case "keep":
                found.add("wrong-axis")
            case "local" | "within" if extent > tile:
                found.add("block-local-flip")
            case "order" | "front":
                found.add("tile-order-only")
            case "ahead":
                found.add("not-reversed")
            case _:
                found.add("padding-leak")
        return frozenset(found)


KEEP, REVERSE = Way("keep"), Way("reverse")


def added_up(x: torch.Tensor, axis: int, tile: int) -> torch.Tensor:
    """What whole tiles of floats become if multiplying with 0 and 1 and adding brought them there.

    As tl.flip up to Triton 3.2: a step for each bit of the lane, y = other * 1 + own * 0. NaNs come
    out with any sign and payload.
    """
    d = dtype_of(x.dtype)
    wide = (x.to(torch.float32) if d.bits == 8 else x).to(torch.float64).movedim(axis, -1)
    lanes = torch.arange(wide.shape[-1], device=x.device)
    y = wide[..., lanes // tile * tile + tile - 1 - lanes % tile]  # as it was before the flip
    step = 1
    while step < tile:
        y = y[..., lanes ^ step] + y * 0.0
        step *= 2
    return number_as(y.movedim(-1, axis).contiguous(), d)


@dataclass(frozen=True, slots=True)
class Motion:
    """One way an axis, or one way for the flattened tensor; and what comes out of masked lanes."""

    ways: tuple[Way, ...]
    flat: bool = False
    leak: float | int = 0
    #: tiles are reversed by multiplying with 0 and 1 and adding.
    summed: bool = False

    def move(self, trial: Trial, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """`x` moved, and a mask of where a masked lane's value came out."""
        d = dtype_of(x.dtype)
        bits = bits_of(x.contiguous())
        shape = bits.shape
        if self.flat:
            bits = bits.reshape(-1)
        masked = torch.zeros(bits.shape, dtype=torch.bool, device=bits.device)
        filler = bits_of(number_as(torch.tensor([self.leak]), d)).to(bits.device)
        for axis, way in enumerate(self.ways):
            extent = bits.shape[axis]
            tile = way.tile.of(trial, extent) if way.tile is not None else 1
            if way.kind == "keep" or not extent:
                continue
            summed = self.summed and way.tile is not None and d.is_float
            lanes = -(-extent // tile) * tile if summed else extent
            sources = way.sources(extent, tile, lanes).to(bits.device)
            line = (sources == MASKED).reshape([-1 if k == axis else 1 for k in range(bits.dim())])
            bits = torch.where(line, filler, bits.index_select(axis, sources.clamp(min=0)))
            masked = masked.index_select(axis, sources.clamp(min=0)) | line
            if summed:
                bits = bits_of(added_up(from_bits(bits, d), axis, tile)).narrow(axis, 0, extent)
                masked = masked.narrow(axis, 0, extent)
        return from_bits(bits.reshape(shape), d), masked.reshape(shape)

    def faults(self, trial: Trial, shape: tuple[int, ...], dims: tuple[int, ...]) -> set[str]:
        """The faults at work for a tensor of `shape` that should be reversed along `dims`."""
        if self.flat:
            total = 1
            for n in shape:
                total *= n
            way = self.ways[0]
            tile = way.tile.of(trial, total) if way.tile is not None else 1
            every = all(n == 1 or k in dims for k, n in enumerate(shape))
            return set(way.faults(total, tile, every))
        found: set[str] = set()
        for axis, way in enumerate(self.ways):
            tile = way.tile.of(trial, shape[axis]) if way.tile is not None else 1
            found |= way.faults(shape[axis], tile, axis in dims)
        if found == {"wrong-axis"} and all(w.kind == "keep" for w in self.ways):
            return {"not-reversed"}
        return found


def axis_names(trial: Trial, rank: int) -> tuple[str, ...]:
    """The names of the axes of the tensor that is flipped."""
    axes = trial.case.inputs[0].axes
    return axes if len(axes) == rank else tuple(f"axis {k}" for k in range(rank))


def candidate(motion: Motion, names: tuple[str, ...], fault: str) -> Candidate:
    """A motion as a candidate. The faults of its claims depend on the sizes of the trial."""

    def predict(trial: Trial) -> Claim | None:
        faults: set[str] = set()
        masks: list[torch.Tensor] = []

        def faulty(x: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
            if not motion.flat and x.dim() != len(motion.ways):
                raise ValueError("another rank")
            faults.update(motion.faults(trial, tuple(x.shape), dims))
            moved, masked = motion.move(trial, x)
            masks.append(masked)
            return moved

        predicted = evaluate(trial, Operations(flip=faulty))
        if predicted is None or predicted.value.shape != trial.wrong.shape:
            return None
        predicted.impossible = predicted.undecided = None
        masked = masks[0] if contract_of(trial).moves_only and len(masks) == 1 else None
        if motion.summed:
            predicted.any_nan = True  # a NaN keeps neither sign nor payload
            faults |= _of_sums(trial, motion, predicted.value)
        return Claim(predicted, None, tuple(sorted(faults)), masked)

    parameters: list[tuple[str, str]] = []
    for name, way in zip(("flat",) if motion.flat else names, motion.ways, strict=True):
        if way.kind != "keep":
            tile = way.tile.text(name) if way.tile is not None else ""
            parameters.append((name, f"{way.kind} {tile}".strip()))
    if motion.leak:
        parameters.append(("masked lanes", str(motion.leak)))
    if motion.summed:
        parameters.append(("moved by", "multiplying with 0 and 1 and adding"))
    general = sum(way.tile.general for way in motion.ways if way.tile is not None)
    key = " ".join(f"{n}:{v}" for n, v in parameters) + f" flat={motion.flat}"
    return Candidate(
        f"motion {key} {motion.leak}",
        fault,
        predict,
        statement=_statement(motion, names),
        parameters=tuple(parameters),
        general=general + motion.flat + motion.summed,
    )


def _of_sums(trial: Trial, motion: Motion, value: torch.Tensor) -> set[str]:
    """What arithmetic adds to a motion: the faults that show where only it makes a difference."""
    if not bool((is_nan(value) | (bits_of(value) == 0)).any()):
        return set()
    moved = replace(motion, summed=False)
    pure = evaluate(trial, Operations(flip=lambda x, dims: moved.move(trial, x)[0]))
    if pure is None:
        return set()
    zeros = is_negative_zero(pure.value) & (bits_of(value) == 0)
    spread = is_nan(value) & ~is_nan(pure.value)
    found = {"signed-zero-lost": zeros, "nan-contamination": spread}
    return {fault for fault, where in found.items() if bool(where.any())}


_WORDS = {
    "keep": "{axis} keeps its order",
    "reverse": "{axis} is reversed",
    "local": "each tile of {tile} along {axis} is reversed in itself, padding included",
    "within": "each tile of {tile} along {axis} is reversed in itself",
    "order": "the tiles of {tile} along {axis} change places and keep their inner order",
    "front": "the tiles of {tile} along {axis} change places and keep their inner order",
    "mirrored": "{axis} is reversed over its length padded to a multiple of {tile}",
    "ahead": "{axis} keeps its order and is moved ahead by the padding of a tile of {tile}",
    "headless": "{axis} is reversed, and a masked lane comes out in the first place",
    "tailless": "{axis} is reversed, and a masked lane comes out in the last place",
    "nothing": "every element along {axis} comes from a masked lane",
}


def _statement(motion: Motion, names: tuple[str, ...]) -> str:
    parts = []
    for name, way in zip(("the flat tensor",) if motion.flat else names, motion.ways, strict=True):
        if way.kind != "keep" or len(motion.ways) == 1:
            tile = way.tile.text(name) if way.tile is not None else ""
            parts.append(_WORDS[way.kind].format(axis=name, tile=tile))
    if motion.summed:
        parts.append("tiles are reversed by multiplying with 0 and 1 and adding")
    return "; ".join(parts) if parts else "nothing moves"


# --------------------------------------------------------------------------- which to try


@dataclass(frozen=True, slots=True)
class Asked:
    """What the contract flips: the shape of the tensor and the dimensions."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]


def asked(trial: Trial) -> Asked | None:
    """The flip that the contract asks for; None if it asks for none."""
    watch = _Watch()
    evaluate(trial, Operations(flip=watch))
    return watch.seen


class _Watch:
    """A flip that moves nothing and remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: Asked | None = None

    def __call__(self, x: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
        self.seen = self.seen or Asked(tuple(x.shape), tuple(dims))
        return x


#: the least tiles of kernels that take the next power of two (tl.flip refuses a tile of 1).
LEAST = (1, 2, 4, 8, 16, 32, 64, 128)


def tile_rules(trial: Trial, axis: str, extent: int) -> Iterator[TileRule]:
    """The tiles that may cut an axis: the case's own, else powers of two."""
    own = trial.case.tiles_of(axis)
    for tile in own:
        yield TileRule("named", tile.name)
    for least in LEAST:
        if least <= 2 or least > extent:
            yield TileRule("pow2", size=least)
    if not own:
        # A kernel that chooses its own tile: any power of two below the padded axis, and beyond.
        for exponent in range(1, min(14, max(extent - 1, 0).bit_length() + 7)):
            yield TileRule("const", size=1 << exponent)


def leaks(trial: Trial) -> list[float | int]:
    """The values that masked lanes may hold: 0, or a constant that stands in the output."""
    out: list[float | int] = [0]
    wrong = trial.got[trial.wrong].reshape(-1)
    if isinstance(contract_of(trial), Flip) and wrong.numel():
        d = dtype_of(wrong.dtype)
        values, counts = torch.unique(bits_of(wrong), return_counts=True)
        bits = values[counts.argmax()]
        top = from_bits(bits.reshape(1), d)
        number = top.to(torch.float64).item() if d.is_float else int(top.to(torch.int64).item())
        if number != 0 and bool((bits_of(trial.source) != bits).all()):
            out.append(number)
    return out


def one_axis(
    trial: Trial,
    ways: Callable[[TileRule], Iterable[Way]],
    fault: str,
    flat: bool = True,
    others: bool = False,
) -> Iterator[Candidate]:
    """Motions that go a wrong way along one axis that is to be reversed (`others`: to be kept)."""
    flipped = asked(trial)
    if flipped is None:
        return
    names = axis_names(trial, len(flipped.shape))
    right = tuple(REVERSE if k in flipped.dims else KEEP for k in range(len(flipped.shape)))
    dims = [k for k in range(len(names)) if (k in flipped.dims) is not others]
    for leak in leaks(trial):
        for dim in dims:
            for rule in tile_rules(trial, names[dim], flipped.shape[dim]):
                for way in ways(rule):
                    changed = (*right[:dim], way, *right[dim + 1 :])
                    yield candidate(Motion(changed, leak=leak), names, fault)
        if flat and len(flipped.shape) > 1:
            total = int(torch.tensor(flipped.shape).prod())
            rules = dict.fromkeys(TileRule("named", t.name) for t in trial.case.tiles)
            rules.update(dict.fromkeys(tile_rules(trial, "", total)))
            for rule in rules:
                for way in ways(rule):
                    yield candidate(Motion((way,), flat=True, leak=leak), names, fault)


#: the ways of an axis whose tiles may have been reversed by tl.flip.
_FLIPPED = ("reverse", "local", "mirrored")


def by_sums(trial: Trial, fault: str) -> Iterator[Candidate]:
    """Motions whose tiles are reversed by arithmetic: right ones, and wrong ones along an axis."""
    flipped = asked(trial)
    if flipped is None or not trial.source.is_floating_point():
        return
    names = axis_names(trial, len(flipped.shape))
    right = tuple(REVERSE if k in flipped.dims else KEEP for k in range(len(flipped.shape)))
    for dim in flipped.dims:
        own = [TileRule("named", t.name) for t in trial.case.tiles_of(names[dim])]
        padded = [TileRule("pow2", size=least) for least in LEAST[:2]]
        rules = [*own, *padded] if own else tile_rules(trial, names[dim], flipped.shape[dim])
        for rule in rules:
            for kind in _FLIPPED:
                ways = (*right[:dim], Way(kind, rule), *right[dim + 1 :])
                yield candidate(Motion(ways, summed=True), names, fault)


def several_axes(trial: Trial) -> Iterator[Candidate]:
    """Motions that go a wrong way along two axes at once, with the case's own tiles."""
    flipped = asked(trial)
    if flipped is None or len(flipped.shape) < 2:
        return
    names = axis_names(trial, len(flipped.shape))
    choices: list[list[Way]] = []
    for dim in range(len(flipped.shape)):
        here = [REVERSE, KEEP] if dim in flipped.dims else [KEEP, REVERSE]
        for rule in tile_rules(trial, names[dim], flipped.shape[dim]):
            # Of one tile there is only its inside to get wrong.
            every = ("local", "within", "order", "front", "mirrored")
            kinds = every if rule.kind == "named" else ("local",)
            here += [Way(kind, rule) for kind in kinds if rule.kind != "const"]
        choices.append(here)
    for first in range(len(choices)):
        for second in range(first + 1, len(choices)):
            for a in choices[first][1:]:
                for b in choices[second][1:]:
                    ways = [c[0] for c in choices]
                    ways[first], ways[second] = a, b
                    yield candidate(Motion(tuple(ways)), names, "block-local-flip")
