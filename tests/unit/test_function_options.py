"""The options of a function: what they mean together, and one sentence where they mean nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tritaudit.commands import Usage
from tritaudit.commands.functions import FunctionOptions, calls_of
from tritaudit.model import CallSpec

TARGET = ["pkg.ops:f"]


def call(**options: Any) -> CallSpec:
    [made] = calls_of(FunctionOptions(**options), TARGET)
    return made


def refusal(targets: list[str] = TARGET, **options: Any) -> str:
    with pytest.raises(Usage) as told:
        calls_of(FunctionOptions(**options), targets)
    return str(told.value)


def test_without_a_promise_there_is_no_function() -> None:
    assert calls_of(FunctionOptions(), ["flip/*"]) == ()
    assert calls_of(FunctionOptions(dtype=["float32"]), ["flip/*"]) == ()


def test_every_option_reaches_the_call_and_can_be_typed_again() -> None:
    made = call(
        reference="torch.neg",
        ulp=2.0,
        rtol=0.0,
        atol=0.5,
        dtype=["float32,torch.int8", "float32"],
        ndim=2,
        sizes="1..8, 4",
        layout=["strided,offset"],
        arg=["k=3", "name=a=b"],
        output_index=1,
        in_place=True,
    )
    assert made == CallSpec(
        "pkg.ops:f",
        reference="torch.neg",
        ulp=2.0,
        rtol=0.0,
        atol=0.5,
        dtypes=("float32", "int8"),
        ndim=2,
        sizes=((1, 8), (4, 4)),
        layouts=("strided", "offset"),
        arguments=(("k", "3"), ("name", "a=b")),
        output=1,
        in_place=True,
    )
    words = "--reference torch.neg --ulp 2 --rtol 0 --atol 0.5 --dtype float32,int8 --ndim 2"
    rest = "--sizes 1..8,4 --layout strided,offset --arg k=3 --arg name=a=b --output-index 1"
    assert made.options() == tuple(f"{words} {rest} --in-place".split())


def test_axes_and_overflow() -> None:
    assert call(flip="0,-1").flip == (0, -1)
    assert call(flip="0,-1").options() == ("--flip", "0,-1")
    assert call(absolute=True).absolute == "exact"
    assert call(absolute=True, abs_overflow="wrap").options() == ("--abs", "--abs-overflow", "wrap")
    assert call(flip="1", sizes="0..").sizes == ((0, None),)


def test_several_functions_may_promise_the_same() -> None:
    made = calls_of(FunctionOptions(flip="0"), ["a:f", "b.py:g"])
    assert [c.target for c in made] == ["a:f", "b.py:g"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"flip": "0", "absolute": True}, "--flip and --abs: a function has one promise"),
        ({"flip": "x"}, "--flip 'x' is not a list of axis numbers"),
        ({"flip": ""}, "--flip '' is not a list of axis numbers"),
        ({"ndim": 2}, "--ndim goes with a function and its promise: --flip AXES"),
        ({"flip": "0", "ulp": 1.0}, "--ulp goes with --reference"),
        ({"flip": "0", "abs_overflow": "wrap"}, "--abs-overflow goes with --abs"),
        ({"absolute": True, "abs_overflow": "clip"}, "--abs-overflow 'clip' is none of exact"),
        ({"reference": "a.b", "exact": True, "atol": 1.0}, "--exact and --atol: one or the other"),
        ({"reference": "a.b", "rtol": -1.0}, "--rtol -1 is not a number from 0"),
        ({"flip": "0", "dtype": ["flot32"]}, "no dtype is named 'flot32'; nearest: float32"),
        ({"flip": "0", "layout": ["odd"]}, "no layout is named 'odd'; known are contiguous"),
        ({"flip": "0", "sizes": "5..3"}, "--sizes '5..3' ends before it begins"),
        (
            {"flip": "0", "sizes": "2..1000000000"},
            "--sizes '2..1000000000' is too large: the largest size is 999999999",
        ),
        ({"flip": "0", "sizes": "a"}, "--sizes 'a' is neither a size nor LOW..HIGH"),
        ({"flip": "0", "arg": ["x"]}, "--arg 'x' is not NAME=VALUE"),
    ],
)
def test_what_means_nothing_is_one_sentence(options: dict[str, Any], sentence: str) -> None:
    assert sentence in refusal(**options)


@pytest.mark.parametrize("target", ["flip/*", "flip/single_tile", "folder/", "a:b:c d"])
def test_a_promise_needs_a_function(target: str) -> None:
    assert f"not {target!r}" in refusal([target], flip="0")
    assert "needs a function" in refusal([], flip="0")
