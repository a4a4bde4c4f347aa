"""`tritaudit doctor` in installations that are arranged to be broken."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from conftest import ROOT, Command

OLD_TRITON = """\
import importlib.abc
import importlib.util
import sys


class Old(importlib.abc.MetaPathFinder):
    busy = False

    def find_spec(self, name, path, target=None):
        if name != "triton" or Old.busy:
            return None
        Old.busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            Old.busy = False
        execute = spec.loader.exec_module

        def as_old(module):
            execute(module)
            module.__version__ = "3.1.0"

        spec.loader.exec_module = as_old
        return spec


sys.meta_path.insert(0, Old())
"""
LATE = """\
import os
import triton
import triton.language

os.environ["TRITON_INTERPRET"] = "1"
"""
NO_NUMPY = """\
raise ModuleNotFoundError("No module named 'numpy'", name="numpy")
"""


def examined(told: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value = json.loads(told.stdout)
    assert value["schema"] == "tritaudit-doctor/1"
    assert isinstance(value, dict)
    return value


def found(value: dict[str, Any]) -> dict[str, str]:
    return {problem["id"]: problem["severity"] for problem in value["problems"]}


def with_file(folder: Path, name: str, text: str) -> str:
    """A PYTHONPATH on which a file comes first."""
    (folder / name).write_text(text)
    return os.pathsep.join([str(folder), str(ROOT)])


def test_this_installation_is_sound(tritaudit: Command) -> None:
    told = tritaudit("doctor", "--json")
    assert told.returncode == 0, told.stdout
    value = examined(told)
    assert "error" not in found(value).values()
    assert value["trials"][0] == {"backend": "interpreter", "ran": True, "problem": ""}
    probes = {probe["name"]: probe["outcome"] for probe in value["probes"]}
    assert len(probes) >= 15
    assert set(probes.values()) <= {"holds", "fails"}
    assert probes["semantics/abs_minimum"] == "fails"
    assert probes["semantics/abs_float_bits"] == "holds"


def test_numpy_is_missing(tritaudit: Command, tmp_path: Path) -> None:
    told = tritaudit("doctor", PYTHONPATH=with_file(tmp_path, "numpy.py", NO_NUMPY))
    assert told.returncode == 3
    assert "✗ error: numpy is not installed" in told.stdout
    assert "→ pip install numpy" in told.stdout
    assert "kernel-fails" not in told.stdout


def test_an_old_triton_writes_nothing_with_numpy_2(tritaudit: Command, tmp_path: Path) -> None:
    path = with_file(tmp_path, "sitecustomize.py", OLD_TRITON)
    told = tritaudit("doctor", "--json", PYTHONPATH=path)
    assert told.returncode == 3
    value = examined(told)
    assert found(value)["silent-interpreter"] == "error"
    assert value["trials"][0]["ran"] is False
    assert "writes no output with numpy" in value["trials"][0]["problem"]


def test_the_variable_is_late_and_the_cache_cannot_be_written(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    path = with_file(tmp_path, "sitecustomize.py", LATE)
    folder = str(tmp_path / "file" / "cache")
    told = tritaudit("doctor", "--json", PYTHONPATH=path, TRITON_CACHE_DIR=folder)
    assert told.returncode == 3
    value = examined(told)
    assert found(value)["interpret-late"] == "error"
    assert found(value)["cache-unwritable"] == "error"
    assert value["cache"]["path"] == folder
