"""What `--help` says: examples that parse, for every command; and what a shell completes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from tritaudit.cli import app
from tritaudit.commands.completion import (
    complete_case,
    complete_explain,
    complete_fault,
    complete_report,
)
from tritaudit.commands.examples import EXAMPLES, epilog
from tritaudit.commands.grouped import grouped
from tritaudit.selftest.mutants import QUICK, QUICK_RIGHT

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_every_command_has_examples() -> None:
    assert set(EXAMPLES) == set(COMMANDS)


def test_the_quick_self_test_is_as_large_as_its_help_says() -> None:
    [option] = [o for o in COMMANDS["selftest"].params if o.name == "quick"]
    assert option.help.startswith(f"A fixed part: {QUICK + QUICK_RIGHT} searches, some two minutes")


def examples() -> Iterator[tuple[str, str]]:
    for command, listed in EXAMPLES.items():
        for _, line in listed:
            yield command, line


@pytest.mark.parametrize(("command", "line"), list(examples()))
def test_an_example_is_a_line_that_the_command_takes(command: str, line: str) -> None:
    words = shlex.split(line.partition(" > ")[0])
    assert words[:2] == ["tritaudit", command]
    COMMANDS[command].make_context(command, words[2:])
    assert len(line) < 98


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_shows_the_examples_as_they_are(command: str) -> None:
    told = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "100"})
    assert told.exit_code == 0
    for _, line in EXAMPLES[command]:
        assert f"\n    {line}\n" in told.stdout
    assert "Exit codes:" in told.stdout
    assert epilog("no-such-command").startswith("Examples:")


def test_a_shell_completes_cases_faults_and_formats() -> None:
    assert {"abs/", "flip/", "semantics/"} <= set(complete_case(""))
    assert "flip/single_tile" in complete_case("flip/sing")
    assert complete_fault("padd") == ["padding-leak"]
    assert complete_explain("padd") == ["padding-leak"]
    assert complete_report("j") == ["json=", "junit="]


def test_options_of_a_dataclass_reach_the_command_as_one_value() -> None:
    @dataclass(frozen=True)
    class Options:
        name: Annotated[str, typer.Argument()]
        loud: Annotated[bool, typer.Option("--loud")] = False

    seen: list[tuple[Options, int]] = []
    own = typer.Typer()

    def command(number: int = 1, *, options: Options) -> None:
        seen.append((options, number))

    command.__annotations__ = {"number": int, "options": Options, "return": None}
    own.command()(grouped(command))
    told = CliRunner().invoke(own, ["x", "--loud", "--number", "3"])
    assert told.exit_code == 0, told.output
    assert seen == [(Options("x", True), 3)]
