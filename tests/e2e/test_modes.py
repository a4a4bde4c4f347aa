"""The fast and the strict interpreter, as options of the real command."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from conftest import Command
from kernels import RIGHT

QUICK = ("--max-examples", "40", "--backend", "interpreter")
NEEDS_ZEROS = '''
"""Add up rows of padded tiles, padding and all."""
import torch
import triton
import triton.language as tl

from tritaudit import Case, Reference, Tensor


@triton.jit
def kernel(x_ptr, out_ptr, n, B: tl.constexpr):
    offs = tl.arange(0, B)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n)))


def run(x, out):
    kernel[(1,)](x, out, x.numel(), B=triton.next_power_of_2(x.numel()))


case = Case(run, Reference(lambda x: x.sum(dtype=torch.int32)), Tensor("x", "N", dtypes="int32"),
            axes={"N": (1, 20)}, out_shape="")
'''


def test_the_fast_interpreter_finds_what_the_stock_one_finds(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(RIGHT.replace("tl.abs(x)", "x"))
    found = []
    for options in ((), ("--fast-interpreter",)):
        told = tritaudit("run", ".", *QUICK, *options, "--report", "json=r.json")
        assert (told.returncode, told.stderr) == (1, "")
        report = json.loads((tmp_path / "r.json").read_text())
        found.append([{**r, "seconds": 0} for r in report["results"]])
    assert found[0] == found[1]
    assert [r["outcome"] for r in found[0]] == ["pass", "fail"]


def test_a_kernel_that_needs_zeros_fails_on_the_strict_interpreter_and_only_there(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "k.py").write_text(NEEDS_ZEROS)
    assert tritaudit("run", "k.py", *QUICK).returncode == 0
    told = tritaudit("run", "k.py", *QUICK, "--strict-interpreter", "--seed", "3")
    assert told.returncode == 1
    assert "Found by the strict interpreter: masked lanes of a load" in told.stdout
    assert "The kernels ran on the strict interpreter." in told.stdout
    [line] = re.findall(r"^tritaudit explain .*$", told.stdout, re.MULTILINE)
    assert "--strict-interpreter --seed 3" in line
    again = tritaudit(*shlex.split(line)[1:], COLUMNS="200")
    assert again.returncode == 1
    assert "Found by the strict interpreter: masked lanes of a load" in again.stdout
    lenient = [word for word in shlex.split(line)[1:] if word != "--strict-interpreter"]
    assert "No fault shows." in tritaudit(*lenient).stdout


@pytest.mark.parametrize("option", ["--fast-interpreter", "--strict-interpreter"])
def test_a_triton_that_is_built_in_another_way_is_told_in_one_sentence(
    tritaudit: Command, tmp_path: Path, option: str
) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    # Loaded by every Python that finds it: takes away what both modes hook.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tritaudit.search':\n"
        "            from triton.runtime import interpreter\n"
        "            del interpreter.InterpreterBuilder.set_grid_dim, interpreter._patch_builtin\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    path = f"{tmp_path}:{Path(__file__).parents[2]}"
    told = tritaudit("run", "right.py", *QUICK, option, PYTHONPATH=path)
    assert (told.returncode, told.stdout) == (3, "")
    assert re.fullmatch(rf"tritaudit: .*triton .*: leave {option} out\n", told.stderr, re.I)
