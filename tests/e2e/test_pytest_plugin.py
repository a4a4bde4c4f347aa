"""The pytest plugin and `tritaudit.audit`, in a pytest of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from kernels import DROPS_THE_LAST, FAR_OUT_OF_BOUNDS, RIGHT, expecting

ROOT = Path(__file__).parents[2]
PLUGINS = ("-p", "tritaudit.pytest_plugin", "-p", "no:cacheprovider")
CONFIGURATION = """
[tool.tritaudit]
cases = ["kernels"]
backend = "interpreter"
max-examples = 12

[[tool.tritaudit.ignore]]
case = "deep/ignored"
fault = "unwritten-output"
reason = "the caller pads"
"""
TESTS = """
import pytest
import triton
import tritaudit
from right import case as right
import wrong

ONE = {"only": tritaudit.Case(right.run, right.contract, right.inputs, right.tiles)}
OPTIONS = {"max_examples": 12, "backend": "interpreter"}


def test_right():
    result = tritaudit.audit(right, seed=3, **OPTIONS)
    assert 0 < result.coverage.examples <= 12


def test_wrong():
    with pytest.raises(AssertionError) as caught:
        tritaudit.audit(wrong.case, **OPTIONS)
    first, *_, last = str(caught.value).strip().splitlines()
    assert first.startswith("wrong: unwritten-output N=1 BLOCK=16: Elements of the output were")
    assert last.startswith("tritaudit explain kernels/wrong.py --repro v1/interpreter/N=1/")


def test_wrong_shows():
    tritaudit.audit(wrong.case, **OPTIONS)


def test_entry_of_a_dict():
    assert tritaudit.audit(ONE["only"], **OPTIONS).case == "test_audit:ONE.only"


def test_local():
    local = tritaudit.Case(right.run, right.contract, right.inputs, right.tiles)
    with pytest.raises(ValueError, match="needs a case that is a variable of a module"):
        tritaudit.audit(local)


def test_unknown_profile():
    with pytest.raises(ValueError, match="night"):
        tritaudit.audit(right, profile="night")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = {
        k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET" and "PYTEST" not in k
    }
    path = os.pathsep.join([str(ROOT), str(folder / "kernels")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGINS, "-q", *arguments],
        cwd=folder,
        env={**variables, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    for folder in ("kernels/deep", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "kernels" / "right.py").write_text(RIGHT)
    (tmp_path / "kernels" / "wrong.py").write_text(DROPS_THE_LAST)
    return tmp_path


def test_case_files_are_collected_as_tests(project: Path) -> None:
    kernels = project / "kernels"
    (kernels / "deep" / "ignored.py").write_text(DROPS_THE_LAST)
    (kernels / "dies.py").write_text(FAR_OUT_OF_BOUNDS)
    (kernels / "known.py").write_text(expecting("unwritten-output").replace("< n)\n\n", "< 0)\n\n"))
    (kernels / "missing.py").write_text("import tritaudit\nimport nowhere_at_all\n")
    (kernels / "helper.py").write_text("from tritaudit import FLOATS, Case\n")
    (kernels / "other.py").write_text("raise RuntimeError('never loaded')\n")
    (project / "tests" / "test_plain.py").write_text("def test_plain():\n    pass\n")
    told = run(project, "--tritaudit", "-rA")
    outcomes = dict(reversed(m) for m in re.findall(r"^(PASSED|FAILED) (\S+)", told.stdout, re.M))
    assert outcomes == {
        "tests/test_plain.py::test_plain": "PASSED",
        "kernels/right.py::case": "PASSED",
        "kernels/known.py::case": "PASSED",
        "kernels/deep/ignored.py::case": "PASSED",
        "kernels/wrong.py::case": "FAILED",
        "kernels/dies.py::case": "FAILED",
    }
    assert re.search(r"^SKIPPED .*needs the module 'nowhere_at_all'", told.stdout, re.M)
    assert "error: unwritten-output in wrong" in told.stdout
    assert "\ntritaudit explain kernels/wrong.py --repro v1/interpreter/N=1/" in told.stdout
    assert "killed by SIGSEGV" in told.stdout
    assert told.returncode == 1


def test_a_file_that_does_not_load_is_an_error_of_collection(project: Path) -> None:
    (project / "kernels" / "wrong.py").write_text("import tritaudit\ndef broken(:\n")
    told = run(project, "--tritaudit", "kernels/wrong.py")
    assert told.returncode == 2
    assert "kernels/wrong.py:2: invalid syntax" in told.stdout


def test_without_the_option_nothing_is_loaded(project: Path) -> None:
    (project / "tests" / "test_none.py").write_text(
        "import sys\n\n\ndef test_none():\n"
        "    loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "    assert not loaded & {'torch', 'triton', 'numpy', 'hypothesis', 'typer', 'rich'}\n"
        "    ours = {name for name in sys.modules if name.startswith('tritaudit')}\n"
        "    assert ours == {'tritaudit', 'tritaudit.pytest_plugin'}\n"
    )
    told = run(project)
    assert told.returncode == 0, told.stdout
    assert "1 passed" in told.stdout


def test_a_configuration_that_makes_no_sense_ends_pytest(project: Path) -> None:
    (project / "pyproject.toml").write_text(CONFIGURATION.replace("cases", "case"))
    told = run(project, "--tritaudit")
    assert told.returncode == 4
    assert "pyproject.toml:3: unknown key 'case'" in told.stderr


def test_a_case_is_audited_from_a_test_function(project: Path) -> None:
    (project / "tests" / "test_audit.py").write_text(TESTS)
    told = run(project)
    assert re.search(r"^1 failed, 5 passed in", told.stdout, re.M), told.stdout
    assert ">       tritaudit.audit(wrong.case, **OPTIONS)" in told.stdout
    assert "tritaudit/testing.py" not in told.stdout  # the line of the test is shown, not ours


def test_the_plugin_is_an_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"tritaudit": "tritaudit.pytest_plugin"}
