"""Figures of a self-test: what counts as found and as rightly named, and what is told."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tritaudit.model import (
    CaseInfo,
    CaseResult,
    Coverage,
    Example,
    Finding,
    Known,
    Outcome,
    Severity,
)
from tritaudit.plain import to_plain
from tritaudit.selftest.mutants import Mutant
from tritaudit.selftest.report import (
    Figures,
    Row,
    figures_of,
    plain_figures,
    render,
    render_line,
)
from tritaudit.selftest.runner import Journal, Measured, Subject, is_right, measured_of


def mutant(name: str, *faults: str, also: tuple[str, ...] = (), equivalent: str = "") -> Mutant:
    return Mutant(name, "abs/vector", f"{name} is wrong.", faults, "", also, "", equivalent)


def subject(name: str, planted: Mutant | None = None) -> Subject:
    info = CaseInfo(name, f"/{name}.py", 1, "case", "", "", "", (), (), (), ())
    return Subject(info, "0", planted)


def measured(name: str, *found: str, error: str = "") -> Measured:
    shown = tuple(f"{fault} N=1 float32" for fault in found)
    return Measured(name, "0", 0, "interpreter", "v", found, shown, error, examples=10, seconds=2.0)


def row(planted: Mutant, *found: str) -> Row:
    return Row(planted, measured(planted.name, *found))


def text_of(figures: Figures, folder: Path | None = None) -> str:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(render(figures, folder))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


# --------------------------------------------------------------------------- one mutant


def test_what_was_planted_and_nothing_else_is_the_right_name() -> None:
    one = row(mutant("m", "crash"), "crash")
    assert (one.detected, one.named, one.strict) == (True, True, True)


def test_nothing_found_is_a_miss() -> None:
    one = row(mutant("m", "crash"))
    assert (one.detected, one.named, one.strict) == (False, False, False)
    assert one.missing == ("crash",)


def test_another_name_is_a_wrong_one() -> None:
    one = row(mutant("m", "crash"), "crash", "timeout")
    assert (one.detected, one.named, one.strict) == (True, False, False)
    assert one.extra == ("timeout",)


def test_a_name_that_is_true_as_well_is_right_but_not_strictly() -> None:
    one = row(mutant("m", "crash", also=("timeout",)), "crash", "timeout")
    assert (one.detected, one.named, one.strict) == (True, True, False)


def test_a_name_that_is_true_as_well_does_not_replace_the_planted_one() -> None:
    one = row(mutant("m", "crash", also=("timeout",)), "timeout")
    assert (one.detected, one.named) == (True, False)


def test_all_that_was_planted_has_to_be_found() -> None:
    assert not row(mutant("m", "crash", "timeout"), "crash").named


# --------------------------------------------------------------------------- all of them

SUBJECTS = [
    subject("right"),
    subject("m1", mutant("m1", "crash")),
    subject("m2", mutant("m2", "crash", "timeout")),
    subject("same", mutant("same", equivalent="it is the same")),
]
CLEAN = [measured("right"), measured("m1", "crash"), measured("m2", "crash", "timeout")]


def test_all_good() -> None:
    figures = figures_of(SUBJECTS, [*CLEAN, measured("same")])
    assert figures.good
    assert (figures.detection, figures.right_name, figures.strict_name) == (1.0, 1.0, 1.0)
    told = text_of(figures)
    assert "crash" in told
    assert "same: it is the same" in told
    assert "2 of 2 (100 %)" in told
    assert "0 of 1 right kernel" in told


def test_a_right_kernel_that_is_flagged_is_a_false_alarm() -> None:
    figures = figures_of(SUBJECTS, [measured("right", "nan-lost"), *CLEAN[1:], measured("same")])
    assert not figures.good
    assert "false alarm right" in text_of(figures)


def test_what_changes_something_is_not_equivalent() -> None:
    figures = figures_of(SUBJECTS, [*CLEAN, measured("same", "nan-lost")])
    assert not figures.good
    assert "not equivalent same" in text_of(figures)


def test_a_miss_is_told_with_all_that_helps(tmp_path: Path) -> None:
    figures = figures_of(SUBJECTS, [*CLEAN[:1], measured("m1"), *CLEAN[2:], measured("same")])
    assert not figures.good
    assert figures.detection == 0.5
    told = text_of(figures, tmp_path)
    assert "missed m1" in told
    assert "m1 is wrong." in told
    assert "planted  crash" in told
    assert "found    nothing" in told
    assert "m1.py" in told


def test_a_wrong_name_is_told_with_what_was_found() -> None:
    wrong = measured("m1", "nan-lost")
    figures = figures_of(SUBJECTS, [CLEAN[0], wrong, CLEAN[2], measured("same")])
    assert figures.detection == 1.0
    assert figures.right_name == 0.5
    told = text_of(figures)
    assert "misnamed m1" in told
    assert "found    nan-lost N=1 float32" in told


def test_an_error_is_neither_found_nor_missed() -> None:
    failed = measured("m1", error="no process")
    figures = figures_of(SUBJECTS, [CLEAN[0], failed, CLEAN[2], measured("same")])
    assert [m.name for m in figures.errors] == ["m1"]
    assert len(figures.mutants) == 1
    assert "1 search could not be done" in text_of(figures)


def test_what_was_not_measured_is_counted() -> None:
    figures = figures_of(SUBJECTS, CLEAN)
    assert figures.left == 1
    assert "1 not measured" in text_of(figures)


def test_a_rate_is_rounded_down() -> None:
    many = [subject(str(k), mutant(str(k), "crash")) for k in range(2001)]
    found = [measured(str(k), "crash") for k in range(2000)]
    told = text_of(figures_of(many, [*found, measured("2000")]))
    assert "2000 of 2001 (99.9 %)" in told


def test_rows_count_each_planted_fault() -> None:
    plain = plain_figures(figures_of(SUBJECTS, [*CLEAN, measured("same")]), None)
    assert plain["faults"] == {"crash": [2, 2, 2], "timeout": [1, 1, 1]}
    assert json.loads(json.dumps(plain)) == plain


@pytest.mark.parametrize(
    ("which", "found", "word"),
    [
        (0, (), "right"),
        (0, ("crash",), "ALARM"),
        (1, (), "MISS"),
        (1, ("crash",), "found"),
        (1, ("timeout",), "NAME"),
        (3, (), "same"),
        (3, ("crash",), "ALARM"),
    ],
)
def test_each_kernel_gets_a_line(which: int, found: tuple[str, ...], word: str) -> None:
    told = render_line(SUBJECTS[which], measured("m", *found)).plain
    assert told.startswith(word)


# --------------------------------------------------------------------------- measuring


def result(*faults: tuple[str, bool], outcome: Outcome = Outcome.FAIL) -> CaseResult:
    findings = tuple(
        Finding("m", f, Severity.ERROR, known, "gpu", "int8", Example((("N", 3),)), "", "")
        for f, known in faults
    )
    coverage = Coverage(examples=7, launches=9)
    return CaseResult("m", "gpu", outcome, "why", coverage, 1.25, findings)


def test_expected_findings_do_not_count() -> None:
    got = measured_of(result(("nan-lost", False), ("crash", False), ("timeout", True)), CLEAN[0])
    assert got.found == ("crash", "nan-lost")
    assert got.smallest == ("crash N=3 int8", "nan-lost N=3 int8")
    assert got.error == ""
    assert (got.examples, got.launches, got.seconds) == (7, 9, 1.25)


def test_a_unit_that_could_not_work_is_an_error() -> None:
    assert measured_of(result(outcome=Outcome.ERROR), CLEAN[0]).error == "why"


def test_a_case_is_right_where_nothing_is_known_of_it() -> None:
    info = subject("right").info
    assert is_right(info, "3.9.0", "gpu")
    known = (Known("crash", triton="<3.4"), Known("timeout", backend="interpreter"))
    old = CaseInfo("old", "", 1, "case", "", "", "", (), (), (), known)
    assert is_right(old, "3.9.0", "gpu")
    assert not is_right(old, "3.2.0", "gpu")
    assert not is_right(old, "3.9.0", "interpreter")


def test_a_journal_knows_what_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "measured.jsonl"
    Journal(path).add(CLEAN[1])
    Journal(path).add(CLEAN[2])
    journal = Journal(path)
    assert journal.known(CLEAN[1].key) == CLEAN[1]
    assert journal.known(measured("m3").key) is None


def test_a_line_that_was_cut_off_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "measured.jsonl"
    line = json.dumps(to_plain(CLEAN[1]))
    path.write_text(f"{line}\n{line[:20]}", encoding="utf-8")
    assert Journal(path).known(CLEAN[1].key) == CLEAN[1]
    Journal(path).add(CLEAN[2])
    assert Journal(path).known(CLEAN[2].key) == CLEAN[2]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "measured.jsonl"
    path.write_text('{"name": 1}\n{}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"measured\.jsonl:1 is no measurement"):
        Journal(path)


def test_without_a_file_nothing_is_kept() -> None:
    Journal(None).add(CLEAN[1])
    assert Journal(None).known(CLEAN[1].key) is None
