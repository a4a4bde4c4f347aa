"""The JSON report: its shape, its schema, the way back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import jsonschema
import pytest
import report_samples as samples

from tritaudit.model import Report
from tritaudit.report import json_report


def schema() -> dict[str, Any]:
    value = json.loads(json_report.schema())
    assert isinstance(value, dict)
    return value


def test_what_is_written_is_read_back_equal() -> None:
    report = samples.full_report()
    assert json_report.parse(json_report.render(report)) == report


def values(part: Any) -> Iterator[tuple[type, str, Any]]:
    """Every field of every dataclass in a report, with its value."""
    if is_dataclass(part) and not isinstance(part, type):
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name == "judgements":
                continue  # goes from one backend to the other, and into no report
            yield type(part), field.name, value
            yield from values(value)
    elif isinstance(part, tuple):
        for item in part:
            yield from values(item)


def test_no_field_is_left_out() -> None:
    """Every field has a value of its own in some sample, so that the round trip would miss it."""
    told: dict[tuple[type, str], set[str]] = {}
    for kind, name, value in values(samples.full_report()):
        told.setdefault((kind, name), set()).add(repr(value))
    for (kind, name), found in told.items():
        [field] = [f for f in fields(kind) if f.name == name]
        default = field.default_factory() if callable(field.default_factory) else field.default
        assert found - {repr(default)}, f"no sample sets {kind.__name__}.{name}"


def test_the_schema_is_a_schema_and_accepts_the_report() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(json_report.render(samples.report())), schema())


def test_the_schema_names_every_key_that_is_written() -> None:
    """A key that the schema does not describe would be a promise that nobody made."""
    strict = json.dumps(schema())
    closed = json.loads(strict, object_hook=_closed)
    jsonschema.validate(json.loads(json_report.render(samples.full_report())), closed)


def _closed(value: dict[str, Any]) -> dict[str, Any]:
    if "properties" in value and "required" in value:
        return {**value, "additionalProperties": False}
    return value


def test_an_empty_report_is_valid() -> None:
    empty = Report(samples.report().environment, ())
    jsonschema.validate(json.loads(json_report.render(empty)), schema())
    assert json_report.parse(json_report.render(empty)) == empty


def test_the_promised_names() -> None:
    value = json.loads(json_report.render(samples.report()))
    assert value["schema"] == "tritaudit-report/1"
    result = next(r for r in value["results"] if r["case"] == "flip/padded_tile_per_program")
    finding = result["findings"][0]
    assert result["outcome"] == "fail"
    assert finding["fault"] == "padding-leak"
    assert finding["severity"] == "error"
    assert finding["expected"] is False
    assert finding["assert_close_passes"] is False
    assert finding["example"]["sizes"] == {"N": 5}
    assert finding["example"]["tiles"] == {"BLOCK": 8}
    assert finding["example"]["fill"] == {"kind": "index", "seed": 0}
    assert finding["location"]["line"] == 17
    assert finding["proof"]["explained"] == 5


def test_bits_are_text_and_non_finite_numbers_are_no_bare_words() -> None:
    text = json_report.render(samples.report())

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    value = json.loads(text, parse_constant=refuse)
    [wild] = [r for r in value["results"] if r["case"] == samples.HOSTILE]
    assert wild["findings"][0]["example"]["scalars"] == {"limit": "Infinity", "low": "-Infinity"}
    [zero] = [r for r in value["results"] if r["case"] == "abs/where_lt"]
    edit = zero["findings"][0]["example"]["edits"][0]
    assert edit == {"tensor": "x", "index": 1, "bits": "0x80000000"}


def test_nan_seconds_survive() -> None:
    report = replace(samples.report(), seconds=math.nan)
    assert math.isnan(json_report.parse(json_report.render(report)).seconds)


def test_the_text_can_be_written_as_utf8() -> None:
    """The hostile sample holds a lone surrogate, which no file takes."""
    assert "🔥" in json_report.render(samples.report()).encode("utf-8").decode("utf-8")


def test_unknown_keys_are_ignored() -> None:
    value = json.loads(json_report.render(samples.report()))
    value["later"] = value["results"][0]["later"] = 1
    assert json_report.parse(json.dumps(value)) == samples.report()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.pop("results"), "the report: 'results' is missing"),
        (lambda v: v.update(schema="tritaudit-report/9"), "this version reads"),
        (lambda v: v["results"][0].update(outcome="meh"), r"results\[0\].outcome: unknown 'meh'"),
        (lambda v: v["results"][1].update(seconds="1"), r"results\[1\].seconds: a number is"),
        (lambda v: v.update(seed=True), "seed: an integer is needed, not True"),
        (lambda v: v["environment"].update(gpu=3), "environment.gpu: text is needed"),
        (lambda v: v.update(results={}), "results: a list is needed"),
        (
            lambda v: v["results"][4]["findings"][0]["example"]["edits"][0].update(bits="7"),
            r"edits\[0\].bits: a bit pattern",
        ),
    ],
)
def test_a_wrong_report_is_refused_with_the_place(change: Any, message: str) -> None:
    value = json.loads(json_report.render(samples.report()))
    change(value)
    with pytest.raises(json_report.ReportError, match=message):
        json_report.parse(json.dumps(value))


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "[" * 100_000])
def test_what_is_no_report_at_all_is_refused(text: str) -> None:
    with pytest.raises(json_report.ReportError, match="not a tritaudit report"):
        json_report.parse(text)
