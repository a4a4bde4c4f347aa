"""Which examples are tried: a boundary sweep, every bit pattern of narrow dtypes, a census.

Sizes and positions are anchored, because plain draws miss the edges: a size is `k * tile + delta`,
an edited position is the first, the last, a tile's edge or the one before it. Arrays are never
drawn; an example draws sizes, tile, dtype, layout, fill kind, seed and a few (position, special
value) edits, and the tensor is built from them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch
from hypothesis import strategies as st

from tritaudit.contracts import Abs, AnyContract, Reference
from tritaudit.dtypes import dtype_of, specials
from tritaudit.model import Case, CaseError, Edit, Example, Fill, FillKind, Layout, Tile
from tritaudit.tensors import logical_values, mix, same_bits

#: the launch options of an example.
Options = tuple[tuple[str, int], ...]
#: widest dtype of which every bit pattern is run without being asked.
EXHAUSTIVE_BITS = 16


# --------------------------------------------------------------------------- sizes


def _clip(case: Case, axis: str, sizes: Iterable[int]) -> list[int]:
    """The sizes that the case allows, sorted, without repetition."""
    low, high = case.bounds(axis)
    return sorted({n for n in sizes if n >= low and (high is None or n <= high)})


def boundary_sizes(case: Case, axis: str, tile: int | None) -> list[int]:
    """Every size around every edge: of the tile where there is one, else of powers of two."""
    low, high = case.bounds(axis)
    edges = {low, low + 1, low + 2, 1, 2, 3}
    if high is not None and high <= 4096:
        edges |= {high, high - 1}
    if tile is None:
        edges |= {4, 5, 7, 8, 9, 15, 16, 17, 33}
    else:
        edges |= {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1, 3 * tile}
        edges |= {3 * tile + tile // 2 + 1}
    for edge in case.edges_of(axis):
        edges |= {edge - 1, edge, edge + 1, 2 * edge - 1, 2 * edge, 2 * edge + 1}
    return _clip(case, axis, edges) or [low]


def _resting_sizes(case: Case, axis: str, tile: int | None) -> list[int]:
    """Sizes that an axis keeps while another is swept: small, unequal, one beyond the tile."""
    wanted = (3, 2) if tile is None else (tile + 1, 2 * tile)
    low, high = case.bounds(axis)
    return _clip(case, axis, wanted) or [min(max(3, low), high if high is not None else 3)]


def _tile_choices(case: Case) -> list[dict[str, int]]:
    """Tile sizes to combine: all smallest first, then each larger one with the rest smallest."""
    if not case.tiles:
        return [{}]
    base = {t.name: t.sizes[0] for t in case.tiles}
    out = [base]
    for tile in case.tiles:
        out += [{**base, tile.name: size} for size in tile.sizes[1:]]
    largest = {t.name: t.sizes[-1] for t in case.tiles}
    return out if largest in out else [*out, largest]


def _tile_of(case: Case, axis: str, tiles: dict[str, int]) -> int | None:
    sizes = [tiles[t.name] for t in case.tiles_of(axis)]
    return min(sizes) if sizes else None


def _size_choices(case: Case, tiles: dict[str, int], brief: bool) -> list[dict[str, int]]:
    axes = case.axis_names()
    swept = {a: boundary_sizes(case, a, _tile_of(case, a, tiles)) for a in axes}
    if brief:
        swept = {a: _brief(case, a, tiles, swept[a]) for a in axes}
    rest = {a: _resting_sizes(case, a, _tile_of(case, a, tiles))[0] for a in axes}
    out = [{**rest, axis: n} for axis in axes for n in swept[axis]]
    # The corners, where two masks meet: smallest with smallest, whole tiles with whole tiles.
    out.append({a: swept[a][0] for a in axes})
    whole = {a: 2 * (_tile_of(case, a, tiles) or 2) for a in axes}
    out.append({a: (_clip(case, a, [n]) or [rest[a]])[0] for a, n in whole.items()})
    return out


def _brief(case: Case, axis: str, tiles: dict[str, int], sizes: list[int]) -> list[int]:
    tile = _tile_of(case, axis, tiles)
    if tile is None:
        return sizes[:1]
    return _clip(case, axis, (1, tile - 1, tile, tile + 1, 2 * tile)) or sizes[:1]


def _pairs(names: Iterable[str], chosen: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple((n, chosen[n]) for n in names)


def dtype_choices(case: Case) -> list[tuple[tuple[str, str], ...]]:
    """Every choice of dtypes; inputs that declare the same dtypes take the same one."""
    groups = list(dict.fromkeys(t.dtypes for t in case.inputs))
    out = []
    for picked in itertools.product(*groups):
        by_group = dict(zip(groups, picked, strict=True))
        out.append(tuple((t.name, by_group[t.dtypes]) for t in case.inputs))
    return out


def main_dtypes(case: Case) -> tuple[tuple[str, str], ...]:
    """The choice with the most distinct tags, in which positions are told apart best."""
    return max(dtype_choices(case), key=lambda c: (dtype_of(c[0][1]).tags, -dtype_of(c[0][1]).bits))


def _example(case: Case, tiles: dict[str, int], sizes: dict[str, int], **more: object) -> Example:
    plain = Example(
        sizes=_pairs(case.axis_names(), sizes),
        tiles=_pairs([t.name for t in case.tiles], tiles),
        scalars=tuple((s.name, s.choices()[0]) for s in case.scalars),
        dtypes=main_dtypes(case),
        layouts=tuple((t.name, t.layouts[0]) for t in case.inputs),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def plain_example(case: Case, sizes: dict[str, int]) -> Example:
    """Tags in the main dtype, at sizes as near to the given ones as the case allows."""
    near = {}
    for axis, wanted in sizes.items():
        low, high = case.bounds(axis)
        near[axis] = max(low, wanted if high is None else min(wanted, high))
    return _example(case, {t.name: t.sizes[0] for t in case.tiles}, near)


def cost(example: Example) -> tuple[int, int, int]:
    """Order of examples: fewer elements first, then smaller tiles, then fewer edits."""
    elements = math.prod(n for _, n in example.sizes)
    return elements, math.prod(n for _, n in example.tiles), len(example.edits)


# --------------------------------------------------------------------------- the sweep


def structures(case: Case, launches: Iterable[Options] = ((),)) -> list[Example]:
    """Sizes around every edge for every tile, smallest first, index-tagged in the main dtype.

    Each with each of the launch options in `launches`.
    """
    found: dict[Example, None] = {}
    for k, tiles in enumerate(_tile_choices(case)):
        for sizes in _size_choices(case, tiles, brief=k > 0):
            found.update((_example(case, tiles, sizes, launch=x), None) for x in launches)
    return sorted(found, key=cost)


def _two(case: Case) -> list[Example]:
    """Two telling structures: whole tiles, and one element beyond (no tile: a power of two)."""
    tiles = _tile_choices(case)[0]
    out = []
    for extra in (0, 1):
        sizes = {}
        for axis in case.axis_names():
            tile = _tile_of(case, axis, tiles)
            wanted = 2 * tile + extra if tile is not None else (4 if extra == 0 else 5)
            low, high = case.bounds(axis)
            sizes[axis] = max(low, min(wanted, high if high is not None else wanted))
        # Many axes multiply: keep all but the last two small.
        for axis in case.axis_names()[:-2]:
            if not case.tiles_of(axis):
                sizes[axis] = max(case.bounds(axis)[0], min(2, sizes[axis]))
        out.append(_example(case, tiles, sizes))
    return out if out[0] != out[1] else out[:1]


def anchors(case: Case, example: Example) -> list[int]:
    """Flat positions in the first input worth an edit: first, last, tile edges and before them."""
    spec = case.inputs[0]
    shape = [example.size(a) for a in spec.axes]
    total = math.prod(shape)
    if not total:
        return []
    picks = [0, total - 1, total // 2]
    step = 1
    for axis, n in reversed(list(zip(spec.axes, shape, strict=True))):
        for tile in case.tiles_of(axis):
            edge = example.tile(tile.name)
            picks += [p * step for p in (edge, edge - 1) if p < n]
        step *= n
    return list(dict.fromkeys(p for p in picks if 0 <= p < total))


def _specials_anchored(case: Case, bases: list[Example]) -> Iterator[Example]:
    """Every special value at every anchored position, several positions in one example."""
    spec = case.inputs[0]
    table = specials(bases[0].dtype())
    for r in range(len(table)):
        base = bases[r % len(bases)]
        places = anchors(case, base)[:5]
        edits = tuple(
            Edit(spec.name, place, table[(r + a) % len(table)].bits)
            for a, place in enumerate(places)
        )
        yield replace(base, edits=tuple(sorted(edits)))


def sweep(case: Case, launches: Sequence[Options] = ((),)) -> Iterator[Example]:
    """The boundary sweep: positions, then dtypes, then special values, then layouts and scalars.

    Positions, and two examples of each dtype, with each of the launch options in `launches`.
    """
    yield from structures(case, launches)
    two = _two(case)
    for dtypes in dtype_choices(case):
        for k, base in enumerate(two):
            here = replace(base, dtypes=dtypes)
            for options in launches:
                yield replace(here, launch=options)
                kind = FillKind.SPECIAL if k else FillKind.NORMAL
                yield replace(here, fill=Fill(kind, k), launch=options)
        yield replace(two[0], dtypes=dtypes, fill=Fill(FillKind.RANDOM, 1))
    for layouts in _layout_choices(case)[1:]:
        for base in two:
            yield replace(base, layouts=layouts)
    for scalar in case.scalars:
        for value in scalar.choices()[1:]:
            chosen = tuple((n, value if n == scalar.name else v) for n, v in two[-1].scalars)
            for kind in (FillKind.NORMAL, FillKind.SPECIAL):
                yield replace(two[-1], scalars=chosen, fill=Fill(kind, 3))
    yield from _crossed(case)
    # Round the dtypes, so that a small budget sees something of each.
    anchored = [
        _specials_anchored(case, [replace(base, dtypes=dtypes) for base in two])
        for dtypes in dtype_choices(case)
        if not is_exhaustive(case, dtypes)
    ]
    for group in itertools.zip_longest(*anchored):
        yield from (example for example in group if example is not None)


#: examples of one kind that a replay tries around its own.
AROUND = 32


def around(case: Case, example: Example) -> Iterator[Example]:
    """A thin sweep around one example: sizes and values as it has them, a few of each other dtype.

    Sizes come in its own dtypes, layouts, scalars and launch options.
    """
    shapes = dict.fromkeys(structures(case))
    own = replace(example, fill=Fill(), edits=())
    tried = _thin([replace(own, sizes=s.sizes, tiles=s.tiles) for s in shapes])
    valued = [e for e in sweep(case) if e not in shapes]
    tried += _thin([e for e in valued if e.dtypes == example.dtypes])
    for dtypes in dtype_choices(case):
        tried += [e for e in valued if e.dtypes == dtypes][:3]
    yield from dict.fromkeys(tried)


def _thin(examples: list[Example]) -> list[Example]:
    """At most AROUND of them, the first half without gaps."""
    first, rest = examples[: AROUND // 2], examples[AROUND // 2 :]
    return first + rest[:: max(1, math.ceil(len(rest) / (AROUND // 2)))]


#: elements of an example that pairs the special values of several inputs. A float has 14 of them:
#: two such examples leave out one of 196 pairs in one of 200 seeds.
CROSSED = 1024


def _crossed(case: Case) -> Iterator[Example]:
    """Where there are several inputs: the special values of each beside those of the others."""
    if len(case.inputs) < 2:
        return
    for dtypes in dtype_choices(case):
        if not is_exhaustive(case, dtypes):
            base = replace(largest(case, CROSSED), dtypes=dtypes)
            for seed in (5, 6):
                yield replace(base, fill=Fill(FillKind.SPECIAL, seed))


def _layout_choices(case: Case) -> list[tuple[tuple[str, str], ...]]:
    base = {t.name: t.layouts[0] for t in case.inputs}
    out = [base]
    for spec in case.inputs:
        out += [{**base, spec.name: layout} for layout in spec.layouts[1:]]
    return [tuple(x.items()) for x in out]


# --------------------------------------------------------------------------- on a GPU

#: values of one structure that share a launch loop on a GPU.
BATCH = 64
#: elements of the large examples that a GPU runs: a race needs many programs to show.
LARGE = 1 << 22
#: launch options that are tried where `run` takes them.
OPTIONS: dict[str, tuple[int, ...]] = {"num_warps": (1, 2, 4, 8), "num_stages": (1, 2, 4)}


def fleets(case: Case) -> Iterator[list[Example]]:
    """The sweep of a GPU: for each structure a batch of examples that differ in their values.

    The structures of the sweep, and the launch options that `run` takes.
    """
    found: dict[Example, None] = {}
    for example in sweep(case):
        found[replace(example, fill=Fill(), edits=())] = None
    for base in _two(case):
        for launch in launch_choices(case):
            found[replace(base, launch=launch)] = None
    for base in sorted(found, key=cost):
        yield fleet(case, base)


def launch_choices(case: Case) -> list[Options]:
    """One launch option at a time, of those that `run` takes."""
    taken = [name for name in OPTIONS if case.takes(name)]
    return [((name, value),) for name in taken for value in OPTIONS[name]]


def fleet(case: Case, base: Example) -> list[Example]:
    """Examples of one structure: tags, small numbers, special values, random bits, edits."""
    room = BATCH - 2 - len(specials(base.dtype()))
    out = [replace(base, fill=Fill(FillKind.INDEX)), replace(base, fill=Fill(FillKind.NORMAL, 1))]
    out += [replace(base, fill=Fill(FillKind.SPECIAL, k)) for k in range(room // 2)]
    out += [replace(base, fill=Fill(FillKind.RANDOM, k)) for k in range(room - room // 2)]
    out += _specials_anchored(case, [base])
    return list(dict.fromkeys(out))


def large(case: Case) -> list[Example]:
    """Examples of many programs: LARGE elements where the axes allow, small and large tiles."""
    base = largest(case, LARGE)
    axes = case.inputs[0].axes
    if len(axes) > 1:
        # Square where the bounds allow: rows and columns both of many tiles.
        side = 1 << (LARGE.bit_length() // 2)
        rows = min(side, case.bounds(axes[-2])[1] or side)
        columns = min(LARGE // rows, case.bounds(axes[-1])[1] or LARGE)
        sizes = {axes[-2]: rows, axes[-1]: columns}
        base = replace(base, sizes=tuple((a, sizes.get(a, n)) for a, n in base.sizes))
    elements = math.prod(base.size(a) for a in axes)
    if elements < 1 << 16:
        return []
    base = replace(base, fill=Fill(FillKind.INDEX))
    small = replace(base, tiles=tuple((t.name, t.sizes[0]) for t in case.tiles))
    return list(dict.fromkeys((small, base)))


# --------------------------------------------------------------------------- every pattern


def is_elementwise(case: Case) -> bool:
    """Whether each output element depends on the input elements at its place alone.

    An Abs contract is; a torch callable is if it commutes with a shuffle of the elements.
    """
    contract: AnyContract = case.contract  # type: ignore[assignment]
    if isinstance(contract, Abs):
        return True
    shapes = {t.axes for t in case.inputs} | {case.out_axes()}
    if not isinstance(contract, Reference) or len(shapes) != 1:
        return False
    base = replace(_two(case)[0], fill=Fill(FillKind.NORMAL, 3))
    values = logical_values(case, base)
    order = mix(torch.arange(next(iter(values.values())).numel()), 5).argsort()

    def shuffled(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1)[order].reshape(x.shape)

    try:
        plain = contract.expect(case, base, values)
        other = contract.expect(case, base, {k: shuffled(x) for k, x in values.items()})
    except (CaseError, RuntimeError, TypeError, IndexError, NotImplementedError):
        return False
    if plain is None or other is None or plain.value.shape != next(iter(values.values())).shape:
        return False
    return bool(same_bits(shuffled(plain.value), other.value).all())


def is_exhaustive(case: Case, dtypes: tuple[tuple[str, str], ...]) -> bool:
    """Whether every bit pattern of these dtypes is run without being asked: up to 16 bits."""
    bits = sum(dtype_of(d).bits for _, d in dtypes)
    return bits <= EXHAUSTIVE_BITS and len(dtypes) <= 2 and is_elementwise(case)


def every_pattern(case: Case, elements: int) -> Iterator[tuple[str, list[Example]]]:
    """For each choice of narrow dtypes: the examples that together hold every bit pattern."""
    for dtypes in dtype_choices(case):
        if not is_exhaustive(case, dtypes):
            continue
        kinds = [dtype_of(d) for _, d in dtypes]
        patterns = 2 if kinds[0].kind == "bool" else 1 << sum(d.bits for d in kinds)
        base = replace(largest(case, min(elements, patterns)), dtypes=dtypes)
        count = math.prod(base.size(a) for a in case.inputs[0].axes)
        if not count:
            continue
        starts = range(0, patterns, count)
        name = " x ".join(d.name for d in kinds)
        yield name, [replace(base, fill=Fill(FillKind.PATTERNS, s)) for s in starts]


def largest(case: Case, elements: int) -> Example:
    """The largest tiles, and about `elements` elements of the first input: every bit pattern."""
    tiles = {t.name: t.sizes[-1] for t in case.tiles}
    axes = case.inputs[0].axes
    sizes = {a: case.bounds(a)[0] or 1 for a in case.axis_names()}
    for axis in reversed(axes):
        others = math.prod(sizes[a] for a in axes if a != axis)
        high = case.bounds(axis)[1]
        wanted = max(sizes[axis], elements // max(others, 1))
        sizes[axis] = wanted if high is None else min(wanted, high)
    return _example(case, tiles, sizes, fill=Fill(FillKind.PATTERNS))


# --------------------------------------------------------------------------- the census


@st.composite
def examples(draw: st.DrawFn, case: Case, limit: int, launches: list[Options]) -> Example:
    """Anchored examples of a case whose inputs have at most `limit` elements.

    `launches` are the choices of launch options.
    """
    tiles = {t.name: draw(st.sampled_from(t.sizes[:2] or t.sizes)) for t in case.tiles}
    sizes: dict[str, int] = {}
    room = limit
    for axis in case.axis_names():
        sizes[axis] = draw(_size(case, axis, _tile_of(case, axis, tiles), room))
        room = max(1, room // max(1, sizes[axis]))
    example = _example(
        case,
        tiles,
        sizes,
        dtypes=draw(st.sampled_from(dtype_choices(case))),
        layouts=tuple((t.name, draw(st.sampled_from(t.layouts))) for t in case.inputs),
        scalars=tuple((s.name, draw(st.sampled_from(s.choices()))) for s in case.scalars),
        launch=draw(st.sampled_from(launches)),
    )
    kind = draw(st.sampled_from(list(FillKind)))
    top = 1 << min(24, dtype_of(example.dtype()).bits)
    seeds = {FillKind.INDEX: 0, FillKind.ZERO: 0, FillKind.PATTERNS: top - 1}
    example = replace(example, fill=Fill(kind, draw(st.integers(0, seeds.get(kind, 1 << 16)))))
    return replace(example, edits=_one_each(draw(_edits(case, example))))


def _one_each(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Sorted edits, one for each element."""
    return tuple({(e.tensor, e.index): e for e in sorted(edits)}.values())


def _size(case: Case, axis: str, tile: int | None, room: int) -> st.SearchStrategy[int]:
    low, high = case.bounds(axis)
    top = max(low, min(room, high if high is not None else room))
    step = tile if tile is not None else 8
    multiples = st.integers(0, max(1, min(4, top // step)))
    deltas = st.sampled_from((0, 1, -1, 2, step // 2))
    anchored = st.builds(lambda k, d: min(top, max(low, k * step + d)), multiples, deltas)
    return st.one_of(anchored, st.integers(low, min(top, low + 4 * step)))


def _edits(case: Case, example: Example) -> st.SearchStrategy[list[Edit]]:
    choices = []
    for spec in case.inputs:
        total = math.prod(example.size(a) for a in spec.axes)
        if not total:
            continue
        places = [p for p in anchors(case, example) if p < total]
        place = st.one_of(st.sampled_from(places or [0]), st.integers(0, total - 1))
        bits = st.sampled_from([s.bits for s in specials(example.dtype(spec.name))])
        choices.append(st.builds(Edit, st.just(spec.name), place, bits))
    return st.lists(st.one_of(choices), max_size=3) if choices else st.just([])


# --------------------------------------------------------------------------- smaller ones


def simpler(case: Case, example: Example) -> Iterator[Example]:
    """The same sizes with values, dtypes, layouts or scalars that are easier to read."""
    plain = replace(example, edits=())
    if example.launch:
        yield replace(example, launch=())
    for kind in (FillKind.INDEX, FillKind.ZERO, FillKind.NORMAL):
        yield replace(plain, fill=Fill(kind))
    for edit in example.edits:
        for kind in (FillKind.INDEX, FillKind.ZERO):
            yield replace(example, fill=Fill(kind), edits=(edit,))
    if not example.edits:
        yield from _one_edit(case, example)
    for dtypes in dtype_choices(case):
        yield replace(plain, dtypes=dtypes, fill=Fill(FillKind.INDEX))
        if example.edits:
            yield from _same_special(case, example, dtypes)
    yield replace(example, layouts=tuple((n, str(Layout.CONTIGUOUS)) for n, _ in example.layouts))
    yield replace(example, scalars=tuple((s.name, s.choices()[0]) for s in case.scalars))


def _one_edit(case: Case, example: Example) -> Iterator[Example]:
    """Index tags with one special value, at the first and at the last element."""
    for spec in case.inputs[:1]:
        total = math.prod(example.size(a) for a in spec.axes)
        if not total:
            continue
        for special in specials(example.dtype(spec.name)):
            for place in sorted({0, total - 1}):
                edit = Edit(spec.name, place, special.bits)
                yield replace(example, fill=Fill(FillKind.INDEX), edits=(edit,))


def _same_special(
    case: Case, example: Example, dtypes: tuple[tuple[str, str], ...]
) -> Iterator[Example]:
    """The example in other dtypes, with the special values of the same names."""
    kinds = dict(dtypes)
    edits = []
    for edit in example.edits:
        names = {s.bits: s.name for s in specials(example.dtype(edit.tensor))}
        bits = {s.name: s.bits for s in specials(kinds[edit.tensor])}
        if names.get(edit.bits) not in bits:
            return
        edits.append(replace(edit, bits=bits[names[edit.bits]]))
    yield replace(example, dtypes=dtypes, edits=tuple(edits))


def with_values(case: Case, example: Example, bits: dict[str, int]) -> Example:
    """The smallest example of the same dtypes and scalars whose first elements hold these bits."""
    structure = next(s for s in structures(case) if math.prod(n for _, n in s.sizes))
    edits = tuple(sorted(Edit(name, 0, value) for name, value in bits.items()))
    alike = replace(structure, launch=example.launch, scalars=example.scalars)
    return replace(alike, dtypes=example.dtypes, fill=Fill(), edits=edits)


def smaller_sizes(case: Case, example: Example, limit: int | None = 64) -> list[Example]:
    """The same example at smaller sizes and tiles, smallest first, at most `limit` (None: all)."""
    axes = case.axis_names()
    ranges = {a: _sizes_up_to(case, a, example) for a in axes}
    tiles: dict[str, tuple[int, ...]] = {t.name: _not_above(t, example) for t in case.tiles}
    names = list(tiles)
    total = math.prod(len(r) for r in ranges.values()) * math.prod(len(t) for t in tiles.values())
    if total > 20_000:
        ranges = {a: _thinned(case, a, example, ranges[a]) for a in axes}
    out = []
    for picked in itertools.product(*ranges.values()):
        for cut in itertools.product(*tiles.values()):
            sizes = tuple(zip(axes, picked, strict=True))
            smaller = replace(example, sizes=sizes, tiles=tuple(zip(names, cut, strict=True)))
            smaller = replace(smaller, edits=kept_edits(case, smaller))
            if cost(smaller) < cost(example):
                out.append(smaller)
    out.sort(key=cost)
    return out[:limit]


def fatal_sizes(case: Case, example: Example, most: int = 400) -> list[Example]:
    """Smaller sizes at which an example may end a process too, smallest first.

    Where there are more than `most`, half of these are the smallest and half lie evenly among the
    others.
    """
    every = smaller_sizes(case, example, None)
    few, others = every[: most // 2], every[most // 2 :]
    step = -(-len(others) // (most - most // 2)) or 1
    return few + others[::step]


def _sizes_up_to(case: Case, axis: str, example: Example) -> list[int]:
    """All sizes up to the found one; of a large one the small ones and powers of two."""
    low, found = case.bounds(axis)[0], example.size(axis)
    if found - low <= 2048:
        return list(range(low, found + 1))
    powers = [1 << k for k in range(found.bit_length()) if low <= 1 << k <= found]
    return sorted({*range(low, low + 64), *powers, found})


def _not_above(tile: Tile, example: Example) -> tuple[int, ...]:
    return tuple(s for s in tile.sizes if s <= example.tile(tile.name))


def _thinned(case: Case, axis: str, example: Example, sizes: list[int]) -> list[int]:
    tile = min((example.tile(t.name) for t in case.tiles_of(axis)), default=None)
    edges = boundary_sizes(case, axis, tile)
    return [n for n in sizes if n in edges or n == example.size(axis)] or sizes[-1:]


def kept_edits(case: Case, example: Example) -> tuple[Edit, ...]:
    """The example's edits, moved inside its sizes: one past the end goes to the last element."""
    out = []
    for edit in example.edits:
        spec = next(t for t in case.inputs if t.name == edit.tensor)
        total = math.prod(example.size(a) for a in spec.axes)
        if total:
            out.append(replace(edit, index=min(edit.index, total - 1)))
    return _one_each(out)
