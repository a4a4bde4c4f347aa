"""The token of an example: whatever goes in comes out, and nothing else is read."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritaudit.model import DTYPES, Backend, Edit, Example, Fill, FillKind, Layout
from tritaudit.repro import VERSION, ReproError, backend_of, decode, encode

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,11}", fullmatch=True)


def pairs(values: st.SearchStrategy[object], least: int = 0) -> st.SearchStrategy[object]:
    return st.dictionaries(NAMES, values, min_size=least, max_size=3).map(
        lambda d: tuple(d.items())
    )


@st.composite
def examples(draw: st.DrawFn) -> Example:
    dtypes = draw(pairs(st.sampled_from(DTYPES), 1))
    layouts = tuple((n, str(draw(st.sampled_from(list(Layout))))) for n, _ in dtypes)
    edits = st.builds(
        Edit,
        st.sampled_from([n for n, _ in dtypes]),
        st.integers(0, 10**12 - 1),
        st.integers(0, (1 << 64) - 1),
    )
    numbers = st.one_of(st.integers(-(10**9), 10**9), st.floats(allow_nan=False))
    return Example(
        sizes=draw(pairs(st.integers(0, 10**11), 1)),
        tiles=draw(pairs(st.integers(0, 2**20))),
        scalars=draw(pairs(numbers)),
        dtypes=dtypes,
        layouts=layouts,
        fill=Fill(draw(st.sampled_from(list(FillKind))), draw(st.integers(0, 2**31))),
        edits=tuple(draw(st.lists(edits, max_size=3, unique_by=lambda e: (e.tensor, e.index)))),
        launch=draw(pairs(st.integers(1, 16))),
    )


@settings(max_examples=300, deadline=None)
@given(examples(), st.sampled_from(list(Backend)))
def test_an_example_survives_the_way_through_its_token(example: Example, backend: Backend) -> None:
    token = encode(example, backend)
    assert decode(token) == example
    assert backend_of(token) is backend
    # Scalars of one value keep their kind: 1 is not 1.0.
    again = decode(token)
    assert [type(v) for _, v in again.scalars] == [type(v) for _, v in example.scalars]


@settings(max_examples=200, deadline=None)
@given(examples())
def test_a_token_means_nothing_to_a_shell_and_is_one_word(example: Example) -> None:
    token = encode(example, "gpu")
    assert shlex.split(token) == [token]
    assert re.fullmatch(r"[A-Za-z0-9_/=:,.@+-]+", token)


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=80))
def test_any_other_text_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ReproError) as caught:
        decode(text)
    assert "\n" not in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(examples(), st.data())
def test_a_damaged_token_is_refused_or_means_another_example(
    example: Example, data: st.DataObject
) -> None:
    token = encode(example, "interpreter")
    at = data.draw(st.integers(0, len(token) - 1))
    damaged = token[:at] + data.draw(st.sampled_from("/=:,@x-0")) + token[at + 1 :]
    try:
        found = decode(damaged)
    except ReproError:
        return
    assert encode(found, backend_of(damaged)) and (found == example or damaged != token)


@pytest.mark.parametrize(
    ("token", "complaint"),
    [
        ("v9/interpreter/N=1/-/-/x:float32", "not a repro token of version 1"),
        (f"{VERSION}/interpreter/N=1", "has not 6 to 10 parts but 3"),
        (f"{VERSION}/tpu/N=1/-/-/x:float32", "unknown backend"),
        (f"{VERSION}/gpu/N/-/-/x:float32", "not name=value"),
        (f"{VERSION}/gpu/N=-1/-/-/x:float32", "not a size"),
        (f"{VERSION}/gpu/N=9999999999999/-/-/x:float32", "not a size"),
        (f"{VERSION}/gpu/N=1,N=2/-/-/x:float32", "names something twice"),
        (f"{VERSION}/gpu/N=1/-/a=b/x:float32", "not a number"),
        (f"{VERSION}/gpu/N=1/-/-/x:float33", "not a dtype"),
        (f"{VERSION}/gpu/N=1/-/-/x:float32/x:upside", "not a layout"),
        (f"{VERSION}/gpu/N=1/-/-/x:float32/-/sorted", "not a fill"),
        (f"{VERSION}/gpu/N=1/-/-/x:float32/-/index/x@0=1", "not of the form name@index=0xbits"),
        (
            f"{VERSION}/gpu/N=1/-/-/x:float32/-/index/x@0=0x1,y@0=0x2,x@0=0x3",
            "x@0 in the repro token is edited twice",
        ),
        (f"{VERSION}/gpu/-/-/-/-", "neither sizes nor dtypes"),
    ],
)
def test_what_is_wrong_with_a_token_is_said(token: str, complaint: str) -> None:
    with pytest.raises(ReproError, match=re.escape(complaint)):
        decode(token)


def test_a_token_that_was_once_given_out_still_means_the_same() -> None:
    token = (
        "v1/interpreter/H=2,W=1/BLOCK=16/eps=0.5/x:float32/x:transposed/special.3/x@1=0x80000000"
    )
    assert decode(token) == Example(
        sizes=(("H", 2), ("W", 1)),
        tiles=(("BLOCK", 16),),
        scalars=(("eps", 0.5),),
        dtypes=(("x", "float32"),),
        layouts=(("x", "transposed"),),
        fill=Fill(FillKind.SPECIAL, 3),
        edits=(Edit("x", 1, 0x80000000),),
    )
    assert encode(decode(token), "interpreter") == token
