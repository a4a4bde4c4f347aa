"""`tritaudit run`: audit cases, print verdicts and findings, write reports."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritaudit import __version__, sharding
from tritaudit.catalogue import Listing
from tritaudit.choices import BackendChoice
from tritaudit.commands import NOTHING_UNEXPECTED, Usage
from tritaudit.commands.auditing import Plan, audit
from tritaudit.commands.concluding import conclude, console_beside, report_files
from tritaudit.commands.functions import FunctionOptions, calls_of
from tritaudit.commands.lastfailed import list_failed, remember
from tritaudit.commands.reports import read_report
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
from tritaudit.commands.stopping import Loading, StoppedError
from tritaudit.merging import Named, merge
from tritaudit.model import CallSpec, CaseInfo, CaseResult, Environment, Report, Shard
from tritaudit.storage import FOLDER, Storage
from tritaudit.supervisor import Supervisor

__all__ = ["run"]


def run(options: RunOptions, function: FunctionOptions) -> int:
    """Run the cases of targets, or functions with what they promise; the exit code.

    Raises:
        Usage: an option, the configuration, a target or a case file cannot be used.
        BackendError: the backend does not start.
        ReportWriteError: before anything is run, or after everything is printed.
        OSError: the output could not be written; reports and failures are.
    """
    _check_shard(options)
    settings = settings_of(options.config)
    targets = targets_of(options.targets, settings)
    calls = calls_of(function, targets)
    plan = plan_of(options, settings, () if calls else function.dtypes())
    files = report_files(options.report, settings)
    console = console_beside(files)
    work = _Work(options, plan, targets, calls, Storage(settings.folder, Path.cwd()), console)
    choice = backend_of(options.backend, settings)
    try:
        report, stopped = work.on_both() if choice is BackendChoice.BOTH else work.on_one(choice)
    except StoppedError as early:
        report, stopped = _nothing_ran(early.word, plan, choice), early.word
    if report is None:
        console.print(f"No failure is stored in {FOLDER}: nothing to run again.")
        return NOTHING_UNEXPECTED
    verbose, fail_on = options.verbose, plan.fail_on
    return conclude(report, files, console, verbose=verbose, fail_on=fail_on, stopped=stopped)


def _check_shard(options: RunOptions) -> None:
    if options.shard is None and options.durations is not None:
        raise Usage("--durations goes with --shard")
    try:
        sharding.parse(options.shard or "1/1")
    except sharding.ShardError as error:
        raise Usage(f"--shard {error}") from error


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done, and where it is shown and kept."""

    options: RunOptions
    plan: Plan
    targets: list[str]
    calls: tuple[CallSpec, ...]
    storage: Storage
    console: Output

    def on_one(self, choice: BackendChoice) -> tuple[Report | None, str]:
        """Run on one backend: the report, and why it was stopped.

        None in place of a report: the last failures were asked for, and there are none.

        Raises:
            StoppedError: before a case ran.
        """
        with Loading() as loading, open_backend(choice) as supervisor:
            listing = self._listing(supervisor)
            if not listing.cases and self.options.last_failed:
                return None, ""
            part = _part(listing, self.options, self.plan, supervisor, self.storage)
            supervisor.environment()
            loading.over()
            report = audit(supervisor, part.cases, self.plan, self.console, part.skipped)
            report = replace(
                report, shard=part.shard, remarks=_remarks(self.options, self.plan, report)
            )
            _store(self.storage, report, supervisor, part, self.options, self.plan)
            return report, supervisor.stopped

    def _listing(self, supervisor: Supervisor) -> Listing:
        if not self.options.last_failed:
            return cases_of(supervisor, self.targets, self.calls)
        given = self.targets if self.options.targets else []
        return list_failed(supervisor, self.storage, given, self.calls)

    def on_both(self) -> tuple[Report, str]:
        """Run on the interpreter, then on the GPU, where every example of the first is tried again.

        Raises:
            Usage: options that make sense for one backend alone.
            BackendError: one of the two does not start, or there is no GPU.
            StoppedError: before a case ran.
        """
        if self.options.last_failed or self.options.shard:
            raise Usage("--backend both runs whole: it goes with neither --last-failed nor --shard")
        parts: list[Named] = []
        plan = replace(self.plan, judge=True, fast_interpreter=False)
        with Loading(), open_backend(BackendChoice.GPU):
            pass  # find out that there is no GPU before the interpreter has run for minutes
        for choice in (BackendChoice.INTERPRETER, BackendChoice.GPU):
            try:
                report, stopped = self._one_of_both(choice, plan)
            except StoppedError as early:
                if not parts:
                    raise
                report, stopped = _nothing_ran(early.word, plan, choice), early.word
            parts.append(Named(str(choice), report))
            if stopped:
                break
            told = {r.case: r.judgements for r in report.results}
            plan = replace(plan, judge=False, compare=told)
            if plan.time_budget is not None:
                left = max(plan.time_budget - report.seconds, 1.0)
                plan = replace(plan, time_budget=left)
        whole = merge(parts)
        remarks = _remarks(self.options, self.plan, whole)
        return replace(whole, remarks=remarks), stopped

    def _one_of_both(self, choice: BackendChoice, plan: Plan) -> tuple[Report, str]:
        with Loading() as loading, open_backend(choice) as supervisor:
            listing = cases_of(supervisor, self.targets, self.calls)
            part = _part(listing, self.options, plan, supervisor, self.storage)
            supervisor.environment()
            loading.over()
            report = audit(supervisor, part.cases, plan, self.console, part.skipped)
            _store(self.storage, report, supervisor, part, self.options, plan)
            return report, supervisor.stopped


def _nothing_ran(word: str, plan: Plan, choice: BackendChoice) -> Report:
    """The report of a run that was stopped while it was loading."""
    return Report(
        environment=Environment(
            tritaudit=__version__,
            python=platform.python_version(),
            backend="" if choice is BackendChoice.AUTO else str(choice),
            platform=platform.platform(),
        ),
        results=(),
        seed=plan.seed,
        seconds=0.0,
        ended=f"{word} while the cases were loaded: none has run",
        profile=str(plan.profile),
    )


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
        Usage: a pattern matches nothing, or the durations cannot be read.
    """
    cases = selected(listing.cases, options.select or [])
    skipped = [] if options.select else skipped_results(listing, supervisor.backend)
    if options.shard is None:
        return _Part(cases, skipped)
    index, count = sharding.parse(options.shard)
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
    """On a strict interpreter, and on ignores of no use, where the run would have seen it."""
    strict = ("the kernels ran on the strict interpreter",) if plan.strict_interpreter else ()
    if plan.faults or plan.dtypes or options.shard:
        return strict
    part = (options.targets, options.select, options.last_failed, report.ended)
    return (*strict, *plan.acceptance.remarks(report, whole=not any(part)))


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
