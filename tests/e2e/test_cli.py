"""Whole commands on the interpreter: what they print and how they exit."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Command
from kernels import (
    ABORTS_FROM_2,
    CASE,
    ENDLESS,
    ENDLESS_IF_ODD,
    FAR_OUT_OF_BOUNDS,
    KEEPS_THE_SIGN,
    RIGHT,
    SLEEPS_FROM_4,
    STORE,
    TALKATIVE,
    expecting,
    spoiled,
)

QUICK = ("--max-examples", "40", "--backend", "interpreter")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


# --------------------------------------------------------------------------- without a kernel


def test_help_is_quick_and_imports_nothing_heavy(environment: dict[str, str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "tritaudit", "--help"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in told.stderr.split("\n")
    }
    assert not imported & {"torch", "triton", "hypothesis", "numpy"}
    assert "explain" in told.stdout
    before = os.times()
    for _ in range(3):
        subprocess.run(
            [sys.executable, *command[3:]], env=environment, capture_output=True, check=True
        )
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system
    assert (spent - before.children_system) / 3 < 0.3  # of a core: others may be using the rest


def test_version(tritaudit: Command) -> None:
    told = tritaudit("--version")
    assert re.fullmatch(r"tritaudit \d+\.\d+\.\d+\n", told.stdout)
    assert told.returncode == 0


def test_the_faults_are_listed_and_explained_without_triton(
    tritaudit: Command, tmp_path: Path
) -> None:
    blocked = (
        'import sys\nfor name in ("triton", "torch", "numpy"):\n    sys.modules[name] = None\n'
    )
    (tmp_path / "sitecustomize.py").write_text(blocked)
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    told = tritaudit("list", "--faults", PYTHONPATH=path)
    assert told.returncode == 0
    assert [line.split()[0] for line in told.stdout.splitlines()].count("padding-leak") == 1
    told = tritaudit("explain", "padding-leak", PYTHONPATH=path)
    assert told.returncode == 0
    assert "masked lanes" in told.stdout.lower()
    told = tritaudit("run", "flip/single_tile", PYTHONPATH=path)
    assert told.returncode == 3
    assert told.stderr == "tritaudit: numpy is not installed: pip install numpy\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "flip/singel_tile"), "no case is named 'flip/singel_tile'; nearest: flip/single_"),
        (("run", "no/such.py"), "no such file or folder: no/such.py"),
        (
            ("run", "--report", "pdf=x"),
            "--report 'pdf=x': no format is named 'pdf'; formats are json, junit",
        ),
        (("run", "--jobs", "0"), "'0' is neither auto nor a positive whole number"),
        (("run", "--timeout", "-1"), "-1 is not a positive number of seconds"),
        (("explain", "padding-leek"), "no case and no fault is named 'padding-leek'; nearest: pad"),
        (("explain", "nosuchfault"), "no case and no fault is named 'nosuchfault'\n"),
        (("explain", "nosuchfault"), "explain takes a case or its file, a fault (tritaudit list"),
        (("explain", "flip/singel_tile"), "named 'flip/singel_tile'; nearest: flip/single_tile,"),
        (("explain", "nosuch.py"), "no such file or folder: nosuch.py"),
        (("explain", "v1/interpreter/N=1"), "a repro token needs its case"),
        (("explain", "abs/vector", "--repro", "v9/x"), "'v9/x' is not a repro token of version 1"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(
    tritaudit: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    told = tritaudit(*arguments, COLUMNS="200")
    assert told.returncode == 2
    assert sentence in told.stderr
    assert told.stdout == ""


# --------------------------------------------------------------------------- files that do not load


def test_every_file_that_does_not_load_is_told_before_anything_runs(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(
        tmp_path,
        right=RIGHT,
        syntax="import tritaudit\ndef broken(:\n",
        contract=spoiled("Abs()", "'flop'"),
        tile=spoiled("(16, 32)", "(16, 24)"),
        fault=expecting("padding-lek"),
        dies="import ctypes, tritaudit\nctypes.string_at(0)\n",
    )
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", right=RIGHT)
    told = tritaudit("run", ".", "sub/right.py", "--backend", "interpreter")
    assert told.returncode == 2
    assert told.stdout == ""
    lines = told.stderr.splitlines()
    assert all(line.startswith("tritaudit: ") for line in lines)
    begins = [
        f"contract.py:{CASE}: unknown contract 'flop'",
        f"fault.py:{CASE}: expect names the unknown fault 'padding-lek'; nearest: padding-leak",
        "syntax.py:2: invalid syntax",
        f"tile.py:{CASE}: Tile 'BLOCK' has the size 24, which is not a power of two",
        "dies.py:2: loading this file ended the process (killed by SIGSEGV)",
    ]
    assert len(lines) == len(begins)
    for begin in begins:
        assert any(line.startswith(f"tritaudit: {begin}") for line in lines), begin


def test_two_cases_of_one_name_are_refused(tritaudit: Command, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, k=RIGHT)
    told = tritaudit("run", "a", "b", "--backend", "interpreter")
    assert told.returncode == 2
    assert told.stderr == (
        f"tritaudit: b/k.py:{CASE}: the case name 'k' is taken by a/k.py:{CASE}\n"
    )


# --------------------------------------------------------------------------- runs


def test_a_right_kernel_passes_and_a_missing_module_skips(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, right=RIGHT, skipped="import tritaudit\nimport flash_attn_of_nowhere\n")
    told = tritaudit("run", ".", *QUICK, "--report", "json=r.json")
    assert (told.returncode, told.stderr) == (0, "")
    assert re.search(r"^pass +right +\d+ examples", told.stdout, re.MULTILINE)
    assert re.search(r"^skip +skipped +needs the module", told.stdout, re.MULTILINE)
    assert "\x1b" not in told.stdout
    assert "seed 0" in told.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert [(r["case"], r["outcome"]) for r in report["results"]] == [
        ("right", "pass"),
        ("skipped", "skip"),
    ]
    assert report["environment"]["backend"] == "interpreter"
    assert [p.name for p in tmp_path.glob(".*")] == []


def test_a_wrong_kernel_fails_and_its_explain_line_shows_it_again(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "my kernels").mkdir()
    write(tmp_path / "my kernels", wrong=KEEPS_THE_SIGN)
    told = tritaudit("run", "my kernels", *QUICK)
    assert told.returncode == 1
    assert re.search(r"^FAIL +wrong +.*sign-kept", told.stdout, re.MULTILINE)
    assert f"my kernels/wrong.py:{STORE}" in told.stdout
    [line] = [x for x in told.stdout.splitlines() if x.startswith("tritaudit explain")][:1]
    words = shlex.split(line)
    assert words[2] == "my kernels/wrong.py"
    again = tritaudit(*words[1:])
    assert again.returncode == 1
    assert "in wrong" in again.stdout
    assert line in again.stdout
    assert tritaudit("run", "my kernels", *QUICK, "--exit-zero").returncode == 0


def test_a_report_that_cannot_be_written_does_not_hide_the_verdict(
    tritaudit: Command, tmp_path: Path
) -> None:
    occupied = 'from pathlib import Path\n\nPath("r.json").mkdir(exist_ok=True)\n'
    write(tmp_path, wrong=f"{KEEPS_THE_SIGN}\n{occupied}")
    told = tritaudit("run", ".", *QUICK, "--report", "json=r.json")
    assert told.returncode == 3
    assert re.search(r"^FAIL +wrong", told.stdout, re.MULTILINE)
    assert told.stderr == "tritaudit: the json report r.json cannot be written: Is a directory\n"


def test_a_report_that_can_never_be_written_is_told_at_once(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, wrong=KEEPS_THE_SIGN)
    told = tritaudit("run", ".", *QUICK, "--report", "json=wrong.py/r.json")
    assert (told.returncode, told.stdout) == (3, "")
    [sentence] = told.stderr.splitlines()
    start = "tritaudit: the json report wrong.py/r.json cannot be written: "
    assert sentence.startswith(start) and sentence.endswith("/wrong.py is no folder")


def test_an_expectation_that_no_longer_shows_is_stale(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, repaired=expecting("sign-kept"))
    told = tritaudit("run", ".", *QUICK)
    assert told.returncode == 0  # a search that ends early proves nothing
    assert re.search(r"^pass +repaired +sign-kept not reached", told.stdout, re.MULTILINE)
    assert "in part repaired: the budget of 40 examples ended the sweep" in told.stdout
    told = tritaudit("run", ".", "--backend", "interpreter")
    assert told.returncode == 1
    assert re.search(r"^stale +repaired +sign-kept did not show", told.stdout, re.MULTILINE)


def test_a_kernel_that_kills_the_process_and_one_that_never_ends_are_findings(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, far=FAR_OUT_OF_BOUNDS, endless=ENDLESS, right=RIGHT)
    told = tritaudit("run", ".", *QUICK, "--timeout", "12", "--report", "json=r.json")
    assert told.returncode == 1
    results = {r["case"]: r for r in json.loads((tmp_path / "r.json").read_text())["results"]}
    assert {name: r["outcome"] for name, r in results.items()} == {
        "far": "fail",
        "endless": "fail",
        "right": "pass",
    }
    [crash] = results["far"]["findings"]
    assert (crash["fault"], crash["location"]["line"]) == ("crash", STORE)
    [timeout] = results["endless"]["findings"]
    assert timeout["fault"] == "timeout"
    assert timeout["location"]["line"] in (STORE, STORE + 1)
    assert "killed by SIGSEGV" in told.stdout
    again = tritaudit("explain", "far.py", "--repro", crash["repro"])
    assert again.returncode == 1
    assert "killed by SIGSEGV" in again.stdout


def test_what_ends_a_process_is_found_at_its_smallest_size_and_in_the_time_of_the_case(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, odd=ENDLESS_IF_ODD, aborts=ABORTS_FROM_2, sleeps=SLEEPS_FROM_4)
    limit = ("--timeout", "15", "--jobs", "2", "--backend", "interpreter")
    told = tritaudit("run", ".", *limit, "--report", "json=r.json")
    assert told.returncode == 1
    found = {}
    for result in json.loads((tmp_path / "r.json").read_text())["results"]:
        assert result["seconds"] < 15 + 3
        [finding] = result["findings"]
        example = finding["example"]
        found[result["case"]] = (finding["fault"], example["sizes"]["N"], example["tiles"]["BLOCK"])
    assert found == {
        "odd": ("timeout", 3, 16),
        "aborts": ("crash", 2, 16),
        "sleeps": ("timeout", 4, 16),  # the first size of the sweep above is 15
    }


def test_what_a_case_prints_reaches_the_terminal_only_as_text(
    tritaudit: Command, tmp_path: Path
) -> None:
    write(tmp_path, talks=TALKATIVE, fails=TALKATIVE.replace("tl.abs(x)", "x"))
    told = tritaudit("run", ".", *QUICK)
    assert told.returncode == 1
    assert "\x1b" not in told.stdout and "\x07" not in told.stdout
    assert "red [bold]text[/bold]" in told.stdout
    assert told.stderr == ""


def test_select_and_targets_by_variable(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, k=RIGHT + "\nother = Case(run, Abs(), case.inputs, case.tiles)\n", j=RIGHT)
    told = tritaudit("list", ".")
    assert [line.split()[0] for line in told.stdout.splitlines()] == ["j", "k", "k:other"]
    told = tritaudit("run", ".", *QUICK, "--select", "k*", "--select", "x*")
    assert (told.returncode, told.stderr) == (2, "tritaudit: --select 'x*' matches no case\n")
    told = tritaudit("run", ".", *QUICK, "--select", "*:o*")
    assert re.search(r"^pass +k:other", told.stdout, re.MULTILINE)
    assert told.stdout.count("pass") == 2  # its line and the summary


def test_a_repro_token_of_another_case_is_refused(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, right=RIGHT)
    told = tritaudit("explain", "right.py", "--repro", "v1/interpreter/M=1/BLOCK=16/-/x:float32")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == "tritaudit: the repro token names the axes M; right has N\n"


def test_explain_says_when_nothing_shows(tritaudit: Command, tmp_path: Path) -> None:
    write(tmp_path, right=RIGHT)
    token = "v1/interpreter/N=5/BLOCK=16/-/x:float32/-/index"
    told = tritaudit("explain", "right.py", "--repro", token)
    assert told.returncode == 0
    assert "No fault shows." in told.stdout


def test_ctrl_c_ends_the_run_with_a_summary_and_a_report(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    write(tmp_path, right=RIGHT, zz_endless=ENDLESS)
    command = [sys.executable, "-m", "tritaudit", "run", ".", *QUICK, "--jobs", "1"]
    running = subprocess.Popen(
        [*command, "--report", "json=r.json"],
        cwd=tmp_path,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    first = running.stdout.readline()
    running.send_signal(signal.SIGINT)
    told, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert first.startswith("pass  right")
    assert told.splitlines()[-1] == "interrupted: 1 of 2 cases finished"
    assert "Traceback" not in errors
    report = json.loads((tmp_path / "r.json").read_text())
    assert [r["case"] for r in report["results"]] == ["right"]


@pytest.mark.parametrize(
    ("number", "word", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)],
)
def test_a_run_that_is_stopped_while_it_loads_writes_its_reports(
    tmp_path: Path, environment: dict[str, str], number: int, word: str, code: int
) -> None:
    waits = "import time\nfrom pathlib import Path\n\nPath('loading').touch()\ntime.sleep(60)\n"
    write(tmp_path, slow=RIGHT + waits)
    command = [sys.executable, "-m", "tritaudit", "run", ".", *QUICK]
    running = subprocess.Popen(
        [*command, "--report", "json=r.json", "--report", "junit=r.xml"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    limit = time.monotonic() + 60
    while not (tmp_path / "loading").exists():
        assert time.monotonic() < limit
        time.sleep(0.05)
    running.send_signal(number)
    told, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (code, "")
    assert told.splitlines()[-1] == f"{word} while the cases were loaded: none has run"
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["results"], report["ended"]) == ([], told.splitlines()[-1])
    assert "<testsuites" in (tmp_path / "r.xml").read_text()


def test_a_reader_that_goes_away_gets_no_traceback(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    command = f"{shlex.quote(sys.executable)} -m tritaudit list --faults | true"
    told = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert told.stderr == ""
