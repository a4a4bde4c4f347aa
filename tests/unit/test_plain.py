from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import get_type_hints

import pytest

from tritaudit import model
from tritaudit.model import (
    CaseResult,
    Cell,
    Coverage,
    Edit,
    Example,
    Excerpt,
    Fill,
    FillKind,
    Finding,
    IndexMap,
    Known,
    Location,
    Outcome,
    Proof,
    Severity,
    Skipped,
    UnitRequest,
)
from tritaudit.plain import from_plain, to_plain

EXAMPLE = Example(
    sizes=(("N", 5),),
    tiles=(("BLOCK", 8),),
    scalars=(("a", 1), ("b", 0.5), ("c", math.inf)),
    dtypes=(("x", "float32"),),
    layouts=(("x", "strided"),),
    fill=Fill(FillKind.PATTERNS, 7),
    edits=(Edit("x", 3, 0x80000000),),
    launch=(("num_warps", 4),),
)
FINDING = Finding(
    case="flip/single_tile",
    fault="padding-leak",
    severity=Severity.ERROR,
    expected=True,
    backend="interpreter",
    dtype="float32",
    example=EXAMPLE,
    repro="t1-abc",
    summary="leaks",
    proof=Proof(5, 5, 3, (("off-by-one", "N=3"),), (("value", "0"),), "because"),
    assert_close_passes=None,
    location=Location("k.py", 12, "tl.store(...)"),
    excerpt=Excerpt(
        axes=("N",),
        shape=(5,),
        in_dtype="float32",
        out_dtype="float32",
        tiles=(8,),
        cells=(Cell((0,), "1.0", "5.0", "0.0", True, 1, None, 0),),
        wrong=5,
        total=5,
    ),
    index_map=IndexMap(("N",), (5,), (8,), (-1, 4), (4, 3), "0", 2),
)
RESULT = CaseResult(
    case="flip/single_tile",
    backend="interpreter",
    outcome=Outcome.KNOWN,
    coverage=Coverage(
        examples=3,
        sizes=(("N", 1, 9, 4),),
        tiles=(("BLOCK", (8, 16)),),
        dtypes=(("float32", 3),),
        skipped=(Skipped("bf16", 2, ("bfloat16",)),),
    ),
    seconds=0.25,
    findings=(FINDING,),
)


@pytest.mark.parametrize(
    "value",
    [
        EXAMPLE,
        FINDING,
        RESULT,
        Known("crash", triton=">=3.4", dtypes=("int8",)),
        UnitRequest("a", "/a.py", "case", "/", "gpu", avoid=("x", "y")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_written_is_read_back_through_json(value: object) -> None:
    text = json.dumps(to_plain(value), allow_nan=False)
    assert from_plain(type(value), json.loads(text)) == value


def test_a_dataclass_is_a_dict_of_plain_values() -> None:
    assert to_plain(Fill(FillKind.SPECIAL, 2)) == {"kind": "special", "seed": 2}
    assert to_plain((1, (2.5, None))) == [1, [2.5, None]]


def test_whole_and_real_numbers_stay_apart_where_a_field_takes_both() -> None:
    scalars = from_plain(tuple[int | float, ...], [1, 1.0, "nan", "-inf"])
    assert [type(x) for x in scalars] == [int, float, float, float]
    assert math.isnan(scalars[2]) and scalars[3] == -math.inf


def test_a_real_field_takes_a_whole_number() -> None:
    assert from_plain(float, 3) == 3.0 and isinstance(from_plain(float, 3), float)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": "0"}, r"\$\.seed: expected a whole number, not '0'"),
        ({"seed": True}, r"\$\.seed: expected a whole number, not True"),
        ({"seed": 1.0}, r"\$\.seed: expected a whole number, not 1\.0"),
        ({"kind": "indecks"}, r"\$\.kind: 'indecks' is none of index, zero, normal"),
        ({"sead": 0}, r"\$\.sead: Fill has no such field"),
    ],
)
def test_a_bad_field_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_plain(Fill, {"kind": "index", **change})


def test_the_path_leads_into_nested_values() -> None:
    data = to_plain(RESULT)
    assert isinstance(data, dict)
    data["findings"][0]["proof"]["rivals"][0] = ["off-by-one"]
    with pytest.raises(
        ValueError, match=r"^\$\.findings\[0\]\.proof\.rivals\[0\]: expected 2 entries, not 1$"
    ):
        from_plain(CaseResult, data)


def test_a_missing_field_is_named_and_a_default_fills_in() -> None:
    assert from_plain(Fill, {}) == Fill()
    with pytest.raises(ValueError, match=r"^\$\.line: missing$"):
        from_plain(Location, {"path": "k.py"})


def test_a_refusal_of_the_dataclass_itself_has_a_path() -> None:
    with pytest.raises(ValueError, match=r"^\$\[0\]: unknown backend 'tpu'"):
        from_plain(tuple[Known, ...], [{"fault": "crash", "backend": "tpu"}])


@pytest.mark.parametrize("data", [None, 3, "text", [1]])
def test_something_else_than_an_object_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match=r"^\$: expected an object \(Fill\)"):
        from_plain(Fill, data)


def test_what_has_no_plain_form_is_refused() -> None:
    @dataclass
    class Holder:
        inner: tuple[object, ...]

    with pytest.raises(ValueError, match=r"^\$\.inner\[1\]: object has no plain form"):
        to_plain(Holder((1, object())))


def test_every_type_that_crosses_a_boundary_can_be_read() -> None:
    """No field of these has a type that the codec does not know."""
    for cls in (CaseResult, UnitRequest, model.CaseInfo, model.Environment, model.Progress):
        assert get_type_hints(cls)
        with pytest.raises(ValueError, match=r"missing|expected"):
            from_plain(cls, {name: {} for name in get_type_hints(cls)})
