"""What is given goes before what is configured, and that before what is usual."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from made import finding, report, result

from tritaudit.acceptance import Ignore
from tritaudit.choices import BackendChoice, FailOn, ProfileChoice
from tritaudit.commands import Usage
from tritaudit.commands.concluding import report_files
from tritaudit.commands.runoptions import RunOptions
from tritaudit.commands.settings import backend_of, plan_of, settings_of, targets_of
from tritaudit.config import Settings
from tritaudit.model import Backend, CaseInfo
from tritaudit.profiles import PROFILES
from tritaudit.report.json_report import render

HERE = Path("/nowhere")
CASE = CaseInfo("a", "/x/a.py", 1, "case", "", "", "", (), (), (), ())


@pytest.mark.parametrize(
    ("name", "given", "configured", "usual"),
    [
        ("seed", 0, 7, 0),
        ("max_examples", 3, 50, 0),
        ("timeout", 1.5, 30.0, 60.0),
        ("time_budget", 5.0, 600.0, None),
        ("profile", ProfileChoice.QUICK, ProfileChoice.DEEP, ProfileChoice.CI),
        ("fail_on", FailOn.WARNING, FailOn.NEVER, FailOn.NOTE),
    ],
)
def test_options_go_before_the_configuration(
    name: str, given: Any, configured: Any, usual: Any
) -> None:
    nothing, some = Settings(HERE), Settings(HERE, **{name: configured})
    wanted = RunOptions(**{name: given})
    assert getattr(plan_of(wanted, some, ()), name) == given
    assert getattr(plan_of(RunOptions(), some, ()), name) == configured
    assert getattr(plan_of(RunOptions(), nothing, ()), name) == usual


def test_jobs_are_read() -> None:
    some = Settings(HERE, jobs=2)
    assert plan_of(RunOptions(jobs="3"), some, ()).jobs == 3
    assert plan_of(RunOptions(jobs="auto"), some, ()).jobs == 0
    assert plan_of(RunOptions(), some, ()).jobs == 2


def test_backends_are_chosen_in_the_same_order() -> None:
    some = Settings(HERE, backend=BackendChoice.GPU)
    assert backend_of(BackendChoice.INTERPRETER, some) is BackendChoice.INTERPRETER
    assert backend_of(None, some) is BackendChoice.GPU
    assert backend_of(None, Settings(HERE)) is BackendChoice.AUTO


def test_exit_zero_is_never() -> None:
    strict = RunOptions(exit_zero=True, fail_on=FailOn.NOTE)
    assert plan_of(strict, Settings(HERE), ()).fail_on is FailOn.NEVER


def test_a_profile_sets_time_examples_and_sizes() -> None:
    plan = plan_of(RunOptions(profile=ProfileChoice.QUICK), Settings(HERE), ("int8",))
    quick = PROFILES[ProfileChoice.QUICK]
    request = plan.request(CASE, Backend.INTERPRETER)
    assert plan.timeout == quick.timeout
    assert (request.max_examples, request.elements) == (
        quick.interpreter.examples,
        quick.interpreter.elements,
    )
    assert request.dtypes == ("int8",)
    fewer = plan_of(RunOptions(profile=ProfileChoice.QUICK, max_examples=5), Settings(HERE), ())
    assert fewer.request(CASE, Backend.GPU).max_examples == 5


def test_a_fault_is_one_that_there_is() -> None:
    plan = plan_of(RunOptions(fault=["crash", "timeout", "crash"]), Settings(HERE), ())
    assert plan.request(CASE, Backend.GPU).faults == ("crash", "timeout")
    with pytest.raises(Usage, match="--fault: no fault is named 'padding-lek'; nearest: padding"):
        plan_of(RunOptions(fault=["padding-lek"]), Settings(HERE), ())


def test_a_baseline_may_be_given_or_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "old.json").write_text(render(report(result("a", finding("a")))))
    settings = Settings(tmp_path / "sub", baseline="old.json")
    reason = plan_of(RunOptions(), settings, ()).acceptance.reason(finding("a"))
    assert reason == "in the baseline sub/old.json"
    given = RunOptions(baseline="sub/old.json")
    assert plan_of(given, Settings(tmp_path), ()).acceptance.reason(finding("a")) == reason
    with pytest.raises(Usage, match=r"none\.json: No such file"):
        plan_of(RunOptions(baseline="none.json"), settings, ())


def test_ignores_hold_today() -> None:
    ignore = Ignore("a", "padding-leak", "old", datetime.date.today())
    plan = plan_of(RunOptions(), Settings(HERE, ignore=(ignore,)), ())
    assert plan.acceptance.reason(finding("a")).endswith(": old")


def test_targets_of_the_configuration_are_relative_to_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "sub").mkdir()
    settings = Settings(tmp_path, cases=("kernels", "flip/*"))
    monkeypatch.chdir(tmp_path)
    assert targets_of([], settings) == ["kernels", "flip/*"]
    assert targets_of(["x"], settings) == ["x"]
    monkeypatch.chdir(tmp_path / "sub")
    assert targets_of(None, settings) == [str(tmp_path / "kernels"), "flip/*"]


def test_what_the_configuration_names_wrong_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    text = '[tool.tritaudit]\ncases = ["kernel"]\nreport = ["pdf=x"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(Usage) as caught:
        targets_of([], settings_of())
    assert str(caught.value) == (
        "pyproject.toml:2: cases: no folder, file or case is named 'kernel'; nearest: kernels"
    )
    with pytest.raises(
        Usage, match=r"^pyproject\.toml:3: report 'pdf=x': no format is named 'pdf'"
    ):
        report_files(None, settings_of())


def test_a_configuration_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other.toml"
    other.write_text("[tool.tritaudit]\nseed = 3\n")
    assert settings_of(str(other)).seed == 3
    assert settings_of().seed is None
    other.write_text("[tool.other]\n")
    with pytest.raises(Usage, match=r"other\.toml has no \[tool\.tritaudit\]"):
        settings_of(str(other))
    (tmp_path / "pyproject.toml").write_text("[tool.tritaudit]\nsed = 1\n")
    with pytest.raises(Usage, match=r"pyproject\.toml:2: unknown key 'sed'"):
        settings_of()
