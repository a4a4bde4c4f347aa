"""Which examples are tried: every edge, every special value where it matters, nothing illegal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import hypothesis
import pytest
from hypothesis import settings

from tritaudit import generate
from tritaudit.contracts import Abs, Flip, Reference
from tritaudit.dtypes import dtype_of, specials
from tritaudit.model import (
    FLOATS,
    INTS,
    Case,
    Edit,
    Example,
    Fill,
    FillKind,
    Scalar,
    Tensor,
    Tile,
)
from tritaudit.repro import decode, encode


def _run(*inputs: object, out: object, **options: object) -> None:
    """Never called."""


def vector(**more: object) -> Case:
    given: dict[str, object] = {
        "run": _run,
        "contract": Flip("N"),
        "inputs": [Tensor("x", "N", dtypes=("float32", "int8"))],
        "tiles": [Tile("BLOCK", "N", (4, 16))],
    }
    return Case(**{**given, **more})  # type: ignore[arg-type]


def matrix(**more: object) -> Case:
    given: dict[str, object] = {
        "run": _run,
        "contract": Flip("W"),
        "inputs": [
            Tensor("x", "H W", dtypes=("float32",), layouts=("contiguous", "transposed", "offset"))
        ],
        "tiles": [Tile("BH", "H", 2), Tile("BW", "W", (4, 8))],
        "axes": {"H": (1, 5)},
    }
    return Case(**{**given, **more})  # type: ignore[arg-type]


CASES = {
    "vector": vector(),
    "matrix": matrix(),
    "no tiles": vector(tiles=(), axes={"N": (1, 40)}),
    "no elements allowed": vector(axes={"N": (0, None)}),
    "bounded": vector(axes={"N": (3, 6)}),
    "two inputs": Case(
        run=_run,
        contract=Reference(lambda x, y: x + y),
        inputs=[
            Tensor("x", "N", dtypes=FLOATS),
            Tensor("y", "N", dtypes=FLOATS),
            Tensor("k", "N", dtypes=("int32",)),
        ],
        scalars=[Scalar("a", values=(1, 2)), Scalar("b", low=0.0, high=1.0)],
    ),
    "abs": Case(
        run=_run, contract=Abs(), inputs=Tensor("x", "N", dtypes=("int8", "int32", "bool"))
    ),
}
ALL = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def legal(case: Case, example: Example) -> None:
    """An example has what the case declares, and nothing beyond its bounds."""
    assert tuple(n for n, _ in example.sizes) == case.axis_names()
    for axis, size in example.sizes:
        low, high = case.bounds(axis)
        assert low <= size and (high is None or size <= high)
    assert [n for n, _ in example.tiles] == [t.name for t in case.tiles]
    for tile in case.tiles:
        assert example.tile(tile.name) in tile.sizes
    for spec in case.inputs:
        assert example.dtype(spec.name) in spec.dtypes
        assert str(example.layout(spec.name)) in spec.layouts
    for scalar in case.scalars:
        assert dict(example.scalars)[scalar.name] in scalar.choices()
    for edit in example.edits:
        spec = next(t for t in case.inputs if t.name == edit.tensor)
        assert 0 <= edit.index < math.prod(example.size(a) for a in spec.axes)
        assert 0 <= edit.bits <= dtype_of(example.dtype(spec.name)).mask


# --------------------------------------------------------------------------- the sweep


@ALL
def test_every_example_of_the_sweep_is_legal_and_comes_once(case: Case) -> None:
    found = list(generate.sweep(case))
    for example in found:
        legal(case, example)
        assert decode(encode(example, "interpreter")) == example
    assert len(found) < 600


@pytest.mark.parametrize("tile", [4, 16])
def test_sizes_around_every_edge_of_every_tile(tile: int) -> None:
    sizes = {e.size("N") for e in generate.structures(vector()) if e.tile("BLOCK") == tile}
    edges = {1, tile - 1, tile, tile + 1, 2 * tile}
    assert edges <= sizes
    if tile == 4:
        assert {2 * tile - 1, 2 * tile + 1, 3 * tile} <= sizes


def test_sizes_around_powers_of_two_where_no_tile_is_named() -> None:
    sizes = {e.size("N") for e in generate.structures(CASES["no tiles"])}
    assert {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 39, 40} <= sizes


def test_the_bounds_are_edges_too() -> None:
    assert {e.size("N") for e in generate.structures(CASES["bounded"])} == {3, 4, 5, 6}
    assert 0 in {e.size("N") for e in generate.structures(CASES["no elements allowed"])}


def test_an_axis_is_swept_while_the_other_is_odd_and_beyond_its_tile() -> None:
    swept = [e for e in generate.structures(matrix()) if e.tile("BW") == 4]
    by_height: dict[int, set[int]] = {}
    for example in swept:
        by_height.setdefault(example.size("H"), set()).add(example.size("W"))
    assert {1, 3, 4, 5, 8, 9} <= by_height[3]  # 3 rows: one more than the tile
    assert {1, 2, 3, 4, 5} <= set(by_height)


def test_structures_come_smallest_first() -> None:
    costs = [generate.cost(e) for e in generate.structures(matrix())]
    assert costs == sorted(costs)


@ALL
def test_every_dtype_layout_and_scalar_is_swept(case: Case) -> None:
    found = list(generate.sweep(case))
    for spec in case.inputs:
        assert {e.dtype(spec.name) for e in found} == set(spec.dtypes)
        assert {str(e.layout(spec.name)) for e in found} == set(spec.layouts)
    for scalar in case.scalars:
        assert {dict(e.scalars)[scalar.name] for e in found} == set(scalar.choices())


def test_inputs_of_equal_dtypes_take_the_same_one() -> None:
    chosen = generate.dtype_choices(CASES["two inputs"])
    assert len(chosen) == len(FLOATS)
    assert all(dict(c)["x"] == dict(c)["y"] for c in chosen)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_every_special_value_stands_at_the_first_the_last_and_the_edges(dtype: str) -> None:
    case = vector()
    places: dict[int, set[int]] = {}
    for example in generate.sweep(case):
        if example.dtype() == dtype and example.edits:
            for edit in example.edits:
                places.setdefault(edit.bits, set()).add(edit.index)
    for special in specials(dtype):
        assert len(places[special.bits]) >= 3, special.name
    everywhere = {p for found in places.values() for p in found}
    assert {0, 3, 4} <= everywhere, "first, before the tile's edge, at the edge"


@pytest.mark.parametrize(
    ("n", "expected"), [(1, {0}), (4, {0, 3, 2}), (5, {0, 4, 2, 3}), (9, {0, 8, 4, 3})]
)
def test_anchors(n: int, expected: set[int]) -> None:
    example = next(e for e in generate.structures(vector()) if e.size("N") == n)
    assert set(generate.anchors(vector(), example)) == expected


@ALL
def test_what_lies_around_an_example_is_legal_and_comes_once(case: Case) -> None:
    found = list(generate.around(case, list(generate.sweep(case))[-1]))
    for example in found:
        legal(case, example)
    assert len(found) == len(set(found))


def test_what_lies_around_an_example_is_laid_out_and_launched_as_it_is() -> None:
    case = matrix()
    layouts, launch = (("x", "transposed"),), (("config", 1),)
    base = replace(generate.structures(case)[0], layouts=layouts, launch=launch)
    found = list(generate.around(case, base))
    alike = [e for e in found if (e.layouts, e.launch) == (layouts, launch)]
    few = min(generate.AROUND // 2, len(generate.structures(case)))
    assert {e.sizes for e in alike} >= {e.sizes for e in generate.structures(case)[:few]}
    assert {e.fill.kind for e in found} >= {FillKind.NORMAL, FillKind.SPECIAL, FillKind.RANDOM}


def test_anchors_of_a_matrix_follow_both_tiles() -> None:
    base = generate.structures(matrix())[0]
    example = replace(base, sizes=(("H", 3), ("W", 5)), tiles=(("BH", 2), ("BW", 4)))
    found = generate.anchors(matrix(), example)
    assert {0, 14, 3, 4, 5, 10} <= set(found)  # 5 and 10: the rows before and at the tile's edge


# --------------------------------------------------------------------------- every pattern


def covered(examples: Iterable[Example], axes: tuple[str, ...]) -> set[int]:
    out: set[int] = set()
    for e in examples:
        assert e.fill.kind is FillKind.PATTERNS
        count = math.prod(e.size(a) for a in axes)
        out |= set(range(e.fill.seed, e.fill.seed + count))
    return out


def test_every_bit_pattern_of_narrow_dtypes_is_run() -> None:
    parts = dict(generate.every_pattern(CASES["abs"], 4096))
    assert set(parts) == {"int8", "bool"}
    assert covered(parts["int8"], ("N",)) >= set(range(256))
    assert covered(parts["bool"], ("N",)) >= {0, 1}


def test_a_bounded_axis_takes_several_launches() -> None:
    case = Case(
        run=_run, contract=Abs(), inputs=Tensor("x", "N", dtypes="float16"), axes={"N": (1, 1000)}
    )
    [(name, parts)] = generate.every_pattern(case, 4096)
    assert name == "float16" and len(parts) == 66
    assert covered(parts, ("N",)) >= set(range(1 << 16))


@pytest.mark.parametrize("contract", [Flip("N"), Reference(lambda x: x.flip(0))])
def test_what_is_not_elementwise_is_never_exhausted(contract: Flip | Reference) -> None:
    case = vector(contract=contract)
    assert list(generate.every_pattern(case, 4096)) == []


# --------------------------------------------------------------------------- the census


@ALL
@pytest.mark.parametrize("seed", [0, 1])
def test_drawn_examples_are_legal_and_small(case: Case, seed: int) -> None:
    seen: list[Example] = []

    @settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(
        hypothesis.HealthCheck
    ), phases=(hypothesis.Phase.generate,))  # fmt: skip
    @hypothesis.seed(seed)
    @hypothesis.given(generate.examples(case, 64, [()]))
    def draw(example: Example) -> None:
        seen.append(example)
        legal(case, example)
        assert decode(encode(example, "interpreter")) == example
        low = math.prod(max(1, case.bounds(a)[0]) for a in case.axis_names())
        assert math.prod(n for _, n in example.sizes) <= max(64, low)

    draw()
    assert len({e.sizes for e in seen}) > 1
    assert len({e.fill.kind for e in seen}) > 2


# --------------------------------------------------------------------------- smaller and simpler


@ALL
def test_smaller_examples_are_smaller_and_legal(case: Case) -> None:
    example = max(generate.structures(case), key=generate.cost)
    found = generate.smaller_sizes(case, example, 40)
    costs = [generate.cost(e) for e in found]
    assert costs == sorted(costs) and all(c < generate.cost(example) for c in costs)
    for smaller in found:
        legal(case, smaller)


def test_the_smallest_comes_first() -> None:
    example = replace(generate.structures(vector())[-1], tiles=(("BLOCK", 16),))
    first = generate.smaller_sizes(vector(), example)[0]
    assert first.sizes == (("N", 1),) and first.tiles == (("BLOCK", 4),)


@ALL
def test_sizes_that_may_be_fatal_begin_with_the_smallest_and_reach_up_to_the_found_one(
    case: Case,
) -> None:
    example = max(generate.structures(case), key=generate.cost)
    every = generate.smaller_sizes(case, example, None)
    assert generate.fatal_sizes(case, example, len(every)) == every
    some = generate.fatal_sizes(case, example, 20)
    assert len(some) <= 20
    assert some[:10] == every[:10]
    assert set(some) <= set(every) and sorted(some, key=generate.cost) == some
    gap = len(every) // 10 + 1
    assert all(any(e in some for e in every[k : k + gap]) for k in range(len(every) - gap))
    assert generate.fatal_sizes(case, every[0]) == []


def test_edits_that_meet_in_a_smaller_example_become_one() -> None:
    case = vector()
    base = next(e for e in generate.structures(case) if e.size("N") == 1)
    both = replace(base, edits=(Edit("x", 3, 1), Edit("x", 5, 2)))
    assert generate.kept_edits(case, both) == (Edit("x", 0, 2),)


def test_edits_move_inside_a_smaller_example() -> None:
    case = vector()
    base = next(e for e in generate.structures(case) if e.size("N") == 9)
    example = replace(base, edits=(Edit("x", 8, 0x80000000), Edit("x", 0, 1)))
    for smaller in generate.smaller_sizes(case, example):
        last = smaller.size("N") - 1
        assert {e.index for e in smaller.edits} <= {0, min(8, last)}
        assert 0x80000000 in {e.bits for e in smaller.edits}


def test_simpler_examples_keep_the_sizes() -> None:
    case = vector(inputs=[Tensor("x", "N", dtypes=FLOATS + INTS, layouts=("contiguous", "offset"))])
    base = next(e for e in generate.structures(case) if e.size("N") == 9)
    example = replace(
        base, fill=Fill(FillKind.SPECIAL, 3), edits=(Edit("x", 8, 1),), layouts=(("x", "offset"),)
    )
    found = list(generate.simpler(case, example))
    for simpler in found:
        legal(case, simpler)
        assert simpler.sizes == example.sizes and simpler.tiles == example.tiles
    assert any(e.fill == Fill() and not e.edits for e in found)
    assert any(e.layouts == (("x", "contiguous"),) for e in found)


def test_a_special_value_keeps_its_name_in_another_dtype() -> None:
    case = vector(inputs=[Tensor("x", "N", dtypes=FLOATS)])
    base = next(e for e in generate.structures(case) if e.size("N") == 4)
    example = replace(base, dtypes=(("x", "float32"),), edits=(Edit("x", 0, 0x80000000),))
    edits = {e.dtype(): e.edits[0].bits for e in generate.simpler(case, example) if e.edits}
    assert edits["float16"] == 0x8000 and edits["float64"] == 0x8000000000000000
