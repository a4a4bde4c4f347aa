"""Looks at the installation from the process of the command line: no kernel is run here."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tritaudit.doctor.model import Cache, Facts, Module
from tritaudit.report.wording import line

__all__ = ["cache_folder", "driver_version", "look_at_cache", "look_at_python"]

_VARIABLE = "TRITON_INTERPRET"
#: seconds that importing everything may take on a slow disk.
_LIMIT = 180.0
#: entries of the cache that are looked at.
_MOST_ENTRIES = 200_000


def look_at_python() -> Facts:
    """What a fresh Python finds, in the environment that this one was started with.

    Raises:
        RuntimeError: it does not even answer; the message says why.
    """
    # -P: no file of the working directory takes the place of a module that torch imports.
    command = [sys.executable, "-P", str(Path(__file__).with_name("facts.py"))]
    variables = {k: v for k, v in os.environ.items() if k != _VARIABLE}
    if shell := _from_shell(_VARIABLE):
        variables[_VARIABLE] = shell
    try:
        told = subprocess.run(
            command,
            env=variables,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"python had not imported torch after {_LIMIT:.0f} s") from None
    last = told.stdout.strip().rpartition("\n")[2]
    if told.returncode != 0 or not last.startswith("{"):
        why = line(told.stderr.strip().rpartition("\n")[2]) or f"exit code {told.returncode}"
        raise RuntimeError(f"python ends when it imports numpy, torch and triton: {why}")
    return _facts(json.loads(last), shell)


def _from_shell(name: str) -> str:
    """A variable as this process was started with it, whatever was done to it since."""
    try:
        started = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:  # not Linux
        return os.environ.get(name, "")
    found = (entry.partition(b"=") for entry in started)
    return next((value.decode() for key, _, value in found if key == name.encode()), "")


def _facts(found: dict[str, Any], shell: str) -> Facts:
    modules = tuple(
        Module(
            name=name,
            version=told.get("version", ""),
            file=told.get("file", ""),
            error=line(told.get("error", "")),
            installed="error" not in told or bool(told["installed"]),
        )
        for name, told in found["modules"].items()
    )
    return Facts(
        python=found["python"],
        executable=found["executable"],
        platform=found["platform"],
        modules=modules,
        early=tuple(found["early"]),
        interpret=found["interpret"],
        shell=shell,
        interpreted=found["interpreted"],
        requires=tuple(found["requires"]),
        gpus=tuple(line(name) for name in found["gpus"]),
        torch_build=found["torch_build"],
        driver=driver_version(),
        warnings=tuple(line(text) for text in found["warnings"]),
    )


def driver_version() -> str:
    """The version of the NVIDIA driver, "" where nvidia-smi cannot tell."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    command = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return line(told.stdout.partition("\n")[0])


# --------------------------------------------------------------------------- the cache


def cache_folder() -> Path:
    """Where Triton keeps compiled kernels: TRITON_CACHE_DIR, else below TRITON_HOME or the home."""
    given = os.environ.get("TRITON_CACHE_DIR", "").strip()
    if given:
        return Path(given)
    home = os.environ.get("TRITON_HOME", "").strip()
    return (Path(home) if home else Path.home()) / ".triton" / "cache"


def look_at_cache() -> Cache:
    """The cache folder, how much is in it, and whether something can be written there."""
    folder = cache_folder()
    kernels = size = entries = 0
    for _, folders, files in os.walk(folder):
        kernels += any(name.endswith((".cubin", ".hsaco")) for name in files)
        entries += len(files) + len(folders)
        if entries > _MOST_ENTRIES:
            break
    with contextlib.suppress(OSError):
        size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) if entries else 0
    return Cache(str(folder), kernels, size, _problem_of_writing(folder))


def _problem_of_writing(folder: Path) -> str:
    """Why nothing can be written into a folder, "" if it can. Leaves nothing behind."""
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"tritaudit doctor")
    except OSError as error:
        return error.strerror or str(error)
    finally:
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()  # only what is empty goes
    return ""
