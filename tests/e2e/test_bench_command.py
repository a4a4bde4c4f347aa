"""`tritaudit bench` where there is no GPU, and on one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from conftest import Command

from tritaudit.bench.model import Entry, Measured, Timing, Work
from tritaudit.bench.preset import claims
from tritaudit.commands import Usage
from tritaudit.commands.bench import Plan, bench
from tritaudit.commands.functions import FunctionOptions
from tritaudit.forkserver import Call, Died, Ended, Returned
from tritaudit.model import Backend, Environment
from tritaudit.plain import from_plain, to_plain
from tritaudit.supervisor import Supervisor

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


def test_a_tile_that_triton_refuses_is_wrong_usage() -> None:
    plan = Plan(("flip/mirrored_tiles",), tiles=(("BLOCK", 100),))
    with pytest.raises(Usage, match=r"--tile BLOCK=100: tl\.arange takes powers"):
        bench(plan, FunctionOptions())


class StandIn(Supervisor):
    """Lists cases as ever, and measures in no time what a table says."""

    TIMES: ClassVar = {"flip/address_remap": 0.133, "flip/mirrored_tiles": 1.181}

    def __init__(self, backend: Backend) -> None:
        del backend
        super().__init__(Backend.INTERPRETER)

    def environment(self) -> Environment:
        return replace(super().environment(), gpu="stand-in")

    def call(self, call: Call) -> Ended:
        if call.function != "bench":
            return super().call(call)
        rows = []
        for entry in from_plain(Work, call.data).entries:
            if entry.case == "flip/tiles_reordered":
                return Died("", (), "killed by SIGABRT", None)
            median = self.TIMES.get(entry.case, 0.2) * (entry.num_warps or 4) / 4
            time = Timing(median, median, median)
            rows.append(Measured(entry, time, 1 << 29, time, time, "torch.flip", True))
        return Returned("", (), to_plain(tuple(rows)))


def run(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    monkeypatch.setattr("tritaudit.commands.bench.Supervisor", StandIn)
    monkeypatch.setenv("COLUMNS", "100")
    code = bench(plan, FunctionOptions())
    return code, capsys.readouterr().out


def test_the_claims_are_measured_in_their_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "b.json"
    code, text = run(Plan(json=str(path)), monkeypatch, capsys)
    assert code == 0
    value = json.loads(path.read_text())
    assert value["schema"] == "tritaudit-bench/1"
    assert value["environment"]["gpu"] == "stand-in"
    assert from_plain(tuple[Entry, ...], [row["entry"] for row in value["rows"]]) == claims()
    assert text.count("is 8.9 times slower than flip/address_remap.") == 2
    assert {(s["row"], round(s["times"], 1)) for s in value["slower"]} >= {
        ("flip/mirrored_tiles BLOCK=4096", 8.9)
    }


def test_a_case_is_measured_beside_its_twins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = Plan(("flip/tiles_reordered",), num_warps=(1, 4), json="-")
    code, text = run(plan, monkeypatch, capsys)
    assert code == 3  # one of them could not be measured
    rows = json.loads(text)["rows"]
    measured = {(row["entry"]["case"], row["entry"]["num_warps"]) for row in rows}
    assert measured >= {(c, w) for c in ("flip/tiles_reordered",) for w in (1, 4)}
    problems = {row["entry"]["case"]: row["problem"] for row in rows}
    assert problems.pop("flip/tiles_reordered") == "the process ended (killed by SIGABRT)"
    assert problems  # its twin
    assert set(problems.values()) == {""}


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
