"""Where reports go: files, standard output, what GitHub wants; and whose paths they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import report_samples as samples
from made import finding, report, result

from tritaudit.commands import Usage
from tritaudit.commands.reports import (
    FORMATS,
    ReportFile,
    ReportWriteError,
    parse_reports,
    read_report,
    with_defaults,
    write_page,
    write_reports,
)
from tritaudit.model import Location
from tritaudit.report import markdown
from tritaudit.report.json_report import render


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / "report"
    write_reports(samples.report(), parse_reports([f"{name}={path}"]))
    assert "padding-leak" in path.read_text(encoding="utf-8")


def test_a_path_of_the_configuration_is_relative_to_its_folder(tmp_path: Path) -> None:
    asked = parse_reports(["json=a=b.json", "html=-"], tmp_path)
    assert asked == (ReportFile("json", str(tmp_path / "a=b.json")), ReportFile("html", "-"))


def test_a_wrong_format_is_told_with_the_nearest_one() -> None:
    with pytest.raises(Usage, match="no format is named 'sarf'; nearest: sarif"):
        parse_reports(["sarf=x"])
    with pytest.raises(Usage, match="only one report can go to standard output"):
        parse_reports(["json=-", "html=-"])


def test_standard_output_comes_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "no" / "r.json"
    path.parent.touch()
    with pytest.raises(ReportWriteError, match=r"no/r\.json cannot be written"):
        write_reports(report(), parse_reports(["json=-", f"json={path}"]))
    assert capsys.readouterr().out == render(report())


def test_github_gets_annotations_and_a_summary(tmp_path: Path) -> None:
    asked = (ReportFile("json", "r.json"),)
    assert with_defaults(asked, {}) == asked
    summary = str(tmp_path / "summary.md")
    actions = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary}
    implied = with_defaults(asked, actions)
    assert implied == (
        *asked,
        ReportFile("github", "-", implied=True),
        ReportFile("markdown", summary, append=True, implied=True),
    )
    own = (ReportFile("github", "annotations.txt"),)
    assert with_defaults(own, {"GITHUB_ACTIONS": "true"}) == own
    assert with_defaults((), {"GITHUB_ACTIONS": "false"}) == ()


def test_a_summary_is_added_to_what_is_there_as_far_as_github_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    file = ReportFile("markdown", str(path), append=True)
    write_reports(samples.report(), [file])
    text = path.read_text()
    assert text.startswith("before\n## tritaudit\n")
    path.write_text("x" * (markdown.MOST_BYTES - 2000))
    write_reports(samples.report(), [file])
    assert path.stat().st_size < markdown.MOST_BYTES
    assert "did not fit" in path.read_text()


def test_paths_are_those_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "pkg" / "sub"
    inner.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(inner)
    found = finding("k")
    places = {
        "k.py": "pkg/sub/k.py",
        str(tmp_path / "other" / "k.py"): "other/k.py",
        "/elsewhere/k.py": None,
    }
    for path, shown in places.items():
        sample = report(result("k", found, location=Location(path, 3)))
        write_reports(sample, parse_reports(["sarif=s.json", "github=g.txt"]))
        results = json.loads(Path("s.json").read_text())["runs"][0]["results"]
        uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results]
        assert uris == ([shown] if shown else [])
        assert ("file=" in Path("g.txt").read_text()) is bool(shown)
        assert not shown or f"file={shown}," in Path("g.txt").read_text()


def test_sarif_has_the_titles_of_the_faults(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    sample = report(result("k", finding("k"), location=Location("k.py", 3)))
    write_reports(sample, parse_reports([f"sarif={path}"]))
    [rule] = json.loads(path.read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"].startswith("Masked lanes")


def test_a_report_is_read_back_and_anything_else_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(render(samples.report()), encoding="utf-8")
    assert read_report(str(path)) == samples.report()
    for text, told in {"{": "not a tritaudit report", "{}": "the report says schema None"}.items():
        path.write_text(text)
        with pytest.raises(Usage, match=told):
            read_report(str(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(Usage, match="codec can't decode"):
        read_report(str(path))
    with pytest.raises(Usage, match="No such file"):
        read_report(str(tmp_path / "none.json"))


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReportWriteError, match=r"the page .* cannot be written: Is a directory"):
        write_page(str(tmp_path), "x")
