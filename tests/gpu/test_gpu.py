"""What only a GPU can show. Every test here skips itself where torch sees none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

ILLEGAL = '''
"""Write far beyond the output."""
import torch, triton, triton.language as tl
from tritaudit import Abs, Case, Tensor, Tile

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs.to(tl.int64) * (1 << 36), tl.abs(x), mask=offs < n)

def run(x, out, *, BLOCK):
    n = x.numel()
    kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)

case = Case(run=run, contract=Abs(), inputs=[Tensor("x", "N")],
            tiles=[Tile("BLOCK", axis="N", sizes=(16, 32))])
'''

RIGHT = '''
"""Absolute values."""
import torch, triton, triton.language as tl
from tritaudit import Abs, Case, Tensor, Tile

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.abs(x), mask=offs < n)

def run(x, out, *, BLOCK, num_warps=4):
    n = x.numel()
    kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK, num_warps=num_warps)

case = Case(run=run, contract=Abs(), inputs=[Tensor("x", "N")],
            tiles=[Tile("BLOCK", axis="N", sizes=(16, 32))])
'''

ONE_WARP = (
    RIGHT.replace("tl.abs(x)", "tl.abs(x) if WARPS < 8 else x")
    .replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, WARPS: tl.constexpr")
    .replace("num_warps=num_warps", "WARPS=num_warps, num_warps=num_warps")
)


@pytest.fixture(scope="module", autouse=True)
def gpu() -> None:
    """Skip without a GPU; asked in a process of its own, so that this one stays free of CUDA."""
    asked = subprocess.run(
        [sys.executable, "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())"]
    )
    if asked.returncode:
        pytest.skip("torch sees no GPU")


def audit(folder: Path, *options: str) -> dict[str, dict]:
    """Run the tool on a folder; the results of the JSON report by case name."""
    path = folder / "report.json"
    command = [sys.executable, "-m", "tritaudit", "run", str(folder), "--backend", "gpu"]
    done = subprocess.run(
        [*command, "--report", f"json={path}", *options],
        env={k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"},
        capture_output=True,
        text=True,
    )
    assert path.exists(), done.stdout + done.stderr
    return {r["case"]: r for r in json.loads(path.read_text())["results"]}


def test_an_illegal_address_is_one_finding_among_twenty_verdicts(tmp_path: Path) -> None:
    for k in range(20):
        (tmp_path / f"right_{k:02}.py").write_text(RIGHT)
    (tmp_path / "illegal.py").write_text(ILLEGAL)
    results = audit(tmp_path)
    assert len(results) == 21
    illegal = results.pop("illegal")
    assert [f["fault"] for f in illegal["findings"]] == ["crash"]
    assert illegal["findings"][0]["example"]["sizes"] == {"N": 2}
    assert {r["outcome"] for r in results.values()} == {"pass"}


def test_wrong_at_some_warps_only_is_found_and_said(tmp_path: Path) -> None:
    (tmp_path / "warps.py").write_text(ONE_WARP)
    result = audit(tmp_path)["warps"]
    assert {f["fault"] for f in result["findings"]} == {"sign-kept"}
    assert result["findings"][0]["example"]["launch"] == {"num_warps": 8}


def test_every_pattern_of_32_bits(tmp_path: Path) -> None:
    (tmp_path / "ints.py").write_text(RIGHT.replace('"N")', '"N", dtypes=("int32", "float32"))'))
    result = audit(tmp_path, "--exhaustive")["ints"]
    notes = " ".join(result["notes"])
    assert "int32: 1 of 4,294,967,296 bit patterns wrong: -2147483648" in notes
    assert "float32: all 4,294,967,296 bit patterns are right" in notes
    assert [f["fault"] for f in result["findings"]] == ["int-abs-overflow"]
