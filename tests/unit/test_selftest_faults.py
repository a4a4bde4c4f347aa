"""What the self-test taught the predictors, on tensors that were made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch
from trials import build, candidates, faults, plausible, tags

from tritaudit.contracts import Abs, Flip, Reference
from tritaudit.faults.diagnosis import prove
from tritaudit.faults.precision_loss import through
from tritaudit.tensors import GUARD, guarded_copy
from tritaudit.trial import Trial

NAN, INF = float("nan"), float("inf")


def row_sum(x: torch.Tensor) -> torch.Tensor:
    return x.sum(1)


def difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x - y).abs()


def refuted(trial: Trial, by: Trial, fault: str) -> bool:
    """Whether all candidates of a fault that explain one trial fail on another."""
    found = candidates(trial, fault)
    assert found
    return all(prove(c, [by]).refuted_by is not None for c in found)


# --------------------------------------------------------------------------- special cases of more


def test_negative_zero_is_nothing_special_where_every_sign_is_kept() -> None:
    zero = build(Abs(), torch.tensor([-0.0]), torch.tensor([-0.0]))
    assert plausible(zero) == {"signed-zero-kept", "sign-kept"}
    assert refuted(zero, build(Abs(), tags(3) * -1, tags(3) * -1), "signed-zero-kept")


def test_negative_zero_is_special_where_other_signs_are_cleared() -> None:
    zero = build(Abs(), torch.tensor([-0.0]), torch.tensor([-0.0]))
    assert not refuted(zero, build(Abs(), tags(3) * -1, tags(3)), "signed-zero-kept")


def test_the_minimum_is_nothing_special_where_every_sign_is_kept() -> None:
    x = torch.tensor([-128], dtype=torch.int8)
    minimum = build(Abs(), x, x.to(torch.int16))
    assert plausible(minimum) == {"int-abs-overflow", "sign-kept"}
    other = torch.tensor([-5, 7], dtype=torch.int8)
    assert refuted(minimum, build(Abs(), other, other.to(torch.int16)), "int-abs-overflow")


def test_the_negation_of_a_minimum_is_right_in_a_wider_type() -> None:
    x = torch.tensor([-128, 5, -7], dtype=torch.int8)
    assert faults(build(Abs(), x, -x.to(torch.int16))) == {"sign-kept"}


def test_an_unsigned_difference_that_wraps_keeps_no_sign() -> None:
    x, y = (torch.tensor(v, dtype=torch.uint8) for v in ([3, 9], [5, 4]))
    got = torch.tensor([254, 5], dtype=torch.uint8)
    assert plausible(build(Reference(difference), {"x": x, "y": y}, got)) == {"int-overflow"}


def test_a_difference_that_is_widened_before_abs_has_overflowed() -> None:
    x, y = (torch.tensor(v, dtype=torch.int8) for v in ([-128, 100, 4], [0, -100, 9]))
    got = (x - y).to(torch.int16).abs()  # 128, which int8 could not hold, and 56 for 200
    assert faults(build(Reference(difference), {"x": x, "y": y}, got)) == {"int-overflow"}


def window(x: torch.Tensor) -> torch.Tensor:
    return torch.where(torch.arange(x.numel()) < 2, x, torch.zeros_like(x))


@pytest.mark.parametrize(("value", "fault"), [(NAN, "nan-lost"), (-0.0, "signed-zero-lost")])
def test_zeros_in_place_of_numbers_speak_of_neither_nan_nor_signs(value: float, fault: str) -> None:
    nothing = torch.zeros(2)
    special = build(Reference(window, "exact"), torch.tensor([value, 0.0]), nothing)
    assert fault in plausible(special)
    plain = build(Reference(window, "exact"), torch.tensor([5.0, 0.0]), nothing)
    assert refuted(special, plain, fault)


def test_a_nan_that_was_added_to_zero_goes_with_the_lost_sign() -> None:
    signalling = torch.tensor([0x7F800001], dtype=torch.int32).view(torch.float32)
    x = torch.cat([torch.tensor([-0.0, 1.0]), signalling])
    assert faults(build(Flip("N"), x, x.flip(0) + 0.0)) == {"signed-zero-lost"}


# --------------------------------------------------------------------------- memory

READERS: Mapping[str, Callable[[tuple[int, int]], tuple[int, int]]] = {
    # The strides that a kernel uses for those that the tensor has, (1, H) for a transposed one.
    "all": lambda shape: (shape[1], 1),
    "of rows": lambda shape: (shape[1], shape[0]),
    "of columns": lambda shape: (1, 1),
    "exchanged": lambda shape: (shape[0], 1),
}


@pytest.mark.parametrize("which", list(READERS))
def test_strides_are_ignored_together_or_one_by_one(which: str) -> None:
    x = tags(3, 5)
    memory = guarded_copy(x, GUARD[0], 64, layout("transposed"))
    store = memory.store.view(torch.float32)
    seen = store.as_strided(x.shape, READERS[which]((3, 5)), memory.start)
    trial = build(Flip("W"), x, seen.flip(1).contiguous(), layouts={"x": "transposed"})
    assert faults(trial) == {"stride-ignored"}


def layout(name: str) -> object:
    from tritaudit.model import Layout

    return Layout(name)


def test_strides_may_be_exchanged_for_a_contiguous_matrix_too() -> None:
    x = tags(4, 4)
    assert "stride-ignored" in plausible(build(Flip("W"), x, x.t().flip(1).contiguous()))


def guard_value() -> float:
    return float(guarded_copy(torch.zeros(1), GUARD[0], 64).store[:1].view(torch.float32))


def test_an_index_beyond_a_row_reads_the_next_row() -> None:
    x = tags(2, 4)
    got = torch.tensor([[5.0, 4.0, 3.0, 2.0], [guard_value(), 8.0, 7.0, 6.0]])
    assert faults(build(Flip("W"), x, got)) == {"off-by-one", "out-of-bounds-read"}


def test_an_index_before_a_row_reads_the_row_before() -> None:
    x = tags(2, 3)
    got = torch.tensor([[2.0, 1.0, guard_value()], [5.0, 4.0, 3.0]])
    (found,) = {c.key for c in candidates(build(Flip("W"), x, got), "off-by-one")}
    assert found == "shift 1 1 memory"


def test_any_byte_beside_a_bool_is_true() -> None:
    x = torch.tensor([False, False, True])
    got = torch.tensor([False, False, True])  # x[1], x[0] and what lies before x
    trial = build(Flip("N"), x, got)
    found = candidates(trial, "off-by-one")
    assert "shift 0 1 memory" in {c.key for c in found}


# --------------------------------------------------------------------------- masks and padding


@pytest.mark.parametrize("padding", [0.0, 9.0])
@pytest.mark.parametrize("place", [0, 4])
def test_a_mask_that_is_one_short_lets_a_masked_lane_out(place: int, padding: float) -> None:
    x = tags(5)
    got = x.flip(0).clone()
    got[place] = padding
    assert faults(build(Flip("N"), x, got)) == {"padding-leak"}


def test_a_load_that_selects_nothing_gives_only_padding() -> None:
    assert "padding-leak" in plausible(build(Flip("N"), tags(6), torch.zeros(6)))


def test_a_tile_that_is_not_flipped_is_moved_by_its_padding() -> None:
    x = tags(5)  # a tile of 8, stored 3 to the left
    got = torch.tensor([4.0, 5.0, 0.0, 0.0, 0.0])
    assert faults(build(Flip("N"), x, got)) == {"not-reversed", "padding-leak"}


@pytest.mark.parametrize("number", [1, -1, 7])
def test_padding_takes_part_in_a_sum(number: int) -> None:
    x = tags(3, 5, dtype=torch.int32)
    got = x.sum(1, dtype=torch.int32) + 3 * number  # a tile of 8 for 5 columns
    trial = build(Reference(row_sum), x, got, out_axes="H")
    assert faults(trial) == {"padding-leak"}


def test_rows_reversed_in_a_padded_tile_leak_where_they_should_not_be_reversed() -> None:
    x = tags(1, 3)  # a tile of 4 rows, flipped: the row is in its last lane
    trial = build(Flip("W"), x, torch.zeros(1, 3), tiles={"B": ("H", 4)})
    assert "wrong-axis" not in faults(trial)
    assert "padding-leak" in faults(trial)


def test_tiles_of_rows_may_be_reversed_beside_the_columns() -> None:
    x = tags(4, 3)
    got = x.flip(1)[[1, 0, 3, 2]]
    assert faults(build(Flip("W"), x, got, tiles={"B": ("H", 2)})) == {"wrong-axis"}
    padded = torch.cat([x[:2].flip((0, 1)), torch.zeros(1, 3)])
    trial = build(Flip("W"), x[:3].clone(), padded, tiles={"B": ("H", 2)})
    assert faults(trial) == {"wrong-axis", "padding-leak"}


def test_tiles_exchanged_along_one_axis_and_reversed_along_the_other() -> None:
    x = tags(3, 6)
    got = torch.cat([x[:, 2:], torch.zeros(3, 2)], 1).flip(0)
    trial = build(Flip("W"), x, got, tiles={"B": ("W", 4)})
    assert faults(trial) == {"tile-order-only", "wrong-axis", "padding-leak"}


# --------------------------------------------------------------------------- in place


@pytest.mark.parametrize(("n", "start"), [(10, 8), (8, 4), (3, 0)])
def test_a_tail_that_is_left_out_in_place_was_not_written(n: int, start: int) -> None:
    x = -tags(n)
    got = x.abs()
    got[start:] = x[start:]
    trial = build(Abs(), x, got, tiles={"BLOCK": ("N", 4)}, in_place="x")
    assert "unwritten-output" in plausible(trial)
    if start:
        assert faults(trial) == {"unwritten-output"}


def test_abs_that_does_nothing_in_place_keeps_the_sign() -> None:
    x = -tags(10)
    assert faults(build(Abs(), x, x, tiles={"BLOCK": ("N", 4)}, in_place="x")) == {"sign-kept"}


# --------------------------------------------------------------------------- out of range


def test_a_float_beyond_an_integer_type_comes_back_saturated_or_by_its_low_bits() -> None:
    x = torch.tensor([2**31 - 1, -(2**31), 5], dtype=torch.int32)
    assert through(x, "float32").tolist() == [2**31 - 1, -(2**31), 5]  # type: ignore[union-attr]
    wrapped = through(x, "float32", wraps=True)
    assert wrapped is not None
    assert wrapped.tolist() == [-(2**31), -(2**31), 5]
    small = torch.tensor([32767, -3], dtype=torch.int16)
    assert through(small, "float16", wraps=True).tolist() == [-32768, -3]  # type: ignore[union-attr]


@pytest.mark.parametrize("wraps", [False, True])
def test_integers_through_float32_lose_precision_either_way(wraps: bool) -> None:
    x = torch.tensor([2**31 - 1, 2**24 + 1, 7], dtype=torch.int32)
    got = through(x.flip(0), "float32", wraps=wraps)
    assert got is not None
    assert faults(build(Flip("N"), x, got)) == {"precision-loss"}


def test_a_negation_may_be_a_subtraction_from_zero() -> None:
    x = torch.tensor([0.0, -0.0, 2.0, -3.0])
    assert faults(build(Abs(), x, 0 - x)) == {"sign-kept"}
    assert faults(build(Abs(), x, 0 - x.abs())) == {"sign-kept"}


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2.0


def test_zeros_that_change_their_sign_both_ways_have_lost_none() -> None:
    lost = build(Reference(doubled, "exact"), torch.tensor([-0.0]), torch.tensor([0.0]))
    assert "signed-zero-lost" in plausible(lost)
    negated = build(Reference(doubled, "exact"), torch.tensor([0.0]), torch.tensor([-0.0]))
    assert refuted(lost, negated, "signed-zero-lost")
