"""Other versions of Triton, each in a folder of its own that is put before the installed one.

    ~/.cache/tritaudit/triton/3.4.0-cpython-311-linux-x86_64/

A version is installed once, into a folder beside, which then takes its name: what has a name is
whole. The version that is installed anyway needs no folder.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from packaging.version import InvalidVersion, Version

__all__ = ["Installer", "OverlayError", "cache_folder", "installed", "overlay", "versions"]

#: the distribution that provides the module.
DISTRIBUTION = "triton-windows" if os.name == "nt" else "triton"

#: puts a requirement into a folder; raises OverlayError.
Installer = Callable[[str, Path], None]


class OverlayError(RuntimeError):
    """A version of Triton cannot be had: one sentence."""


def versions(text: str) -> tuple[str, ...]:
    """The versions of a list such as `3.4.0,3.9.0`, each once, the oldest first.

    Raises:
        ValueError: one of them is no version, or there is none.
    """
    found: dict[Version, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.setdefault(Version(part), part)
        except InvalidVersion as error:
            raise ValueError(f"{part!r} is not a version of Triton, such as 3.9.0") from error
    if not found:
        raise ValueError("name versions of Triton, such as 3.4.0,3.9.0")
    return tuple(found[version] for version in sorted(found))


def installed() -> str:
    """The version that an import would load, "" where there is none."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return ""


def cache_folder() -> Path:
    """Where overlays lie: below the user's folder for caches, by the rules of the system."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "tritaudit" / "triton"


def overlay(
    version: str,
    *,
    offline: bool,
    folder: Path | None = None,
    install: Installer | None = None,
) -> Path | None:
    """The folder to put before the installed packages; None for the version that is installed.

    Args:
        version: such as 3.4.0.
        offline: install nothing.
        folder: where overlays lie (None: `cache_folder()`).
        install: how to install one (None: with pip).

    Raises:
        OverlayError: it is not there and must not, or cannot, be installed.
    """
    if Version(version) == _known(installed()):
        return None
    base = cache_folder() if folder is None else folder
    system = f"{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"
    wanted = base / f"{Version(version)}-{system}"
    if wanted.is_dir():
        return wanted
    if offline:
        raise OverlayError(f"triton {version} is not in {base}: leave --offline out to install it")
    try:
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=base, prefix=".new-") as temporary:
            new = Path(temporary) / "packages"
            (install or _pip)(f"{DISTRIBUTION}=={version}", new)
            _take_place(new, wanted)
    except OSError as error:
        why = error.strerror or str(error)
        raise OverlayError(f"triton {version} cannot be kept in {base}: {why}") from error
    return wanted


def _known(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _take_place(new: Path, wanted: Path) -> None:
    """Give a complete folder its name, unless another process was first."""
    try:
        new.rename(wanted)
    except OSError:
        if not wanted.is_dir():
            raise
        shutil.rmtree(new)


def _pip(requirement: str, target: Path) -> None:
    if importlib.util.find_spec("pip") is None:
        raise OverlayError(f"{requirement} cannot be installed: this Python has no pip")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--no-deps", "--target", str(target), requirement]
    told = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if told.returncode:
        rows = [row for row in told.stderr.splitlines() if row.strip()]
        errors = [row.partition("ERROR: ")[2] for row in rows if row.startswith("ERROR: ")]
        why = (errors or rows or [f"pip ended with code {told.returncode}"])[-1]
        raise OverlayError(f"{requirement} cannot be installed: {why.strip()}")
