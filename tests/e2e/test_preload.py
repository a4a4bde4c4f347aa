"""The real fork server: what it holds before it forks, and what its children are like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tritaudit.model import Backend
from tritaudit.supervisor import Supervisor


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    with Supervisor(Backend.INTERPRETER) as running:
        yield running


def test_the_environment_is_that_of_the_installation(supervisor: Supervisor) -> None:
    import numpy
    import torch

    told = supervisor.environment()
    assert (told.torch, told.numpy) == (torch.__version__, numpy.__version__)
    assert told.triton.split(".")[0] == "3"
    assert (told.backend, told.gpu, supervisor.devices()) == ("interpreter", "", 0)


def test_without_a_visible_device_the_gpu_backend_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"):
        monkeypatch.setenv(name, "")
    with Supervisor(Backend.GPU) as running:
        assert (running.devices(), running.environment().gpu) == (0, "")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")
def test_the_server_has_one_thread_and_no_device(supervisor: Supervisor) -> None:
    server = supervisor._server
    server.start()
    process = server._process
    assert process is not None
    about = Path("/proc", str(process.pid))
    assert len(list((about / "task").iterdir())) == 1
    opened = [str(link.readlink()) for link in (about / "fd").iterdir()]
    assert not [path for path in opened if path.startswith("/dev/nvidia")]


def test_the_whole_catalogue_loads(supervisor: Supervisor) -> None:
    listing = supervisor.list_cases([])
    assert listing.problems == ()
    assert len(listing.cases) >= 45
