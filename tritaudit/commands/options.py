"""The options that commands share, with their texts and checks."""

from __future__ import annotations

from typing import Annotated

import typer

from tritaudit.choices import BackendChoice, FailOn
from tritaudit.commands.completion import complete_report

__all__ = [
    "BackendChoice",
    "BackendOption",
    "ConfigOption",
    "ExitZeroOption",
    "FailOnOption",
    "FastInterpreterOption",
    "JobsOption",
    "MaxExamplesOption",
    "ReportOption",
    "SeedOption",
    "SelectOption",
    "StrictInterpreterOption",
    "Targets",
    "TimeoutOption",
    "VerboseOption",
    "jobs",
    "parse_jobs",
    "positive",
]


def parse_jobs(text: str) -> int:
    """The number of units at a time; 0 for `auto`.

    Raises:
        typer.BadParameter: it is neither `auto` nor a positive whole number.
    """
    if text == "auto":
        return 0
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise typer.BadParameter(f"{text!r} is neither auto nor a positive whole number")


def jobs(text: str | None) -> str | None:
    """The callback of `--jobs`."""
    if text is not None:
        parse_jobs(text)
    return text


def positive(seconds: float | None) -> float | None:
    """The callback of options that take seconds."""
    if seconds is not None and not 0 < seconds < 1e9:
        raise typer.BadParameter(f"{seconds:g} is not a positive number of seconds")
    return seconds


Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Names or globs of the catalogue (flip/*), files, folders. None: the catalogue.",
        show_default=False,
    ),
]
BackendOption = Annotated[
    BackendChoice,
    typer.Option("--backend", "-b", help="Where kernels run; auto: on the GPU if there is one."),
]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="GLOB",
        help="Only cases whose names match; may be repeated.",
        show_default=False,
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="The same seed gives the same report.")
]
MaxExamplesOption = Annotated[
    int | None,
    typer.Option(
        "--max-examples",
        metavar="N",
        min=1,
        help="Examples of a case, at most.",
        show_default="by backend",
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", help="Time for a case.", callback=positive),
]
JobsOption = Annotated[
    str,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N|auto",
        help="Cases at a time; auto: as many as cores.",
        callback=jobs,
    ),
]
ReportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT=PATH",
        help="Write a report: json, junit, sarif, github, markdown or html, to a file or to "
        "standard output (-); may be repeated.",
        show_default=False,
        autocompletion=complete_report,
    ),
]
FailOnOption = Annotated[
    FailOn | None,
    typer.Option(
        "--fail-on",
        help="Exit with 1 from this severity on. [default: note]",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="PATH",
        help="Read [tool.tritaudit] of this file. [default: of the nearest pyproject.toml]",
        show_default=False,
    ),
]
ExitZeroOption = Annotated[
    bool,
    typer.Option("--exit-zero", help="Exit with 0 where there are findings (not for errors)."),
]
FastInterpreterOption = Annotated[
    bool,
    typer.Option(
        "--fast-interpreter/--no-fast-interpreter",
        help="Replace what is slow in the interpreter, checked against it in every case.",
    ),
]
StrictInterpreterOption = Annotated[
    bool,
    typer.Option(
        "--strict-interpreter/--no-strict-interpreter",
        help="Let the interpreter do what a GPU may: undefined padding, programs in any order.",
    ),
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show the findings that were expected, too.")
]
