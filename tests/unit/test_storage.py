"""`.tritaudit/`: failures and durations that one run leaves for the next."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from made import finding, report, result

from tritaudit.model import CaseResult, Coverage, Finding, Location, Outcome
from tritaudit.report.json_report import schema
from tritaudit.storage import Storage, write_file

LEAK = finding("flip/rows")


def save(storage: Storage, *findings: Finding, **more: object) -> None:
    for each in findings:
        failed = result(each.case, each, **more)
        storage.save(report(failed, result("other")), failed, each)


def names(storage: Storage) -> list[str]:
    return [failure.path.name for failure in storage.failures()]


def test_a_failure_is_a_report_of_its_own(tmp_path: Path) -> None:
    storage = Storage(tmp_path, tmp_path)
    save(storage, LEAK)
    [failure] = storage.failures()
    assert failure.path.parent == tmp_path / ".tritaudit" / "failures"
    assert failure.path.name.startswith("flip.rows--padding-leak--")
    jsonschema.validate(json.loads(failure.path.read_text()), json.loads(schema()))
    assert failure.finding == replace(LEAK, target="flip/rows")
    assert (tmp_path / ".tritaudit" / ".gitignore").read_text() == "*\n"


def test_nothing_is_made_before_something_is_stored(tmp_path: Path) -> None:
    storage = Storage(tmp_path, tmp_path)
    assert (storage.failures(), storage.durations("gpu/ci")) == ([], {})
    storage.record("gpu/ci", [])
    assert list(tmp_path.iterdir()) == []


def test_a_fault_is_stored_once_however_its_example_changes(tmp_path: Path) -> None:
    storage = Storage(tmp_path, tmp_path)
    save(storage, LEAK, finding("flip/rows", size=3), finding("flip/rows", "crash"))
    save(storage, finding("flip/rows", backend="gpu"))
    kept = {(f.finding.fault, f.finding.backend): f.finding.repro for f in storage.failures()}
    assert kept == {
        ("padding-leak", "interpreter"): "v1/interpreter/N=3/-/-/x:float32",
        ("crash", "interpreter"): "v1/interpreter/N=1/-/-/x:float32",
        ("padding-leak", "gpu"): "v1/gpu/N=1/-/-/x:float32",
    }
    for failure in storage.failures():
        storage.drop(failure)
        storage.drop(failure)  # gone already
    assert names(storage) == []


def test_the_newest_comes_first(tmp_path: Path) -> None:
    storage = Storage(tmp_path, tmp_path)
    save(storage, finding("a"), finding("b"), finding("c"))
    times = {"a": 20, "b": 30, "c": 10}
    for failure in storage.failures():
        at = times[failure.finding.case]
        os.utime(failure.path, (at, at))
    assert [f.finding.case for f in storage.failures()] == ["b", "a", "c"]


def test_what_is_no_failure_is_left_out(tmp_path: Path) -> None:
    storage = Storage(tmp_path, tmp_path)
    save(storage, LEAK)
    [good] = storage.failures()
    for name, text in {"a": "{", "b": "{}", "c": "\udcff"}.items():
        good.path.with_name(f"{name}.json").write_text(text, errors="surrogateescape")
    assert [f.path for f in storage.failures()] == [good.path]


@pytest.mark.parametrize("case", ["x/" + "long" * 100, "../../up", "a b/ü:{}|<>", "...", "🔥"])
def test_any_name_makes_a_file_name(tmp_path: Path, case: str) -> None:
    storage = Storage(tmp_path, tmp_path)
    save(storage, finding(case))
    [failure] = storage.failures()
    assert failure.path.parent == tmp_path / ".tritaudit" / "failures"
    assert failure.finding.case == case
    assert len(failure.path.name) < 200


def test_paths_hold_from_wherever_they_are_read(tmp_path: Path) -> None:
    project, inner = tmp_path / "p", tmp_path / "p" / "sub"
    inner.mkdir(parents=True)
    (inner / "k.py").touch()
    outside = tmp_path / "o.py"
    outside.touch()
    here = Storage(project, inner)
    place = Location("k.py", 4, "x")
    save(here, replace(finding("k"), target="k.py:other", location=place), location=place)
    save(here, replace(finding("o"), target=str(outside), location=Location(str(outside), 1)))
    stored = {f.finding.case: f.finding for f in here.failures()}
    assert (stored["k"].target, stored["k"].location) == (
        "sub/k.py:other",
        Location("sub/k.py", 4, "x"),
    )
    assert stored["o"].target == str(outside)
    beside = tmp_path / "q"
    for folder, shown in (
        (inner, "k.py"),
        (project, "sub/k.py"),
        (tmp_path, "p/sub/k.py"),
        (beside, str(inner / "k.py")),
    ):
        there = Storage(project, folder)
        [k] = [there.shown(f) for f in there.failures() if f.finding.case == "k"]
        assert (k.target, k.finding.target) == (f"{shown}:other", f"{shown}:other")
        assert k.finding.location is not None and k.finding.location.path == shown
        assert k.result.location is not None and k.result.location.path == shown


def test_the_catalogue_and_functions_are_no_paths(tmp_path: Path) -> None:
    storage = Storage(tmp_path, tmp_path / "elsewhere")
    for target in ("flip/single_tile", "mypkg.ops:reverse_rows", "abs/x:second"):
        assert storage.shown_target(storage.stored_target(target)) == target


def took(case: str, seconds: float, **more: object) -> CaseResult:
    return result(case, seconds=seconds, **more)


def test_durations_are_kept_by_kind_and_of_whole_searches_only(tmp_path: Path) -> None:
    storage = Storage(tmp_path, tmp_path)
    cut = Coverage(launches=1, cut_short="the time limit")
    storage.record("gpu/ci", [took("a", 1.5), took("b", 2.0), took("c", 3.0, coverage=cut)])
    storage.record("gpu/ci", [took("b", 4.0), took("d", 0.1, outcome=Outcome.ERROR)])
    storage.record("gpu/deep", [took("a", 99.0)])
    assert storage.durations("gpu/ci") == {"a": 1.5, "b": 4.0}
    assert storage.durations("gpu/deep") == {"a": 99.0}
    assert storage.durations("gpu/quick") == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "other/1"}', "\x00"])
def test_durations_that_cannot_be_read_are_none(tmp_path: Path, text: str) -> None:
    storage = Storage(tmp_path, tmp_path)
    storage.record("gpu/ci", [took("a", 1.0)])
    (tmp_path / ".tritaudit" / "durations.json").write_text(text)
    assert storage.durations("gpu/ci") == {}
    storage.record("gpu/ci", [took("b", 1.0)])
    assert storage.durations("gpu/ci") == {"b": 1.0}


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_file(path, "half \ud800")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
