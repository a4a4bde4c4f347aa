"""Bits, values of examples, layouts and guard bands."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from trials import build, tags

from tritaudit.contracts import Flip
from tritaudit.dtypes import dtype_of, specials
from tritaudit.model import DTYPES, FLOATS, FP8, SIGNED_INTS, Edit, Fill, FillKind, Layout
from tritaudit.tensors import (
    GUARD,
    POISON,
    abs_bits,
    bits_of,
    fill_values,
    flip_bits,
    from_bits,
    guard_elements,
    guarded,
    guarded_copy,
    has_sign,
    is_nan,
    is_negative_zero,
    logical_values,
    number_as,
    same_bits,
    strides_of,
    unsigned_bits,
)

LAYOUTS = list(Layout)


def of_bits(name: str, *bits: int) -> torch.Tensor:
    d = dtype_of(name)
    return torch.tensor(
        [b - (1 << d.bits) * (b >> (d.bits - 1)) for b in bits], dtype=d.carrier
    ).view(d.torch)


# --------------------------------------------------------------------------- bits


@pytest.mark.parametrize("name", DTYPES)
def test_bits_go_out_and_come_back(name: str) -> None:
    d = dtype_of(name)
    patterns = [0, 1] if name == "bool" else [0, 1, d.mask, d.mask >> 1]
    x = of_bits(name, *patterns)
    assert unsigned_bits(x) == patterns
    assert same_bits(from_bits(bits_of(x), d), x).all()


@pytest.mark.parametrize("name", [*FLOATS, *FP8])
def test_what_the_bits_of_a_float_say(name: str) -> None:
    values = {s.name: s.bits for s in specials(name)}
    x = of_bits(name, *values.values())
    assert [n for n, f in zip(values, is_nan(x).tolist(), strict=True) if f] == [
        n for n in values if "NaN" in n
    ]
    assert [n for n, f in zip(values, is_negative_zero(x).tolist(), strict=True) if f] == ["-0.0"]
    assert [n for n, f in zip(values, has_sign(x).tolist(), strict=True) if f] == [
        n for n in values if n.startswith("-")
    ]
    assert not has_sign(abs_bits(x)).any()
    assert (is_nan(abs_bits(x)) == is_nan(x)).all()


@pytest.mark.parametrize("name", SIGNED_INTS)
def test_abs_of_bits_wraps_at_the_minimum(name: str) -> None:
    low = torch.iinfo(dtype_of(name).torch).min
    x = torch.tensor([low, -5, 5], dtype=dtype_of(name).torch)
    assert abs_bits(x).tolist() == [low, 5, 5]
    assert not is_nan(x).any() and not is_negative_zero(x).any()


@pytest.mark.parametrize("name", DTYPES)
def test_any_dtype_can_be_flipped(name: str) -> None:
    x = of_bits(name, *([0, 1] if name == "bool" else [0, 1, dtype_of(name).mask]))
    assert unsigned_bits(flip_bits(x, (0,))) == unsigned_bits(x)[::-1]


# --------------------------------------------------------------------------- values


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("kind", list(FillKind))
def test_every_fill_of_every_dtype_is_the_same_every_time(name: str, kind: FillKind) -> None:
    d = dtype_of(name)
    once, again = (fill_values(50, d, Fill(kind, 3), 1) for _ in range(2))
    assert once.dtype == d.torch and once.shape == (50,)
    assert same_bits(once, again).all()


@pytest.mark.parametrize("kind", [FillKind.NORMAL, FillKind.SPECIAL, FillKind.RANDOM])
def test_seeds_and_inputs_differ(kind: FillKind) -> None:
    d = dtype_of("float32")
    first = fill_values(64, d, Fill(kind, 1))
    assert not same_bits(first, fill_values(64, d, Fill(kind, 2))).all()
    assert not same_bits(first, fill_values(64, d, Fill(kind, 1), 1)).all()


def test_the_values_of_tokens_never_change() -> None:
    """What a stored token of version 1 means. A change here needs a new version of the token."""
    d = dtype_of("int32")
    assert fill_values(4, d, Fill(FillKind.INDEX)).tolist() == [1, 2, 3, 4]
    assert fill_values(3, d, Fill(FillKind.INDEX), 1).tolist() == [8, 9, 10]
    assert fill_values(3, d, Fill(FillKind.ZERO)).tolist() == [0, 0, 0]
    assert fill_values(3, dtype_of("uint8"), Fill(FillKind.PATTERNS, 254)).tolist() == [254, 255, 0]
    assert fill_values(4, d, Fill(FillKind.NORMAL, 7)).tolist() == [46, 11, -3, 29]
    special = [-1, -2147483647, 2147483647, -2147483647]
    assert fill_values(4, d, Fill(FillKind.SPECIAL, 7)).tolist() == special
    random = [splitmix64(i, 7) & 0xFFFFFFFF for i in range(4)]
    assert unsigned_bits(fill_values(4, d, Fill(FillKind.RANDOM, 7))) == random


def splitmix64(counter: int, seed: int) -> int:
    """The finaliser of splitmix64 in Python integers; RANDOM spreads seeds by 31."""
    mask = (1 << 64) - 1
    z = (counter * 0x9E3779B97F4A7C15 + (31 * seed + 1) * 0xD1342543DE82EF95) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def test_digit_planes_of_narrow_dtypes_count_on() -> None:
    d = dtype_of("int8")
    low = fill_values(400, d, Fill(FillKind.INDEX, 0)).to(torch.int64) - 1
    high = fill_values(400, d, Fill(FillKind.INDEX, 1)).to(torch.int64) - 1
    assert (low + d.tags * high).tolist() == list(range(400))


def test_every_special_value_comes_up() -> None:
    for name in ("float16", "int8", "uint32"):
        seen = set(unsigned_bits(fill_values(2000, dtype_of(name), Fill(FillKind.SPECIAL))))
        assert seen == {s.bits for s in specials(name)}


def test_edits_set_single_elements_and_ignore_what_lies_outside() -> None:
    trial = build(Flip("N"), tags(4), tags(4))
    example = trial.example
    edits = (Edit("x", 1, 0x7FC00001), Edit("x", 9, 1))
    x = logical_values(trial.case, replace(example, edits=edits))["x"]
    assert unsigned_bits(x)[1] == 0x7FC00001
    assert x[[0, 2, 3]].tolist() == [1.0, 3.0, 4.0]


def test_an_expanded_input_repeats_its_first_row() -> None:
    trial = build(Flip("W"), tags(3, 2), tags(3, 2))
    example = replace(trial.example, layouts=(("x", "expanded"),))
    assert logical_values(trial.case, example)["x"].tolist() == [[1.0, 2.0]] * 3


def test_numbers_of_any_size_are_made_exactly() -> None:
    assert number_as(torch.tensor([1, 448]), dtype_of("float8_e4m3fn")).to(
        torch.float32
    ).tolist() == [
        1.0,
        448.0,
    ]
    assert unsigned_bits(number_as(torch.tensor([-1]), dtype_of("uint16"))) == [0xFFFF]


# --------------------------------------------------------------------------- layouts


@pytest.mark.parametrize(
    ("shape", "layout", "strides", "span"),
    [
        ((5,), Layout.CONTIGUOUS, (1,), 5),
        ((5,), Layout.STRIDED, (2,), 9),
        ((5,), Layout.TRANSPOSED, (2,), 9),
        ((5,), Layout.EXPANDED, (0,), 1),
        ((3, 4), Layout.CONTIGUOUS, (4, 1), 12),
        ((3, 4), Layout.STRIDED, (8, 2), 23),
        ((3, 4), Layout.TRANSPOSED, (1, 3), 12),
        ((3, 4), Layout.EXPANDED, (0, 1), 4),
        ((2, 3, 4), Layout.TRANSPOSED, (4, 8, 1), 24),
        ((3, 0), Layout.CONTIGUOUS, (1, 1), 0),
    ],
)
def test_strides(
    shape: tuple[int, ...], layout: Layout, strides: tuple[int, ...], span: int
) -> None:
    assert strides_of(shape, layout) == (strides, span)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 3, 4), (0,), (3, 0)])
def test_a_copy_has_the_values_whatever_the_layout(shape: tuple[int, ...], layout: Layout) -> None:
    value = tags(*shape, dtype=torch.int32)
    if layout is Layout.EXPANDED and shape[0] > 1:
        value = value[:1].expand(shape)
    buffer = guarded_copy(value.contiguous(), GUARD[0], 16, layout)
    assert buffer.view.shape == value.shape
    assert same_bits(buffer.view.contiguous(), value.contiguous()).all()
    assert buffer.touched().numel() == 0


def test_an_offset_tensor_is_not_aligned_and_others_are() -> None:
    for layout in LAYOUTS:
        for name in ("int8", "float32", "float64"):
            buffer = guarded((8,), dtype_of(name), GUARD[0], 1, layout)
            aligned = buffer.start * dtype_of(name).bytes % 16 == 0
            assert aligned is (layout is not Layout.OFFSET)


# --------------------------------------------------------------------------- guard bands


@pytest.mark.parametrize("layout", [Layout.CONTIGUOUS, Layout.OFFSET])
@pytest.mark.parametrize("at", [-5, -1, 6, 40])
def test_a_write_beside_a_tensor_is_seen(layout: Layout, at: int) -> None:
    buffer = guarded((6,), dtype_of("float32"), POISON[0], 64, layout)
    buffer.view.fill_(1.0)
    assert buffer.touched().tolist() == []
    buffer.store[buffer.start + at] = 0
    assert buffer.touched().tolist() == [at]


def test_a_write_between_the_elements_of_a_strided_tensor_is_seen() -> None:
    buffer = guarded((3,), dtype_of("int16"), POISON[0], 64, Layout.STRIDED)
    buffer.view.fill_(7)
    assert buffer.touched().tolist() == []
    buffer.store[buffer.start + 1] = 7
    assert buffer.touched().tolist() == [1]


@pytest.mark.parametrize("layout", [Layout.STRIDED, Layout.TRANSPOSED])
def test_the_gaps_of_an_input_do_not_change_with_its_guard_bands(layout: Layout) -> None:
    first, second = (guarded_copy(tags(3), pattern, 8, layout) for pattern in GUARD)
    between, behind = first.start + 1, first.start + 5
    assert first.store[between] == second.store[between]
    assert first.store[behind] != second.store[behind]
    for buffer in (first, second):
        assert buffer.touched().tolist() == []
        buffer.store[between] = buffer.store[behind] = 7
        assert buffer.touched().tolist() == [1, 5]


def test_the_gaps_of_a_bool_hold_what_a_store_leaves_alone() -> None:
    value = torch.tensor([True, False, True])
    buffer = guarded_copy(value, GUARD[0], 8, Layout.STRIDED)
    start = buffer.start
    assert buffer.store[start : start + 5].tolist() == [1, 1, 0, 1, 1]
    assert buffer.touched().tolist() == []


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("reach", [0, 1, 100, 4096])
def test_a_band_is_long_enough_and_keeps_the_alignment(name: str, reach: int) -> None:
    count = guard_elements(dtype_of(name), reach)
    assert count >= max(reach, 64)
    assert count * dtype_of(name).bytes % 16 == 0


def test_the_two_patterns_differ_in_every_byte() -> None:
    for a, b in (POISON, GUARD):
        for shift in range(0, 64, 8):
            assert (a >> shift) & 0xFF != (b >> shift) & 0xFF
    assert not set(POISON) & set(GUARD)


def test_an_output_starts_as_poison() -> None:
    d = dtype_of("int8")
    buffer = guarded((4,), d, POISON[1], 8)
    assert unsigned_bits(buffer.view) == [POISON[1] & 0xFF] * 4
