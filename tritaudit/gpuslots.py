"""Turns on a GPU. Processes that share one take slices of its time and wait for each other's.

Compiling needs the CPU alone, so many units compile at once; what launches in earnest holds a slot.
A slot is a file lock, which the system gives back when its holder dies.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

#: units that launch on one GPU at a time.
SLOTS = 6


def _folder() -> Path:
    device = os.environ.get("CUDA_VISIBLE_DEVICES", "all").replace(",", "-") or "none"
    return Path(tempfile.gettempdir()) / f"tritaudit-{os.getuid()}-gpu-{device}"


@contextlib.contextmanager
def slot(wanted: bool = True) -> Iterator[None]:
    """Wait for one of SLOTS turns on this process's GPU; nothing where none is wanted."""
    if not wanted:
        yield
        return
    import fcntl

    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context((folder / f"{k}.lock").open("a")) for k in range(SLOTS)]
        while True:
            for file in files:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    yield
                    return
            time.sleep(0.01)
