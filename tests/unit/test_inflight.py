from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tritaudit.inflight import MAX_TOKEN, InFlight


def test_a_new_record_is_empty(tmp_path: Path) -> None:
    assert InFlight.create(tmp_path / "record").read() is None


def test_another_mapping_of_the_file_reads_what_was_written(tmp_path: Path) -> None:
    writer = InFlight.create(tmp_path / "record")
    reader = InFlight(tmp_path / "record")
    before, used = time.monotonic(), time.process_time()
    writer.write("first, and longer")
    writer.write("N=5 é")
    read = reader.read()
    assert read is not None
    assert read.token == "N=5 é"
    assert before <= read.started <= time.monotonic()
    assert used <= read.used <= time.process_time()
    writer.clear()
    assert reader.read() is None


def test_the_longest_token_fits_and_a_longer_one_is_refused() -> None:
    record = InFlight()
    record.write("x" * MAX_TOKEN)
    read = record.read()
    assert read is not None and read[0] == "x" * MAX_TOKEN
    for bad in ("x" * (MAX_TOKEN + 1), ""):
        with pytest.raises(ValueError, match="a token has 1 to 65536 bytes"):
            record.write(bad)


def test_a_record_that_was_cut_off_in_the_middle_reads_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "record"
    record = InFlight.create(path)
    record.write("abcdef")
    with path.open("r+b") as file:
        file.seek(26)
        file.write(b"Z")
    assert record.read() is None


def test_the_record_survives_the_death_of_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "record"
    record = InFlight.create(path)
    script = (
        "import os, sys; from tritaudit.inflight import InFlight\n"
        "InFlight(sys.argv[1]).write('the last one'); os.kill(os.getpid(), 9)"
    )
    root = str(Path(__file__).parents[2])
    ended = subprocess.run(
        [sys.executable, "-c", script, str(path)], env={**os.environ, "PYTHONPATH": root}
    )
    assert ended.returncode == -signal.SIGKILL
    read = record.read()
    assert read is not None and read[0] == "the last one"
