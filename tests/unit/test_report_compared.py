"""Runs side by side, as they are shown and stored."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import report_samples as samples
from made import finding, report, result
from markdown_it import MarkdownIt
from rich.cells import cell_len

from tritaudit.comparison import Comparison, compare
from tritaudit.model import Environment, Report
from tritaudit.report.compared import render_json, render_markdown, render_table
from tritaudit.report.terminal import plain


def run(triton: str, *faults: str, name: str = "flip/rows", **more: object) -> Report:
    environment = Environment(triton=triton, backend="interpreter", torch="2.9")
    found = [finding(name, fault, expected=fault == "crash") for fault in faults]
    return report(result(name, *found), result("same"), environment=environment, **more)


@pytest.fixture
def told() -> Comparison:
    return compare(
        [
            ("old", run("3.2.0", "nan-lost", "crash")),
            ("mid", run("3.6.0", "crash")),
            ("new", run("3.9.0", "crash", "padding-leak")),
        ]
    )


def rows(told: Comparison, width: int) -> list[str]:
    return plain(render_table(told, told.changed(), width), width).split("\n")


def test_a_wide_terminal_gets_a_table(told: Comparison) -> None:
    shown = rows(told, 140)
    assert re.split(r"\s{2,}", shown[1].strip()) == ["triton 3.2.0", "triton 3.6.0", "triton 3.9.0"]
    assert any(re.match(r" ?flip/rows +FAIL +known +FAIL ↓$", row) for row in shown)
    assert any("- nan-lost" in row and "+ padding-leak N=1" in row for row in shown)
    assert shown[-1] == "2 cases: 1 changed · 1 regression: flip/rows"


@pytest.mark.parametrize("width", [20, 60, 80, 140])
def test_nothing_is_broken_off(told: Comparison, width: int) -> None:
    text = "\n".join(rows(told, width))
    for word in ("padding-leak", "triton 3.9.0", "mid"):
        assert word in text
    if width >= 60:
        assert all(cell_len(row) <= width for row in rows(told, width))


def test_a_narrow_terminal_gets_one_run_below_the_other(told: Comparison) -> None:
    shown = rows(told, 50)
    at = shown.index("flip/rows")
    assert [row.rstrip() for row in shown[at + 1 : at + 8]] == [
        "  triton 3.2.0  FAIL",
        "                    nan-lost",
        "                    crash",
        "  triton 3.6.0  known",
        "                    crash",
        "                  - nan-lost",
        "  triton 3.9.0  FAIL ↓",
    ]


def test_runs_are_told_apart_by_what_differs() -> None:
    gpu = replace(run("3.9.0"), environment=Environment(triton="3.9.0", backend="gpu", gpu="H200"))
    gpu = replace(gpu, results=tuple(replace(r, backend="gpu") for r in gpu.results))
    backends = compare([("a", run("3.9.0")), ("b", gpu)])
    assert "interpreter: a" in "\n".join(rows(backends, 100))
    assert "gpu: b · gpu · triton 3.9.0 · H200" in "\n".join(rows(backends, 100))
    twice = compare([("before", run("3.9.0")), ("after", run("3.9.0"))])
    assert "before: before · interpreter" in "\n".join(rows(twice, 100))
    assert rows(twice, 100)[-1] == "2 cases: 0 changed · no regression"


def test_what_changed_within_a_finding_is_said() -> None:
    other = finding("a", size=3, dtypes=("float32", "int8"))
    told = compare([("x", report(result("a", finding("a")))), ("y", report(result("a", other)))])
    text = "\n".join(rows(told, 120))
    assert "~ padding-leak also in int8; N=1 → N=3" in text


def test_markdown_survives_hostile_names() -> None:
    a = run("3.2.0", name=samples.HOSTILE)
    b = run("3.9.0", "padding-leak", name=samples.HOSTILE)
    told = compare([("a|b", a), ("`c`", b)])
    html = MarkdownIt("commonmark").enable("table").render(render_markdown(told, told.rows))
    assert html.count("<tr>") == 3
    assert html.count("<td>") == 6
    for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL):
        assert len(re.findall(r"<t[dh]>", row)) == 3
    assert "<b>" not in html and "<img" not in html


def test_json_says_all_of_it(told: Comparison) -> None:
    value = json.loads(render_json(told, told.changed()))
    assert value["schema"] == "tritaudit-comparison/1"
    assert [run["triton"] for run in value["runs"]] == ["3.2.0", "3.6.0", "3.9.0"]
    assert value["compared"] == 2
    assert value["regressions"] == [{"case": "flip/rows", "backend": ""}]
    [row] = value["rows"]
    assert [cell["outcome"] for cell in row["cells"]] == ["fail", "known", "fail"]
    assert row["changes"] == [
        {
            "before": 0,
            "after": 1,
            "appeared": [],
            "vanished": ["nan-lost"],
            "changed": [],
            "regression": False,
        },
        {
            "before": 1,
            "after": 2,
            "appeared": ["padding-leak"],
            "vanished": [],
            "changed": [],
            "regression": True,
        },
    ]
    leak = row["cells"][2]["findings"][1]
    assert (leak["fault"], leak["smallest"], leak["expected"]) == ("padding-leak", "N=1", False)


def test_a_run_without_a_result_says_so() -> None:
    told = compare([("x", run("3.2.0")), ("y", replace(run("3.9.0"), results=()))])
    assert "no result" in "\n".join(rows(told, 100))
    assert "| no result |" in render_markdown(told, told.rows)
    assert json.loads(render_json(told, told.rows))["rows"][0]["cells"][1] is None
