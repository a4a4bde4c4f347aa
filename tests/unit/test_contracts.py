"""The oracles: right values written out, for every dtype, and how strictly they compare."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from trials import build, name_of, tags

from tritaudit.contracts import Abs, Flip, Operations, Reference, convert
from tritaudit.dtypes import dtype_of
from tritaudit.model import DTYPES, FLOATS, FP8, SIGNED_INTS, UNSIGNED_INTS, CaseError
from tritaudit.tensors import bits_of, same_bits, unsigned_bits
from tritaudit.trial import Expected

NAN, INF = math.nan, math.inf
SIGNED = [getattr(torch, n) for n in SIGNED_INTS]
UNSIGNED = [getattr(torch, n) for n in UNSIGNED_INTS]


def patterns(name: str, *bits: int) -> torch.Tensor:
    """A tensor of these bit patterns."""
    d = dtype_of(name)
    signed = [b - (1 << d.bits) * (b >> (d.bits - 1)) for b in bits]
    return torch.tensor(signed, dtype=d.carrier).view(d.torch)


def expected(contract: Abs | Flip | Reference, x: torch.Tensor, out: str = "") -> Expected:
    """What a contract expects for one input, in an output of a dtype."""
    like = torch.zeros(x.shape, dtype=getattr(torch, out)) if out else torch.zeros_like(x)
    return build(contract, x, like).expected


# --------------------------------------------------------------------------- flip


@pytest.mark.parametrize("name", DTYPES)
def test_flip_permutes_the_bits_of_every_dtype(name: str) -> None:
    d = dtype_of(name)
    bits = [0, 1] if name == "bool" else [d.mask, 1, d.mask >> 1, (d.mask >> 1) + 1, 0]
    got = expected(Flip("N"), patterns(name, *bits))
    assert unsigned_bits(got.value) == bits[::-1]
    assert got.exact and not got.any_nan


@pytest.mark.parametrize("axes", [("H",), ("W",), ("H", "W")])
def test_flip_reverses_the_named_axes(axes: tuple[str, ...]) -> None:
    x = tags(3, 4)
    right = x.numpy()
    for axis in axes:
        right = right[::-1] if axis == "H" else right[:, ::-1]
    assert expected(Flip(*axes), x).value.tolist() == right.tolist()


def test_flip_of_nothing_is_nothing() -> None:
    assert expected(Flip("N"), torch.zeros(0)).value.shape == (0,)


def test_a_flip_needs_axes_of_the_input() -> None:
    with pytest.raises(CaseError, match="needs the names of the axes"):
        Flip()
    with pytest.raises(CaseError, match="names the axis 'Z'"):
        build(Flip("Z"), tags(3), tags(3))
    with pytest.raises(CaseError, match="dtype of the input"):
        build(Flip("N"), tags(3), tags(3).to(torch.float64))


# --------------------------------------------------------------------------- abs


@pytest.mark.parametrize("name", [*FLOATS, *FP8])
def test_abs_of_floats_clears_the_sign_bit_and_no_other(name: str) -> None:
    d = dtype_of(name)
    bits = [d.sign_bit, 0, d.sign_bit | 1, d.mask, d.mask >> 1, d.sign_bit | 5]
    got = expected(Abs(), patterns(name, *bits))
    assert unsigned_bits(got.value) == [b & ~d.sign_bit for b in bits]
    assert got.any_nan and got.exact


@pytest.mark.parametrize("dtype", SIGNED)
def test_abs_of_the_minimum_has_no_right_answer_in_its_type(dtype: torch.dtype) -> None:
    low = torch.iinfo(dtype).min
    x = torch.tensor([low, low + 1, -1, 0, 7], dtype=dtype)
    got = expected(Abs(), x)
    assert got.value[1:].tolist() == [-(low + 1), 1, 0, 7]
    assert got.impossible is not None
    assert got.impossible.tolist() == [True, False, False, False, False]


@pytest.mark.parametrize("dtype", SIGNED)
def test_abs_of_the_minimum_may_wrap_or_saturate(dtype: torch.dtype) -> None:
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    x = torch.tensor([low, -5], dtype=dtype)
    wrapped, saturated = expected(Abs(overflow="wrap"), x), expected(Abs(overflow="saturate"), x)
    assert wrapped.value.tolist() == [low, 5]
    assert saturated.value.tolist() == [high, 5]
    assert wrapped.impossible is None and saturated.impossible is None


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("int8", "int16"), ("int16", "int32"), ("int32", "int64"), ("int8", "uint8")],
)
def test_abs_into_a_type_that_has_room(narrow: str, wide: str) -> None:
    low = torch.iinfo(getattr(torch, narrow)).min
    got = expected(Abs(), torch.tensor([low, -3], dtype=getattr(torch, narrow)), wide)
    assert unsigned_bits(got.value) == [-low, 3]
    assert got.impossible is not None and not got.impossible.any()


def test_abs_of_int64_minimum_fits_into_uint64() -> None:
    got = expected(Abs(), torch.tensor([-(2**63), -3]), "uint64")
    assert unsigned_bits(got.value) == [2**63, 3]
    assert got.impossible is not None and not got.impossible.any()


def test_abs_into_a_narrower_type_marks_what_does_not_fit() -> None:
    got = expected(Abs(), torch.tensor([300, -127, 128], dtype=torch.int16), "int8")
    assert got.impossible is not None and got.impossible.tolist() == [True, False, True]
    assert got.value[1].item() == 127


def test_abs_of_integers_into_floats() -> None:
    got = expected(Abs(), torch.tensor([-128, 5], dtype=torch.int8), "float32")
    assert got.value.tolist() == [128.0, 5.0] and got.impossible is None


@pytest.mark.parametrize("dtype", [*UNSIGNED, torch.bool])
def test_abs_leaves_unsigned_values_and_bools_alone(dtype: torch.dtype) -> None:
    d = dtype_of(dtype)
    bits = [0, 1] if d.kind == "bool" else [0, 1, d.mask, 1 << (d.bits - 1)]
    got = expected(Abs(), patterns(name_of(dtype), *bits))
    assert unsigned_bits(got.value) == bits and got.impossible is None


def test_abs_takes_one_input_and_a_known_overflow() -> None:
    with pytest.raises(CaseError, match="takes one input"):
        build(Abs(), {"x": tags(3), "y": tags(3)}, tags(3))
    with pytest.raises(CaseError, match="is unknown"):
        Abs(overflow="clamp")  # type: ignore[arg-type]


# --------------------------------------------------------------------------- reference


def test_a_reference_is_computed_wide_so_that_torch_cannot_overflow() -> None:
    x = torch.tensor([60000.0, 1.0], dtype=torch.float16)
    got = expected(Reference(lambda x: (x * x).sqrt()), x)
    assert got.value.tolist() == [60000.0, 1.0]  # x * x is Inf in float16
    assert got.ulps == 4.0 and got.any_nan


@pytest.mark.parametrize("tolerance", [0.0, 2.5, 16])
def test_a_tolerance_is_kept(tolerance: float) -> None:
    got = expected(Reference(torch.abs, tolerance=tolerance), tags(3))
    assert got.ulps == tolerance


def test_exact_means_bits() -> None:
    got = expected(Reference(torch.abs, tolerance="exact"), tags(3))
    assert got.ulps is None and got.exact


def test_where_float64_itself_overflows_the_oracle_cannot_tell() -> None:
    x = torch.tensor([1e200, 2.0], dtype=torch.float64)
    got = expected(Reference(lambda x: x * x), x)
    assert got.undecided is not None and got.undecided.tolist() == [True, False]
    infinite = expected(Reference(lambda x: x * x), torch.tensor([INF, 2.0], dtype=torch.float64))
    assert infinite.undecided is not None and not infinite.undecided.any()


def test_an_integer_result_that_does_not_fit_has_no_right_answer() -> None:
    x = torch.tensor([100, -100, 3], dtype=torch.int8)
    got = expected(Reference(lambda x: x + x), x)
    assert got.impossible is not None and got.impossible.tolist() == [True, True, False]
    wrapping = expected(Reference(lambda x: x + x, overflow="wrap"), x)
    assert wrapping.value.tolist() == [-56, 56, 6] and wrapping.impossible is None


def test_int64_that_wraps_in_the_oracle_is_seen_against_float64() -> None:
    x = torch.tensor([2**62, -(2**62) - 5, 7])
    got = expected(Reference(lambda x: x * 3), x)
    assert got.impossible is not None and got.impossible.tolist() == [True, True, False]


@pytest.mark.parametrize("add", [0, 1, 2**12, 2**62])
def test_int64_results_at_the_edge_are_told_apart(add: int) -> None:
    x = torch.tensor([2**63 - 1 - add, -(2**63) + add])
    got = expected(Reference(lambda x: x + torch.sign(x) * add), x)
    assert got.impossible is not None and not got.impossible.any()
    assert got.value.tolist() == [2**63 - 1, -(2**63)]
    beyond = expected(Reference(lambda x: x + torch.sign(x) * (add + 1)), x)
    assert beyond.impossible is not None and beyond.impossible.tolist() == [True, True]


def test_uint64_holds_what_int64_does_not() -> None:
    x = patterns("uint64", 2**64 - 1, 2**63, 5)
    moved = expected(Reference(lambda x: x.flip(0)), x)
    assert unsigned_bits(moved.value) == [5, 2**63, 2**64 - 1]
    assert moved.impossible is not None and not moved.impossible.any()
    more = expected(Reference(lambda x: x + 1), x)
    assert more.impossible is not None and more.impossible.tolist() == [True, False, False]
    less = expected(Reference(lambda x: x - 6), x)
    assert less.impossible is not None and less.impossible.tolist() == [False, False, True]


def test_a_callable_that_takes_no_floats_is_trusted_in_int64() -> None:
    x = torch.tensor([2**62, 7])
    got = expected(Reference(lambda x: x & 3), x)
    assert got.value.tolist() == [0, 3]
    assert got.impossible is not None and not got.impossible.any()


def test_a_float_result_in_an_integer_output_is_truncated() -> None:
    x = torch.tensor([2.9, -2.9, 300.0])
    got = expected(Reference(lambda x: x), x, "int8")
    assert got.value[:2].tolist() == [2, -2]
    assert got.undecided is not None and got.undecided.tolist() == [False, False, True]


def test_a_number_is_a_tensor_and_text_is_none() -> None:
    with pytest.raises(CaseError, match="not a tensor"):
        expected(Reference(lambda x: "three"), tags(3))


@pytest.mark.parametrize("bad", ["tight", -1.0])
def test_a_tolerance_is_a_number_or_exact(bad: object) -> None:
    with pytest.raises(CaseError, match="neither a number of ulp"):
        Reference(torch.abs, tolerance=bad)  # type: ignore[arg-type]


def test_scalars_reach_the_callable_by_name() -> None:
    def shifted(x: torch.Tensor, by: float) -> torch.Tensor:
        return x + by

    x = tags(2)
    trial = build(Reference(shifted), x, x, scalars=[("by", 2.0), ("other", 5.0)])
    assert trial.expected.value.tolist() == [3.0, 4.0]


# --------------------------------------------------------------------------- replaced operations


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@pytest.mark.parametrize(
    "call",
    [torch.abs, lambda x: x.abs(), lambda x: abs(x), torch.absolute],
    ids=["torch.abs", "method", "builtin", "absolute"],
)
def test_an_abs_in_a_callable_can_be_replaced(call: Callable[..., torch.Tensor]) -> None:
    x = torch.tensor([-1.0, 2.0])
    trial = build(Reference(lambda x: call(x) + 1), x, x)
    contract = trial.case.contract
    assert isinstance(contract, Reference)
    got = contract.expect(trial.case, trial.example, trial.inputs, Operations(absolute=doubled))
    assert got is not None and got.value.tolist() == [-1.0, 5.0]


@pytest.mark.parametrize(
    ("call", "dims"),
    [
        (lambda x: torch.flip(x, [1]), (1,)),
        (lambda x: x.flip(-1), (1,)),
        (lambda x: x.flip(0, 1), (0, 1)),
        (lambda x: torch.flip(x, dims=(0,)), (0,)),
        (torch.fliplr, (1,)),
        (torch.flipud, (0,)),
    ],
)
def test_a_flip_in_a_callable_can_be_replaced(
    call: Callable[..., torch.Tensor], dims: tuple[int, ...]
) -> None:
    asked = []

    def watch(x: torch.Tensor, over: tuple[int, ...]) -> torch.Tensor:
        asked.append(over)
        return x

    x = tags(2, 3)
    trial = build(Reference(call), x, x)
    contract = trial.case.contract
    assert isinstance(contract, Reference)
    got = contract.expect(trial.case, trial.example, trial.inputs, Operations(flip=watch))
    assert got is not None and same_bits(got.value, x).all() and asked == [dims]


def test_a_callable_without_the_operation_makes_no_prediction() -> None:
    x = tags(3)
    trial = build(Reference(lambda x: x + 1), x, x)
    contract = trial.case.contract
    assert isinstance(contract, Reference)
    for operations in (Operations(absolute=doubled), Operations(flip=lambda x, dims: x)):
        assert contract.expect(trial.case, trial.example, trial.inputs, operations) is None


# --------------------------------------------------------------------------- conversion


@pytest.mark.parametrize(
    ("value", "target", "right"),
    [
        (torch.tensor([300, -1], dtype=torch.int16), "int8", [44, -1]),
        (torch.tensor([300, -1], dtype=torch.int16), "uint8", [44, 255]),
        (torch.tensor([255, 1], dtype=torch.uint8), "int8", [-1, 1]),
        (torch.tensor([255, 1], dtype=torch.uint8), "int32", [255, 1]),
        (torch.tensor([2**16 - 1], dtype=torch.uint16), "int64", [65535]),
        (torch.tensor([-1], dtype=torch.int8), "int64", [-1]),
        (torch.tensor([0, 5], dtype=torch.int8), "bool", [0, 1]),
    ],
)
def test_integers_are_converted_by_their_low_bits(
    value: torch.Tensor, target: str, right: list[int]
) -> None:
    d = dtype_of(target)
    numbers = bits_of(convert(value, d)).to(torch.int64)
    if d.kind == "uint":
        numbers = numbers & d.mask
    assert numbers.tolist() == right


@pytest.mark.parametrize("target", FP8)
def test_float64_becomes_an_8_bit_float(target: str) -> None:
    value = torch.tensor([1.0, -0.5, 0.0], dtype=torch.float64)
    assert convert(value, dtype_of(target)).to(torch.float32).tolist() == [1.0, -0.5, 0.0]
