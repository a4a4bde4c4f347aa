"""Faults that give wrong values, on tensors that were computed wrongly by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from trials import build, candidates, faults, plausible, tags

from tritaudit.contracts import Abs, Flip, Reference
from tritaudit.dtypes import specials
from tritaudit.faults.diagnosis import diagnose, prove
from tritaudit.trial import Trial

NAN, INF = math.nan, math.inf
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)


def special_values(dtype: torch.dtype) -> torch.Tensor:
    """Every special value of a dtype, ordinary ones among them."""
    name = str(dtype).removeprefix("torch.")
    width = dtype.itemsize * 8
    bits = [s.bits - (1 << width) * (s.bits >> (width - 1)) for s in specials(name)]
    carrier = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    return torch.tensor([*bits, *bits[::-1]], dtype=carrier).view(dtype)


# --------------------------------------------------------------------------- abs of floats


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_selection_by_comparison_keeps_negative_zero(dtype: torch.dtype) -> None:
    x = torch.tensor([-0.0, 0.0, -1.5, 2.0, -INF, 3.0], dtype=dtype)
    assert faults(build(Abs(), x, torch.where(x < 0, -x, x))) == {"signed-zero-kept"}


def test_negative_zero_is_kept_among_all_special_values() -> None:
    x = special_values(torch.float32)
    trial = build(Abs(), x, torch.where(x < 0, -x, x))
    assert faults(trial) == {"signed-zero-kept"}
    assert "sign-kept" not in plausible(trial)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("way", "compute"),
    [
        ("kept", lambda x: torch.where(x < 0, -x, x)),
        ("negated", lambda x: torch.where(x > 0, x, -x)),
        ("negative", lambda x: torch.where(x == 0, -0.0, x.abs())),
    ],
)
def test_a_zero_that_comes_out_negative(
    way: str, compute: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype
) -> None:
    x = torch.tensor([-0.0, 0.0, -1.5, 2.0, -INF, NAN], dtype=dtype)
    trial = build(Abs(), x, compute(x).to(dtype))
    assert faults(trial) == {"signed-zero-kept"}
    assert [c.parameters for c in candidates(trial, "signed-zero-kept")] == [(("zeros", way),)]


def test_a_zero_difference_that_comes_out_negative() -> None:
    inputs = {"x": torch.tensor([1.0, -2.0, 3.0]), "y": torch.tensor([1.0, -2.0, 5.0])}
    got = torch.tensor([-0.0, -0.0, 2.0])
    exact = Reference(difference, tolerance="exact")
    assert faults(build(exact, inputs, got)) == {"signed-zero-kept"}


def test_a_number_that_comes_out_as_a_negative_zero_has_lost_more_than_a_sign() -> None:
    x = torch.tensor([1.0, 0.0, -3.0])
    assert "value-mismatch" in faults(build(Abs(), x, torch.tensor([-0.0, -0.0, 3.0])))


@pytest.mark.parametrize(
    ("way", "compute"),
    [
        ("unchanged", lambda x: x.clone()),
        ("negative", lambda x: -x.abs()),
        ("negated", lambda x: -x),
    ],
)
def test_values_that_stay_or_become_negative(
    way: str, compute: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    x = torch.tensor([-1.5, 2.0, -0.0, 0.0, -3.0])
    trial = build(Abs(), x, compute(x))
    assert faults(trial) == {"sign-kept"}
    assert candidates(trial, "sign-kept")[0].parameters == (("values", way),)


def test_one_negative_value_among_right_ones_is_no_rule() -> None:
    x = torch.tensor([-1.5, 2.0, -3.0, -4.0])
    assert faults(build(Abs(), x, torch.tensor([-1.5, 2.0, 3.0, 4.0]))) == {"value-mismatch"}


@pytest.mark.parametrize(("value", "taken"), [(0.0, "0"), (INF, "+Inf")])
def test_a_nan_that_is_taken_for_a_number(value: float, taken: str) -> None:
    x = torch.tensor([NAN, -1.0, 2.0, NAN])
    trial = build(Abs(), x, torch.tensor([value, 1.0, 2.0, value]))
    assert faults(trial) == {"nan-lost"}
    assert ("NaN taken as", taken) in candidates(trial, "nan-lost")[0].parameters


def test_a_nan_that_comes_out_as_some_constant() -> None:
    x = torch.tensor([NAN, -1.0, NAN])
    trial = build(Abs(), x, torch.tensor([7.5, 1.0, 7.5]))
    assert faults(trial) == {"nan-lost"}


def test_a_nan_with_another_payload_is_right() -> None:
    x = torch.tensor([-4194303, 0x7F800001], dtype=torch.int32).view(torch.float32)
    assert faults(build(Abs(), x, torch.tensor([NAN, NAN]))) == set()


# --------------------------------------------------------------------------- abs of integers


@pytest.mark.parametrize("dtype", SIGNED)
def test_abs_of_the_minimum_in_its_own_type(dtype: torch.dtype) -> None:
    x = special_values(dtype)
    trial = build(Abs(), x, x.abs())  # torch wraps too
    assert faults(trial) == {"int-abs-overflow"}
    assert not plausible(trial) & {"sign-kept", "int-overflow", "unsigned-as-signed"}


@pytest.mark.parametrize(
    ("reduce", "filler", "held"),
    [
        (lambda x: x.abs().amax(1), -INF, "inf"),  # neutral for a maximum, but not through abs
        (lambda x: x.amin(1), 0.0, "0"),
        (lambda x: x.amin(1), -INF, "-inf"),
        (lambda x: x.prod(1), 0.0, "0"),
    ],
)
def test_padding_that_a_reduction_does_not_ignore(
    reduce: Callable[[torch.Tensor], torch.Tensor], filler: float, held: str
) -> None:
    seen: list[Trial] = []
    for width in (3, 4, 5, 6):
        x = tags(2, width)
        padded = torch.cat([x, torch.full((2, -width % 4), filler)], 1)
        contract = Reference(reduce, tolerance="exact")
        seen.append(build(contract, x, reduce(padded), tiles={"B": ("W", 4)}, out_axes="H"))
    first, *others = seen
    assert faults(first) == {"padding-leak"}
    found = [c for c in candidates(first, "padding-leak") if prove(c, others).refuted_by is None]
    assert dict(found[0].parameters) == {"W": "padded B", "masked lanes": held}


def test_abs_in_a_float_type_loses_nothing_of_the_minimum() -> None:
    """-2**31 is exact in float32; 2**24 + 1 is not."""
    lowest, long = -(2**31), 2**24 + 1
    cases = {
        (lowest,): {"int-abs-overflow"},
        (long,): {"precision-loss"},
        (lowest, long): {"int-abs-overflow", "precision-loss"},
    }
    # Remembered from an example that shows it, as in a search.
    x = torch.tensor([long], dtype=torch.int32)
    rounded = build(Abs(), x, torch.tensor([long - 1], dtype=torch.int32))
    seen = [c for c in candidates(rounded, "precision-loss") if c.key == "abs in float32"]
    assert seen
    for values, wanted in cases.items():
        x = torch.tensor(values, dtype=torch.int32)
        got = x.to(torch.float32).abs().to(torch.float64)
        trial = build(Abs(), x, got.to(torch.int64).to(torch.int32))  # the low bits
        assert set(diagnose(trial, seen).faults) == wanted


def test_the_minimum_may_come_out_as_the_maximum_or_cut_from_a_wider_type() -> None:
    x = special_values(torch.int16)
    saturated = torch.where(x == -32768, 32767, x.abs()).to(torch.int16)
    assert faults(build(Abs(), x, saturated)) == {"int-abs-overflow"}
    widened_after = x.abs().to(torch.int32)
    assert faults(build(Abs(), x, widened_after)) == {"int-abs-overflow"}


def test_a_wider_output_that_was_widened_before_is_right() -> None:
    x = special_values(torch.int16)
    assert faults(build(Abs(), x, x.to(torch.int32).abs())) == set()


def test_an_accepted_wrap_is_right_and_a_saturation_is_asked_for() -> None:
    x = special_values(torch.int8)
    assert faults(build(Abs(overflow="wrap"), x, x.abs())) == set()
    assert faults(build(Abs(overflow="saturate"), x, x.abs())) == {"int-abs-overflow"}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_unsigned_values_that_are_read_as_signed(dtype: torch.dtype) -> None:
    x = special_values(dtype)
    carrier = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    trial = build(Abs(), x, x.view(carrier).abs().view(dtype))
    assert faults(trial) == {"unsigned-as-signed"}


def test_unsigned_values_below_half_of_the_range_show_nothing() -> None:
    x = torch.tensor([0, 1, 127], dtype=torch.uint8)
    assert faults(build(Abs(), x, x.view(torch.int8).abs().view(torch.uint8))) == set()


# --------------------------------------------------------------------------- arithmetic


def difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x - y).abs()


PAIRS = {
    "x": torch.tensor([100, -128, 3, -100, 0, 127], dtype=torch.int8),
    "y": torch.tensor([-100, 127, 5, 100, -128, -1], dtype=torch.int8),
}


def wrapped_then_abs(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """|x - y| as int8 arithmetic gives it, in Python integers."""
    out = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        d = (a - b + 128) % 256 - 128
        out.append(d if d == -128 else abs(d))
    return torch.tensor(out, dtype=torch.int16)


def test_a_difference_that_wraps_before_abs() -> None:
    trial = build(Reference(difference), PAIRS, wrapped_then_abs(**PAIRS))
    assert faults(trial) == {"int-overflow"}
    assert candidates(trial, "int-overflow")[0].parameters == (("arithmetic in", "int8"),)


def test_a_wrapped_difference_is_not_an_abs_of_the_minimum() -> None:
    trial = build(Reference(difference), PAIRS, wrapped_then_abs(**PAIRS))
    assert "int-abs-overflow" not in plausible(trial)


def test_a_wide_difference_that_is_cut_by_the_store() -> None:
    wide = torch.tensor(
        [abs(a - b) for a, b in zip(PAIRS["x"].tolist(), PAIRS["y"].tolist(), strict=True)]
    )
    got = ((wide + 128) % 256 - 128).to(torch.int8)
    assert faults(build(Reference(difference), PAIRS, got)) == {"int-overflow"}


def test_an_unsigned_difference_has_nothing_left_for_abs() -> None:
    pairs = {k: torch.tensor(v, dtype=torch.uint8) for k, v in {"x": [3, 9], "y": [5, 2]}.items()}
    got = torch.tensor([254, 7], dtype=torch.int16)
    assert faults(build(Reference(difference), pairs, got)) == {"int-overflow"}


@pytest.mark.parametrize(("width", "bits"), [("int8", 8), ("int16", 16)])
def test_a_sum_that_wraps(width: str, bits: int) -> None:
    x = torch.full((300,), 127, dtype=torch.int16)
    total = (300 * 127 + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    got = torch.full((300,), total, dtype=torch.int32)
    contract = Reference(lambda x: x.sum().expand(x.shape))
    trial = build(contract, x, got)
    assert faults(trial) == {"int-overflow"}
    assert candidates(trial, "int-overflow")[0].parameters == (("arithmetic in", width),)


def test_abs_inside_a_reference_that_overflows_alone() -> None:
    x = torch.tensor([-128, 5, -7], dtype=torch.int8)
    got = torch.tensor([-127, 6, 8], dtype=torch.int16)  # |x| in int8, and 1 added in int16
    assert faults(build(Reference(lambda x: x.abs() + 1), x, got)) == {"int-abs-overflow"}


def test_large_integers_through_float32() -> None:
    x = torch.tensor([16777217, -33554435, 5, -7], dtype=torch.int32)
    got = x.to(torch.float32).abs().to(torch.int64)
    trial = build(Abs(), x, got)
    assert faults(trial) == {"precision-loss"}
    assert any("float32" in v for c in candidates(trial, "precision-loss") for _, v in c.parameters)


def test_floats_through_a_narrower_float() -> None:
    x = torch.tensor([1.0009766, -3.1415927, 0.1, 65504.0])
    trial = build(Abs(), x, x.to(torch.bfloat16).to(torch.float32).abs())
    assert faults(trial) == {"precision-loss"}
    assert candidates(trial, "precision-loss")[0].parameters == (("through", "bfloat16"),)


def test_small_integers_show_no_loss() -> None:
    x = torch.tensor([-2000, 1999, 5], dtype=torch.int32)
    assert faults(build(Abs(), x, x.to(torch.float32).abs().to(torch.int64))) == set()


# --------------------------------------------------------------------------- moved by arithmetic


def multiplied_and_summed(x: torch.Tensor, tile: int) -> torch.Tensor:
    """Each element as the sum of its tile times 0 and 1; tiles counted from the end."""
    values = x.tolist()
    out = []
    for i in range(len(values)):
        start = i // tile * tile
        last = len(values) - 1 - start
        lanes = [last - k for k in range(tile) if last - k >= 0]
        total = 0.0
        for k in lanes:
            total += values[k] * (1.0 if k == len(values) - 1 - i else 0.0)
        out.append(total)
    return torch.tensor(out, dtype=x.dtype)


def one_hot(x: torch.Tensor, tile: int = 4) -> Trial:
    return build(Flip("N"), x, multiplied_and_summed(x, tile), tiles={"BLOCK": ("N", tile)})


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_one_bad_element_spoils_its_tile(bad: float) -> None:
    x = tags(8)
    x[1] = bad
    trial = one_hot(x)
    assert faults(trial) == {"nan-contamination"}
    found = candidates(trial, "nan-contamination")
    assert ("tile", "BLOCK") in found[0].parameters


def test_the_extent_of_the_damage_tells_tiles_apart() -> None:
    x = tags(8)
    x[1] = NAN

    def tiles(trial: Trial) -> set[str]:
        found = candidates(trial, "nan-contamination")
        named = [dict(c.parameters) for c in found]
        return {p["tile"] if "tile" in p else p["N"].split(" ", 1)[1] for p in named}

    assert tiles(one_hot(x, 4)) == {"BLOCK"}
    whole = build(Flip("N"), x, torch.full((8,), NAN), tiles={"BLOCK": ("N", 4)})
    assert "BLOCK" not in tiles(whole)


def test_a_sum_loses_the_sign_of_zero() -> None:
    x = torch.tensor([1.0, -0.0, 3.0, 4.0, -0.0, 6.0])
    assert faults(one_hot(x)) == {"signed-zero-lost"}


def test_both_at_once_are_two_faults() -> None:
    x = torch.tensor([1.0, -0.0, 3.0, 4.0, 5.0, 6.0, NAN, 8.0])
    assert faults(one_hot(x)) == {"signed-zero-lost", "nan-contamination"}


def test_finite_values_are_right() -> None:
    assert faults(one_hot(tags(8))) == set()


def test_a_nan_in_its_own_place_is_no_contamination() -> None:
    x = tags(8)
    x[2] = NAN
    assert faults(build(Flip("N"), x, x.flip(0))) == set()


# --------------------------------------------------------------------------- nothing fits


def test_a_wrong_formula_is_a_mismatch() -> None:
    x = torch.tensor([0.5, -1.5, 2.0])
    contract = Reference(lambda x: x.abs() * 2, tolerance="exact")
    assert faults(build(contract, x, x.abs() * 3)) == {"value-mismatch"}


def test_a_square_root_in_place_of_abs_is_a_mismatch() -> None:
    x = torch.tensor([4.0, -9.0, 2.25])
    assert faults(build(Abs(), x, x.abs().sqrt())) == {"value-mismatch"}


def flipped_by_sums(x: torch.Tensor, tile: int) -> torch.Tensor:
    """Each padded tile reversed in itself, as tl.flip does it up to Triton 3.2.

    Every element of the tile is multiplied with 1 or 0 and added, a step for each bit of a lane.
    """
    out: list[float] = []
    for start in range(0, len(x), tile):
        lanes = x.tolist()[start : start + tile]
        lanes += [0.0] * (tile - len(lanes))
        for bit in range(tile.bit_length() - 1):
            lanes = [lanes[k ^ (1 << bit)] * 1.0 + lanes[k] * 0.0 for k in range(tile)]
        out += lanes
    return torch.tensor(out[: len(x)], dtype=x.dtype)


TILE_LOCAL = {
    "block-local-flip": torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
    "padding-leak": torch.tensor([1.0]),
    "signed-zero-lost": torch.tensor([1.0, -0.0, 2.0]),
    "nan-contamination": torch.tensor([1.0, 2.0, 3.0, 4.0, NAN, 6.0, 7.0, 8.0]),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_tile_that_is_reversed_in_itself_by_arithmetic(dtype: torch.dtype) -> None:
    """One prediction holds wherever such a kernel goes wrong, and says what is at work there."""
    trials = {}
    for fault, values in TILE_LOCAL.items():
        x = values.to(dtype)
        got = flipped_by_sums(x, 4)
        trials[fault] = build(Flip("N"), x, got, tiles={"BLOCK": ("N", 4)})
    found = [
        c for c in candidates(trials["nan-contamination"], "nan-contamination") if not c.partial
    ]
    [motion] = [c for c in found if ("N", "local BLOCK") in c.parameters]
    assert ("moved by", "multiplying with 0 and 1 and adding") in motion.parameters
    for fault, trial in trials.items():
        claim = motion.predict(trial)
        assert claim is not None and fault in claim.faults
        assert not claim.refuted(trial).any()


def test_a_nan_spreads_from_a_lane_that_is_not_stored() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, NAN])
    got = flipped_by_sums(x, 4)  # the NaN itself comes out beyond the end
    assert torch.isnan(got).tolist() == [False] * 4 + [True] * 2
    trial = build(Flip("N"), x, got, tiles={"BLOCK": ("N", 4)})
    assert faults(trial) == {"block-local-flip", "padding-leak", "nan-contamination"}


def test_arithmetic_in_what_is_right_but_for_it() -> None:
    """x + flip(x), the flip a sum: the tiles are in their places, and zeros lose their signs."""
    both = Reference(lambda x: x + torch.flip(x, (0,)), tolerance="exact")
    x = torch.tensor([-0.0, 1.0, 2.0, INF, 4.0, -0.0])
    padded = torch.cat([x.flip(0), torch.zeros(2)]).reshape(2, 4).flip(1).reshape(-1)
    got = x + flipped_by_sums(padded, 4)[:6]
    trial = build(both, x, got, tiles={"BLOCK": ("N", 4)})
    assert faults(trial) == {"nan-contamination", "signed-zero-lost"}
    [motion] = candidates(trial, "signed-zero-lost")
    assert ("N", "reverse BLOCK") in motion.parameters


def test_what_only_moves_is_not_said_to_be_added_up() -> None:
    x = TILE_LOCAL["nan-contamination"]
    got = x.reshape(2, 4).flip(1).reshape(-1)
    trial = build(Flip("N"), x, got, tiles={"BLOCK": ("N", 4)})
    assert faults(trial) == {"block-local-flip"}
    assert not any("moved by" in dict(c.parameters) for c in candidates(trial, "block-local-flip"))
