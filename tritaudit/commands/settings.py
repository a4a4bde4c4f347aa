"""From options and configuration to a plan: what is given goes before what is configured."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from tritaudit.acceptance import Acceptance, baseline_of
from tritaudit.choices import BackendChoice, FailOn, ProfileChoice
from tritaudit.commands import Usage
from tritaudit.commands.auditing import Plan
from tritaudit.commands.options import parse_jobs
from tritaudit.commands.reports import read_report
from tritaudit.commands.runoptions import RunOptions
from tritaudit.config import ConfigError, Settings, load, read
from tritaudit.faults import FAULT_IDS
from tritaudit.profiles import PROFILES
from tritaudit.targets import (
    catalogue_names,
    function_target,
    nearest,
    nearest_path,
    resolve,
    shown_path,
)

__all__ = ["acceptance_of", "backend_of", "plan_of", "settings_of", "targets_of"]

T = TypeVar("T")


def settings_of(path: str | None = None) -> Settings:
    """The configuration in a file, or of the nearest pyproject.toml.

    Raises:
        Usage: it cannot be used, or the file that was named has none.
    """
    try:
        if path is None:
            return load(Path.cwd())
        settings = read(Path(path))
    except ConfigError as error:
        raise Usage(str(error)) from error
    if settings is None:
        raise Usage(f"{path} has no [tool.tritaudit]")
    return settings


def targets_of(targets: Iterable[str] | None, settings: Settings) -> list[str]:
    """The targets that were given, else the case folders of the configuration.

    Raises:
        Usage: one that is configured names nothing.
    """
    given = list(targets or ())
    return given or [_configured(case, settings) for case in settings.cases]


def _configured(case: str, settings: Settings) -> str:
    """A target of the configuration: a path relative to its folder, or a name in the catalogue."""
    place = settings.folder / case
    if place.exists():
        return shown_path(place)
    problems = resolve([case])[1]
    if problems and function_target(case) is None:
        near = nearest_path(place) or nearest(case, catalogue_names())
        raise Usage(
            f"{settings.place('cases')}: no folder, file or case is named {case!r}"
            + near.replace(str(settings.folder) + os.sep, "")
        )
    return case


def backend_of(choice: BackendChoice | None, settings: Settings) -> BackendChoice:
    """The backend that was chosen."""
    return choice or settings.backend or BackendChoice.AUTO


def plan_of(options: RunOptions, settings: Settings, dtypes: tuple[str, ...]) -> Plan:
    """How hard a run looks, and what of it counts.

    Raises:
        Usage: there is no such fault, or the baseline cannot be read.
    """
    profile = options.profile or settings.profile or ProfileChoice.CI
    fail_on = options.fail_on or settings.fail_on or FailOn.NOTE
    return Plan(
        seed=_first(options.seed, settings.seed, 0),
        max_examples=_first(options.max_examples, settings.max_examples, 0),
        timeout=_first(options.timeout, settings.timeout, PROFILES[profile].timeout),
        jobs=_first(parse_jobs(options.jobs) if options.jobs else None, settings.jobs, 0),
        fast_interpreter=options.fast_interpreter,
        strict_interpreter=options.strict_interpreter,
        exhaustive=options.exhaustive,
        profile=profile,
        dtypes=dtypes,
        faults=_faults(options.fault or ()),
        time_budget=options.time_budget or settings.time_budget,
        first=options.first,
        fail_on=FailOn.NEVER if options.exit_zero else fail_on,
        acceptance=acceptance_of(options.baseline, settings),
    )


def _first(given: T | None, configured: T | None, default: T) -> T:
    return given if given is not None else configured if configured is not None else default


def _faults(names: Iterable[str]) -> tuple[str, ...]:
    for name in names:
        if name not in FAULT_IDS:
            near = nearest(name, FAULT_IDS) or "; tritaudit list --faults lists them"
            raise Usage(f"--fault: no fault is named {name!r}{near}")
    return tuple(dict.fromkeys(names))


def acceptance_of(baseline: str | None, settings: Settings) -> Acceptance:
    """The ignores of the configuration and a baseline, today.

    Raises:
        Usage: the baseline cannot be read.
    """
    if baseline is None and settings.baseline is not None:
        baseline = shown_path(settings.folder / settings.baseline)
    return Acceptance(
        settings.ignore,
        baseline_of(read_report(baseline), baseline) if baseline is not None else None,
        datetime.date.today(),
    )
