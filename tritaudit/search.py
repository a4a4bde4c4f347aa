"""One unit of work: a case on a backend. Sweep, census, shrink, diagnose.

The sweep runs every boundary, smallest first; the census runs anchored examples that Hypothesis
draws, with a body that records and never raises, so that one fault does not hide another. Each
fault found is then shrunk by itself (smallest sizes first, then simpler values), and its name is
tested on everything that was launched, and on further examples where that is too little.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from tritaudit import exhaustive, generate, interpreter, tuning
from tritaudit.backend import DeviceLostError, current, device_lives, explain_error
from tritaudit.bisect import climb, narrow
from tritaudit.blocks import with_edges
from tritaudit.calls import case_of, chosen_axes
from tritaudit.confirm import same_result
from tritaudit.divergence import disagreement
from tritaudit.fleet import compile_kinds
from tritaudit.inflight import DEVICE_FAILED, DEVICE_LOST, DEVICE_UNSURE, InFlight
from tritaudit.ledger import KEPT_WRONG, Ledger, OutOfTimeError, order_of
from tritaudit.model import (
    Backend,
    Case,
    CaseError,
    CaseResult,
    Edit,
    Event,
    Example,
    Outcome,
    UnitRequest,
)
from tritaudit.naming import Naming
from tritaudit.report.wording import count
from tritaudit.repro import decode, encode
from tritaudit.strictness import named
from tritaudit.tensors import unsigned_bits

__all__ = ["audit_unit", "end_soon", "launch_smaller"]

#: examples of the census, where no budget is given (then it gets a fifth of the budget).
CENSUS = {Backend.INTERPRETER: 40, Backend.GPU: 50}
#: largest input of a census example, in elements.
ELEMENTS = {Backend.INTERPRETER: 160, Backend.GPU: 1 << 14}
#: elements of one launch when every bit pattern is run.
PATTERN_ELEMENTS = {Backend.INTERPRETER: 1 << 13, Backend.GPU: 1 << 16}
#: launches that the shrinking of one fault may cost.
SHRINK_LAUNCHES = 60
#: wrong elements whose values are tried by themselves.
LIFTED = 4
#: launches of an example that all have to show what a larger one shows: a race comes and goes.
STEADY = 3
#: flagged examples of a batch that are looked at one by one.
CLOSER = 3


class Search:
    """The phases of one unit: what is tried, in which order, until when."""

    def __init__(self, book: Ledger) -> None:
        self.book = book
        #: what the sweep has yet to try, and why the search should end now, "" if it should not.
        self.ahead: Iterator[Example] = iter(())
        self.ended = ""

    def run(self) -> None:
        """Sweep, every bit pattern, census; then shrink what was found."""
        budget = self.book.request.max_examples
        try:
            self.book.case = with_edges(self.book.case, self.book.try_launch)
            if self.book.backend is Backend.GPU:
                self._fleets(budget)
            else:
                self._sweep(budget)
            self._every_pattern()
            if self.book.request.exhaustive:
                self._all_patterns()
            self._compare()
            self._census(
                max(1, budget - len(self.book.seen)) if budget else CENSUS[self.book.backend]
            )
            for fault in list(self.book.sightings):
                if self.book.is_asked(fault):
                    self._shrink(fault)
        except OutOfTimeError:
            why = self.ended or "the time limit was reached"
            self._cut_short(f"{why} after {count(len(self.book.seen), 'example')}")
        finally:
            self.book.inflight.clear()  # a batch that is on its way is waited for no more

    def end_soon(self, reason: str) -> None:
        """Launch nothing more, and report what was found. May be called by a signal handler."""
        self.ended, self.book.deadline = reason, 0.0

    def _cut_short(self, why: str) -> None:
        """Note why the search ends before its time, and how much of the sweep is left."""
        self.book.cut, self.book.ahead = why, sum(1 for _ in self.ahead)

    def _sweep(self, budget: int) -> None:
        launches = tuning.choices()
        self.ahead = generate.sweep(self.book.case, launches)
        while not (budget and len(self.book.seen) >= max(1, budget * 4 // 5)):
            example = next(self.ahead, None)
            if example is None:
                return
            self.book.try_example(example, "sweep")
            if launches != tuning.choices():  # a kernel turns out to be autotuned
                launches = tuning.choices()
                self.ahead = generate.sweep(self.book.case, launches)
        self._cut_short(f"the budget of {count(budget, 'example')} ended the sweep")

    def _fleets(self, budget: int) -> None:
        """The sweep of a GPU: batches first, what they flag one by one, then large examples."""
        groups = generate.fleets(self.book.case)
        self.ahead = (example for group in groups for example in group)
        for group in groups:
            if budget and len(self.book.seen) + self.book.fleet.examples >= max(1, budget * 4 // 5):
                self.ahead = itertools.chain(group, self.ahead)
                self._cut_short(f"the budget of {count(budget, 'example')} ended the sweep")
                break
            self._send(group, "sweep")
        self._look_closer(self.book.fleet.settle(), "sweep")
        for example in generate.large(self.book.case):
            self._try_large(example)

    def _try_large(self, example: Example) -> None:
        """Examine a large example; one that is wrong in a new way only once it is smaller."""
        if self.book.news(example, "large") is None:
            return
        case, varied, wrong = self.book.case, False, [example]

        def shows(smaller: Example) -> bool:
            nonlocal varied
            first = self.book.news(smaller, "large")
            others = [first and self.book.news(smaller, "large") for _ in range(STEADY - 1)]
            seen = [trial.seen for trial in (first, *others) if trial is not None]
            wrong.extend([smaller] if seen else [])
            varied = varied or any(not same_result(seen[0], again) for again in seen)
            return len(seen) == STEADY

        try:
            below, found = climb(case, example, shows)
            if below is not None and not varied:  # a race has no smallest size
                found = narrow(case, below, found, shows)
            faults = self.book.try_example(found, "large")
            for other in wrong:
                self.book.seen[other] = self.book.record[other] = faults
        except OutOfTimeError:
            told = f"{example.label()} came out wrong, and there was no time left to find out why"
            self.book.notes.add(told)
            raise

    def _send(self, group: list[Example], phase: str) -> None:
        """Queue a batch, and look closer at what has been flagged meanwhile."""
        if self.book.is_over:
            raise OutOfTimeError
        if not self.book.avoids(group[0]):
            self._look_closer(self.book.fleet.send(group), phase)
            self.book.counter.launches += len(group)
            self.book.tell(phase, group[0])

    def _look_closer(self, groups: Iterator[Sequence[Example]], phase: str) -> None:
        for flagged in groups:
            most = CLOSER if len(self.book.wrong) < KEPT_WRONG else 1
            for example in flagged[:most]:
                self.book.try_example(example, phase)

    def _every_pattern(self) -> None:
        elements = PATTERN_ELEMENTS[self.book.backend]
        for name, parts in generate.every_pattern(self.book.case, elements):
            done = 0
            for example in parts:
                if self.book.avoids(example):
                    break
                self.book.try_example(example, "patterns")
                done += 1
            if done == len(parts):
                self.book.exhaustive.append(name)

    def _all_patterns(self) -> None:
        """Every bit pattern of up to 32 bits, where that was asked for."""
        for dtypes in exhaustive.choices(self.book.case):
            base = replace(generate.largest(self.book.case, 1), dtypes=dtypes)
            if self.book.avoids(base):
                continue
            self.book.announce(base)
            try:
                found = exhaustive.every_pattern(self.book.case, dtypes)
            except Exception as error:
                if not device_lives():
                    raise DeviceLostError(explain_error(error).message) from error
                continue  # what is refused or raised is a finding of the sweep
            finally:
                self.book.inflight.clear()
            self.book.notes.add(found.sentence())
            self.book.counter.elements += found.total
            name = " x ".join(d for _, d in dtypes)
            if name not in self.book.exhaustive:
                self.book.exhaustive.append(name)
            smallest = replace(generate.structures(self.book.case)[0], dtypes=dtypes)
            for bits in found.first[:CLOSER]:
                edits = [Edit(n, 0, b) for (n, _), b in zip(dtypes, bits, strict=True)]
                self.book.try_example(replace(smallest, edits=tuple(edits)), "patterns")

    def _compare(self) -> None:
        """Try what another backend tried, and note where the two disagree."""
        for theirs in self.book.request.compare:
            example = decode(theirs.token)
            if self.book.avoids(example):
                continue
            faults = self.book.try_example(example, "compare")
            own = self.book.digests.get(example)
            if own is None or example in self.book.unjudged:
                continue
            if own == theirs.digest:
                continue
            trial = self.book.launch(example, "compare")
            exact = trial.expected.ulps is None
            told = disagreement(theirs, str(self.book.backend), faults, own, exact)
            if told:
                order = order_of(example, ())
                self.book.divergent.append((order, len(self.book.divergent), trial, told, theirs))

    def _census(self, count: int) -> None:
        """Anchored examples from Hypothesis; the body records and never raises."""
        seen_before = len(self.book.seen)
        limit = self.book.request.elements or ELEMENTS[self.book.backend]
        gpu = self.book.backend is Backend.GPU
        launches = [(), *generate.launch_choices(self.book.case)] if gpu else tuning.choices()
        stop: list[BaseException] = []

        # Every setting is given: a CI variable in the environment would change the defaults.
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate,),
            report_multiple_bugs=True,
            suppress_health_check=list(HealthCheck),
            stateful_step_count=1,
            verbosity=hypothesis.Verbosity.quiet,
            print_blob=False,
            backend="hypothesis",
        )
        @hypothesis.seed(self.book.request.seed)
        @hypothesis.given(generate.examples(self.book.case, limit, launches))
        def body(example: Example) -> None:
            if stop or len(self.book.seen) - seen_before >= count:
                return
            try:
                if gpu:
                    # One drawn structure carries a batch of values.
                    group = [*generate.fleet(self.book.case, example), example]
                    self._send(list(dict.fromkeys(group)), "census")
                else:
                    self.book.try_example(example, "census")
            except BaseException as error:
                stop.append(error)

        body()
        if stop:
            raise stop[0]
        self._look_closer(self.book.fleet.settle(), "census")

    # ------------------------------------------------------------------ shrinking

    def _shrink(self, fault: str) -> None:
        """Find the smallest example of one fault: sizes first, then values, then sizes again."""
        launches = self.book.counter.launches
        large = generate.cost(self.book.sightings[fault].trial.example)[0] > 1 << 16
        limit = launches + (SHRINK_LAUNCHES // 6 if large else SHRINK_LAUNCHES * 3)

        def shows(example: Example) -> bool:
            if self.book.avoids(example):
                return False
            return fault in self.book.try_example(example, "shrink")

        for _ in range(3):
            before = self.book.sightings[fault].trial.example
            for example in self._with_its_values(fault):
                if order_of(example, ()) < order_of(before, ()) and shows(example):
                    break
            for smaller in generate.smaller_sizes(self.book.case, before, SHRINK_LAUNCHES):
                if self.book.counter.launches > limit or shows(smaller):
                    break
            self._halve(fault, shows)
            for simpler in generate.simpler(
                self.book.case, self.book.sightings[fault].trial.example
            ):
                if self.book.counter.launches > limit:
                    break
                if order_of(simpler, ()) < order_of(self.book.sightings[fault].trial.example, ()):
                    shows(simpler)
            self._alone(fault)
            if self.book.sightings[fault].trial.example == before:
                return

    def _halve(self, fault: str, shows: Callable[[Example], bool]) -> None:
        """Along each axis, halve the distance to the largest size that is known not to show it."""
        for axis in self.book.case.axis_names():
            best = self.book.sightings[fault].trial.example

            def sized(size: int, axis: str = axis, best: Example = best) -> Example:
                found = replace(
                    best, sizes=tuple((a, size if a == axis else n) for a, n in best.sizes)
                )
                return replace(found, edits=generate.kept_edits(self.book.case, found))

            high, low = best.size(axis), self.book.case.bounds(axis)[0]
            tried = [n for n in range(high - 1, low - 1, -1) if sized(n) in self.book.seen]
            low = next((n for n in tried if fault not in self.book.seen[sized(n)]), high)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if shows(sized(middle)) else (middle, high)

    def _with_its_values(self, fault: str) -> Iterator[Example]:
        """Where elements do not depend on their places: small examples with values that failed."""
        trial, case = self.book.sightings[fault].trial, self.book.case
        inputs = trial.inputs.values()
        alike = all(x.shape == trial.wrong.shape for x in inputs)
        if case.contract.moves_only or not trial.comparable or not alike:
            return
        for place in trial.wrong.reshape(-1).nonzero().reshape(-1).tolist()[:LIFTED]:
            bits = {k: unsigned_bits(x.reshape(-1)[place])[0] for k, x in trial.inputs.items()}
            yield generate.with_values(case, trial.example, bits)

    def _alone(self, fault: str) -> None:
        """Where a fault was seen only beside others, look for a size that shows it alone."""
        known = self.book.sightings[fault]
        if len(known.diagnosis.faults) == 1:
            return
        best = known.trial.example
        for base in generate.structures(self.book.case):
            example = replace(base, dtypes=best.dtypes, fill=best.fill, launch=best.launch)
            if self.book.avoids(example) or generate.cost(base)[0] > 64 * generate.cost(best)[0]:
                continue
            if self.book.try_example(example, "shrink") == (fault,):
                return


# --------------------------------------------------------------------------- entry points


#: what a function shows that takes no tensor at all.
_REFUSALS = {"crash", "api-rejects"}
#: the latest search of this process, for `end_soon`.
_RUNNING: list[Search] = []


def end_soon(reason: str) -> None:
    """Let the search of this process launch nothing more and report what it has found."""
    for search in _RUNNING:
        search.end_soon(reason)


def audit_unit(
    request: UnitRequest, emit: Callable[[Event], None], inflight: InFlight
) -> CaseResult:
    """Search a case for faults on this process's backend, or replay one example.

    Everything that is found is in the result; what the author's code raises is a finding. The
    outcome here is PASS or FAIL without regard to what the case expects. Where the fast interpreter
    was asked for and does not hold, all is done again on the stock one, and a note says so.

    Raises:
        ReproError: `request.repro` is no token; the case file does not load any more.
        BackendUnavailableError: the interpreter cannot run as it was asked to.
    """
    start = time.monotonic()
    order = request.seed if request.strict_interpreter else None
    interpreter.use(fast=request.fast_interpreter, strict=order)
    try:
        return _audit(request, emit, inflight)
    except interpreter.FastDiffersError as difference:
        interpreter.use(strict=order)
        left = max(1.0, request.deadline - (time.monotonic() - start))
        result = _audit(replace(request, deadline=left), emit, inflight)
        note = f"{difference}, so this case ran without the fast one"
        return replace(result, notes=(*result.notes, note))


def _audit(request: UnitRequest, emit: Callable[[Event], None], inflight: InFlight) -> CaseResult:
    start = time.monotonic()
    case = case_of(request)
    if request.dtypes and request.repro is None:
        restricted = case.restricted(request.dtypes)
        if restricted is None:
            reason = f"takes no {' or '.join(request.dtypes)}"
            return CaseResult(request.case, str(current()), Outcome.SKIP, reason)
        case = restricted
    tuning.forget()
    book = Ledger(case, request, emit, inflight)
    search = Search(book)
    _RUNNING[:] = [search]
    outcome, reason = Outcome.PASS, ""
    try:
        if book.backend is Backend.GPU and request.repro is None:
            compile_kinds(case, itertools.chain.from_iterable(generate.fleets(case)))
        if request.repro is None:
            search.run()
        else:
            _replay(book, request.repro, request.around)
        findings = tuple(named(case, f, book.announce) for f in Naming(book).findings())
    except CaseError as error:
        findings, outcome, reason = (), Outcome.ERROR, str(error)
    except DeviceLostError as error:
        _give_up(book, error)
    if request.repro is None:
        book.notes.update(tuning.notes())
    if findings:
        outcome = Outcome.FAIL
    if request.call is not None and request.repro is None:
        refused = [set(f) <= _REFUSALS and bool(f) for f in book.record.values()]
        told = chosen_axes(
            request.call, case, refused=bool(refused) and all(refused), wrong=bool(findings)
        )
        book.notes.update(filter(None, [told]))
    return CaseResult(
        case=request.case,
        backend=str(book.backend),
        outcome=outcome,
        reason=reason,
        coverage=book.coverage(),
        seconds=time.monotonic() - start,
        findings=findings,
        notes=tuple(sorted(book.notes)),
        judgements=book.judgements() if request.judge else (),
    )


def _give_up(book: Ledger, error: DeviceLostError) -> NoReturn:
    """End this process, which can launch nothing more, with the example in flight for others."""
    sys.stderr.write(f"{DEVICE_FAILED}{error}\n")
    sys.stderr.flush()
    if book.current is not None:
        book.inflight.write(encode(book.current, book.backend))
    os._exit(DEVICE_UNSURE if book.fleet.unsure else DEVICE_LOST)


def _replay(book: Ledger, token: str, around: bool) -> None:
    """Run one stored example; where it is wrong, those around it too, as evidence for its name."""
    example = decode(token)
    _fits(book.case, example)
    book.only = example
    book.try_example(example, "replay")
    if not around or not book.sightings:
        return
    try:
        book.case = with_edges(book.case, book.try_launch)
        for other in generate.around(book.case, example):
            if not book.avoids(other):
                book.try_example(other, "replay")
    except OutOfTimeError:
        book.cut = "the time limit was reached"


def _fits(case: Case, example: Example) -> None:
    """Check that an example is one of this case.

    Raises:
        CaseError: names, dtypes or sizes do not belong to it.
    """
    wanted = {
        "axes": (case.axis_names(), example.sizes),
        "tiles": ([t.name for t in case.tiles], example.tiles),
        "scalars": ([s.name for s in case.scalars], example.scalars),
        "inputs": ([t.name for t in case.inputs], example.dtypes),
    }
    for what, (names, pairs) in wanted.items():
        given = [n for n, _ in pairs]
        if sorted(given) != sorted(names):
            raise CaseError(
                f"the repro token names the {what} {', '.join(given) or 'none'}; this case has "
                f"{', '.join(names) or 'none'}"
            )
    for spec in case.inputs:
        if example.dtype(spec.name) not in spec.dtypes:
            raise CaseError(
                f"the repro token has {spec.name} in {example.dtype(spec.name)}, which the case "
                "does not declare"
            )
    for edit in example.edits:
        if edit.tensor not in [t.name for t in case.inputs]:
            raise CaseError(f"the repro token edits {edit.tensor!r}, which is no input")


def launch_smaller(
    request: UnitRequest,
    known: Sequence[str],
    after: str,
    emit: Callable[[Event], None],
    inflight: InFlight,
) -> int:
    """Launch smaller variants of an example that ended a process, smallest first.

    The first that ends or hangs this process, too, is in the record of the launch in flight.

    Args:
        request: what the search was asked; its deadline is that of the launches here.
        known: tokens of ever smaller examples that ended a process. The variants are of the last;
            those of the others were tried before.
        after: the token up to which those of the last were tried as well ("": none).

    Returns:
        How many were launched, where none ended the process.

    Raises:
        OutOfTimeError: the deadline passed before.
    """
    order = request.seed if request.strict_interpreter else None
    interpreter.use(fast=request.fast_interpreter, strict=order)
    book = Ledger(case_of(request), request, emit, inflight)
    *larger, examples = [generate.fatal_sizes(book.case, decode(token)) for token in known]
    tried = {example for variants in larger for example in variants}
    if after:
        tried.update(examples[: examples.index(decode(after)) + 1])
    left = [e for e in examples if e not in tried and not book.avoids(e)]
    try:
        for example in left:
            book.launch(example, "shrink", thorough=True)
    except DeviceLostError as error:
        _give_up(book, error)
    return len(left)
