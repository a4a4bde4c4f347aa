"""`tritaudit selftest`, and what it stands for: kernels whose faults are known, by the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

HEADER = '''"""A kernel."""

import torch
import triton
import triton.language as tl

from tritaudit import Abs, Case, Flip, Reference, Tensor, Tile

'''

TWO_FAULTS = (
    HEADER
    + """
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.store(out_ptr + offs, tl.flip(x, 0), mask=offs < n)


def run(x, out, *, BLOCK):
    n = x.numel()
    kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=Tensor("x", "N", dtypes=("float32", "int8")),
    tiles=Tile("BLOCK", axis="N", sizes=(4, 16)),
)
"""
)

WRAPPED_SUM = (
    HEADER
    + """
@triton.jit
def kernel(x_ptr, out_ptr, W, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * W + cols, mask=cols < W, other=0)
    tl.store(out_ptr + row, tl.sum(x, axis=0).to(tl.int8))


def run(x, out):
    H, W = x.shape
    kernel[(H,)](x, out, W, BLOCK=triton.next_power_of_2(W))


def row_sum(x):
    return x.sum(1)


case = Case(
    run=run,
    contract=Reference(row_sum),
    inputs=Tensor("x", "H W", dtypes="int8"),
    axes={"H": (1, 4), "W": (1, 40)},
    out_dtype="int32",
    out_shape="H",
)
"""
)

SORTED = (
    HEADER
    + """
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    # The padding sorts behind everything else.
    x = tl.load(x_ptr + offs, mask=offs < n, other=2147483647)
    tl.store(out_ptr + offs, tl.sort(x), mask=offs < n)


def run(x, out):
    n = x.numel()
    kernel[(1,)](x, out, n, BLOCK=max(2, triton.next_power_of_2(n)))


case = Case(
    run=run, contract=Flip("N"), inputs=Tensor("x", "N", dtypes="int32"), axes={"N": (1, 20)}
)
"""
)


def findings(tritaudit: Command, folder: Path, text: str) -> dict[str, dict[str, Any]]:
    """What `tritaudit run` finds in a case file, by fault."""
    (folder / "kernel.py").write_text(text, encoding="utf-8")
    options = ("-b", "interpreter", "--fast-interpreter", "--report", "json=report.json")
    done = tritaudit("run", "kernel.py", *options)
    assert done.returncode == 1, done.stderr
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (result,) = report["results"]
    return {finding["fault"]: finding for finding in result["findings"]}


def sizes(finding: dict[str, Any]) -> dict[str, int]:
    example = finding["example"]
    return {**dict(example["sizes"]), **dict(example["tiles"])}


def test_two_faults_of_one_kernel_are_found_and_shrunk_apart(
    tritaudit: Command, tmp_path: Path
) -> None:
    found = findings(tritaudit, tmp_path, TWO_FAULTS)
    assert set(found) == {"padding-leak", "block-local-flip"}
    assert sizes(found["padding-leak"]) == {"N": 1, "BLOCK": 4}
    assert sizes(found["block-local-flip"]) == {"N": 8, "BLOCK": 4}


def test_a_sum_that_wraps_is_an_integer_overflow(tritaudit: Command, tmp_path: Path) -> None:
    assert set(findings(tritaudit, tmp_path, WRAPPED_SUM)) == {"int-overflow"}


def test_what_nobody_foresaw_is_a_mismatch_and_nothing_else(
    tritaudit: Command, tmp_path: Path
) -> None:
    assert set(findings(tritaudit, tmp_path, SORTED)) == {"value-mismatch"}


def test_the_quick_self_test_finds_and_names_all_and_flags_nothing(
    tritaudit: Command, tmp_path: Path
) -> None:
    arguments = ("selftest", "--quick", "-b", "interpreter", "--fast-interpreter")
    arguments += ("--resume", "measured.jsonl")
    done = tritaudit(*arguments, "--json", "figures.json")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert figures["mutants"] >= 20
    assert figures["detection"] == 1.0
    assert figures["right_name"] == 1.0
    assert figures["false_alarms"] == []
    assert figures["not_equivalent"] == []
    assert "right name" in done.stdout

    # Taken up again, nothing is left to run, and the figures are the same.
    again = tritaudit(*arguments, "--json", "again.json")
    assert again.returncode == 0, again.stdout + again.stderr
    lines = (tmp_path / "measured.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == figures["mutants"] + figures["right_kernels"] + sum(
        bool(row["equivalent"]) for row in figures["rows"]
    )
    assert json.loads((tmp_path / "again.json").read_text(encoding="utf-8")) == figures


def test_what_changes_each_time_was_not_read_from_beside_the_input(
    tritaudit: Command, tmp_path: Path
) -> None:
    arguments = ("selftest", "--only", "built/launches:shuffled", "-b", "interpreter")
    done = tritaudit(*arguments, "--json", "figures.json")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["rows"]
    assert row["found"] == ["nondeterministic"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--only", "flip/no_such_kernel/*"), "matches no right kernel and no mutant"),
        (("--backend", "both"), "one backend at a time"),
        (("--resume", "broken.jsonl"), "broken.jsonl:1 is no measurement"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(
    tritaudit: Command, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "broken.jsonl").write_text("{}\n{}\n", encoding="utf-8")
    done = tritaudit("selftest", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
