"""The composite action and the pre-commit hook: what they run, with what arguments."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
[AUDIT] = [step for step in STEPS if step.get("id") == "audit"]

#: stands in for Python: writes down how it was called and exits as told.
STAND_IN = """#!{python}
import json, os, sys
with open("called.json", "w") as file:
    json.dump(sys.argv[1:], file)
sys.exit(int(os.environ.get("CODE", "0")))
"""


def audit(folder: Path, code: int = 0, **inputs: str) -> tuple[list[str], int, str]:
    """Run the script of the step: the arguments that it passed on, its exit code, its outputs."""
    python = folder / "python"
    python.write_text(STAND_IN.format(python=sys.executable))
    python.chmod(0o755)
    variables = dict.fromkeys(AUDIT["env"], "")
    variables |= {name.upper(): value for name, value in inputs.items()}
    output = folder / "output"
    told = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", AUDIT["run"]],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            **variables,
            "PYTHON": str(python),
            "GITHUB_OUTPUT": str(output),
            "CODE": str(code),
        },
        capture_output=True,
        text=True,
    )
    assert told.stderr == ""
    return json.loads((folder / "called.json").read_text()), told.returncode, output.read_text()


def test_without_inputs_the_configuration_decides(tmp_path: Path) -> None:
    assert audit(tmp_path) == (["-m", "tritaudit", "run", "--"], 0, "exit-code=0\n")


def test_every_input_becomes_an_argument(tmp_path: Path) -> None:
    (tmp_path / "flip").mkdir()
    (tmp_path / "flip" / "x").touch()
    arguments, _, _ = audit(
        tmp_path,
        targets="kernels\n  flip/*",
        backend="gpu",
        profile="quick",
        baseline="old.json",
        shard="1/3",
        json="r.json",
        junit="r.xml",
        sarif="r.sarif",
        arguments="-x --seed 3",
    )
    assert shlex.join(arguments) == (
        "-m tritaudit run -x --seed 3 --backend gpu --profile quick --baseline old.json"
        " --shard 1/3 --report json=r.json --report junit=r.xml --report sarif=r.sarif"
        " -- kernels 'flip/*'"
    )


@pytest.mark.parametrize("code", [1, 3])
def test_the_exit_code_is_that_of_the_command(tmp_path: Path, code: int) -> None:
    _, returned, output = audit(tmp_path, code)
    assert (returned, output) == (code, f"exit-code={code}\n")


def test_an_input_cannot_become_a_command(tmp_path: Path) -> None:
    hostile = '"; touch owned; $(touch owned) `touch owned` '
    arguments, _, _ = audit(tmp_path, targets=hostile, backend=hostile, arguments=hostile)
    assert hostile in arguments
    assert not (tmp_path / "owned").exists()
    for step in STEPS:
        assert "${{" not in step.get("run", "")


def test_every_input_is_used() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name in ACTION["inputs"]:
        assert f"inputs.{name} " in text or f"inputs.{name}}}" in text, name


def test_the_action_calls_options_that_there_are() -> None:
    import typer

    from tritaudit.cli import app

    command = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]
    options = {name for parameter in command.params for name in parameter.opts}
    used = {word for word in AUDIT["run"].split() if word.startswith("--") and word != "--"}
    assert used and used <= options


def test_the_hook_is_a_command_that_there_is() -> None:
    import typer

    from tritaudit.cli import app

    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    [hook] = yaml.safe_load(text)
    assert (hook["id"], hook["language"], hook["pass_filenames"]) == ("tritaudit", "system", False)
    program, command, *words = shlex.split(hook["entry"])
    assert program == "tritaudit"
    typer.main.get_command(app).commands[command].make_context(command, words)  # type: ignore[attr-defined]
