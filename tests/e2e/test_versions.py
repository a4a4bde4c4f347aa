"""`tritaudit matrix` with the installed Triton and a stand-in for another version."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from conftest import Command
from kernels import RIGHT, spoiled

QUICK = ("--max-examples", "30", "--backend", "interpreter", "--offline")
NEXT = "99.0.0"
#: right on the installed Triton; on the stand-in it keeps the sign.
CHANGES = spoiled(
    "n, BLOCK=BLOCK)\n",
    f"n, BLOCK=BLOCK)\n    if triton.__version__ == '{NEXT}':\n        out.copy_(x)\n",
)


def stand_in(cache: Path) -> None:
    """The installed Triton under another version, as an overlay."""
    system = f"{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"
    package = cache / "tritaudit" / "triton" / f"{NEXT}-{system}" / "triton"
    package.mkdir(parents=True)
    found = find_spec("triton")
    assert found is not None and found.origin is not None
    for entry in Path(found.origin).parent.iterdir():
        if entry.name not in ("__init__.py", "__pycache__"):
            (package / entry.name).symlink_to(entry)
    text = Path(found.origin).read_text()
    (package / "__init__.py").write_text(text.replace(version("triton"), NEXT))


def test_a_kernel_that_breaks_is_told_with_the_version(tritaudit: Command, tmp_path: Path) -> None:
    stand_in(tmp_path / "cache")
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "right.py").write_text(RIGHT)
    (tmp_path / "kernels" / "changes.py").write_text(CHANGES)
    now = version("triton")
    told = tritaudit(
        "matrix",
        "kernels",
        *QUICK,
        "--triton",
        f"{NEXT},{now}",
        "--json",
        "m.json",
        "--markdown",
        "m.md",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )
    assert (told.returncode, told.stderr) == (1, "")
    value = json.loads((tmp_path / "m.json").read_text())
    assert [v["triton"] for v in value["versions"]] == [now, NEXT]
    words = {c["case"]: [cell["word"] for cell in c["cells"]] for c in value["cases"]}
    assert words == {"changes": ["right", "wrong"], "right": ["right", "right"]}
    assert f"{NEXT}, after {now}" in told.stdout
    assert "broke     changes" in told.stdout
    assert "| <code>changes</code> | right | **▸ wrong** |" in (tmp_path / "m.md").read_text()


def test_the_installed_version_alone_is_there_offline(tritaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    told = tritaudit("matrix", "right.py", *QUICK, "--triton", version("triton"))
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines()[-1] == "1 case on 1 version: the same on all of them"


def test_what_cannot_be_had_is_one_sentence(tritaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    told = tritaudit("matrix", "right.py", *QUICK, "--triton", "3.1.99", **cache)
    assert (told.returncode, told.stdout) == (3, "")
    assert told.stderr.startswith("tritaudit: triton 3.1.99 is not in ")
    told = tritaudit("matrix", "right.py", *QUICK, "--triton", "newest", **cache)
    assert told.returncode == 2
    assert told.stderr == (
        "tritaudit: --triton: 'newest' is not a version of Triton, such as 3.9.0\n"
    )


def test_an_overlay_that_holds_another_version_is_refused(
    tritaudit: Command, tmp_path: Path
) -> None:
    stand_in(tmp_path / "cache")
    base = tmp_path / "cache" / "tritaudit" / "triton"
    [folder] = base.iterdir()
    folder.rename(base / folder.name.replace(NEXT, "98.0.0"))
    (tmp_path / "right.py").write_text(RIGHT)
    told = tritaudit(
        "matrix",
        "right.py",
        *QUICK,
        "--triton",
        "98.0.0",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )
    assert (told.returncode, told.stdout) == (3, "")
    assert told.stderr == f"tritaudit: triton 98.0.0 was to run, and {NEXT} was loaded\n"
