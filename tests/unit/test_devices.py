"""Which device a process sees: the variable, and real processes with devices that are pretended."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from tritaudit import worker
from tritaudit.devices import in_words, only
from tritaudit.model import Backend, CaseInfo, Event, Outcome, UnitFinished
from tritaudit.supervisor import Supervisor, default_jobs
from tritaudit.unit import request_for

UUIDS = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,GPU-1e2d"


@pytest.mark.parametrize(
    ("variables", "seen"),
    [
        ({}, ["0", "1"]),
        ({"CUDA_VISIBLE_DEVICES": "3,5"}, ["3", "5"]),
        ({"CUDA_VISIBLE_DEVICES": " 3 , 5 ,7"}, ["3", "5"]),
        ({"CUDA_VISIBLE_DEVICES": UUIDS}, UUIDS.split(",")),
        ({"CUDA_VISIBLE_DEVICES": "MIG-a/1/0,MIG-b"}, ["MIG-a/1/0", "MIG-b"]),
        ({"HIP_VISIBLE_DEVICES": "7,8", "ZE_AFFINITY_MASK": "9,9"}, ["0", "1"]),
    ],
)
def test_a_device_is_one_of_those_that_the_user_left_visible(
    variables: dict[str, str], seen: list[str]
) -> None:
    assert [only("cuda", k, variables) for k in (0, 1)] == [
        ("CUDA_VISIBLE_DEVICES", value) for value in seen
    ]


def test_each_runtime_has_its_own_variable() -> None:
    both = {"CUDA_VISIBLE_DEVICES": "3,5", "ZE_AFFINITY_MASK": "0.1,1.0"}
    assert only("hip", 1, both) == ("HIP_VISIBLE_DEVICES", "5")
    assert only("hip", 1, {**both, "HIP_VISIBLE_DEVICES": "2,4"}) == ("HIP_VISIBLE_DEVICES", "4")
    assert only("hip", 1, {}) == ("HIP_VISIBLE_DEVICES", "1")
    assert only("xpu", 1, both) == ("ZE_AFFINITY_MASK", "1.0")


def test_devices_in_words() -> None:
    assert in_words([]) == ""
    assert in_words(["H200"]) == "H200"
    assert in_words(["A100", "H200", "H200"]) == "A100, 2 x H200"


def test_more_devices_take_more_units_and_never_more_than_there_are_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(40)), raising=False)
    assert [default_jobs(Backend.GPU, n) for n in (0, 1, 2, 4)] == [16, 16, 32, 40]
    assert default_jobs(Backend.INTERPRETER) == 40


class Devices:
    """In the place of `torch.cuda` or `torch.xpu`."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def is_available(self) -> bool:
        return len(self.names) > 0

    def device_count(self) -> int:
        return len(self.names)

    def get_device_name(self, device: int) -> str:
        return self.names[device]


@pytest.mark.parametrize(
    ("cuda", "xpu", "words"),
    [
        (Devices("H200", "H200"), None, "2 x H200"),
        (Devices("MI300X"), Devices(), "MI300X"),
        (Devices(), Devices("Max 1550", "Max 1550"), "2 x Max 1550"),
        (Devices(), None, ""),
    ],
)
def test_a_worker_tells_how_many_devices_there_are_and_which(
    monkeypatch: pytest.MonkeyPatch, cuda: Devices, xpu: Devices | None, words: str
) -> None:
    monkeypatch.setattr(torch, "cuda", cuda)
    monkeypatch.setattr(torch, "xpu", xpu, raising=False)
    link: Any = None
    told: Any = worker.FUNCTIONS["environment"]("gpu", link)
    assert told["environment"]["gpu"] == words
    assert told["devices"] == len(cuda.names or (xpu or cuda).names)
    told = worker.FUNCTIONS["environment"]("interpreter", link)
    assert (told["environment"]["gpu"], told["devices"]) == ("", 0)


@pytest.mark.parametrize("kind", ["cuda", "hip", "xpu"])
def test_the_build_of_torch_decides_which_variable_is_set(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for other in ("cuda", "hip", "xpu"):
        monkeypatch.setattr(torch.version, other, "1" if other == kind else None, raising=False)
    assert worker._build(torch) == kind
    assert worker._build(None) == "cuda"


# --------------------------------------------------------------------------- real processes


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), str(root)]))
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path / "log"


def run(*names: str, backend: Backend = Backend.GPU, jobs: int = 2) -> list[Event]:
    """Run cases of toy_worker; all events."""
    cases = [CaseInfo(n, f"/x/{n}.py", 1, "case", "Abs()", "", "", (), (), (), ()) for n in names]
    units = [(case, request_for(case, str(backend))) for case in cases]
    with Supervisor(backend, ["toy_worker"]) as supervisor:
        return list(supervisor.run_units(units, jobs, 20, 10))


def seen(log: Path) -> list[tuple[str, str]]:
    """The case of each process and the devices that it saw, in order."""
    rows = log.read_text().splitlines()
    return [(case, device) for case, _, device in (row.partition(" ") for row in rows)]


@pytest.mark.parametrize(
    ("visible", "devices"),
    [(None, ["0", "1", "2"]), ("3,5,4", ["3", "5", "4"]), (f"{UUIDS},2", [*UUIDS.split(","), "2"])],
)
def test_each_process_sees_one_device_and_all_get_the_same_load(
    log: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, devices: list[str]
) -> None:
    monkeypatch.setenv("TOY_DEVICES", "3")
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    run(*(f"sleep-{n}" for n in range(20, 26)), jobs=6)
    assert Counter(device for _, device in seen(log)) == dict.fromkeys(devices, 2)


def test_a_unit_goes_where_the_fewest_units_run(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_DEVICES", "2")
    run("sleep-1", "ok-1", "ok-2", "ok-3")
    assert dict(seen(log)) == {"sleep-1": "0", "ok-1": "1", "ok-2": "1", "ok-3": "1"}


@pytest.mark.parametrize("case", ["segfault-4", "unsure-4"])
def test_a_unit_that_dies_is_run_again_on_its_own_device(
    log: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setenv("TOY_DEVICES", "2")
    run("sleep-1", case)
    processes = [device for name, device in seen(log) if name == case]
    assert len(processes) > 1
    assert set(processes) == {"1"}


@pytest.mark.parametrize("visible", [None, "5", "3,5"])
@pytest.mark.parametrize(
    ("backend", "devices"), [(Backend.GPU, "1"), (Backend.GPU, "0"), (Backend.INTERPRETER, "0")]
)
def test_with_one_device_or_none_the_environment_stays_as_it_is(
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    visible: str | None,
    backend: Backend,
    devices: str,
) -> None:
    monkeypatch.setenv("TOY_DEVICES", devices)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    events = run("ok-1", "ok-2", backend=backend)
    outcomes = [e.result.outcome for e in events if isinstance(e, UnitFinished)]
    assert outcomes == [Outcome.PASS, Outcome.PASS]
    assert {device for _, device in seen(log)} == {str(visible)}
