"""The formats that other tools read, each parsed by a parser that is not ours."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import junitparser
import pytest
import report_samples as samples
from markdown_it import MarkdownIt

from tritaudit.model import Location, Outcome, Report, Severity
from tritaudit.report import github, junit, markdown, sarif
from tritaudit.report.places import path_in_repository, uri_in_repository

#: as published by OASIS, from the npm package @microsoft/jest-sarif (MIT).
SARIF_SCHEMA = Path(__file__).parent.parent / "schemas" / "sarif-2.1.0-rtm.5.json"


@pytest.fixture
def report() -> Report:
    return samples.report()


def hostile(text: str) -> Report:
    """A report in which every text that a user or a kernel chooses is `text`."""
    finding = replace(
        samples.unexplained(),
        case=text,
        summary=text,
        evidence=(text,),
        output=text,
        location=Location(f"a/{text.strip()}.py", 0, text),
    )
    results = [
        samples.result(text, Outcome.FAIL, [finding], output=text),
        samples.result(text, Outcome.ERROR, reason=text),
        samples.result(text, Outcome.SKIP, reason=text),
        samples.result(text, Outcome.STALE, missing=(text,)),
    ]
    return replace(samples.report(), results=tuple(results), ended=text)


HOSTILE = [
    samples.HOSTILE,
    "\x00\x01\x1b[31m\ufffe\uffff\ud800 x ]]> <!-- &#0; & < >",
    "a|b `c` ``` *d* _e_ [f](g) <img src=x onerror=alert(1)> @team #1 ~~h~~ \\| https://x",
    "100% :: , a\r\nb\nc",
]


def test_every_format_tells_a_stale_expectation_beside_an_unexpected_finding() -> None:
    location = Location("cases/k.py", 3)
    failed = samples.result("k", Outcome.FAIL, [samples.unexplained()], location=location)
    before = replace(samples.report(), results=(failed,))
    after = replace(before, results=(replace(failed, missing=("padding-leak",)),))
    for render in (junit.render, markdown.render, sarif.render, github.render):
        assert "padding-leak" in render(after), render.__module__
        assert "padding-leak" not in render(before), render.__module__


# --------------------------------------------------------------------------- JUnit


def read_junit(text: str) -> junitparser.JUnitXml:
    parsed = junitparser.JUnitXml.fromroot(ElementTree.fromstring(text))
    assert isinstance(parsed, junitparser.JUnitXml)
    return parsed


def test_junit_counts_what_happened(report: Report) -> None:
    parsed = read_junit(junit.render(report))
    assert (parsed.tests, parsed.failures, parsed.errors, parsed.skipped) == (16, 10, 1, 1)
    suites = {suite.name: suite for suite in parsed}
    assert set(suites) == {"interpreter", "gpu"}
    assert sum(len(list(suite)) for suite in suites.values()) == 16


def test_junit_tells_a_failure_from_an_error(report: Report) -> None:
    tests = {
        f"{t.classname}/{t.name}": t for suite in read_junit(junit.render(report)) for t in suite
    }
    [failure] = tests["mine/far_store"].result
    assert isinstance(failure, junitparser.Failure)
    assert failure.type == "crash"
    assert "SIGSEGV" in failure.message and "tritaudit explain" in failure.text
    [error] = tests["loss/huber"].result
    assert isinstance(error, junitparser.Error)
    [skipped] = tests["semantics/flip_fp8"].result
    assert isinstance(skipped, junitparser.Skipped)
    [stale] = tests["abs/widened"].result
    assert isinstance(stale, junitparser.Failure) and "padding-leak" in stale.message
    assert tests["flip/single_tile"].result == []
    assert "padding-leak" in (tests["flip/single_tile"].system_out or "")


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_parses_whatever_a_kernel_prints(text: str) -> None:
    drawn = junit.render(hostile(text))
    ElementTree.fromstring(drawn.encode("utf-8"))
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", drawn)
    assert len(list(read_junit(drawn))) == 1


def test_junit_times_are_numbers(report: Report) -> None:
    odd = replace(report.results[0], seconds=float("nan"))
    text = junit.render(replace(report, results=(odd,), seconds=float("inf")))
    assert 'time="0.000"' in text and "nan" not in text and "inf" not in text


# --------------------------------------------------------------------------- SARIF


def sarif_run(report: Report) -> dict[str, Any]:
    value = json.loads(sarif.render(report))
    jsonschema.validate(value, json.loads(SARIF_SCHEMA.read_text(encoding="utf-8")))
    [run] = value["runs"]
    for result in run["results"]:
        [location] = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri and not uri.startswith(("/", "file:", ".."))
        assert location["physicalLocation"]["region"]["startLine"] >= 1
        assert result["partialFingerprints"]["primaryLocationLineHash"]
    assert isinstance(run, dict)
    return run


def test_sarif_is_valid_and_every_result_has_a_place(report: Report) -> None:
    run = sarif_run(report)
    rules = {r["id"] for r in run["tool"]["driver"]["rules"]}
    assert {r["ruleId"] for r in run["results"]} == rules
    assert "int-abs-overflow" not in rules, "an expected finding is no alert"
    assert "stale-expectation" in rules


def test_sarif_keeps_findings_without_a_place_as_notifications(report: Report) -> None:
    run = sarif_run(report)
    texts = [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]]
    assert any("far_store" in text for text in texts)
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_tells_faults_on_one_line_apart(report: Report) -> None:
    two = samples.padding_leak(), replace(samples.padding_leak(), fault="off-by-one")
    one_line = replace(report, results=(samples.result("a", Outcome.FAIL, two),))
    prints = {
        r["partialFingerprints"]["primaryLocationLineHash"] for r in sarif_run(one_line)["results"]
    }
    assert len(prints) == 2


def test_sarif_fingerprints_do_not_move_with_lines(report: Report) -> None:
    def prints(line: int) -> list[str]:
        finding = replace(samples.padding_leak(), location=Location("a.py", line))
        moved = replace(report, results=(samples.result("a", Outcome.FAIL, [finding]),))
        return [
            r["partialFingerprints"]["primaryLocationLineHash"] for r in sarif_run(moved)["results"]
        ]

    assert prints(3) == prints(30)


def test_sarif_leaves_out_what_github_would_not_read(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sarif, "MOST_RESULTS", 2)
    run = sarif_run(report)
    assert len(run["results"]) == 2
    assert "left out" in json.dumps(run["invocations"])


def test_sarif_rules_carry_the_titles_they_are_given(report: Report) -> None:
    value = json.loads(sarif.render(report, {"wrong-axis": "other axes are reversed"}))
    rules = {r["id"]: r for r in value["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["wrong-axis"]["shortDescription"]["text"] == "other axes are reversed"
    assert rules["signed-zero-kept"]["defaultConfiguration"]["level"] == "note"


@pytest.mark.parametrize("text", HOSTILE)
def test_sarif_takes_hostile_text(text: str) -> None:
    sarif_run(hostile(text))


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("cases/a.py", "cases/a.py"),
        ("./cases/a.py", "cases/a.py"),
        ("cases\\a.py", "cases/a.py"),
        ("/usr/lib/a.py", None),
        ("C:\\a.py", None),
        ("C:a.py", None),
        ("../a.py", None),
        ("", None),
    ],
)
def test_paths_in_a_repository(path: str, inside: str | None) -> None:
    assert path_in_repository(Location(path, 1)) == inside


def test_uris_are_quoted() -> None:
    assert uri_in_repository(Location("a b/c#d%.py", 1)) == "a%20b/c%23d%25.py"


# --------------------------------------------------------------------------- GitHub annotations


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read annotations as the runner does: split at the first `::`, then at `,` and `=`."""
    read = []
    for row in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", row)
        assert match, row
        pairs = (pair.split("=", 1) for pair in match[2].split(","))
        read.append((match[1], {k: _unescaped(v) for k, v in pairs}, _unescaped(match[3])))
    return read


def _unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_annotations_name_file_line_and_severity(report: Report) -> None:
    found = commands(github.render(report))
    kinds = [kind for kind, _, _ in found]
    assert kinds == sorted(kinds, key=["error", "warning", "notice"].index)
    _, properties, message = found[0]
    assert properties["file"] == "cases/flip/single_tile.py"
    assert properties["line"] == "17"
    assert properties["title"] == "padding-leak in flip/single_tile"
    assert message.splitlines()[-1].startswith("tritaudit explain flip/single_tile --repro ")
    assert all("file" not in p for _, p, m in found if "SIGSEGV" in m)


@pytest.mark.parametrize("text", HOSTILE)
def test_annotations_survive_hostile_text(text: str) -> None:
    found = commands(github.render(hostile(text)))
    assert [kind for kind, _, _ in found] == ["error", "error", "warning", "warning"]


def test_annotations_that_github_would_drop_are_counted(report: Report) -> None:
    many = tuple(samples.result(f"c{i}", Outcome.FAIL, [samples.crash()]) for i in range(30))
    found = commands(github.render(replace(report, results=many)))
    assert len(found) == github.MOST
    assert "21 more errors" in found[-1][2]


def test_nothing_unexpected_needs_no_annotation(report: Report) -> None:
    calm = tuple(r for r in report.results if r.outcome in (Outcome.PASS, Outcome.KNOWN))
    assert github.render(replace(report, results=calm)) == ""


# --------------------------------------------------------------------------- Markdown


def as_html(text: str) -> str:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)


def test_markdown_tables_have_as_many_cells_as_columns(report: Report) -> None:
    html = as_html(markdown.render(report))
    for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL):
        assert row.count("<td") + row.count("<th") == 5
    assert html.count("<table>") == 2


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_hostile_text_as_text(text: str) -> None:
    html = as_html(markdown.render(hostile(text)))
    for tag in ("<img", "<b>", "<em>", "<a ", "<script", "<s>"):
        assert tag not in html
    for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL):
        assert row.count("<td") + row.count("<th") == 5


def test_markdown_keeps_pipes_in_names(report: Report) -> None:
    assert "|x|" in as_html(markdown.render(report))


def test_markdown_fences_are_longer_than_those_in_the_text(report: Report) -> None:
    finding = replace(samples.crash(), output="```\n</details>\n````\n# not a heading")
    odd = replace(report, results=(samples.result("a", Outcome.FAIL, [finding]),))
    html = as_html(markdown.render(odd))
    assert "<h1>" not in html
    assert html.count("</details>") == 1


def test_markdown_stays_below_its_limit(report: Report) -> None:
    many = tuple(
        samples.result(f"c{i}", Outcome.FAIL, [samples.block_local_flip()]) for i in range(50)
    )
    text = markdown.render(replace(report, results=many), 20_000)
    assert len(text.encode()) <= 20_000
    assert "did not fit" in text
    assert text.count("<details>") == text.count("</details>")


def test_every_severity_has_an_annotation_and_a_level() -> None:
    findings = [replace(samples.padding_leak(), severity=s) for s in Severity]
    results = tuple(samples.result("a", Outcome.FAIL, [f]) for f in findings)
    text = github.render(replace(samples.report(), results=results))
    assert [kind for kind, _, _ in commands(text)] == ["error", "warning", "notice"]
