"""`tritaudit bench` where there is no GPU, and on one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from conftest import Command

HAS_GPU = torch.cuda.is_available()


def test_without_a_gpu_it_says_so_in_one_sentence(tritaudit: Command) -> None:
    told = tritaudit("bench", CUDA_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="")
    assert told.returncode == 3
    assert told.stdout == ""
    assert told.stderr == (
        "tritaudit: no GPU is visible to torch, and the times of the interpreter say nothing: "
        "tritaudit ir CASE shows what a kernel costs without one\n"
    )


def test_the_fixed_rows_take_no_options(tritaudit: Command) -> None:
    told = tritaudit("bench", "--size=N=100")
    assert told.returncode == 2
    assert told.stderr.startswith("tritaudit: --size, --tile, --num-warps and --dtype need a case")


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU that torch sees")
def test_a_flip_is_slower_than_a_remap(tritaudit: Command, tmp_path: Path) -> None:
    told = tritaudit(
        "bench", "flip/mirrored_tiles", "flip/address_remap", "--tile=BLOCK=4096", "--json=b.json"
    )
    assert told.returncode == 0, told.stdout + told.stderr
    value = json.loads((tmp_path / "b.json").read_text())
    rows = {row["entry"]["case"]: row for row in value["rows"]}
    flip, remap = rows["flip/mirrored_tiles"], rows["flip/address_remap"]
    assert flip["correct"] is True
    assert remap["correct"] is True
    assert flip["time"]["median"] > 2 * remap["time"]["median"]
    assert flip["costs"]["shuffles"] > 0 == remap["costs"]["shuffles"]
    assert any(s["row"].startswith("flip/mirrored_tiles") for s in value["slower"])
    assert "times slower than flip/address_remap" in " ".join(told.stdout.split())
