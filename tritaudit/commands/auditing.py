"""Running cases and drawing what happens: what `run` and `explain` share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from tritaudit.acceptance import Acceptance
from tritaudit.choices import FailOn, ProfileChoice
from tritaudit.commands import FINDINGS, INTERRUPTED, NOTHING_UNEXPECTED, TERMINATED, UNABLE, Usage
from tritaudit.commands.session import Output
from tritaudit.model import (
    Backend,
    CaseInfo,
    CaseResult,
    Event,
    Judgement,
    Location,
    Outcome,
    Report,
    Severity,
    UnitFinished,
    UnitRequest,
)
from tritaudit.profiles import PROFILES
from tritaudit.report.terminal import (
    LiveProgress,
    print_cut_short,
    print_finding,
    print_notes,
    print_problem,
    render_summary,
    show,
)
from tritaudit.report.wording import count, share
from tritaudit.supervisor import Supervisor, default_jobs
from tritaudit.targets import shown_path
from tritaudit.unit import request_for
from tritaudit.verdict import NOTHING, was_ended

__all__ = ["Plan", "audit", "exit_code", "print_report"]

_STOPPED_FIRST = "stopped at the first case that fails"
_UNREAD = "the output could not be written any more"
#: names of cases that a sentence lists, and searches that ended early that are told one by one.
_NAMED, _CUT_SHORT = 6, 3


@dataclass(frozen=True, slots=True)
class Plan:
    """How hard to look, how long, at what, and what of it counts.

    `max_examples` 0: by the profile; `jobs` 0: `default_jobs`; `dtypes` and `faults` empty: all.
    """

    seed: int = 0
    max_examples: int = 0
    timeout: float = 60.0
    jobs: int = 0
    repro: str | None = None
    fast_interpreter: bool = False
    strict_interpreter: bool = False
    profile: ProfileChoice = ProfileChoice.CI
    dtypes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    time_budget: float | None = None
    first: bool = False
    fail_on: FailOn = FailOn.NOTE
    acceptance: Acceptance = NOTHING
    exhaustive: bool = False
    #: with both backends: tell what became of each example, or compare with what was told.
    judge: bool = False
    compare: Mapping[str, tuple[Judgement, ...]] = field(default_factory=dict)

    def request(self, case: CaseInfo, backend: Backend) -> UnitRequest:
        """The unit of a case."""
        budget = PROFILES[self.profile].budget(backend)
        return request_for(
            case,
            str(backend),
            seed=self.seed,
            max_examples=self.max_examples or budget.examples,
            repro=self.repro,
            fast_interpreter=self.fast_interpreter,
            strict_interpreter=self.strict_interpreter,
            dtypes=() if case.call is not None else self.dtypes,
            faults=self.faults,
            elements=budget.elements,
            exhaustive=self.exhaustive,
            judge=self.judge,
            compare=self.compare.get(case.name, ()),
        )


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
    until = None if plan.time_budget is None else begun + plan.time_budget
    environment = supervisor.environment()
    _check_interpreter(supervisor, plan)
    units = [(case, plan.request(case, supervisor.backend)) for case in cases]
    names = [*(r.case for r in skipped), *(case.name for case in cases)]
    jobs = plan.jobs or default_jobs(supervisor.backend, supervisor.devices())
    with LiveProgress(console, names) as progress:
        listener = _Listener(supervisor, plan, console, progress)
        for result in skipped:
            listener.handle(UnitFinished(result))
        for event in supervisor.run_units(
            units, jobs, plan.timeout, acceptance=plan.acceptance, until=until
        ):
            listener.handle(event)
        ended = listener.close(cases, out_of_time=until is not None and time.monotonic() > until)
    return Report(
        environment=environment,
        results=tuple(sorted(listener.results, key=lambda r: (r.case, r.backend))),
        seed=plan.seed,
        seconds=time.monotonic() - begun,
        ended=ended,
        profile=str(plan.profile),
    )


def _check_interpreter(supervisor: Supervisor, plan: Plan) -> None:
    """Refuse a mode of the interpreter where there is none."""
    fast, strict = plan.fast_interpreter, plan.strict_interpreter
    if not fast and not strict:
        return
    if supervisor.backend is not Backend.INTERPRETER:
        option = "--strict-interpreter" if strict else "--fast-interpreter"
        raise Usage(f"{option} needs --backend interpreter")
    supervisor.check_interpreter(fast=fast, strict=plan.seed if strict else None)


class _Listener:
    """Collects verdicts, draws events, and ends the run where nothing more is wanted."""

    def __init__(
        self, supervisor: Supervisor, plan: Plan, console: Console, progress: LiveProgress
    ) -> None:
        self.results: list[CaseResult] = []
        self._supervisor = supervisor
        self._plan = plan
        self._console = console
        self._progress = progress

    def handle(self, event: Event) -> None:
        self._progress.handle(event)
        if isinstance(event, UnitFinished):
            self.results.append(event.result)
            if self._plan.first and fails(event.result, self._plan.fail_on):
                self._end(_STOPPED_FIRST)
        if isinstance(self._console, Output) and self._console.lost is not None:
            self._end(_UNREAD)

    def _end(self, reason: str) -> None:
        self._supervisor.stopped = self._supervisor.stopped or reason

    def close(self, cases: Sequence[CaseInfo], out_of_time: bool) -> str:
        """Add what was not reached to the results; why the run ended early, "" if it did not."""
        ran = {result.case for result in self.results}
        left = [case for case in cases if case.name not in ran]
        stopped = self._supervisor.stopped
        if stopped:
            half = sum(was_ended(result) for result in self.results)
            finished = len(cases) - len(left) - half
            told = f"{stopped}: {finished} of {count(len(cases), 'case')} finished"
            return f"{told}, {half} in part" if half else told
        if not left and not (out_of_time and any(r.coverage.cut_short for r in self.results)):
            return ""
        budget = f"the time budget of {self._plan.time_budget:g} s"
        for case in left:
            result = CaseResult(
                case=case.name,
                backend=str(self._supervisor.backend),
                outcome=Outcome.SKIP,
                reason=f"not reached within {budget}",
                location=Location(shown_path(case.path), case.line),
                target=case.target,
            )
            self.handle(UnitFinished(result))
        if not left:
            return f"{budget} was over before every search had ended"
        names = ", ".join(case.name for case in left[:_NAMED])
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        missed = share(len(left), len(cases), "case", "was", "were")
        missed = f"{missed} not reached: {names}{more}"
        return f"{budget} was over; {missed}"


def print_report(console: Console, report: Report, *, verbose: bool) -> None:
    """Print what the lines of the cases could not hold, and the summary."""
    console.print()
    for result in report.results:
        print_problem(console, result)
        print_notes(console, result)
        for finding in result.findings:
            if verbose or not finding.expected:
                print_finding(console, finding)
    print_cut_short(console, report.results, len(report.results) if verbose else _CUT_SHORT)
    show(console, render_summary(report, console.width))


# --------------------------------------------------------------------------- exit codes


def fails(result: CaseResult, fail_on: FailOn = FailOn.NOTE) -> bool:
    """Whether a case makes a run fail; an expectation that no longer shows is a warning."""
    match result.outcome:
        case Outcome.FAIL:
            news = [f.severity for f in result.findings if not f.expected] or [Severity.ERROR]
            news += [Severity.WARNING] if result.missing else []
            return any(map(fail_on.counts, news))
        case Outcome.STALE:
            return fail_on.counts(Severity.WARNING)
        case Outcome.ERROR:
            return True
        case Outcome.PASS | Outcome.KNOWN | Outcome.SKIP:
            return False


def exit_code(
    report: Report,
    stopped: str = "",
    *,
    exit_zero: bool = False,
    fail_on: FailOn = FailOn.NOTE,
) -> int:
    """The exit code of a run."""
    if stopped in ("interrupted", "terminated"):
        return TERMINATED if stopped == "terminated" else INTERRUPTED
    if any(result.outcome is Outcome.ERROR for result in report.results):
        return UNABLE
    least = FailOn.NEVER if exit_zero else fail_on
    if any(fails(result, least) for result in report.results):
        return FINDINGS
    return NOTHING_UNEXPECTED
