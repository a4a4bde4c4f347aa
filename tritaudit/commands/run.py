"""`tritaudit run`: audit cases, print verdicts and findings, write reports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritaudit import sharding
from tritaudit.catalogue import Listing
from tritaudit.choices import BackendChoice
from tritaudit.commands import NOTHING_UNEXPECTED, Usage
from tritaudit.commands.auditing import Plan, audit, exit_code, print_report
from tritaudit.commands.functions import FunctionOptions, calls_of
from tritaudit.commands.lastfailed import list_failed, remember
from tritaudit.commands.reports import (
    STDOUT,
    ReportFile,
    ReportWriteError,
    parse_reports,
    read_report,
    with_defaults,
    write_reports,
)
from tritaudit.commands.runoptions import RunOptions
from tritaudit.commands.session import (
    Output,
    cases_of,
    complain,
    open_backend,
    selected,
    skipped_results,
)
from tritaudit.commands.settings import backend_of, plan_of, settings_of, targets_of
from tritaudit.config import Settings
from tritaudit.merging import Named, merge
from tritaudit.model import CallSpec, CaseInfo, CaseResult, Judgement, Report, Shard
from tritaudit.storage import FOLDER, Storage
from tritaudit.supervisor import Supervisor

__all__ = ["run"]


def run(options: RunOptions, function: FunctionOptions) -> int:
    """Run the cases of targets, or functions with what they promise; the exit code.

    Raises:
        Usage: an option, the configuration, a target or a case file cannot be used.
        BackendError: the backend does not start.
        ReportWriteError: after everything is printed.
        OSError: the output could not be written; reports and failures are.
    """
    settings = settings_of(options.config)
    targets = targets_of(options.targets, settings)
    calls = calls_of(function, targets)
    plan = plan_of(options, settings, () if calls else function.dtypes())
    reports = _reports(options, settings)
    storage = Storage(settings.folder, Path.cwd())
    console = Output(stderr=any(f.path == STDOUT and not f.implied for f in reports))
    choice = backend_of(options.backend, settings)
    if choice is BackendChoice.BOTH:
        report, stopped = _both(options, settings, calls, plan, storage, console)
        return _conclude(report, reports, options, console, plan, stopped)
    with open_backend(choice) as supervisor:
        if options.last_failed:
            listing = list_failed(supervisor, storage, targets if options.targets else [], calls)
            if not listing.cases:
                console.print(f"No failure is stored in {FOLDER}: nothing to run again.")
                return NOTHING_UNEXPECTED
        else:
            listing = cases_of(supervisor, targets, calls)
        part = _part(listing, options, plan, supervisor, storage)
        report = audit(supervisor, part.cases, plan, console, part.skipped)
        report = replace(report, shard=part.shard, remarks=_remarks(options, plan, report))
        _store(storage, report, supervisor, part, options, plan)
    return _conclude(report, reports, options, console, plan, supervisor.stopped)


def _both(
    options: RunOptions,
    settings: Settings,
    calls: tuple[CallSpec, ...],
    plan: Plan,
    storage: Storage,
    console: Output,
) -> tuple[Report, str]:
    """Run on the interpreter, then on the GPU, where every example of the first is tried again.

    Raises:
        Usage: options that make sense for one backend alone.
        BackendError: one of the two does not start, or there is no GPU.
    """
    if options.last_failed or options.shard:
        raise Usage("--backend both runs whole: it goes with neither --last-failed nor --shard")
    parts: list[Named] = []
    compare: dict[str, tuple[Judgement, ...]] = {}
    targets = targets_of(options.targets, settings)
    with open_backend(BackendChoice.GPU):
        pass  # find out that there is no GPU before the interpreter has run for minutes
    for choice in (BackendChoice.INTERPRETER, BackendChoice.GPU):
        with open_backend(choice) as supervisor:
            listing = cases_of(supervisor, targets, calls)
            part = _part(listing, options, plan, supervisor, storage)
            judge = choice is BackendChoice.INTERPRETER
            here = replace(plan, judge=judge, compare=compare, fast_interpreter=False)
            report = audit(supervisor, part.cases, here, console, part.skipped)
            compare = {r.case: r.judgements for r in report.results}
            parts.append(Named(str(choice), report))
            if supervisor.stopped:
                break
    return merge(parts), supervisor.stopped


def _conclude(
    report: Report,
    reports: Sequence[ReportFile],
    options: RunOptions,
    console: Output,
    plan: Plan,
    stopped: str,
) -> int:
    """Write the reports, print what the lines of the cases could not hold; the exit code."""
    unwritten = _write(report, reports)
    print_report(console, report, verbose=options.verbose)
    if console.lost is not None:
        raise console.lost
    if unwritten is not None:
        raise unwritten
    return exit_code(report, stopped, fail_on=plan.fail_on)


def _reports(options: RunOptions, settings: Settings) -> tuple[ReportFile, ...]:
    if options.report is not None:
        files = parse_reports(options.report)
    else:
        files = parse_reports(settings.report, settings.folder)
    return with_defaults(files, os.environ)


def _write(report: Report, files: Sequence[ReportFile]) -> Exception | None:
    """Write the reports; what is wrong with them is raised when the verdict has been printed."""
    try:
        write_reports(report, files)
    except (ReportWriteError, BrokenPipeError) as error:
        return error
    return None


# --------------------------------------------------------------------------- which cases


@dataclass(frozen=True, slots=True)
class _Part:
    """The cases of this run, and which part of a larger one they are."""

    cases: Sequence[CaseInfo]
    skipped: Sequence[CaseResult]
    shard: Shard | None = None


def _part(
    listing: Listing,
    options: RunOptions,
    plan: Plan,
    supervisor: Supervisor,
    storage: Storage,
) -> _Part:
    """What `--select` and `--shard` leave of a listing.

    Raises:
        Usage: a pattern matches nothing, or the part makes no sense.
    """
    cases = selected(listing.cases, options.select or [])
    skipped = [] if options.select else skipped_results(listing, supervisor.backend)
    if options.shard is None:
        if options.durations is not None:
            raise Usage("--durations goes with --shard")
        return _Part(cases, skipped)
    try:
        index, count = sharding.parse(options.shard)
    except sharding.ShardError as error:
        raise Usage(f"--shard {error}") from error
    backend = str(supervisor.backend)
    seconds = storage.durations(_kind(supervisor, plan))
    if options.durations is not None:
        known = read_report(options.durations).results
        seconds = {r.case: r.seconds for r in known if r.backend == backend and r.seconds > 0}
    parts = sharding.split([case.name for case in cases], seconds, count)
    mine = set(parts[index - 1])
    total = len(cases) + len(skipped)
    return _Part(
        [case for case in cases if case.name in mine],
        skipped if index == 1 else [],  # all of them in one part: none of them twice
        Shard(index, count, total, sharding.fingerprint(parts)),
    )


def _kind(supervisor: Supervisor, plan: Plan) -> str:
    return f"{supervisor.backend}/{plan.profile}"


# --------------------------------------------------------------------------- what stays


def _remarks(options: RunOptions, plan: Plan, report: Report) -> tuple[str, ...]:
    """On ignores that are of no use, where the run would have seen it."""
    if plan.faults or plan.dtypes or options.shard:
        return ()
    part = (options.targets, options.select, options.last_failed, report.ended)
    return tuple(plan.acceptance.remarks(report, whole=not any(part)))


def _store(
    storage: Storage,
    report: Report,
    supervisor: Supervisor,
    part: _Part,
    options: RunOptions,
    plan: Plan,
) -> None:
    """Keep failures and durations; where that cannot be done, say so and go on."""
    try:
        remember(storage, report, supervisor, part.cases, plan.acceptance)
        # A part must not change how the next one is split; other limits, other durations.
        usual = not (part.shard or plan.dtypes or plan.faults or options.max_examples)
        if usual and not supervisor.stopped:
            storage.record(_kind(supervisor, plan), report.results)
    except OSError as error:
        complain(f"{FOLDER} cannot be written ({error.strerror or error}): nothing is remembered")
