"""Versions of Triton in folders of their own, with a stand-in for pip."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tritaudit import overlays
from tritaudit.overlays import OverlayError, overlay, versions


def fake_install(requirement: str, target: Path) -> None:
    (target / "triton").mkdir(parents=True)
    (target / "triton" / "__init__.py").write_text(f"# {requirement}\n")


def refuse(requirement: str, target: Path) -> None:
    raise AssertionError(f"{requirement} was to be installed")


def there(version: str, folder: Path, **more: Any) -> Path:
    found = overlay(version, folder=folder, **{"offline": False, "install": fake_install, **more})
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlays, "installed", lambda: "3.9.0")


def test_a_list_of_versions_is_sorted_and_each_counts_once() -> None:
    assert versions("3.10.0, 3.9.0,3.4.0,,3.9") == ("3.4.0", "3.9.0", "3.10.0")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("3.4.0,latest", "'latest' is not a version"), (" ,", "name versions of Triton")],
)
def test_what_is_no_version_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        versions(text)


def test_the_installed_version_needs_no_folder(tmp_path: Path) -> None:
    for name in ("3.9.0", "3.9"):
        assert overlay(name, offline=False, folder=tmp_path, install=refuse) is None
    assert list(tmp_path.iterdir()) == []


def test_a_version_is_installed_once(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    first = there("3.4.0", folder)
    assert (first / "triton" / "__init__.py").read_text() == f"# {overlays.DISTRIBUTION}==3.4.0\n"
    assert there("3.4.0", folder, install=refuse) == first
    assert there("3.4.0", folder, offline=True, install=refuse) == first
    assert there("3.6.0", folder) != first
    assert not list(folder.glob(".new-*"))


def test_an_installation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fails(requirement: str, target: Path) -> None:
        fake_install(requirement, target)
        raise OverlayError("no such version")

    with pytest.raises(OverlayError, match="no such version"):
        overlay("3.4.0", offline=False, folder=tmp_path, install=fails)
    assert list(tmp_path.iterdir()) == []


def test_offline_installs_nothing(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match=r"triton 3\.4\.0 is not in .*: leave --offline out"):
        overlay("3.4.0", offline=True, folder=tmp_path, install=refuse)


def test_the_second_of_two_that_install_at_once_takes_the_folder_of_the_first(
    tmp_path: Path,
) -> None:
    def overtaken(requirement: str, target: Path) -> None:
        there("3.4.0", tmp_path)
        fake_install(requirement, target)

    assert there("3.4.0", tmp_path, install=overtaken).is_dir()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OverlayError, match=r"triton 3\.4\.0 cannot be kept in .*file"):
        overlay("3.4.0", offline=False, folder=blocked / "triton", install=fake_install)


@pytest.mark.parametrize(
    ("stderr", "why"),
    [
        ("WARNING: x\nERROR: Could not find\nERROR: No matching distribution\n", "No matching"),
        ("the disk is full\n", "the disk is full"),
        ("", "pip ended with code 1"),
    ],
)
def test_pip_is_run_and_its_error_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stderr: str, why: str
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        return subprocess.CompletedProcess(command, 1, "", stderr)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(OverlayError, match=f"3.4.0 cannot be installed: {why}"):
        overlay("3.4.0", offline=False, folder=tmp_path)
    assert ran[0][:4] == [sys.executable, "-m", "pip", "install"]
    assert {"--no-deps", "--target"} <= set(ran[0])
    assert list(tmp_path.iterdir()) == []


def test_caches_lie_where_the_system_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert overlays.cache_folder() == Path("/elsewhere/tritaudit/triton")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/someone")
    assert overlays.cache_folder() == Path("/home/someone/.cache/tritaudit/triton")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert overlays.cache_folder() == Path("/home/someone/Library/Caches/tritaudit/triton")
