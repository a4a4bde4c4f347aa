"""`[tool.tritaudit]` of the nearest pyproject.toml that has it: what a project has settled.

    [tool.tritaudit]
    cases = ["kernels"]                # what is run where no target is given
    backend = "interpreter"            # auto, interpreter, gpu, both
    profile = "ci"
    seed = 0
    max-examples = 200
    timeout = 60                       # seconds for a case
    time-budget = 600                  # seconds for a run
    jobs = 2                           # or "auto"
    fail-on = "error"
    report = ["junit=report.xml"]
    baseline = "baseline.json"

    [[tool.tritaudit.ignore]]
    case = "flip/*"
    fault = "padding-leak"
    reason = "the caller pads"
    expires = 2030-01-31               # inclusive; may be left out

Paths are relative to the folder of the file. Options of the command line go before all of this.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from tritaudit.acceptance import Ignore
from tritaudit.choices import BackendChoice, FailOn, ProfileChoice
from tritaudit.faults import FAULT_IDS
from tritaudit.targets import nearest, shown_path

__all__ = ["ConfigError", "Settings", "load", "read"]


class ConfigError(ValueError):
    """A configuration that cannot be used. The message is one sentence with file and line."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a configuration says; None or empty where it says nothing.

    `folder` is the one that paths are relative to; `path` the file, None where there is none.
    """

    folder: Path
    path: Path | None = None
    cases: tuple[str, ...] = ()
    backend: BackendChoice | None = None
    profile: ProfileChoice | None = None
    seed: int | None = None
    max_examples: int | None = None
    timeout: float | None = None
    time_budget: float | None = None
    jobs: int | None = None  # 0: as many as there are cores
    fail_on: FailOn | None = None
    report: tuple[str, ...] = ()
    baseline: str | None = None
    ignore: tuple[Ignore, ...] = ()

    def place(self, key: str) -> str:
        """Where a key is set, as `pyproject.toml:3: cases`; the key alone where nobody knows."""
        if self.path is None:
            return key
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            lines = []
        number = _line(lines, rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        where = f"{shown_path(self.path)}:{number}" if number else shown_path(self.path)
        return f"{where}: {key}"


def _line(lines: Sequence[str], pattern: str, first: int = 1) -> int:
    """The number of the first line that matches, from `first` on; 0 if there is none."""
    rows = enumerate(lines[first - 1 :], first)
    return next((number for number, text in rows if re.match(pattern, text)), 0)


def load(start: Path) -> Settings:
    """The settings for a folder: of the nearest pyproject.toml upward with a table for them.

    Raises:
        ConfigError: that file cannot be read, or says something that makes no sense.
    """
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file() and (settings := read(path)) is not None:
            return settings
    return Settings(start)


def read(path: Path) -> Settings | None:
    """The settings of a file; None where it has no table for them.

    Raises:
        ConfigError: the file cannot be read, or says something that makes no sense.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tool = tomllib.loads(text).get("tool")
    except OSError as error:
        raise ConfigError(f"{shown_path(path)}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{shown_path(path)}: {error}") from error
    table = tool.get("tritaudit") if isinstance(tool, dict) else None
    return None if table is None else _Reader(path, text).settings(table)


Check = Callable[[Any], Any]
E = TypeVar("E", bound=StrEnum)


class _Reader:
    """Reads one table; knows the text, so that a message can name a line."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def settings(self, table: object) -> Settings:
        if not isinstance(table, dict):
            raise self._fail("tool", "tritaudit has to be a table")
        values = self._values(table, _CHECKS, "[tool.tritaudit]")
        ignores = values.pop("ignore", [])
        out: dict[str, Any] = {key.replace("-", "_"): value for key, value in values.items()}
        out["ignore"] = tuple(self._ignore(entry, k) for k, entry in enumerate(ignores))
        return Settings(self._path.parent.resolve(), self._path, **out)

    def _values(
        self, table: dict[str, Any], checks: Mapping[str, Check], where: str, line: int = 0
    ) -> dict[str, Any]:
        out = {}
        for key, value in table.items():
            if key not in checks:
                near = nearest(key, list(checks), 1) or f"; known are {', '.join(checks)}"
                raise self._fail(key, f"unknown key {key!r} in {where}{near}", line)
            try:
                out[key] = checks[key](value)
            except ValueError as error:
                raise self._fail(key, f"{key} {error}", line) from error
        return out

    def _ignore(self, entry: object, number: int) -> Ignore:
        line = self._line_of_ignore(number)
        where = "[[tool.tritaudit.ignore]]"
        if not isinstance(entry, dict):
            raise self._fail("ignore", f"ignore has to be tables, {where}", line)
        values = self._values(entry, _IGNORE_CHECKS, where, line)
        for needed in ("case", "fault", "reason"):
            if needed not in values:
                raise self._fail("ignore", f"{where} needs {needed!r}", line)
        return Ignore(**values, line=line)

    def _fail(self, key: str, problem: str, line: int = 0) -> ConfigError:
        number = self._line(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", max(line, 1)) or line
        place = f"{shown_path(self._path)}:{number}" if number else shown_path(self._path)
        return ConfigError(f"{place}: {problem}")

    def _line(self, pattern: str, first: int) -> int:
        return _line(self._lines, pattern, first)

    def _line_of_ignore(self, number: int) -> int:
        """The line of an entry that is written as a table of its own, else of the whole list."""
        found = [
            n
            for n, text in enumerate(self._lines, 1)
            if re.match(r"\s*\[\[\s*tool\.tritaudit\.ignore\s*\]\]", text)
        ]
        return found[number] if number < len(found) else self._line(r"\s*ignore\s*=", 1)


# --------------------------------------------------------------------------- what a key may hold


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"needs a text, not {value!r}")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"needs a list of texts, not {value!r}")
    return tuple(_text(item) for item in value)


def _number(least: int) -> Check:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"needs a whole number from {least}, not {value!r}")
        return value

    return check


def _seconds(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value < 1e9:
        raise ValueError(f"needs a positive number of seconds, not {value!r}")
    return float(value)


def _jobs(value: Any) -> int:
    return 0 if value == "auto" else int(_number(1)(value))


def _one_of(known: Sequence[str]) -> Check:
    def check(value: Any) -> str:
        if value not in known:
            near = nearest(str(value), known, 1) or f"; known are {', '.join(known)}"
            raise ValueError(f"cannot be {value!r}{near}")
        return str(value)

    return check


def _member(kind: type[E]) -> Callable[[Any], E]:
    check = _one_of([str(member) for member in kind])
    return lambda value: kind(check(value))


def _day(value: Any) -> datetime.date:
    """A day of TOML, or one in quotation marks."""
    try:
        day = datetime.date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        day = None
    if not isinstance(day, datetime.date) or isinstance(day, datetime.datetime):
        raise ValueError(f"needs a day such as 2030-01-31, not {value!r}")
    return day


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("has to be tables, [[tool.tritaudit.ignore]]")
    return value


_CHECKS: dict[str, Check] = {
    "cases": _texts,
    "backend": _member(BackendChoice),
    "profile": _member(ProfileChoice),
    "seed": _number(0),
    "max-examples": _number(1),
    "timeout": _seconds,
    "time-budget": _seconds,
    "jobs": _jobs,
    "fail-on": _member(FailOn),
    "report": _texts,
    "baseline": _text,
    "ignore": _list,
}
_IGNORE_CHECKS: dict[str, Check] = {
    "case": _text,
    "fault": _one_of(FAULT_IDS),
    "reason": _text,
    "expires": _day,
}
