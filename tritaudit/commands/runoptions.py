"""The options of `tritaudit run`. One that is not given leaves the choice to the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from tritaudit.choices import ProfileChoice
from tritaudit.commands import options
from tritaudit.commands.completion import complete_case, complete_fault

__all__ = ["RunOptions"]


def _option(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, **{"show_default": False, **more})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options as they were written. Every field is an argument or option of the command."""

    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="Names or globs of the catalogue (flip/*), files, folders, or a function with "
            "its promise. None: the cases of the configuration, else the catalogue.",
            show_default=False,
            autocompletion=complete_case,
        ),
    ] = None
    select: options.SelectOption = None
    fault: Annotated[
        list[str] | None,
        _option(
            "--fault",
            metavar="FAULT",
            text="Report only this fault; may be repeated.",
            autocompletion=complete_fault,
        ),
    ] = None
    last_failed: Annotated[
        bool, _option("--last-failed", text="Only cases that failed when they ran last.")
    ] = False
    shard: Annotated[
        str | None, _option("--shard", metavar="I/N", text="Only part I of N of the cases.")
    ] = None
    durations: Annotated[
        str | None,
        _option(
            "--durations",
            metavar="PATH",
            text="Split by the durations in this JSON report. [default: those of the last runs]",
        ),
    ] = None
    backend: options.BackendOption = None
    profile: Annotated[
        ProfileChoice | None,
        _option(
            "--profile", text="How hard to look: before a commit, in CI, at night. [default: ci]"
        ),
    ] = None
    max_examples: options.MaxExamplesOption = None
    timeout: options.TimeoutOption = None
    time_budget: Annotated[
        float | None,
        _option(
            "--time-budget",
            metavar="SECONDS",
            callback=options.positive,
            text="Time for the run; what it does not reach is told.",
        ),
    ] = None
    seed: options.SeedOption = None
    jobs: options.JobsOption = None
    first: Annotated[
        bool, _option("-x", "--exit-first", text="End at the first case that fails.")
    ] = False
    exhaustive: Annotated[
        bool,
        _option(
            "--exhaustive",
            text="Every bit pattern of elementwise kernels: one input of up to 32 bits, or two of "
            "up to 16 each.",
        ),
    ] = False
    fast_interpreter: options.FastInterpreterOption = False
    strict_interpreter: options.StrictInterpreterOption = False
    report: options.ReportOption = None
    baseline: Annotated[
        str | None,
        _option("--baseline", metavar="PATH", text="Fail only for what this JSON report has not."),
    ] = None
    fail_on: options.FailOnOption = None
    exit_zero: Annotated[
        bool, _option("--exit-zero", text="As --fail-on never (errors still count).")
    ] = False
    config: options.ConfigOption = None
    verbose: options.VerboseOption = False
