"""Bit fields, special values, tags, and values as a person writes them."""

from __future__ import annotations

import math

import pytest
import torch

from tritaudit.dtypes import (
    dtype_of,
    is_nan_bits,
    specials,
    to_signed,
    to_unsigned,
    value_text,
)
from tritaudit.model import DTYPES, FLOATS, FP8
from tritaudit.tensors import number_as

FLOAT_TYPES = [*FLOATS, *FP8]


def tensor_of(name: str, bits: int) -> torch.Tensor:
    d = dtype_of(name)
    return torch.tensor([to_signed(bits, d.bits)], dtype=d.carrier).view(d.torch)


@pytest.mark.parametrize("name", DTYPES)
def test_a_dtype_has_the_width_that_torch_gives_it(name: str) -> None:
    d = dtype_of(name)
    assert d.torch.itemsize == d.bytes == d.carrier.itemsize
    assert dtype_of(d.torch) is d
    assert d.mask == (1 << d.bits) - 1


@pytest.mark.parametrize("name", FLOAT_TYPES)
def test_the_fields_of_a_float_fill_it(name: str) -> None:
    d = dtype_of(name)
    assert 1 + d.exponent + d.mantissa == d.bits
    one = tensor_of(name, ((1 << (d.exponent - 1)) - 1) << d.mantissa)
    assert one.to(torch.float64).item() == 1.0
    top = {"float8_e4m3fn": 448.0}.get(name) or torch.finfo(d.torch).max
    assert max(_number(name, s.bits) for s in specials(name)) == top


def _number(name: str, bits: int) -> float:
    number = tensor_of(name, bits).to(torch.float64).item()
    return number if math.isfinite(number) else 0.0


@pytest.mark.parametrize("name", DTYPES)
def test_special_values_are_what_their_names_say(name: str) -> None:
    d = dtype_of(name)
    found = {s.name: s.bits for s in specials(name)}
    assert len(set(found.values())) == len(found), "two names for one value"
    for label, bits in found.items():
        text = value_text(name, bits)
        match label:
            case "-0.0" | "0.0" | "1.0" | "-1.0" | "0" | "1" | "-1" | "True" | "False":
                assert text == label
            case "NaN" | "-NaN":
                assert text == label and math.isnan(tensor_of(name, bits).to(torch.float64))
            case "NaN with payload" | "signalling NaN":
                assert text.startswith("NaN(0x") and is_nan_bits(name, bits)
            case "+Inf" | "-Inf":
                assert text == label.removeprefix("+")
            case "minimum":
                assert int(text) == torch.iinfo(d.torch).min
            case "minimum+1":
                assert int(text) == torch.iinfo(d.torch).min + 1
            case "maximum":
                assert int(text) == torch.iinfo(d.torch).max
            case "2**(w-1)":
                assert int(text) == 1 << (d.bits - 1)
            case "largest finite" | "-largest finite":
                assert abs(float(text)) > 100 and math.isfinite(float(text))
            case "smallest denormal" | "-smallest denormal":
                assert 0 < abs(float(text)) < 1
            case _:
                raise AssertionError(label)


@pytest.mark.parametrize("name", [n for n in DTYPES if n != "bool"])
def test_tags_are_distinct_and_exact(name: str) -> None:
    d = dtype_of(name)
    count = min(d.tags, 5000)
    made = number_as(torch.arange(1, count + 1), d)
    wide = made.to(torch.float64) if d.is_float else made.to(torch.int64)
    assert wide.tolist() == list(range(1, count + 1))
    last = number_as(torch.tensor([d.tags]), d)
    assert int(last.to(torch.float64).item()) == d.tags


@pytest.mark.parametrize("name", FLOAT_TYPES)
@pytest.mark.parametrize("seed", range(40))
def test_a_float_is_written_so_that_it_is_read_back(name: str, seed: int) -> None:
    d = dtype_of(name)
    bits = (seed * 0x9E3779B97F4A7C15 + seed) & d.mask
    text = value_text(name, bits)
    if text.startswith(("NaN", "-NaN")):
        assert is_nan_bits(name, bits)
        return
    number = torch.tensor([float(text)], dtype=torch.float64)
    again = number.to(torch.float32).to(d.torch) if d.bits == 8 else number.to(d.torch)
    assert to_unsigned(int(again.view(d.carrier).item()), d.bits) == bits


@pytest.mark.parametrize(
    ("name", "bits", "text"),
    [
        ("float32", 0x3DCCCCCD, "0.1"),
        ("float32", 0x7FC00001, "NaN(0x7fc00001)"),
        ("float16", 0x7BFF, "65504.0"),
        ("bfloat16", 0x3F80, "1.0"),
        ("float64", 0x8000000000000000, "-0.0"),
        ("float8_e4m3fn", 0xFF, "-NaN"),
        ("int8", 0x80, "-128"),
        ("uint64", 0xFFFFFFFFFFFFFFFF, "18446744073709551615"),
        ("bool", 1, "True"),
        ("bool", 7, "0x07"),
    ],
)
def test_values_in_words(name: str, bits: int, text: str) -> None:
    assert value_text(name, bits) == text


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_signed_and_unsigned_are_two_ways_to_read_bits(width: int) -> None:
    for bits in (0, 1, (1 << (width - 1)) - 1, 1 << (width - 1), (1 << width) - 1):
        signed = to_signed(bits, width)
        assert -(1 << (width - 1)) <= signed < 1 << (width - 1)
        assert to_unsigned(signed, width) == bits
