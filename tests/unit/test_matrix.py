"""Runs on several versions side by side: what is a change, and how it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tritaudit.matrix import Kind, Matrix, Word, matrix
from tritaudit.model import (
    CaseResult,
    Coverage,
    Environment,
    Example,
    Finding,
    Outcome,
    Report,
    Severity,
    Skipped,
)
from tritaudit.report.matrixtable import SCHEMA, render_json, render_markdown, render_matrix
from tritaudit.report.terminal import plain


def finding(fault: str, *dtypes: str, says: str = "", expected: bool = True) -> Finding:
    kinds = dtypes or ("int32",)
    example = Example((("N", 3),), dtypes=(("x", kinds[0]),))
    evidence = (says,) if says else ()
    return Finding(
        "c",
        fault,
        Severity.ERROR,
        expected,
        "interpreter",
        kinds[0],
        example,
        "",
        "",
        evidence=evidence,
        dtypes=kinds,
    )


def result(*findings: Finding, case: str = "c", **more: Any) -> CaseResult:
    outcome = Outcome.KNOWN if findings else Outcome.PASS
    return CaseResult(case, "interpreter", **{"outcome": outcome, "findings": findings, **more})


def on(version: str, *results: CaseResult) -> Report:
    return Report(Environment(triton=version, torch="2.13.0", backend="interpreter"), results)


def row_of(*results: CaseResult | None) -> Matrix:
    """One case on the versions 3.1, 3.2, …"""
    return matrix([on(f"3.{n}", *filter(None, [r])) for n, r in enumerate(results, 1)])


def kinds(told: Matrix) -> list[tuple[str, str, Kind]]:
    return [(s.before, s.after, s.kind) for row in told.rows for s in row.steps]


def refused(words: str) -> CaseResult:
    return result(finding("api-rejects", says=words))


# --------------------------------------------------------------------------- what is a change


def test_it_breaks_and_is_repaired_though_both_were_expected() -> None:
    told = row_of(result(), refused("TypeError: x"), refused("TypeError: x"), result())
    assert [c.word for c in told.rows[0].cells if c] == ["right", "refused", "refused", "right"]
    assert kinds(told) == [("3.1", "3.2", Kind.BROKE), ("3.3", "3.4", Kind.REPAIRED)]


def test_the_same_everywhere_is_no_change() -> None:
    wrong = result(finding("sign-kept", "int8", "int16"))
    again = result(finding("sign-kept", "int16", "int8", expected=False), outcome=Outcome.FAIL)
    assert kinds(row_of(wrong, again, wrong)) == []


def test_another_fault_or_another_dtype_is_a_change() -> None:
    a, b = finding("sign-kept", "int8"), finding("sign-kept", "int8", "int16")
    told = row_of(result(a), result(b), result(b, finding("nan-lost", "float32")))
    assert kinds(told) == [("3.1", "3.2", Kind.CHANGED), ("3.2", "3.3", Kind.CHANGED)]
    [moved, appeared] = told.rows[0].steps
    assert [(x.dtypes, y.dtypes) for x, y in moved.moved] == [(("int8",), ("int16", "int8"))]
    assert [s.fault for s in appeared.appeared] == ["nan-lost"]


def test_a_refusal_in_other_words_is_a_change_of_words_and_addresses_are_none() -> None:
    told = row_of(refused("TypeError: at 0x7f001234"), refused("TypeError: at 0x55550000"))
    assert kinds(told) == []
    told = row_of(refused("TypeError: a"), refused("TypeError: b"))
    assert kinds(told) == [("3.1", "3.2", Kind.REWORDED)]


def test_what_is_not_judged_any_more_is_a_change() -> None:
    unjudged = Coverage(9, 9, skipped=(Skipped("a limit", 3, ("bfloat16",)),))
    told = row_of(result(coverage=Coverage(9, 9)), result(coverage=unjudged))
    assert kinds(told) == [("3.1", "3.2", Kind.CHANGED)]
    assert told.rows[0].steps[0].remarks_new == ("a limit (bfloat16)",)


def test_a_version_without_a_result_is_stepped_over() -> None:
    told = row_of(result(), None, refused("x"))
    assert kinds(told) == [("3.1", "3.3", Kind.BROKE)]
    assert told.rows[0].cells[1] is None


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        (result(), Word.RIGHT),
        (result(outcome=Outcome.STALE), Word.RIGHT),
        (refused("x"), Word.REFUSED),
        (result(finding("api-rejects"), finding("sign-kept")), Word.WRONG),
        (result(finding("padding-leak")), Word.WRONG),
        (result(finding("crash")), Word.DIES),
        (result(finding("timeout")), Word.HANGS),
        (result(outcome=Outcome.SKIP, reason="no module"), Word.SKIPPED),
        (result(outcome=Outcome.ERROR, reason="broken"), Word.ERROR),
    ],
)
def test_a_cell_is_told_in_a_word(cell: CaseResult, word: Word) -> None:
    [row] = row_of(cell).rows
    assert row.cells[0] is not None
    assert row.cells[0].word is word


# --------------------------------------------------------------------------- how it is told


def several() -> Matrix:
    """Four cases on three versions."""
    steady, fp = result(case="a/steady"), finding("signed-zero-lost", "float16", "float32")

    def cells(version: str, breaks: CaseResult, says: CaseResult, floats: Sequence[Finding]) -> Any:
        parts = [breaks, says, result(*floats)]
        named = [
            CaseResult(
                name,
                r.backend,
                r.outcome,
                findings=r.findings,
                coverage=Coverage(3, 3, cut_short="slow" if name == "b/floats" else ""),
            )
            for name, r in zip(("a/breaks", "a/says", "b/floats"), parts, strict=True)
        ]
        return on(version, *named, steady)

    no, old, new = refused("TypeError: no"), refused("Error: old"), refused("Error: new")
    return matrix(
        [
            cells("3.3.1", result(), old, [fp]),
            cells("3.4.0", no, old, []),
            cells("3.9.0", result(), new, []),
        ]
    )


def test_the_table_marks_changes_and_lists_them_by_version() -> None:
    text = plain(render_matrix(several(), 80), 80)
    assert text.splitlines() == [
        "              3.3.1    3.4.0    3.9.0",
        "a/breaks      right   ▸refused ▸right",
        "a/says        refused  refused  refused",
        "a/steady      right    right    right",
        "b/floats      wrong   ▸right    right",
        "",
        "3.4.0, after 3.3.1",
        "  broke     a/breaks",
        "              api-rejects in int32 (TypeError: no)",
        "  repaired  b/floats",
        "              no signed-zero-lost in float16 float32 any more",
        "",
        "3.9.0, after 3.4.0",
        "  repaired  a/breaks",
        "              no api-rejects in int32 any more",
        "  reworded  a/says",
        "              Error: new; before: Error: old",
        "b/floats on 3.3.1 was not searched to the end: slow",
        "b/floats on 3.4.0 was not searched to the end: slow",
        "b/floats on 3.9.0 was not searched to the end: slow",
        "",
        "4 cases on 3 versions: 3 change (1 broke, 2 repaired, 1 reworded)",
    ]


def test_names_give_way_where_there_are_many_versions() -> None:
    told = matrix([on(f"3.{n}.0", result(case="flip/" + "x" * 60)) for n in range(6)])
    widths = [len(row) for row in plain(render_matrix(told, 80), 80).splitlines()]
    assert max(widths) <= 80


def test_markdown_holds_the_same_and_nothing_of_it_is_markup() -> None:
    text = render_markdown(several())
    assert "| <code>a/breaks</code> | right | **▸ refused** | **▸ right** |\n" in text
    assert "- broke: <code>a/breaks</code>: api-rejects in int32 &#40;TypeError" in text
    assert "### 3.4.0, after 3.3.1\n" in text
    hostile = matrix([on("3.1", refused("<script>|`")), on("3.2", refused("b"))])
    assert "<script>" not in render_markdown(hostile)


def test_json_holds_all_of_it() -> None:
    value = json.loads(render_json(several()))
    assert value["schema"] == SCHEMA
    assert [v["triton"] for v in value["versions"]] == ["3.3.1", "3.4.0", "3.9.0"]
    cases = {c["case"]: c for c in value["cases"]}
    assert [c["word"] for c in cases["a/breaks"]["cells"]] == ["right", "refused", "right"]
    assert [(c["after"], c["kind"]) for c in cases["a/breaks"]["changes"]] == [
        ("3.4.0", "broke"),
        ("3.9.0", "repaired"),
    ]
    [words] = cases["a/says"]["changes"][0]["reworded"]
    assert (words["before"]["words"], words["after"]["words"]) == ("Error: old", "Error: new")


def test_without_a_change_it_says_so() -> None:
    text = plain(render_matrix(row_of(result(), result()), 80), 80)
    assert text.splitlines()[-1] == "1 case on 2 versions: the same on all of them"


def test_the_matrix_in_the_documentation_has_every_probe() -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "docs" / "versions.md").read_text(encoding="utf-8")
    probes = {f"semantics/{p.stem}" for p in (root / "cases" / "semantics").glob("*.py")}
    assert set(re.findall(r"^\| <code>(.*?)</code>", text, re.MULTILINE)) == probes
