"""Where an output is wrong: bits, NaNs, tolerances, and what cannot be right or be told."""

from __future__ import annotations

import math

import pytest
import torch

from tritaudit.trial import Expected, disagrees, ulp

NAN, INF = math.nan, math.inf


def wrong(got: torch.Tensor, expected: Expected) -> list[bool]:
    flags: list[bool] = disagrees(got, expected).tolist()
    return flags


# --------------------------------------------------------------------------- bits


def test_bits_are_compared_not_values() -> None:
    got, right = torch.tensor([0.0, -0.0, 1.0]), torch.tensor([-0.0, -0.0, 1.0])
    assert wrong(got, Expected(right)) == [True, False, False]


def test_a_nan_payload_counts_unless_any_nan_is_right() -> None:
    got = torch.tensor([0x7FC00001, -1], dtype=torch.int32).view(torch.float32)
    right = torch.tensor([NAN, NAN])
    assert wrong(got, Expected(right)) == [True, True]
    assert wrong(got, Expected(right, any_nan=True)) == [False, False]


def test_a_nan_and_a_number_are_never_the_same() -> None:
    got, right = torch.tensor([NAN, 1.0]), torch.tensor([1.0, NAN])
    assert wrong(got, Expected(right, any_nan=True)) == [True, True]


@pytest.mark.parametrize(
    "dtype", [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2]
)
def test_dtypes_without_arithmetic_are_compared_too(dtype: torch.dtype) -> None:
    carrier = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    right = torch.tensor([-1, 0, 5], dtype=carrier).view(dtype)
    got = torch.tensor([-1, 1, 5], dtype=carrier).view(dtype)
    assert wrong(got, Expected(right)) == [False, True, False]


def test_bools_and_empty_outputs() -> None:
    assert wrong(torch.tensor([True, False]), Expected(torch.tensor([True, True]))) == [False, True]
    assert wrong(torch.zeros(0), Expected(torch.zeros(0))) == []


# --------------------------------------------------------------------------- tolerance


@pytest.mark.parametrize(
    ("dtype", "value", "distance"),
    [
        (torch.float32, 1.0, 2.0**-23),
        (torch.float32, 1.999, 2.0**-23),
        (torch.float32, -2.0, 2.0**-22),
        (torch.float32, 0.0, 2.0**-149),
        (torch.float32, 2.0**-140, 2.0**-149),
        (torch.float16, 1.0, 2.0**-10),
        (torch.bfloat16, 1.0, 2.0**-7),
        (torch.float64, 1.0, 2.0**-52),
    ],
)
def test_the_unit_in_the_last_place(dtype: torch.dtype, value: float, distance: float) -> None:
    assert ulp(torch.tensor([value], dtype=torch.float64), dtype).item() == distance


def test_a_tolerance_in_ulp_is_counted_from_the_wide_result() -> None:
    step = 2.0**-23
    wide = torch.tensor([1 + 0.4 * step] * 3, dtype=torch.float64)
    got = torch.tensor([1.0, 1 + 2 * step, 1 + 3 * step])
    expected = Expected(wide.to(torch.float32), wide=wide, ulps=2.0)
    assert wrong(got, expected) == [False, False, True]


def test_zero_ulp_still_accepts_the_nearest_value() -> None:
    wide = torch.tensor([1 / 3], dtype=torch.float64)
    expected = Expected(wide.to(torch.float32), wide=wide, ulps=0.0)
    assert wrong(torch.tensor([1 / 3]), expected) == [False]
    assert wrong(torch.tensor([0.33333337]), expected) == [True]


def test_an_infinity_within_no_tolerance() -> None:
    wide = torch.tensor([INF, 3e38], dtype=torch.float64)
    expected = Expected(wide.to(torch.float32), wide=wide, ulps=4.0)
    assert wrong(torch.tensor([INF, INF]), expected) == [False, True]


def test_a_signed_zero_is_within_a_tolerance_and_not_within_bits() -> None:
    right, wide = torch.tensor([-0.0]), torch.tensor([-0.0], dtype=torch.float64)
    assert wrong(torch.tensor([0.0]), Expected(right, wide=wide, ulps=4.0)) == [False]
    assert wrong(torch.tensor([0.0]), Expected(right, wide=wide)) == [True]


def test_relative_and_absolute_distances() -> None:
    wide = torch.tensor([100.0, 100.0, 0.0, 0.0], dtype=torch.float64)
    expected = Expected(wide.to(torch.float32), wide=wide, close=(0.01, 0.001))
    got = torch.tensor([100.9, 101.5, 0.0009, 0.01])
    assert wrong(got, expected) == [False, True, False, True]


# --------------------------------------------------------------------------- no right answer


def test_what_is_impossible_is_wrong_whatever_it_is() -> None:
    right = torch.tensor([-128, 5], dtype=torch.int8)
    expected = Expected(right, impossible=torch.tensor([True, False]))
    assert wrong(right.clone(), expected) == [True, False]


def test_what_is_undecided_is_never_wrong() -> None:
    expected = Expected(torch.zeros(2), undecided=torch.tensor([True, False]))
    assert wrong(torch.ones(2), expected) == [False, True]


def test_undecided_wins_over_impossible() -> None:
    here = torch.tensor([True])
    assert wrong(torch.ones(1), Expected(torch.zeros(1), impossible=here, undecided=here)) == [
        False
    ]
