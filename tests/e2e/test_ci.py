"""`tritaudit run` in a pipeline: what each option changes, what is left when things go wrong."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from kernels import DROPS_THE_LAST, KEEPS_MINUS_ZERO, RIGHT, spoiled

#: of a search: the sweep of one dtype is a little longer.
FEW = ("--max-examples", "12", "--backend", "interpreter")
TWO_DTYPES = DROPS_THE_LAST.replace('Tensor("x", "N")', 'Tensor("x", "N", ("float32", "int8"))')


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def read(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def outcomes(path: Path) -> dict[str, str]:
    return {r["case"]: r["outcome"] for r in read(path)["results"]}


# --------------------------------------------------------------------------- how hard, at what


def test_profile_examples_and_seed_change_the_search(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, right=RIGHT)
    told = tritaudit("run", ".", "--profile", "quick", "--report", "json=quick.json")
    assert told.returncode == 0
    for seed in ("1", "2"):
        tritaudit("run", ".", *FEW, "--seed", seed, "--report", f"json={seed}.json")
    quick, one, two = (read(tmp_path / f"{name}.json") for name in ("quick", "1", "2"))
    assert (quick["profile"], quick["seed"]) == ("quick", 0)
    assert (one["profile"], one["seed"], two["seed"]) == ("ci", 1, 2)
    coverage = [r["results"][0]["coverage"] for r in (quick, one, two)]
    assert coverage[0]["examples"] > coverage[1]["examples"] <= 12
    assert coverage[1]["elements"] != coverage[2]["elements"]
    assert "the budget of 12 examples ended the sweep" in coverage[1]["cut_short"]


def test_one_fault_and_one_dtype_can_be_asked_for(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, wrong=TWO_DTYPES)
    told = tritaudit("run", ".", *FEW, "--fault", "crash")
    assert told.returncode == 0
    assert "unwritten-output showed as well, which was not asked for" in told.stdout
    told = tritaudit("run", ".", *FEW, "--dtype", "int8", "--report", "json=r.json")
    assert told.returncode == 1
    [result] = read(tmp_path / "r.json")["results"]
    assert list(result["coverage"]["dtypes"]) == ["int8"]
    told = tritaudit("run", ".", *FEW, "--dtype", "float64,int32")
    assert told.returncode == 0
    assert re.search(r"^skip +wrong +takes no float64 or int32", told.stdout, re.MULTILINE)


def test_a_time_budget_says_what_was_not_reached(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, a=RIGHT, b=RIGHT)
    told = tritaudit("run", ".", "--time-budget", "0.00001", "--report", "json=r.json")
    assert told.returncode == 0
    assert outcomes(tmp_path / "r.json") == {"a": "skip", "b": "skip"}
    assert "2 of 2 cases were not reached: a, b" in read(tmp_path / "r.json")["ended"]
    assert told.stdout.splitlines()[-1].startswith("the time budget of 1e-05 s was over")


def test_the_first_failure_may_end_the_run(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, a=DROPS_THE_LAST, b=DROPS_THE_LAST)
    told = tritaudit("run", ".", *FEW, "-x", "--jobs", "1", "--report", "json=r.json")
    assert told.returncode == 1
    assert outcomes(tmp_path / "r.json") == {"a": "fail"}
    assert read(tmp_path / "r.json")["ended"] == (
        "stopped at the first case that fails: 1 of 2 cases finished"
    )


MEETING = spoiled(
    "    n = x.numel()",
    """    import pathlib, time
    here = pathlib.Path(__file__)
    here.with_suffix(".here").touch()
    for _ in range(150):
        if len(list(here.parent.glob("*.here"))) == 2:
            (here.parent / "met").touch()
            break
        time.sleep(0.01)
    n = x.numel()""",
)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_jobs_run_side_by_side(tritaudit: Command, tmp_path: Path, jobs: str) -> None:
    leaving = MEETING.replace("    kernel[", "    here.with_suffix('.here').unlink()\n    kernel[")
    write(tmp_path, a=leaving, b=leaving)
    told = tritaudit("run", ".", "--max-examples", "1", "--jobs", jobs)
    assert told.returncode == 0, told.stdout
    assert (tmp_path / "met").exists() is (jobs == "2")
    assert "the budget of 1 example ended the sweep" in " ".join(told.stdout.split())


def test_explain_follows_options_and_configuration(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, right=RIGHT)
    (tmp_path / "few.toml").write_text("[tool.tritaudit]\nmax-examples = 5\n")
    few = ("explain", "right.py", "--backend", "interpreter", "--config", "few.toml")
    assert re.search(r"^pass +right +4 examples", tritaudit(*few).stdout, re.MULTILINE)
    told = tritaudit(*few, "--max-examples", "9")
    assert re.search(r"^pass +right +[789] examples", told.stdout, re.MULTILINE), told.stdout


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="needs a machine without a GPU")
def test_a_backend_that_is_not_there_is_told(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, right=RIGHT)
    for command in ("run", "explain"):
        told = tritaudit(command, "right.py", "--backend", "gpu")
        assert (told.returncode, told.stdout) == (3, "")
        assert "try --backend interpreter" in told.stderr


# --------------------------------------------------------------------------- what counts


def test_only_what_is_new_against_a_baseline_fails(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, old=DROPS_THE_LAST)
    assert tritaudit("run", ".", *FEW, "--report", "json=base.json").returncode == 1
    told = tritaudit("run", ".", *FEW, "--baseline", "base.json", "--verbose")
    assert told.returncode == 0
    assert re.search(r"^known +old +unwritten-output", told.stdout, re.MULTILINE)
    assert "in the baseline base.json" in told.stdout
    write(tmp_path, new=DROPS_THE_LAST)
    told = tritaudit("run", ".", *FEW, "--baseline", "base.json")
    assert told.returncode == 1
    assert "in the baseline" not in told.stdout  # without --verbose only news is shown


def test_a_severity_decides_what_fails(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, zero=KEEPS_MINUS_ZERO)
    codes = {
        option: tritaudit("run", ".", "--backend", "interpreter", *option).returncode
        for option in ((), ("--fail-on", "warning"), ("--fail-on", "error"), ("--exit-zero",))
    }
    assert list(codes.values()) == [1, 1, 0, 0]


CONFIGURED = """
[tool.tritaudit]
cases = ["kernels"]
backend = "interpreter"
max-examples = 12
fail-on = "error"
report = ["json=out.json"]

[[tool.tritaudit.ignore]]
case = "wrong"
fault = "unwritten-output"
reason = "the caller pads"

[[tool.tritaudit.ignore]]
case = "right"
fault = "crash"
reason = "gone"
"""


def test_a_configuration_says_what_the_command_line_does_not(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "kernels").mkdir()
    write(tmp_path / "kernels", wrong=DROPS_THE_LAST, right=RIGHT)
    (tmp_path / "audit.toml").write_text(CONFIGURED)
    told = tritaudit("run", "--config", "audit.toml", "--seed", "3")
    assert told.returncode == 0
    report = read(tmp_path / "out.json")
    assert outcomes(tmp_path / "out.json") == {"right": "pass", "wrong": "known"}
    [finding] = [f for r in report["results"] for f in r["findings"]]
    assert finding["accepted"] == "ignored: the caller pads"
    told = tritaudit("list", "--config", "audit.toml")
    assert [row.split()[0] for row in told.stdout.splitlines()] == ["right", "wrong"]
    (tmp_path / "pyproject.toml").write_text(CONFIGURED.replace("max-examples = 12\n", ""))
    told = tritaudit("run")
    assert told.returncode == 0
    warning = "The ignore of crash in right (line 13 of the configuration) matches nothing"
    assert warning in re.sub(r"\s+", " ", told.stdout)
    (tmp_path / "pyproject.toml").write_text(CONFIGURED.replace("cases", "case"))
    told = tritaudit("run")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == (
        "tritaudit: pyproject.toml:3: unknown key 'case' in [tool.tritaudit]; nearest: cases\n"
    )


# --------------------------------------------------------------------------- last failures


def test_a_failure_is_kept_run_again_explained_and_dropped(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, wrong=DROPS_THE_LAST, right=RIGHT)
    assert tritaudit("run", ".", *FEW).returncode == 1
    [stored] = (tmp_path / ".tritaudit" / "failures").iterdir()
    assert stored.name.startswith("wrong--unwritten-output--")
    told = tritaudit("explain")
    assert told.returncode == 1
    assert told.stdout.startswith(f"{stored.relative_to(tmp_path)}, as found on ")
    assert "unwritten-output in wrong" in told.stdout
    told = tritaudit("explain", str(stored), "--html", "page.html")
    assert told.returncode == 1
    assert "unwritten-output in wrong" in (tmp_path / "page.html").read_text()
    told = tritaudit("run", "--last-failed", *FEW, "--report", "json=again.json")
    assert told.returncode == 1
    assert outcomes(tmp_path / "again.json") == {"wrong": "fail"}
    write(tmp_path, wrong=RIGHT)
    assert tritaudit("run", "--last-failed", *FEW).returncode == 0
    assert not stored.exists()
    told = tritaudit("run", "--last-failed")
    assert told.returncode == 0
    assert told.stdout == "No failure is stored in .tritaudit: nothing to run again.\n"
    told = tritaudit("explain")
    assert told.returncode == 2
    assert "no failure is stored in .tritaudit" in told.stderr


def test_a_failure_that_a_baseline_accepts_stays_until_its_case_expects_it(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, wrong=DROPS_THE_LAST)
    assert tritaudit("run", ".", *FEW, "--report", "json=r.json").returncode == 1
    [stored] = (tmp_path / ".tritaudit" / "failures").iterdir()
    assert tritaudit("run", ".", *FEW, "--baseline", "r.json").returncode == 0
    assert stored.exists()
    told = tritaudit("run", "--last-failed", *FEW, "--baseline", "r.json")
    assert (told.returncode, stored.exists()) == (0, True), told.stdout
    declared = DROPS_THE_LAST.replace("contract=", 'expect="unwritten-output", contract=')
    write(tmp_path, wrong=declared)
    assert tritaudit("run", ".", *FEW).returncode == 0
    assert not stored.exists()


def test_a_failure_whose_file_is_gone_is_dropped(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, wrong=DROPS_THE_LAST)
    tritaudit("run", "wrong.py", *FEW)
    (tmp_path / "wrong.py").unlink()
    told = tritaudit("run", "--last-failed")
    assert told.returncode == 0
    assert "tritaudit: wrong.py is gone, and so is its failure in wrong--" in told.stderr
    assert list((tmp_path / ".tritaudit" / "failures").iterdir()) == []


FLAKY = RIGHT.replace(
    "def run(x, out, *, BLOCK):",
    "CALLS = []\n\n\ndef run(x, out, *, BLOCK):\n    CALLS.append(x.numel())",
).replace(
    "    kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)",
    "    kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)\n"
    "    if len(CALLS) < 60:\n        out.copy_(x)",
)


def test_what_does_not_show_again_is_nondeterministic(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, flaky=FLAKY)
    told = tritaudit("run", ".", "--backend", "interpreter", "--report", "json=r.json")
    assert told.returncode == 1
    [finding] = read(tmp_path / "r.json")["results"][0]["findings"]
    assert finding["fault"] == "nondeterministic"
    assert any("launched again" in sentence for sentence in finding["evidence"])


# --------------------------------------------------------------------------- shards and reports


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    for result in report["results"]:
        result["seconds"] = 0
    return {**report, "seconds": 0, "shard": None}


def test_two_shards_merged_are_one_run(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, a=RIGHT, b=DROPS_THE_LAST, c=RIGHT, skipped="import tritaudit, nowhere_x\n")
    assert tritaudit("run", ".", *FEW, "--report", "json=whole.json").returncode == 1
    for k, code in ((1, 0), (2, 1)):
        told = tritaudit("run", ".", *FEW, "--shard", f"{k}/2", "--report", f"json={k}.json")
        assert told.returncode == code, told.stdout
    assert sorted(outcomes(tmp_path / "1.json")) == ["a", "c", "skipped"]
    assert sorted(outcomes(tmp_path / "2.json")) == ["b"]
    told = tritaudit("merge", "1.json", "2.json", "--report", "json=merged.json", "--verbose")
    assert told.returncode == 1
    assert re.search(r"^FAIL +b", told.stdout, re.MULTILINE)
    merged, whole = (without_times(read(tmp_path / f"{n}.json")) for n in ("merged", "whole"))
    assert merged == whole
    told = tritaudit("merge", "2.json", "--fail-on", "never")
    assert told.returncode == 3
    assert told.stderr == "tritaudit: shard 1/2 on the interpreter is missing\n"
    told = tritaudit("merge", "1.json", "1.json")
    assert told.returncode == 2
    assert "1.json and 1.json both have a verdict on" in told.stderr


def test_durations_decide_on_the_split(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, a=RIGHT, b=RIGHT, c=RIGHT)
    tritaudit("run", ".", *FEW, "--report", "json=r.json")
    report = read(tmp_path / "r.json")
    for result, seconds in zip(report["results"], (9.0, 1.0, 1.0), strict=True):
        result["seconds"] = seconds
    (tmp_path / "r.json").write_text(json.dumps(report))
    arguments = ("run", ".", *FEW, "--shard", "1/2", "--report", "json=1.json")
    tritaudit(*arguments, "--durations", "r.json")
    assert list(outcomes(tmp_path / "1.json")) == ["a"]
    tritaudit(*arguments)
    assert list(outcomes(tmp_path / "1.json")) == ["a", "c"]
    assert tritaudit("run", "--durations", "r.json").returncode == 2
    told = tritaudit("run", "--shard", "3/2")
    assert (told.returncode, told.stderr) == (2, "tritaudit: --shard '3/2' names part 3 of 2\n")


def test_merge_follows_options_and_configuration(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, zero=KEEPS_MINUS_ZERO)
    tritaudit("run", ".", "--backend", "interpreter", "--report", "json=r.json")
    (tmp_path / "lenient.toml").write_text('[tool.tritaudit]\nfail-on = "error"\n')
    assert tritaudit("merge", "r.json").returncode == 1
    assert tritaudit("merge", "r.json", "--fail-on", "error").returncode == 0
    assert tritaudit("merge", "r.json", "--config", "lenient.toml").returncode == 0
    assert "signed-zero-kept in zero" in tritaudit("merge", "r.json").stdout
    told = tritaudit("compare", "r.json", "r.json")
    assert (told.returncode, "zero" in told.stdout.splitlines()) == (0, False)
    assert "zero" in tritaudit("compare", "r.json", "r.json", "--all").stdout
    assert tritaudit("compare", "r.json", "r.json", "--markdown").stdout.startswith("## tritaudit")
    assert json.loads(tritaudit("compare", "r.json", "r.json", "--json").stdout)["rows"] == []
    report = read(tmp_path / "r.json")
    report["results"][0] |= {"findings": [], "outcome": "pass"}
    (tmp_path / "before.json").write_text(json.dumps(report))
    told = tritaudit("compare", "before.json", "r.json")
    assert told.returncode == 1
    assert "+ signed-zero-kept" in told.stdout
    assert tritaudit("compare", "r.json", "before.json").returncode == 0
    assert tritaudit("compare", "r.json").returncode == 2
    told = tritaudit("schema")
    assert json.loads(told.stdout)["title"] == "tritaudit report"


def test_github_gets_what_it_reads(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, wrong=DROPS_THE_LAST)
    (tmp_path / ".git").mkdir()
    summary = tmp_path / "summary.md"
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    told = tritaudit("run", ".", *FEW, **variables)
    assert told.returncode == 1
    [annotation] = [row for row in told.stdout.splitlines() if row.startswith("::")]
    assert annotation.startswith("::error file=wrong.py,line=")
    assert "title=unwritten-output in wrong::" in annotation
    assert summary.read_text().startswith("## tritaudit\n")


# --------------------------------------------------------------------------- when things go wrong


def test_a_report_on_standard_output_is_alone_there(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, wrong=DROPS_THE_LAST)
    told = tritaudit("run", ".", *FEW, "--report", "json=-")
    assert told.returncode == 1
    assert json.loads(told.stdout)["results"][0]["case"] == "wrong"
    assert "unwritten-output in wrong" in told.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_hides_nothing(
    tritaudit: Command, tmp_path: Path, environment: dict[str, str]
) -> None:
    write(tmp_path, wrong=DROPS_THE_LAST)
    told = tritaudit("run", ".", *FEW, "--report", "json=/dev/full", "--report", "html=r.html")
    assert told.returncode == 3
    assert "unwritten-output in wrong" in told.stdout
    assert told.stderr.startswith("tritaudit: the json report /dev/full cannot be written: No sp")
    assert (tmp_path / "r.html").exists()
    command = f"{shlex.quote(sys.executable)} -m tritaudit run . {' '.join(FEW)} --report json=r.j"
    told = subprocess.run(
        ["bash", "-c", f"{command} > /dev/full"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 3
    assert told.stderr == "tritaudit: the output cannot be written: No space left on device\n"
    assert outcomes(tmp_path / "r.j") == {"wrong": "fail"}


def test_a_reader_that_goes_away_loses_nothing_that_was_found(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    write(tmp_path, a=DROPS_THE_LAST, b=RIGHT, c=RIGHT)
    program = f"{shlex.quote(sys.executable)} -m tritaudit run . {' '.join(FEW)} -j 1"
    told = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{program} --report json=r.json | head -n 1"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (told.returncode, told.stderr) == (141, "")
    assert told.stdout.startswith("FAIL  a")
    assert outcomes(tmp_path / "r.json")["a"] == "fail"
    assert "the output could not be written any more" in read(tmp_path / "r.json")["ended"]
    assert len(list((tmp_path / ".tritaudit" / "failures").iterdir())) == 1


def test_a_folder_that_cannot_be_written_changes_no_verdict(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, wrong=DROPS_THE_LAST)
    (tmp_path / ".tritaudit").touch()  # no folder, so nothing can be put into it
    told = tritaudit("run", ".", *FEW)
    assert told.returncode == 1
    assert "tritaudit: .tritaudit cannot be written (" in told.stderr
    assert "Traceback" not in told.stderr


SLOW = DROPS_THE_LAST.replace(
    "    n = x.numel()",
    "    import pathlib, time\n    time.sleep(0.02)\n"
    "    with pathlib.Path(__file__).with_suffix('.log').open('a') as log:\n"
    "        log.write('x')\n    n = x.numel()",
)


def test_ctrl_c_reports_what_running_searches_have_found(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    write(tmp_path, slow=SLOW, calm=SLOW.replace("n - 1", "n"))
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "tritaudit", "run", ".", "--backend", "interpreter"),
            *("--report", "json=r.json", "--jobs", "2"),
        ],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    logs, limit = [tmp_path / "slow.log", tmp_path / "calm.log"], time.monotonic() + 60
    while not all(log.exists() and log.stat().st_size > 12 for log in logs):
        assert time.monotonic() < limit
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    told, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "Traceback" not in errors
    assert re.search(r"^FAIL +slow +unwritten-output", told, re.MULTILINE)
    assert "tritaudit explain slow.py --repro" in told
    assert told.splitlines()[-1] == "interrupted: 0 of 2 cases finished, 2 in part"
    assert re.search(r"^skip +calm +not finished, nothing found yet", told, re.MULTILINE)
    assert outcomes(tmp_path / "r.json") == {"slow": "fail", "calm": "skip"}
    for result in read(tmp_path / "r.json")["results"]:
        assert "the run was ended after" in result["coverage"]["cut_short"]
        assert result["coverage"]["examples"] > 1
