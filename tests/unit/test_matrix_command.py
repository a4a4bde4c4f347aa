"""`tritaudit matrix`: exit codes and files, with stand-ins for overlays and runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tritaudit.choices import BackendChoice
from tritaudit.commands import FINDINGS, INTERRUPTED, NOTHING_UNEXPECTED, UNABLE, Usage
from tritaudit.commands import matrix as command
from tritaudit.commands.auditing import Plan
from tritaudit.commands.matrix import Files, run_matrix
from tritaudit.commands.reports import ReportWriteError
from tritaudit.forkserver import BackendError
from tritaudit.model import CaseResult, Environment, Outcome, Report
from tritaudit.overlays import OverlayError

Run = Callable[..., int]
NO_FILES = Files()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command on versions whose runs end as given: an outcome, or a signal."""

    def with_ends(ends: dict[str, Outcome | str], files: Files = NO_FILES) -> int:
        looked_for: list[str] = []

        def overlay(version: str, **more: Any) -> None:
            looked_for.append(version)

        def one(version: str, *rest: Any) -> tuple[Report, str]:
            assert looked_for == list(ends)  # all are there before the first one runs
            end = ends[version]
            outcome = end if isinstance(end, Outcome) else Outcome.PASS
            result = CaseResult("c", "interpreter", outcome, reason="because")
            report = Report(Environment(triton=version), (result,))
            return report, "" if isinstance(end, Outcome) else end

        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(command, "overlay", overlay)
        monkeypatch.setattr(command, "_run", one)
        return run_matrix([], ",".join(ends), BackendChoice.AUTO, Plan(), files, offline=True)

    return with_ends


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        ((Outcome.PASS, Outcome.KNOWN), NOTHING_UNEXPECTED),
        ((Outcome.PASS, Outcome.FAIL), FINDINGS),
        ((Outcome.STALE, Outcome.PASS), FINDINGS),
        ((Outcome.ERROR, Outcome.FAIL), UNABLE),
        ((Outcome.PASS, "interrupted"), INTERRUPTED),
    ],
)
def test_the_exit_code_is_that_of_the_worst_run(
    run: Run, ends: tuple[Outcome | str, ...], code: int
) -> None:
    assert run(dict(zip(("3.4.0", "3.9.0"), ends, strict=True))) == code


def test_files_are_written_beside_the_table(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run({"3.4.0": Outcome.PASS}, Files("m.json", "m.md"))
    assert "1 case on 1 version" in capsys.readouterr().out
    assert json.loads((tmp_path / "m.json").read_text())["cases"][0]["case"] == "c"
    assert (tmp_path / "m.md").read_text().startswith("## tritaudit matrix\n")


def test_a_file_that_cannot_be_written_does_not_hide_the_table(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "no").touch()
    with pytest.raises(ReportWriteError, match=r"the matrix no/m\.json cannot be written"):
        run({"3.4.0": Outcome.PASS}, Files(json="no/m.json"))
    assert "1 case on 1 version" in capsys.readouterr().out


def test_what_cannot_be_had_ends_the_command_before_anything_runs(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overlay(version: str, **more: Any) -> None:
        raise OverlayError(f"no {version}")

    with pytest.raises(Usage, match=r"--triton: 'x' is not a version"):
        run({"x": Outcome.PASS})
    monkeypatch.setattr(command, "overlay", overlay)
    with pytest.raises(BackendError, match=r"no 3\.4\.0"):
        run_matrix([], "3.4.0", BackendChoice.AUTO, Plan(), Files(), offline=True)
