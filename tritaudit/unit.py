"""The life of one unit: its calls to a worker, restarts, and what a dead process tells.

Written as a generator that yields the calls it needs and is sent how they ended. So it holds no
process and no socket, and a test can play the worker.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from tritaudit.acceptance import Acceptance
from tritaudit.faults import SEVERITIES, info
from tritaudit.forkserver import Call, Died, Ended, Limit, Overdue, Raised, Returned
from tritaudit.inflight import DEVICE_FAILED, DEVICE_LOST, DEVICE_UNSURE
from tritaudit.model import (
    Backend,
    CaseInfo,
    CaseResult,
    Coverage,
    Finding,
    Judgement,
    Location,
    Outcome,
    Progress,
    UnitRequest,
)
from tritaudit.plain import Plain, from_plain, to_plain
from tritaudit.report.wording import count
from tritaudit.repro import decode
from tritaudit.targets import shown_path
from tritaudit.verdict import NOTHING, RUN_ENDED, conclude, so_far

__all__ = ["Steps", "Unit", "request_for"]

Steps = Generator[Call, Ended, CaseResult]

#: how often a unit is started again after its process died, and after a launch that did not end.
RESTARTS, RESTARTS_AFTER_TIMEOUT = 3, 1
#: how often a smaller example that ends the process too is looked for, and the share of the time
#: that is left which the looking may take.
ROUNDS, SHRINK_SHARE = 4, 0.3
#: while a hang is made smaller, what part of a launch's time each launch gets. The example that is
#: reported has all of it.
HURRIED = 8
#: the share of its time after which the search of a unit stops by itself.
SEARCH_SHARE = 0.75
_OUT_OF_TIME = "no time was left after a process died or hung"
#: a restart with less than this share of the unit's time left is not worth it.
LEAST_SHARE = 0.1


def request_for(
    info: CaseInfo,
    backend: str,
    *,
    seed: int = 0,
    max_examples: int = 0,
    repro: str | None = None,
    fast_interpreter: bool = False,
    strict_interpreter: bool = False,
    dtypes: tuple[str, ...] = (),
    faults: tuple[str, ...] = (),
    elements: int = 0,
    exhaustive: bool = False,
    judge: bool = False,
    compare: tuple[Judgement, ...] = (),
) -> UnitRequest:
    """The unit of a case on a backend."""
    depth = info.name.partition(":")[0].count("/")
    return UnitRequest(
        case=info.name,
        path=info.path,
        variable=info.variable,
        root=str(Path(info.path).parents[depth]),
        backend=backend,
        seed=seed,
        max_examples=max_examples,
        repro=repro,
        exhaustive=exhaustive,
        judge=judge,
        compare=compare,
        fast_interpreter=fast_interpreter,
        strict_interpreter=strict_interpreter,
        dtypes=dtypes,
        faults=faults,
        elements=elements,
        call=info.call,
    )


class Unit:
    """One case on one backend, until its verdict.

    Args:
        info: the case.
        request: what to do; its deadline and `avoid` are set here.
        triton: the version, for the expectations of the case.
        timeout: seconds for the whole unit.
        launch_limit: seconds for a single launch, on the interpreter of processor time.
        clock: in seconds; a test brings its own.
        acceptance: findings that are no news though the case does not expect them.
        until: the time of the clock at which the search has to stop by itself (None: never).
    """

    def __init__(
        self,
        info: CaseInfo,
        request: UnitRequest,
        triton: str,
        timeout: float,
        launch_limit: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        acceptance: Acceptance = NOTHING,
        until: float | None = None,
    ) -> None:
        self.info = info
        self.request = request
        self._triton = triton
        self._timeout = timeout
        self._launch_limit = launch_limit
        self._acceptance = acceptance
        self._until = math.inf if until is None else until
        self._clock = clock
        self._begun = clock()
        self._fatal: dict[tuple[str, str, int], Finding] = {}
        self._examples = 0
        self._output = ""
        self._avoid: list[str] = []
        self._shrinking = False
        #: a death of which a smaller example, or the one that it was, is still looked for.
        self._unsettled: Finding | None = None

    def note(self, progress: Progress) -> Progress:
        """Remember how far a process came, for the case that it dies; the event as it is shown."""
        if self._shrinking:
            return replace(progress, examples=self._examples, phase="shrink")
        self._examples = max(self._examples, progress.examples)
        return progress

    def interrupted(self) -> CaseResult | None:
        """What is known so far, where there is something to tell."""
        if self._unsettled is not None:
            self._keep(self._unsettled)
        return so_far(self._end(cut_short=f"{RUN_ENDED} after {count(self._examples, 'example')}"))

    def steps(self) -> Steps:
        """Search (or replay); after a death note the finding and search on without its example."""
        self._begun = self._clock()
        restarts, allowed, careful = 0, RESTARTS, False
        while True:
            left = self._left()
            deadline = min(SEARCH_SHARE * left, self._until - self._clock())
            request = replace(self._rest(), deadline=deadline, careful=careful)
            ended = yield self._audit(request, left)
            match ended:
                case Returned():
                    self._output = self._output or ended.output
                    return self._end(self._settled(from_plain(CaseResult, ended.value)))
                case Raised():
                    self._output = "\n".join(filter(None, (ended.output, ended.trace)))
                    return self._error(ended.message)
                case Died() | Overdue():
                    self._output = self._output or ended.output
            if isinstance(ended, Overdue) and ended.limit is Limit.CALL:
                return self._out_of_time(ended)
            if self.request.backend == Backend.GPU and not careful and _unsure(ended):
                careful = True  # the next process waits for each batch, and so knows which it was
                self._unsettled = self._perhaps(ended)
                continue
            self._unsettled = None
            if ended.token is None:
                return self._error(_without_launch(ended))
            yield from self._note_death(ended, ended.token)
            if isinstance(ended, Overdue):
                allowed = RESTARTS_AFTER_TIMEOUT
            cut_short = self._give_up(restarts, allowed)
            if cut_short:
                return self._end(cut_short=cut_short)
            restarts += 1

    def _rest(self) -> UnitRequest:
        """The request without what has ended a process already."""
        return replace(self.request, avoid=tuple(self._avoid))

    def _out_of_time(self, ended: Overdue) -> CaseResult:
        """The verdict where the search had to be ended, and what it had found is lost."""
        if self._unsettled is not None:
            self._keep(self._unsettled)
        if self._fatal:
            return self._end(cut_short=_OUT_OF_TIME)
        if ended.token is None:
            return self._error(_without_launch(ended))
        late = f"the unit had not ended after {ended.seconds:.0f} s"
        return self._error(
            f"{late}; its last launch had not had its {self._launch_limit:.0f} s yet"
        )

    def _left(self) -> float:
        return self._timeout - (self._clock() - self._begun)

    def _spare(self) -> float:
        """The time for what makes a finding better but not other: what a restart needs is not."""
        left = min(self._left(), self._until - self._clock())
        return left - LEAST_SHARE * self._timeout

    def _audit(self, request: UnitRequest, limit: float) -> Call:
        return self._call("audit", to_plain(request), limit, self._launch_limit)

    def _call(self, function: str, data: Plain, limit: float, launch_limit: float) -> Call:
        # A loaded machine slows the interpreter down; on a GPU the processor only waits.
        processor = self.request.backend == Backend.INTERPRETER
        return Call(function, data, limit, launch_limit, processor)

    def _give_up(self, restarts: int, allowed: int) -> str:
        """Why the search ends after a death; "" where it goes on."""
        if self.request.repro is not None:
            return "the process of the replay died"
        if restarts >= allowed:
            return (
                f"the search ended after {count(restarts + 1, 'process', 'processes')} died or hung"
            )
        if self._left() < LEAST_SHARE * self._timeout or self._clock() > self._until:
            return _OUT_OF_TIME
        return ""

    # ----------------------------------------------------------------- a dead process

    def _note_death(self, ended: Died | Overdue, token: str) -> Generator[Call, Ended, None]:
        """Make a finding of a death, of the smallest example that dies so; avoid it from now on."""
        if self.request.repro is not None:
            self._keep(self._finding(ended, token))
            return
        self._shrinking, self._unsettled = True, self._finding(ended, token)
        again, found = yield from self._shrink(ended, token)
        flaky = found == token and not (yield from self._dies_again(ended, token))
        self._shrinking, self._unsettled = False, None
        finding = self._finding(again, found)
        if not flaky and self.request.strict_interpreter:
            finding = yield from self._owed_to_strictness(finding)
        self._keep(_nondeterministic(finding) if flaky else finding)
        # A smaller example may have other tiles; then it does not stand for this one.
        self._avoid += dict.fromkeys((token, found))

    def _perhaps(self, ended: Died | Overdue) -> Finding | None:
        """The finding of a death that another example than the one in flight may have caused."""
        if ended.token is None:
            return None
        finding = self._finding(ended, ended.token)
        told = "several examples were on their way: it may have been an earlier one"
        return replace(finding, evidence=(*finding.evidence, told))

    def _settled(self, result: CaseResult) -> CaseResult:
        """The result of a search that ended well, after one that did not where it was careless."""
        first, self._unsettled = self._unsettled, None
        if first is None:
            return result
        if first.fault == "crash":
            self._keep(_nondeterministic(first))
            return result
        told = f"{first.summary} Launched again, one batch at a time, all ended."
        return replace(result, notes=(*result.notes, told))

    def _keep(self, finding: Finding) -> None:
        """Add a finding, or count it where the same was found before."""
        line = finding.location.line if finding.location else 0
        # A hang is caught anywhere in its loop, and sooner or later.
        hang = finding.fault == "timeout"
        key = (finding.fault, "", 0) if hang else (finding.fault, finding.summary, line)
        seen = self._fatal.get(key, finding)
        smallest = min(seen, finding, key=_volume)
        dtypes = tuple(dict.fromkeys((*seen.dtypes, *finding.dtypes)))
        self._fatal[key] = replace(smallest, seen=seen.seen + 1, dtypes=dtypes)

    def _dies_again(self, ended: Died | Overdue, token: str) -> Generator[Call, Ended, bool]:
        """Whether an example ends or hangs another process too; yes where no time is left."""
        if not self._can_replay(ended):
            return True
        tried = yield self._replay(token)
        if isinstance(tried, Overdue) and not tried.hung:
            return True
        return _is_fatal(tried) and tried.token == token

    def _can_replay(self, ended: Died | Overdue) -> bool:
        """Whether there is time to see an end once more."""
        return self._spare() > (self._launch_limit if isinstance(ended, Overdue) else 0)

    def _owed_to_strictness(self, finding: Finding) -> Generator[Call, Ended, Finding]:
        """The finding, with evidence that the stock interpreter survives its example, if it does.

        Only where there is time to try.
        """
        if self._spare() < self._launch_limit:
            return finding
        tried = yield self._replay(finding.repro, strict=False)
        if not isinstance(tried, Returned):
            return finding
        told = "found by the strict interpreter: the process survives on the stock one"
        return replace(finding, evidence=(*finding.evidence, told))

    def _replay(self, token: str, *, strict: bool | None = None) -> Call:
        seconds = SEARCH_SHARE * self._spare()
        replay = replace(self.request, repro=token, around=False, deadline=seconds)
        if strict is not None:
            replay = replace(replay, strict_interpreter=strict)
        return self._audit(replay, self._spare())

    def _shrink(
        self, ended: Died | Overdue, token: str
    ) -> Generator[Call, Ended, tuple[Died | Overdue, str]]:
        """The smallest example found that ends a process in the same way, and that end.

        One process launches smaller examples, smallest first, until one ends it; another process
        then has to show that this example does so alone.
        """
        until = self._clock() + SHRINK_SHARE * self._spare()
        known, after = [token], ""
        for _ in range(ROUNDS):
            left = until - self._clock()
            if left <= 0:
                break
            tried = yield self._smaller(ended, known, after, left)
            if not _is_fatal(tried) or not self._can_replay(ended):
                break
            after = str(tried.token)
            again = yield self._replay(after)
            if _alike(again, ended) and again.token == after:
                ended, known, after = again, [*known, after], ""
        return ended, known[-1]

    def _smaller(self, ended: Died | Overdue, known: list[str], after: str, seconds: float) -> Call:
        """Launch examples smaller than the last of those that end so, in the time given."""
        hurried = self._launch_limit / (HURRIED if isinstance(ended, Overdue) else 1)
        request = replace(self._rest(), deadline=SEARCH_SHARE * seconds)
        data: Plain = {"request": to_plain(request), "known": list(known), "after": after}
        return self._call("smaller", data, seconds, hurried)

    def _finding(self, ended: Died | Overdue, token: str) -> Finding:
        example, location = decode(token), ended.location(self.info.path)
        if isinstance(ended, Died):
            fault, summary = "crash", f"The process was {ended.how} while the kernel ran."
            if ended.how in (f"exit code {DEVICE_LOST}", f"exit code {DEVICE_UNSURE}"):
                _, _, message = ended.output.rpartition(DEVICE_FAILED)
                summary = f"The device failed while the kernel ran: {message.strip()}"
            elif not ended.how.startswith("killed"):
                summary = f"The process ended with {ended.how} while the kernel ran."
        else:
            what = " of processor time" if ended.limit is Limit.PROCESSOR else ""
            summary = f"The kernel had not ended after {ended.seconds:.0f} s{what}."
            fault = "timeout"
        evidence: tuple[str, ...] = ()
        if isinstance(ended, Died) and ended.how == "killed by SIGKILL":
            evidence = ("SIGKILL often means that the machine ran out of memory.",)
        return Finding(
            case=self.info.name,
            fault=fault,
            severity=SEVERITIES[fault],
            expected=False,
            backend=self.request.backend,
            dtype=example.dtype(),
            example=example,
            repro=token,
            summary=summary,
            location=location or Location(shown_path(self.info.path), self.info.line),
            evidence=evidence,
            dtypes=(example.dtype(),),
            output=ended.output,
        )

    # ----------------------------------------------------------------- verdicts

    def _error(self, reason: str) -> CaseResult:
        return self._end(self._blank(Outcome.ERROR, reason=reason))

    def _blank(self, outcome: Outcome, reason: str = "", cut_short: str = "") -> CaseResult:
        ran = max(self._examples, sum(f.seen for f in self._fatal.values()))
        coverage = Coverage(examples=ran, launches=ran, cut_short=cut_short or reason)
        case, backend = self.info.name, self.request.backend
        return CaseResult(case, backend, outcome, reason=reason, coverage=coverage)

    def _options(self) -> tuple[str, ...]:
        """The options with which a finding shows again."""
        options = self.info.options
        if self.request.strict_interpreter:
            options += ("--strict-interpreter", "--seed", str(self.request.seed))
        return options

    def _end(self, result: CaseResult | None = None, cut_short: str = "") -> CaseResult:
        """The verdict, with the findings of processes that died."""
        if result is None:
            result = self._blank(Outcome.PASS, cut_short=cut_short)
        findings = tuple(
            replace(f, target=self.info.target, options=self._options())
            for f in (*self._fatal.values(), *result.findings)
        )
        replay = self.request.repro is not None
        result = replace(
            result,
            findings=findings,
            seconds=self._clock() - self._begun,
            target=self.info.target,
            location=result.location or Location(shown_path(self.info.path), self.info.line),
        )
        if not result.coverage.launches and self._clock() >= self._until:
            reason = "not reached: the time budget of the run was over"
            result = replace(result, outcome=Outcome.SKIP, reason=reason)
        result = conclude(
            _only(result, self.request.faults),
            tuple(k for k in self.info.expect if _asked(k.fault, self.request.faults)),
            self._triton,
            replay=replay,
            narrowed=bool(self.request.dtypes),
            acceptance=self._acceptance,
        )
        return replace(result, output=self._shown_output(result))

    def _shown_output(self, result: CaseResult) -> str:
        """What the case printed, where it failed and no finding shows the same."""
        output = result.output or self._output
        failed = result.outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.STALE)
        return output if failed and all(f.output != output for f in result.findings) else ""


def _asked(fault: str, faults: tuple[str, ...]) -> bool:
    return not faults or fault in faults


def _only(result: CaseResult, faults: tuple[str, ...]) -> CaseResult:
    """A result with the findings that were asked for, and a note on the others."""
    kept = tuple(f for f in result.findings if _asked(f.fault, faults))
    others = sorted({f.fault for f in result.findings} - {f.fault for f in kept})
    notes = (
        *result.notes,
        *(f"{fault} showed as well, which was not asked for" for fault in others),
    )
    outcome = result.outcome
    if outcome is Outcome.FAIL and not kept:
        outcome = Outcome.PASS
    return replace(result, findings=kept, notes=notes, outcome=outcome)


def _nondeterministic(finding: Finding) -> Finding:
    """A death that did not happen again with the same example."""
    fault = "nondeterministic"
    evidence = f"{finding.summary} Launched again, the same example ended well."
    return replace(
        finding,
        fault=fault,
        severity=SEVERITIES[fault],
        summary=info(fault).title,
        evidence=(evidence, *finding.evidence),
    )


def _unsure(ended: Died | Overdue) -> bool:
    """Whether several batches were on their way, so that the example in flight may be another."""
    return isinstance(ended, Overdue) or ended.how == f"exit code {DEVICE_UNSURE}"


def _volume(finding: Finding) -> tuple[int, int]:
    sizes = [size for _, size in finding.example.sizes]
    return math.prod(sizes), sum(size for _, size in finding.example.tiles)


def _is_fatal(ended: Ended) -> TypeGuard[Died | Overdue]:
    """Whether a launch ended its process or hung, and it is known which."""
    return (isinstance(ended, Died) and ended.token is not None) or (
        isinstance(ended, Overdue) and ended.hung
    )


def _alike(ended: Ended, other: Died | Overdue) -> TypeGuard[Died | Overdue]:
    """Whether two launches ended their processes in the same way."""
    if isinstance(ended, Died) and isinstance(other, Died):
        return ended.token is not None and ended.how == other.how
    return isinstance(other, Overdue) and isinstance(ended, Overdue) and ended.hung


def _without_launch(ended: Died | Overdue) -> str:
    if isinstance(ended, Died):
        return f"the process ended ({ended.how}) while no kernel ran"
    return f"the unit had not ended after {ended.seconds:.0f} s, and no kernel ran"
