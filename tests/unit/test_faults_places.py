"""Faults that put elements in wrong places, on tensors that were moved by hand."""

from __future__ import annotations

import pytest
import torch
from trials import build, candidates, faults, plausible, tags

from tritaudit.contracts import Flip, Reference
from tritaudit.dtypes import dtype_of, to_signed
from tritaudit.faults.diagnosis import diagnose, prove
from tritaudit.tensors import GUARD, from_bits
from tritaudit.trial import Trial

BLOCK = 4


def tile_by_tile(x: torch.Tensor, tile: int, padding: float = 0) -> torch.Tensor:
    """What a program a tile gives that flips its padded tile and stores it where it was."""
    out = []
    for start in range(0, len(x), tile):
        lanes = x[start : start + tile].tolist()
        lanes += [padding] * (tile - len(lanes))
        out += lanes[::-1][: len(x) - start]
    return torch.tensor(out, dtype=x.dtype)


def tiles_exchanged(x: torch.Tensor, tile: int) -> torch.Tensor:
    """The tiles in reverse order, each read forwards, the last one with its padding."""
    padded = x.tolist() + [0] * (-len(x) % tile)
    parts = [padded[k : k + tile] for k in range(0, len(padded), tile)]
    return torch.tensor([v for part in parts[::-1] for v in part][: len(x)], dtype=x.dtype)


def flip(x: torch.Tensor, got: torch.Tensor, tile: int | None = BLOCK) -> Trial:
    return build(Flip("N"), x, got, tiles={"BLOCK": ("N", tile)} if tile else None)


# --------------------------------------------------------------------------- along one axis


@pytest.mark.parametrize("n", [8, 12, 16])
def test_tiles_that_are_reversed_in_themselves_are_block_local(n: int) -> None:
    assert faults(flip(tags(n), tile_by_tile(tags(n), BLOCK))) == {"block-local-flip"}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_padded_tile_leaks(n: int) -> None:
    found = candidates(flip(tags(n), tile_by_tile(tags(n), BLOCK)), "padding-leak")
    assert any(c.parameters == (("N", "local BLOCK"),) for c in found)


def test_a_padded_tile_large_enough_to_tell_is_nothing_but_a_leak() -> None:
    x = tags(5)
    assert plausible(flip(x, tile_by_tile(x, 8), 8)) == {"padding-leak"}


def test_several_padded_tiles_show_both() -> None:
    assert faults(flip(tags(10), tile_by_tile(tags(10), BLOCK))) == {
        "block-local-flip",
        "padding-leak",
    }


def test_what_a_masked_lane_holds_is_read_from_the_output() -> None:
    x = tags(5)
    trial = flip(x, tile_by_tile(x, 8, padding=-7.5), 8)
    assert faults(trial) == {"padding-leak"}
    assert ("masked lanes", "-7.5") in candidates(trial, "padding-leak")[0].parameters


def test_a_tile_that_no_case_names_is_found() -> None:
    x = tags(5)
    found = candidates(flip(x, tile_by_tile(x, 8), None), "padding-leak")
    assert any(c.parameters == (("N", "local next_power_of_2(N)"),) for c in found)


@pytest.mark.parametrize("n", [8, 12, 16])
def test_exchanged_tiles_are_not_block_local(n: int) -> None:
    assert plausible(flip(tags(n), tiles_exchanged(tags(n), BLOCK))) == {"tile-order-only"}


def test_exchanged_padded_tiles_leak_as_well() -> None:
    assert faults(flip(tags(10), tiles_exchanged(tags(10), BLOCK))) == {
        "tile-order-only",
        "padding-leak",
    }


def test_an_output_that_is_the_input_is_not_reversed() -> None:
    assert faults(flip(tags(9), tags(9))) == {"not-reversed"}


def test_a_single_tile_tells_nothing_of_the_order_of_tiles() -> None:
    """N = BLOCK and nothing moved: a neighbour that another example has to refute."""
    trial = flip(tags(4), tags(4))
    assert plausible(trial) >= {"not-reversed", "tile-order-only"}
    [found] = [c for c in candidates(trial, "tile-order-only") if "order BLOCK" in c.key]
    larger = flip(tags(8), tags(8))
    assert prove(found, [larger]).refuted_by is larger


@pytest.mark.parametrize(
    ("shift", "beyond", "edge"),
    [
        (-1, 0.0, "zero"),
        (1, 0.0, "zero"),
        (-1, None, "clamp"),
        (1, "wrap", "wrap"),
        (2, 0.0, "zero"),
    ],
)
def test_a_shifted_reversal_is_off_by_one(shift: int, beyond: object, edge: str) -> None:
    x = tags(9)
    right = x.tolist()[::-1]
    out = []
    for i in range(9):
        at = i + shift
        if 0 <= at < 9:
            out.append(right[at])
        elif beyond is None:
            out.append(right[0] if at < 0 else right[8])
        else:
            out.append(right[at % 9] if beyond == "wrap" else beyond)
    trial = flip(x, torch.tensor(out))
    assert plausible(trial) == {"off-by-one"}
    assert ("edge", edge) in candidates(trial, "off-by-one")[0].parameters


def test_a_shift_by_three_has_another_name() -> None:
    x = tags(9)
    got = torch.tensor([*x.tolist()[::-1][3:], 0.0, 0.0, 0.0])
    assert "off-by-one" not in faults(flip(x, got))


# --------------------------------------------------------------------------- several axes


def matrix(got: torch.Tensor, contract: Flip, x: torch.Tensor) -> Trial:
    return build(contract, x, got, tiles={"BH": ("H", 2), "BW": ("W", 4)})


@pytest.mark.parametrize(
    ("axes", "turned"),
    [(("W",), (0,)), (("W",), (0, 1)), (("H", "W"), (1,)), (("H",), (1,))],
    ids=["another", "too many", "too few", "the other way"],
)
def test_other_axes_than_the_contract_names(axes: tuple[str, ...], turned: tuple[int, ...]) -> None:
    x = tags(3, 5)
    assert faults(matrix(torch.flip(x, turned), Flip(*axes), x)) == {"wrong-axis"}


def test_a_matrix_reversed_along_no_axis_is_not_reversed() -> None:
    x = tags(3, 5)
    assert faults(matrix(x.clone(), Flip("W"), x)) == {"not-reversed"}


def test_a_matrix_reversed_as_one_vector_is_the_wrong_axis() -> None:
    x = tags(3, 5)
    trial = matrix(x.reshape(-1).flip(0).reshape(3, 5), Flip("W"), x)
    assert faults(trial) == {"wrong-axis"}


def test_rows_that_are_flipped_tile_by_tile() -> None:
    """Whole tiles in every row look like tiles of the flat memory; a row with a rest tells."""

    def rows_of(width: int) -> Trial:
        x = tags(3, width)
        return matrix(torch.stack([tile_by_tile(row, 4) for row in x]), Flip("W"), x)

    trial, other = rows_of(8), rows_of(6)
    local = candidates(trial, "block-local-flip")
    assert any(prove(c, [other]).refuted_by is None for c in local)
    assert all(prove(c, [other]).refuted_by is other for c in candidates(trial, "wrong-axis"))


def test_both_axes_flipped_in_padded_tiles() -> None:
    x = tags(3, 5)
    once = torch.stack([tile_by_tile(row, 8) for row in x])
    twice = torch.stack([tile_by_tile(column, 4) for column in once.T]).T.contiguous()
    trial = build(Flip("H", "W"), x, twice)
    assert faults(trial) == {"padding-leak"}


def test_a_flip_inside_a_reference_is_diagnosed_as_well() -> None:
    contract = Reference(lambda x: x + x.flip(0), tolerance="exact")
    x = tags(8)
    trial = build(contract, x, x + tile_by_tile(x, 4), tiles={"BLOCK": ("N", 4)})
    assert faults(trial) == {"block-local-flip"}


def test_what_is_read_beside_the_input_is_no_masked_lane() -> None:
    """x[n - i] under a mask that is true: the first element lies behind the input."""
    x, (d, guard) = tags(4), (dtype_of("float32"), GUARD[0])
    beside = from_bits(torch.tensor([to_signed(guard & d.mask, d.bits)], dtype=d.carrier), d)
    got = torch.cat([beside, x.flip(0)[:-1]])
    strays = torch.tensor([True, False, False, False])
    trial = build(Flip("N"), x, got, strays=strays, unwritten=torch.zeros_like(strays))
    full = diagnose(trial, exhaustive=True)
    assert full.faults == ("out-of-bounds-read", "off-by-one")
    assert full.explanations[0].faults == ("off-by-one",)
    [candidate] = full.explanations[0].candidates
    assert dict(candidate.parameters) == {"N": "-1", "edge": "memory"}
    assert candidate.statement.endswith("beyond the end, what lies there in memory comes out")


# --------------------------------------------------------------------------- memory


def one_after_another(x: torch.Tensor, tile: int) -> torch.Tensor:
    """In place: each program reads the mirrored tile as it is by then."""
    memory = x.tolist()
    for start in range(0, len(memory), tile):
        read = [memory[len(memory) - 1 - i] for i in range(start, min(start + tile, len(memory)))]
        memory[start : start + len(read)] = read
    return torch.tensor(memory, dtype=x.dtype)


def test_programs_in_order_that_read_what_they_stored_race() -> None:
    x = tags(10)
    got = one_after_another(x, 4)
    trial = build(Flip("N"), x, got, tiles={"BLOCK": ("N", 4)}, in_place="x")
    assert faults(trial) == {"alias-race"}
    assert ("tile", "BLOCK") in candidates(trial, "alias-race")[0].parameters


def test_programs_in_any_order_race_too() -> None:
    """The last program first: it overwrites what the first one has still to read."""
    x = tags(10)
    got = x.flip(0)
    got[0:2] = x[0:2]
    trial = build(Flip("N"), x, got, tiles={"BLOCK": ("N", 4)}, in_place="x")
    assert faults(trial) == {"alias-race"}


def test_the_same_output_beside_the_input_is_no_race() -> None:
    x = tags(10)
    trial = build(Flip("N"), x, one_after_another(x, 4), tiles={"BLOCK": ("N", 4)})
    assert "alias-race" not in plausible(trial)


def test_memory_order_of_a_transposed_matrix() -> None:
    x = tags(3, 5)
    memory = x.T.contiguous().reshape(3, 5)  # the elements as they lie, taken for rows
    trial = build(Flip("W"), x, memory.flip(1), layouts={"x": "transposed"})
    assert faults(trial) == {"stride-ignored"}


def test_a_contiguous_matrix_is_never_blamed_on_strides() -> None:
    x = tags(3, 5)
    memory = x.T.contiguous().reshape(3, 5)
    assert "stride-ignored" not in plausible(build(Flip("W"), x, memory.flip(1)))


# --------------------------------------------------------------------------- what is right


@pytest.mark.parametrize("n", [1, 4, 7, 12])
def test_a_right_output_has_no_fault(n: int) -> None:
    assert faults(flip(tags(n), tags(n).flip(0))) == set()


def test_a_palindrome_hides_a_reversal_that_did_not_happen() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 2.0, 1.0])
    assert faults(flip(x, x)) == set()


@pytest.mark.parametrize("seed", range(3))
def test_elements_in_no_order_are_a_mismatch_and_nothing_else(seed: int) -> None:
    x = torch.randn(12, generator=torch.Generator().manual_seed(seed))
    assert faults(flip(x, x.sort().values)) == {"value-mismatch"}
