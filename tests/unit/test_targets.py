from __future__ import annotations

from pathlib import Path

import pytest

from tritaudit import targets
from tritaudit.targets import (
    CatalogueError,
    LoadProblem,
    builtin_root,
    catalogue_names,
    is_name,
    nearest,
    resolve,
)


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    root = tmp_path / "catalogue"
    for name in ("flip/one", "flip/two", "abs/one", "_private/x", "flip/_helper", ".hidden/y"):
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def names(wanted: list[str], root: Path) -> list[str]:
    sources, problems = resolve(wanted, root)
    assert problems == ()
    return [s.name if s.pattern == "*" else s.pattern for s in sources]


def test_the_names_of_the_catalogue(catalogue: Path) -> None:
    assert {"flip/one", "flip/two"} <= set(catalogue_names(catalogue))


@pytest.mark.parametrize(
    ("target", "name"),
    [("flip/one", True), ("nosuch", True), ("k.py", False), ("./k", False), ("a.b:f", False)],
)
def test_what_can_only_be_a_name(target: str, name: bool) -> None:
    assert is_name(target) is name


def refusal(target: str, root: Path) -> str:
    sources, problems = resolve([target], root)
    assert sources == ()
    [problem] = problems
    assert problem.line == 0
    return str(problem)


def test_no_target_is_the_whole_catalogue(catalogue: Path) -> None:
    assert names([], catalogue) == ["abs/one", "flip/one", "flip/two"]


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["flip/one"], ["flip/one"]),
        (["flip/*"], ["flip/one", "flip/two"]),
        (["*/one"], ["abs/one", "flip/one"]),
        (["flip"], ["flip/one", "flip/two"]),
        (["flip/", "flip/one", "flip/*"], ["flip/one", "flip/two"]),
        (["flip/one:other"], ["flip/one:other"]),
        (["flip/one:case"], ["flip/one"]),
        (["flip/one:other", "flip/one"], ["flip/one"]),
    ],
)
def test_names_globs_and_folders_of_the_catalogue(
    catalogue: Path, targets: list[str], expected: list[str]
) -> None:
    assert names(targets, catalogue) == expected


def test_a_file_is_named_by_its_stem_and_a_file_of_the_catalogue_by_its_name(
    catalogue: Path, tmp_path: Path
) -> None:
    own = tmp_path / "deep" / "er" / "mine.py"
    own.parent.mkdir(parents=True)
    own.touch()
    assert names([str(own)], catalogue) == ["mine"]
    assert names([str(tmp_path / "deep")], catalogue) == ["er/mine"]
    assert names([f"{own}:b"], catalogue) == ["mine:b"]
    assert names([str(catalogue / "flip" / "one.py")], catalogue) == ["flip/one"]
    assert names([str(catalogue / "flip")], catalogue) == ["flip/one", "flip/two"]
    [source], _ = resolve([str(own)], catalogue)
    assert source.named and source.root == str(own.parent)


def test_private_and_hidden_files_and_environments_are_left_out(tmp_path: Path) -> None:
    for name in ("venv/pyvenv.cfg", "venv/a.py", ".git/b.py", "__pycache__/c.py", "_d.py", "e.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert names([str(tmp_path)], tmp_path / "none") == ["e"]


def test_what_names_nothing_is_refused_with_what_is_near(
    catalogue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refusal("flip/ome", catalogue) == (
        "no case is named 'flip/ome'; nearest: flip/one, flip/two"
    )
    assert refusal("two", catalogue) == "no case is named 'two'; nearest: flip/two"
    assert refusal("zzzzz", catalogue) == "no case is named 'zzzzz'"
    assert refusal("", catalogue) == "no case is named ''"
    assert refusal("./no.py", catalogue) == "no such file or folder: ./no.py"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels" / "deep").mkdir(parents=True)
    (tmp_path / "kernels" / "right.py").touch()
    assert refusal("kernals/", catalogue) == "no case is named 'kernals/'; nearest: kernels"
    assert refusal("kernels/rigth.py", catalogue) == (
        "no such file or folder: kernels/rigth.py; nearest: kernels/right.py"
    )
    assert refusal("kernals/right.py", catalogue).endswith("; nearest: kernels")
    (tmp_path / "empty").mkdir()
    assert refusal(str(tmp_path / "empty"), catalogue).startswith("no Python file in ")
    (tmp_path / "text.txt").touch()
    assert refusal(str(tmp_path / "text.txt"), catalogue).endswith("text.txt is not a Python file")


def test_nearest_finds_names_by_their_last_part() -> None:
    assert nearest("singel_tile", ["flip/single_tile", "abs/vector"]) == (
        "; nearest: flip/single_tile"
    )
    assert nearest("padding-lek", ["padding-leak", "crash"]) == "; nearest: padding-leak"


def test_a_problem_reads_as_place_and_sentence() -> None:
    assert str(LoadProblem("a.py", 3, "is wrong")) == "a.py:3: is wrong"
    assert str(LoadProblem("a.py", 0, "is wrong")) == "a.py: is wrong"
    assert str(LoadProblem("", 0, "is wrong")) == "is wrong"


def test_this_checkout_has_a_catalogue() -> None:
    assert (builtin_root() / "flip" / "single_tile.py").is_file()


def test_an_installed_wheel_has_its_catalogue_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "tritaudit"
    (package / "_cases").mkdir(parents=True)
    (package.parent / "cases").mkdir()  # of another distribution
    monkeypatch.setattr(targets, "__file__", str(package / "targets.py"))
    assert builtin_root() == package / "_cases"
    (package / "_cases").rmdir()
    (package.parent / "cases").rmdir()
    with pytest.raises(CatalogueError, match="the catalogue is missing"):
        builtin_root()
