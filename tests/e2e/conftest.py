"""The real command, in a process of its own, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment of the command: this checkout, 80 columns, no colours."""
    variables = {
        k: v
        for k, v in os.environ.items()
        if k not in ("TRITON_INTERPRET", "FORCE_COLOR") and not k.startswith("GITHUB_")
    }
    return {**variables, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1"}


@pytest.fixture
def tritaudit(tmp_path: Path, environment: dict[str, str]) -> Command:
    """Run `tritaudit ARGUMENTS` in tmp_path and return what it printed and its exit code."""

    def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tritaudit", *arguments],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=900,
        )

    return command
