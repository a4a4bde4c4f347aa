"""From targets to files: catalogue names and globs, files, folders. No file is run here."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

__all__ = [
    "CatalogueError",
    "LoadProblem",
    "Source",
    "builtin_root",
    "catalogue_names",
    "function_target",
    "is_name",
    "nearest",
    "nearest_path",
    "python_files",
    "resolve",
    "shown_path",
]


class CatalogueError(RuntimeError):
    """The catalogue or a case of it cannot be used. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class LoadProblem:
    """What is wrong with a case file, in one sentence. `line` 0: no line is to blame."""

    path: str
    line: int
    message: str
    #: the name of the case where the file would have given one.
    case: str = ""

    def __str__(self) -> str:
        if not self.path:
            return self.message
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to load. `pattern` selects among the names of its cases; `named`: by its own path."""

    path: str
    root: str
    pattern: str = "*"
    named: bool = False

    @property
    def name(self) -> str:
        """The path of the file under its root, without suffix."""
        return Path(self.path).relative_to(self.root).with_suffix("").as_posix()


def shown_path(path: str | Path) -> str:
    """A path as a person reads it: relative to the working directory where it lies below it."""
    with contextlib.suppress(ValueError, OSError):
        return str(Path(path).resolve().relative_to(Path.cwd().resolve()))
    return str(path)


def nearest(name: str, known: Sequence[str], count: int = 3) -> str:
    """ "; nearest are a, b" for the end of a sentence, or "" where nothing is near."""
    tails = {k.rsplit("/", 1)[-1]: k for k in reversed(known)}
    close = difflib.get_close_matches(name, known, count, 0.6)
    close += [tails[t] for t in difflib.get_close_matches(name, list(tails), count, 0.6)]
    close = list(dict.fromkeys(close))[:count]
    return f"; nearest: {', '.join(close)}" if close else ""


def nearest_path(path: Path, count: int = 1) -> str:
    """ "; nearest: kernels" where a folder or Python file has a name like that of a missing one."""
    for folder in path.parents:
        if folder.is_dir():
            missing = path.relative_to(folder).parts[0]
            known = [
                entry.name
                for entry in sorted(folder.iterdir())
                if not entry.name.startswith(".") and (entry.is_dir() or entry.suffix == ".py")
            ]
            close = difflib.get_close_matches(missing, known, count, 0.6)
            paths = [str(folder / name) for name in close]
            return f"; nearest: {', '.join(paths)}" if paths else ""
    return ""


def function_target(target: str) -> tuple[str, str] | None:
    """Module or file, and the name in it, of a target like `mypkg.ops:reverse` or `ops.py:reverse`.

    None where it is not of this form. Neither has to exist.
    """
    head, colon, name = target.rpartition(":")
    dotted = all(part.isidentifier() for part in name.split("."))
    if not colon or not head or not dotted:
        return None
    if head.endswith(".py") or all(part.isidentifier() for part in head.split(".")):
        return head, name
    return None


#: how a target that is a function says what the function promises.
PROMISES = "--flip AXES, --abs or --reference FUNCTION"


def builtin_root() -> Path:
    """The folder of the catalogue: in the installed package, or in the repository.

    Raises:
        CatalogueError: there is none.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_cases", package.parent / "cases"):
        if folder.is_dir():
            return folder
    raise CatalogueError("the catalogue is missing from this installation of tritaudit")


def resolve(
    targets: Sequence[str], builtin: Path | None = None
) -> tuple[tuple[Source, ...], tuple[LoadProblem, ...]]:
    """The files that targets name, each once, and the targets that name nothing.

    Args:
        targets: names and globs of the catalogue, files, `file:variable`, folders; none: all of the
            catalogue.
        builtin: the folder of the catalogue (None: `builtin_root()`).
    """
    root = builtin_root() if builtin is None else builtin
    found: dict[tuple[str, str], Source] = {}
    problems: list[LoadProblem] = []
    for target in targets or (str(root),):
        sources = _resolve_one(target, root)
        if isinstance(sources, LoadProblem):
            problems.append(sources)
            continue
        for source in sources:
            key = (source.path, source.pattern)
            other = found.setdefault(key, source)
            outer = min(other.root, source.root, key=len)
            found[key] = replace(other, root=outer, named=other.named or source.named)
    whole = {path for path, pattern in found if pattern == "*"}
    kept = tuple(s for s in found.values() if s.pattern == "*" or s.path not in whole)
    return kept, tuple(problems)


def _resolve_one(target: str, builtin: Path) -> list[Source] | LoadProblem:
    path = Path(target).expanduser()
    if target and path.is_dir():
        return _folder(path.resolve(), builtin)
    if path.is_file():
        return _file(path, "*", builtin)
    head, _, variable = target.rpartition(":")
    if head and Path(head).expanduser().is_file():
        return _file(Path(head).expanduser(), variable, builtin)
    if target.endswith(".py") or target.startswith((".", "~", os.sep)):
        return LoadProblem("", 0, f"no such file or folder: {target}{nearest_path(path)}")
    return _from_catalogue(target, builtin)


def _folder(folder: Path, builtin: Path) -> list[Source] | LoadProblem:
    inside = folder.is_relative_to(builtin.resolve())
    root = builtin.resolve() if inside else folder
    sources = [Source(str(path), str(root)) for path in python_files(folder)]
    if not sources:
        return LoadProblem("", 0, f"no Python file in {shown_path(folder)}")
    return sources


def python_files(folder: Path) -> Iterator[Path]:
    """Files below a folder in sorted order; hidden and private ones and environments left out."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir():
            if not (entry / "pyvenv.cfg").exists():
                yield from python_files(entry)
        elif entry.suffix == ".py":
            yield entry


def _file(path: Path, variable: str, builtin: Path) -> list[Source] | LoadProblem:
    if path.suffix != ".py":
        return LoadProblem("", 0, f"{path} is not a Python file")
    full = path.resolve()
    inside = full.is_relative_to(builtin.resolve())
    root = builtin.resolve() if inside else full.parent
    source = Source(str(full), str(root), named=True)
    if variable == "*":
        return [source]
    pattern = source.name if variable == "case" else f"{source.name}:{variable}"
    return [replace(source, pattern=pattern)]


def catalogue_names(builtin: Path | None = None) -> list[str]:
    """The names of the files of the catalogue."""
    root = (builtin_root() if builtin is None else builtin).resolve()
    return [Source(str(path), str(root)).name for path in python_files(root)]


def is_name(target: str) -> bool:
    """Whether a target can only be a name in the catalogue: no path, and no function."""
    a_path = target.endswith(".py") or target.startswith((".", "~", os.sep))
    return not a_path and not Path(target).exists() and function_target(target) is None


def _from_catalogue(target: str, builtin: Path) -> list[Source] | LoadProblem:
    root = str(builtin.resolve())
    sources = [Source(str(path), root) for path in python_files(builtin.resolve())]
    wanted, _, variable = target.rstrip("/").partition(":")
    matching = [
        s for s in sources if fnmatchcase(s.name, wanted) or s.name.startswith(f"{wanted}/")
    ]
    if not matching and function_target(target):
        message = f"{target} is no case; for a function say what it promises with {PROMISES}"
        return LoadProblem("", 0, message)
    if not matching:
        here = nearest_path(Path(target).expanduser()) if target else ""
        near = here or nearest(target, [s.name for s in sources])
        return LoadProblem("", 0, f"no case is named {target!r}{near}")
    if not variable:
        return matching
    return [
        replace(s, pattern=s.name if variable == "case" else f"{s.name}:{variable}")
        for s in matching
    ]
