"""`tritaudit run`: audit cases, print verdicts and findings, write reports."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from tritaudit.commands import FINDINGS, INTERRUPTED, NOTHING_UNEXPECTED, TERMINATED, UNABLE, Usage
from tritaudit.commands.functions import FunctionOptions, calls_of
from tritaudit.commands.options import BackendChoice
from tritaudit.commands.reports import ReportFile, write_reports
from tritaudit.commands.session import cases_of, open_backend, output, selected, skipped_results
from tritaudit.model import Backend, CaseInfo, CaseResult, Outcome, Report, UnitFinished
from tritaudit.report.terminal import (
    LiveProgress,
    print_finding,
    print_notes,
    print_problem,
    render_summary,
    show,
)
from tritaudit.supervisor import Supervisor, default_jobs
from tritaudit.unit import request_for

__all__ = ["Plan", "audit", "exit_code", "run"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How hard to look, how long, and how many cases at a time (0: as many as cores)."""

    seed: int = 0
    max_examples: int = 0
    timeout: float = 60.0
    jobs: int = 0
    repro: str | None = None
    fast_interpreter: bool = False


def run(
    targets: Sequence[str],
    backend: BackendChoice,
    patterns: Sequence[str],
    plan: Plan,
    reports: Sequence[ReportFile],
    *,
    exit_zero: bool,
    verbose: bool,
    function: FunctionOptions,
) -> int:
    """Run the cases of targets, or functions with what they promise; the exit code.

    Raises:
        Usage: a target or a pattern names nothing, or a file does not load.
        BackendError: the backend does not start.
        ReportWriteError: after everything is printed.
    """
    console = output()
    calls = calls_of(function, targets)
    with open_backend(backend) as supervisor:
        listing = cases_of(supervisor, targets, calls)
        cases = selected(listing.cases, patterns)
        skipped = skipped_results(listing, supervisor.backend) if not patterns else []
        report = audit(supervisor, cases, plan, console, skipped)
    print_report(console, report, verbose=verbose)
    write_reports(report, reports)
    return exit_code(report, supervisor.stopped, exit_zero=exit_zero)


def audit(
    supervisor: Supervisor,
    cases: Sequence[CaseInfo],
    plan: Plan,
    console: Console,
    skipped: Sequence[CaseResult] = (),
) -> Report:
    """Run the units of cases, drawing progress on a console; the report.

    Raises:
        Usage: a mode of the interpreter is asked for, and it is the GPU that runs.
        BackendError: the backend does not start, or has no such mode.
    """
    begun = time.monotonic()
    environment = supervisor.environment()
    if plan.fast_interpreter:
        _check_interpreter(supervisor)
    units = [
        (
            case,
            request_for(
                case,
                str(supervisor.backend),
                seed=plan.seed,
                max_examples=plan.max_examples,
                repro=plan.repro,
                fast_interpreter=plan.fast_interpreter,
            ),
        )
        for case in cases
    ]
    results = list(skipped)
    names = [*(r.case for r in results), *(c.name for c in cases)]
    with LiveProgress(console, names) as progress:
        for result in results:
            progress.handle(UnitFinished(result))
        jobs = plan.jobs or default_jobs(supervisor.backend)
        for event in supervisor.run_units(units, jobs, plan.timeout):
            if isinstance(event, UnitFinished):
                results.append(event.result)
            progress.handle(event)
    left = len(units) + len(skipped) - len(results)
    ended = f"{supervisor.stopped}; {left} of {len(units)} cases have no verdict"
    return Report(
        environment=environment,
        results=tuple(sorted(results, key=lambda r: (r.case, r.backend))),
        seed=plan.seed,
        seconds=time.monotonic() - begun,
        ended=ended if supervisor.stopped else "",
    )


def _check_interpreter(supervisor: Supervisor) -> None:
    if supervisor.backend is not Backend.INTERPRETER:
        raise Usage("--fast-interpreter needs --backend interpreter")
    supervisor.check_interpreter(fast=True)


def print_report(console: Console, report: Report, *, verbose: bool) -> None:
    """Print what the lines of the cases could not hold, and the summary."""
    console.print()
    for result in report.results:
        print_problem(console, result)
        print_notes(console, result)
        for finding in result.findings:
            if verbose or not finding.expected:
                print_finding(console, finding)
    show(console, render_summary(report, console.width))


def exit_code(report: Report, stopped: str = "", *, exit_zero: bool = False) -> int:
    """The exit code of a run."""
    if stopped:
        return TERMINATED if stopped == "terminated" else INTERRUPTED
    outcomes = {result.outcome for result in report.results}
    if Outcome.ERROR in outcomes:
        return UNABLE
    if not exit_zero and not outcomes.isdisjoint((Outcome.FAIL, Outcome.STALE)):
        return FINDINGS
    return NOTHING_UNEXPECTED
