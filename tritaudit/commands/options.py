"""The options that commands share, with their texts and checks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tritaudit.choices import BackendChoice, FailOn
from tritaudit.commands.completion import complete_case, complete_report

__all__ = [
    "BackendChoice",
    "BackendOption",
    "ConfigOption",
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


def _option(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, **{"show_default": False, **more})


Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Names or globs of the catalogue (flip/*), files, folders. None: the cases of the "
        "configuration, else the catalogue.",
        show_default=False,
        autocompletion=complete_case,
    ),
]
SelectOption = Annotated[
    list[str] | None,
    _option("--select", metavar="GLOB", text="Only cases whose names match; may be repeated."),
]
BackendOption = Annotated[
    BackendChoice | None,
    _option(
        "--backend",
        "-b",
        text="Where kernels run; auto: the GPU if any; both: compare them. [default: auto]",
    ),
]
SeedOption = Annotated[
    int | None,
    _option("--seed", metavar="N", min=0, text="The same seed gives the same report. [default: 0]"),
]
MaxExamplesOption = Annotated[
    int | None,
    _option(
        "--max-examples",
        metavar="N",
        min=1,
        text="Examples of a case, at most. [default: by profile]",
    ),
]
TimeoutOption = Annotated[
    float | None,
    _option(
        "--timeout",
        metavar="SECONDS",
        callback=positive,
        text="Time for a case. [default: by profile]",
    ),
]
JobsOption = Annotated[
    str | None,
    _option(
        "--jobs",
        "-j",
        metavar="N|auto",
        callback=jobs,
        text="Cases at a time; auto: as many as cores, at most 16 a GPU. [default: auto]",
    ),
]
ReportOption = Annotated[
    list[str] | None,
    _option(
        "--report",
        metavar="FORMAT=PATH",
        text="Write a report: json, junit, sarif, github, markdown or html, to a file or to "
        "standard output (-); may be repeated.",
        autocompletion=complete_report,
    ),
]
FailOnOption = Annotated[
    FailOn | None,
    _option("--fail-on", text="Exit with 1 from this severity on. [default: note]"),
]
ConfigOption = Annotated[
    str | None,
    _option(
        "--config",
        metavar="PATH",
        text="Read [tool.tritaudit] of this file. [default: of the nearest pyproject.toml]",
    ),
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
