"""`tritaudit ir`: real kernels through the installed compiler, on a machine with or without GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import triton
from conftest import Command
from packaging.version import Version

VERSION = Version(triton.__version__)


def answers(path: Path) -> list[dict[str, Any]]:
    value = json.loads(path.read_text())
    assert value["schema"] == "tritaudit-ir/1"
    found = value["answers"]
    assert isinstance(found, list)
    return found


def stage(answer: dict[str, Any], name: str) -> dict[str, Any]:
    found = next(s for s in answer["kernels"][0]["stages"] if s["name"] == name)
    assert isinstance(found, dict)
    return found


def test_a_flip_exchanges_lanes_and_a_remap_does_not(tritaudit: Command, tmp_path: Path) -> None:
    told = tritaudit(
        "ir",
        "flip/address_remap",
        "--compare=flip/mirrored_tiles",
        "--target=cuda:90",
        "--json=ir.json",
    )
    assert told.returncode == 0, told.stderr
    remap, flip = answers(tmp_path / "ir.json")
    assert [a["tiles"] for a in (remap, flip)] == [[["BLOCK", 128]]] * 2
    assert (remap["dtype"], flip["dtype"]) == ("float32", "float32")
    shuffles = [a["kernels"][0]["costs"]["shuffles"] for a in (remap, flip)]
    assert shuffles == ([0, 7] if VERSION.release >= (3, 4) else [0, 12])
    assert f"4 warps: shuffles 0 against {shuffles[1]}" in " ".join(told.stdout.split())
    assert [a["aligned"] for a in flip["kernels"][0]["arguments"]] == [True, True, True, False]
    for name in ("ttir", "ttgir", "llir", "ptx", "sass"):
        assert stage(flip, name)["marked"], name
        assert not stage(remap, name)["marked"]
    in_call = dict(stage(flip, "ptx")["operations"])
    assert in_call["shfl.sync.bfly.b32"] == shuffles[1]
    assert 'A search for "flip" in this TTIR finds' in told.stdout
    assert not any("flip" in name for name, _ in stage(flip, "ttir")["operations"])


@pytest.mark.parametrize(
    ("case", "dtype", "wanted"),
    [
        ("abs/vector", "float32", {"and.b32": 1}),
        ("abs/vector", "float64", {"and.b64": 1}),
        (
            "abs/vector_int",
            "int32",
            {"abs.s32": 1} if VERSION.release < (3, 8) else {"neg.s32": 1, "max.s32": 1},
        ),
    ],
)
def test_abs_is_an_instruction_or_two(
    tritaudit: Command, tmp_path: Path, case: str, dtype: str, wanted: dict[str, int]
) -> None:
    options = ("--tile=BLOCK=128", f"--dtype={dtype}", "--target=cuda:90", "--json=ir.json")
    assert tritaudit("ir", case, *options).returncode == 0
    (answer,) = answers(tmp_path / "ir.json")
    assert dict(stage(answer, "ptx")["operations"]) == wanted


def test_the_axis_and_the_number_of_warps_decide_what_a_flip_costs(
    tritaudit: Command, tmp_path: Path
) -> None:
    told = tritaudit(
        "ir",
        "flip/tiles_2d_w",
        *("--tile=BH=32,BW=64", "--size=H=1024", "--size=W=1024", "--target=cuda:90"),
        *("--dim=0,1", "--num-warps=1,4", "--json=ir.json"),
    )
    if VERSION.release < (3, 4):  # flips the last axis only
        assert "Currently only support flipping the last dimension" in told.stdout
        return
    assert told.returncode == 0, told.stderr
    found = {
        (answer["dim"], kernel["num_warps"]): kernel["costs"]["shuffles"]
        for answer in answers(tmp_path / "ir.json")
        for kernel in answer["kernels"]
    }
    assert found == {(0, 1): 64, (0, 4): 48, (1, 1): 256, (1, 4): 64}
    assert "tl.flip(x, 1), with 0 in place of its axis, became" in told.stdout


def test_amd_code_needs_neither_gpu_nor_rocm(tritaudit: Command) -> None:
    told = tritaudit("ir", "flip/mirrored_tiles", "--target=hip:gfx942", "--stage=amdgcn")
    assert told.returncode == 0, told.stderr
    marked = [row for row in told.stdout.splitlines() if row.startswith(">> ")]
    assert len(marked) > 20
    assert "hip:gfx942" in told.stdout


def test_only_the_json_goes_to_standard_output(tritaudit: Command) -> None:
    told = tritaudit("ir", "flip/address_remap", "--target=cuda:80", "--json=-")
    assert json.loads(told.stdout)["answers"][0]["target"] == "cuda:80"


def test_what_the_compiler_refuses_is_told_with_its_place(tritaudit: Command) -> None:
    told = tritaudit("ir", "semantics/flip_tuple_dim")
    assert told.returncode == 3
    assert "not compiled: " in told.stdout
    assert "flip_tuple_dim.py:" in told.stdout


def test_a_kernel_in_a_loop_with_a_helper_and_a_configuration(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "tuned.py").write_text(
        """\
import torch
import triton
import triton.language as tl
from tritaudit import Case, Flip, Tensor


@triton.jit
def mirrored(x):
    return tl.flip(x, 0)


@triton.autotune([triton.Config({"BLOCK": b}) for b in (64, 256)], key=["n"])
@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        src = n - start - BLOCK + lanes
        x = tl.load(x_ptr + src, mask=src >= 0, other=0)
        tl.store(out_ptr + start + lanes, mirrored(x) * scale, mask=start + lanes < n)


def run(x):
    out = torch.empty_like(x)
    reverse_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel(), 1.0)
    return out


case = Case(run=run, contract=Flip("N"), inputs=[Tensor("x", "N")])
"""
    )
    told = tritaudit("ir", "tuned.py", "--size=N=1024", "--target=cuda:90")
    assert told.returncode == 0, told.stderr + told.stdout
    assert "reverse_kernel[(16,)] with 4 warps, the first of 2 configurations" in told.stdout
    assert "tuned.py:9  tl.flip(x, 0) became" in told.stdout
    assert "n: 1024 ÷16" in told.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--target=sm_90",), "--target: 'sm_90' is no target; targets are like cuda:90"),
        (("--stage=pxt",), "--stage: no stage is named 'pxt'; nearest: ptx"),
        (("--tile=BLOCK=100",), "--tile BLOCK=100: tl.arange takes powers of two only"),
        (("--tile=BLOK=128",), "--tile: no tile is named 'BLOK'; tiles are BLOCK"),
        (("--size=W=128",), "--size: no axis is named 'W'; axes are N"),
        (("--num-warps=3",), "--num-warps 3: the number of warps is a power of two up to 32"),
        (("--dim=0",), "--dim is the axis of tl.flip, which this kernel does not call"),
        (("--stage=amdgcn", "--target=cuda:90"), "--stage: cuda:90 has no amdgcn; stages are ttir"),
        (("--dtype=float32,int8",), "--dtype takes one dtype here"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(
    tritaudit: Command, options: tuple[str, ...], told: str
) -> None:
    end = tritaudit("ir", "flip/address_remap", *options)
    assert end.returncode == 2
    assert end.stderr.startswith(f"tritaudit: {told}")
    assert end.stderr.count("\n") == 1
