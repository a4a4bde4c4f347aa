"""The parts of commands that need no process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer

from tritaudit.commands import Usage
from tritaudit.commands.auditing import exit_code
from tritaudit.commands.options import parse_jobs
from tritaudit.commands.reports import (
    ReportFile,
    ReportWriteError,
    check_writable,
    parse_reports,
    write_reports,
)
from tritaudit.commands.session import selected
from tritaudit.model import Backend, CaseInfo, CaseResult, Environment, Outcome, Report
from tritaudit.report.json_report import parse, render
from tritaudit.supervisor import default_jobs
from tritaudit.worker import Refusal, refuse_versions


def report(*outcomes: Outcome) -> Report:
    results = tuple(CaseResult(f"c{n}", "interpreter", o) for n, o in enumerate(outcomes))
    return Report(Environment(), results)


@pytest.mark.parametrize(
    ("outcomes", "code", "lenient"),
    [
        ((), 0, 0),
        ((Outcome.PASS, Outcome.KNOWN, Outcome.SKIP), 0, 0),
        ((Outcome.PASS, Outcome.FAIL), 1, 0),
        ((Outcome.STALE,), 1, 0),
        ((Outcome.ERROR,), 3, 3),
        ((Outcome.FAIL, Outcome.ERROR), 3, 3),
    ],
)
def test_the_exit_code_follows_from_the_outcomes(
    outcomes: tuple[Outcome, ...], code: int, lenient: int
) -> None:
    assert exit_code(report(*outcomes)) == code
    assert exit_code(report(*outcomes), exit_zero=True) == lenient
    assert exit_code(report(*outcomes), "interrupted") == 130
    assert exit_code(report(*outcomes), "terminated") == 143


def test_every_outcome_has_an_exit_code() -> None:
    assert {exit_code(report(outcome)) for outcome in Outcome} == {0, 1, 3}


def test_a_report_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(path)
    mask = os.umask(0o022)
    try:
        write_reports(report(Outcome.PASS), parse_reports([f"json={link}"]))
    finally:
        os.umask(mask)
    assert link.is_symlink()
    assert parse(path.read_text()) == report(Outcome.PASS)
    assert path.stat().st_mode & 0o777 == 0o644
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "r.json"]


def test_a_report_goes_into_what_is_no_file(tmp_path: Path) -> None:
    write_reports(report(), [ReportFile("json", os.devnull)])
    assert not Path(os.devnull).is_file()


def test_the_folder_of_a_report_is_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "r.json"
    asked = parse_reports([f"json={path}"])
    check_writable(asked)
    assert not path.parent.exists()
    write_reports(report(), asked)
    assert path.read_text() == render(report())


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wanted = [f"json={tmp_path}/file/r.json", f"html={tmp_path}", f"junit={os.devnull}", "sarif=-"]
    with pytest.raises(ReportWriteError) as caught:
        check_writable(parse_reports(wanted))
    assert str(caught.value).splitlines() == [
        f"the json report {tmp_path}/file/r.json cannot be written: {tmp_path}/file is no folder",
        f"the html report {tmp_path} cannot be written: it is a folder",
    ]


def test_each_report_that_cannot_be_written_is_told_and_the_others_are_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "no").touch()
    wanted = [f"json={tmp_path}/no/a.json", f"json={tmp_path}/b.json", f"json={tmp_path}/folder"]
    with pytest.raises(ReportWriteError) as caught:
        write_reports(report(), parse_reports(wanted))
    first, second = str(caught.value).splitlines()
    assert first.endswith("no/a.json cannot be written: File exists")
    assert second.endswith("folder cannot be written: Is a directory")
    assert (tmp_path / "b.json").read_text() == render(report())


@pytest.mark.parametrize("text", ["json", "json=", "=x", "yaml=x", ""])
def test_a_report_option_is_format_and_path(text: str) -> None:
    with pytest.raises(Usage, match=r"^--report .* (is not FORMAT=PATH|no format is named)"):
        parse_reports([text])


def test_jobs_are_a_number_or_auto() -> None:
    assert (parse_jobs("auto"), parse_jobs("3")) == (0, 3)
    for text in ("0", "-1", "x", "1.5", "²", ""):
        with pytest.raises(typer.BadParameter):
            parse_jobs(text)
    assert default_jobs(Backend.INTERPRETER) >= 1
    assert 1 <= default_jobs(Backend.GPU) <= 4


def test_selection_is_the_union_of_patterns() -> None:
    cases = [
        CaseInfo(name, "", 1, "case", "", "", "", (), (), (), ())
        for name in ("abs/a", "flip/b", "flip/c")
    ]
    assert [c.name for c in selected(cases, ["abs/*", "*/c"])] == ["abs/a", "flip/c"]
    assert selected(cases, []) == tuple(cases)
    with pytest.raises(Usage, match=r"^--select 'flip/d' matches no case; nearest: flip/"):
        selected(cases, ["flip/d"])


@pytest.mark.parametrize(
    ("triton", "numpy", "refused"),
    [
        ("3.0.0", "2.1.0", True),
        ("3.1.0", "2.4.6", True),
        ("3.1.0", "1.26.4", False),
        ("3.2.0", "2.4.6", False),
        ("3.10.0", "2.4.6", False),
        ("3.9.0+git1", "2.4.6", False),
    ],
)
def test_a_pair_of_versions_that_writes_nothing_is_refused(
    triton: str, numpy: str, refused: bool
) -> None:
    refuse_versions(triton, numpy, Backend.GPU)
    if not refused:
        refuse_versions(triton, numpy, Backend.INTERPRETER)
        return
    with pytest.raises(Refusal, match=r'writes no output with numpy .*: pip install "numpy<2"'):
        refuse_versions(triton, numpy, Backend.INTERPRETER)
