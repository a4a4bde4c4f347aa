"""What a project may write into `[tool.tritaudit]`, and what it is told when it writes it wrong."""

from __future__ import annotations

import datetime
from dataclasses import fields
from pathlib import Path

import pytest

from tritaudit.acceptance import Ignore
from tritaudit.choices import BackendChoice, FailOn, ProfileChoice
from tritaudit.config import _CHECKS, ConfigError, Settings, load, read

EVERYTHING = """
[project]
name = "theirs"

[tool.tritaudit]
cases = ["kernels", "flip/*"]
backend = "interpreter"
profile = "deep"
seed = 7
max-examples = 50
timeout = 30
time-budget = 600.5
jobs = 2
fail-on = "error"
report = ["junit=report.xml"]
baseline = "old.json"

[[tool.tritaudit.ignore]]
case = "flip/*"
fault = "padding-leak"
reason = "the caller pads"
expires = 2030-01-31

[[tool.tritaudit.ignore]]
case = "abs/x"
fault = "crash"
reason = "soon"
expires = "2030-02-01"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def table(folder: Path, text: str) -> Settings | None:
    return read(write(folder, f"[tool.tritaudit]\n{text}\n"))


def test_every_key_is_read(tmp_path: Path) -> None:
    assert load_at(tmp_path, EVERYTHING) == Settings(
        folder=tmp_path,
        path=tmp_path / "pyproject.toml",
        cases=("kernels", "flip/*"),
        backend=BackendChoice.INTERPRETER,
        profile=ProfileChoice.DEEP,
        seed=7,
        max_examples=50,
        timeout=30.0,
        time_budget=600.5,
        jobs=2,
        fail_on=FailOn.ERROR,
        report=("junit=report.xml",),
        baseline="old.json",
        ignore=(
            Ignore("flip/*", "padding-leak", "the caller pads", datetime.date(2030, 1, 31), 18),
            Ignore("abs/x", "crash", "soon", datetime.date(2030, 2, 1), 24),
        ),
    )


def load_at(folder: Path, text: str) -> Settings:
    write(folder, text)
    return load(folder)


def test_every_setting_has_a_key() -> None:
    names = {f.name.replace("_", "-") for f in fields(Settings)} - {"folder", "path"}
    assert names == set(_CHECKS)


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert load(inner).path is None
    write(tmp_path, "[tool.tritaudit]\nseed = 1")
    write(tmp_path / "a", "[project]\nname = 'x'")
    found = load(inner)
    assert (found.seed, found.folder) == (1, tmp_path)
    write(inner, "[tool.tritaudit]")
    assert (load(inner).seed, load(inner).folder) == (None, inner)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("repots = []", ":2: unknown key 'repots' in [tool.tritaudit]; nearest: report"),
        ("\nmax_examples = 3", ":3: unknown key 'max_examples' in [tool.tritaudit]; nearest: max-"),
        ("zzz = 1", ":2: unknown key 'zzz' in [tool.tritaudit]; known are cases, backend,"),
        ("backend = 'interpeter'", ":2: backend cannot be 'interpeter'; nearest: interpreter"),
        ("backend = 1", ":2: backend cannot be 1; known are auto, interpreter, gpu"),
        ("profile = 'night'", ":2: profile cannot be 'night'; known are quick, ci, deep"),
        ("fail-on = 'err'", ":2: fail-on cannot be 'err'"),
        ("seed = -1", ":2: seed needs a whole number from 0, not -1"),
        ("seed = true", ":2: seed needs a whole number from 0, not True"),
        ("max-examples = 0", ":2: max-examples needs a whole number from 1, not 0"),
        ("timeout = 0", ":2: timeout needs a positive number of seconds, not 0"),
        ("time-budget = 'long'", ":2: time-budget needs a positive number of seconds"),
        ("jobs = 'many'", ":2: jobs needs a whole number from 1, not 'many'"),
        ("cases = 'kernels'", ":2: cases needs a list of texts, not 'kernels'"),
        ("report = [1]", ":2: report needs a text, not 1"),
        ("baseline = ''", ":2: baseline needs a text, not ''"),
        ("ignore = 'x'", ":2: ignore has to be tables, [[tool.tritaudit.ignore]]"),
        ("ignore = [{case = 'x'}]", ":2: [[tool.tritaudit.ignore]] needs 'fault'"),
        ("seed = ", ": Invalid value"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        table(tmp_path, text)
    assert f"pyproject.toml{told}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fault = 'crash'\nreason = 'x'", ":3: [[tool.tritaudit.ignore]] needs 'case'"),
        ("case = 'a'\nfault = 'padding-lek'", ":5: fault cannot be 'padding-lek'; nearest: pad"),
        ("case = 'a'\nfault = 'crash'\nreason = ''", ":6: reason needs a text, not ''"),
        ("case = 'a'\nfault = 'crash'\nreason = 'x'\nexpires = 'soon'", ":7: expires needs a day"),
        ("case = 'a'\nfault = 'crash'\nreason = 'x'\nexpires = 2030-01-01T00:00:00", ":7: expires"),
        ("case = 'a'\nuntil = 1", ":5: unknown key 'until' in [[tool.tritaudit.ignore]]"),
    ],
)
def test_an_ignore_is_checked_like_all_else(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        table(tmp_path, f"\n[[tool.tritaudit.ignore]]\n{text}")
    assert f"pyproject.toml{told}" in str(caught.value)


def test_no_table_is_no_configuration(tmp_path: Path) -> None:
    assert read(write(tmp_path, "[tool.other]")) is None
    with pytest.raises(ConfigError, match="has to be a table"):
        read(write(tmp_path, "tool.tritaudit = 1"))
    with pytest.raises(ConfigError, match="No such file"):
        read(tmp_path / "nowhere.toml")


def test_jobs_may_be_auto(tmp_path: Path) -> None:
    settings = table(tmp_path, "jobs = 'auto'")
    assert settings is not None and settings.jobs == 0
