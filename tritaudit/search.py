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
from dataclasses import dataclass, field, replace

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from tritaudit import exhaustive, generate, interpreter
from tritaudit.backend import (
    DeviceLostError,
    current,
    device_lives,
    explain_error,
    launch,
)
from tritaudit.blocks import with_edges
from tritaudit.calls import case_of
from tritaudit.confirm import shows_again
from tritaudit.divergence import because, digest, disagreement
from tritaudit.examine import Counter, examine, repeat, shows_poison
from tritaudit.faults import FAULT_IDS, SEVERITIES
from tritaudit.faults.diagnosis import (
    MISMATCH,
    Diagnosis,
    Explanation,
    diagnose,
    left_over,
    prove,
)
from tritaudit.faults.protocol import Candidate, Direct
from tritaudit.fleet import QUEUED, Fleet, compile_kinds
from tritaudit.gpuslots import slot
from tritaudit.inflight import DEVICE_FAILED, DEVICE_LOST, DEVICE_UNSURE, InFlight
from tritaudit.model import (
    Backend,
    Case,
    CaseError,
    CaseResult,
    Coverage,
    Edit,
    Event,
    Example,
    Fill,
    FillKind,
    Finding,
    IndexMap,
    Judgement,
    Outcome,
    Progress,
    Proof,
    Skipped,
    UnitRequest,
)
from tritaudit.present import (
    evidence_of,
    excerpt,
    index_map,
    locate,
    map_examples,
    plain_verdict,
    summarise,
    telling,
    view_note,
)
from tritaudit.repro import decode, encode
from tritaudit.strictness import named
from tritaudit.trial import Trial
from tritaudit.unnoticed import unnoticed

__all__ = ["audit_unit", "end_soon", "smaller_examples"]

#: examples of the census, where no budget is given (then it gets a fifth of the budget).
CENSUS = {Backend.INTERPRETER: 40, Backend.GPU: 50}
#: largest input of a census example, in elements.
ELEMENTS = {Backend.INTERPRETER: 160, Backend.GPU: 1 << 14}
#: elements of one launch when every bit pattern is run.
PATTERN_ELEMENTS = {Backend.INTERPRETER: 1 << 13, Backend.GPU: 1 << 16}
#: launches that the shrinking of one fault may cost.
SHRINK_LAUNCHES = 60
#: failing trials that are kept for proofs, and right ones.
KEPT_WRONG, KEPT_RIGHT, KEPT_ALIKE = 120, 40, 5
#: flagged examples of a batch that are looked at one by one.
CLOSER = 3
#: unexplained examples after which every candidate is tried only now and then.
PUZZLED = 12
#: examples that a proof asks for when those at hand are too few.
PROBES = 3
#: examples without an explanation that are launched again until one shows the same.
MISMATCHES = 3
NONDETERMINISTIC = "nondeterministic"


class OutOfTimeError(Exception):
    """The deadline of the unit has passed."""


@dataclass(slots=True)
class _Sighting:
    """A fault in the census: its smallest example so far and how often it showed."""

    trial: Trial
    diagnosis: Diagnosis
    seen: int = 1
    dtypes: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Skips:
    reason: str
    count: int = 0
    dtypes: set[str] = field(default_factory=set)


class _Search:
    """The state of one unit."""

    def __init__(
        self,
        case: Case,
        request: UnitRequest,
        emit: Callable[[Event], None],
        inflight: InFlight,
    ) -> None:
        self.case, self.request, self.emit, self.inflight = case, request, emit, inflight
        self.backend = current()
        self.counter = Counter()
        self.deadline = time.monotonic() + request.deadline
        self.seen: dict[Example, tuple[str, ...]] = {}
        #: what was judged: `seen` without what ran into a limit of the backend, and with probes.
        self.record: dict[Example, tuple[str, ...]] = {}
        self.sightings: dict[str, _Sighting] = {}
        self.remembered: list[Candidate] = []
        self.wrong: list[Trial] = []
        self.right: list[Trial] = []
        self.unjudged: set[Example] = set()
        self.digests: dict[Example, int] = {}
        self.divergent: list[tuple[tuple[int, ...], int, Trial, str, Judgement]] = []
        self.kept: dict[tuple[object, ...], int] = {}
        self.unexplained: list[Trial] = []
        self.skips: dict[str, _Skips] = {}
        self.limited: dict[tuple[str, ...], int] = {}
        self.exhaustive: list[str] = []
        self.avoided = [decode(token) for token in request.avoid]
        self.notes: set[str] = set()
        self.cut = ""
        #: what the sweep has yet to try, and why the search should end now, "" if it should not.
        self.ahead: Iterator[Example] = iter(())
        self.ended = ""
        self.fleet = Fleet(case, self._announce, 1 if request.careful else QUEUED)
        self.current: Example | None = None
        self._told = 0.0

    # ------------------------------------------------------------------ one example

    def launch(self, example: Example, phase: str, thorough: bool = False) -> Trial:
        """Announce an example, launch it, and count it."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        self._announce(example)
        try:
            trial = examine(self.case, example, self.counter)
            if thorough:
                repeat(trial, self.counter)
        finally:
            self.inflight.clear()
        self._tell(phase, example)
        return trial

    def _try_launch(self, example: Example) -> None:
        """Launch an example only to see what the kernel does; its output is not judged."""
        if self.avoids(example):
            return
        self._announce(example)
        try:
            launch(self.case, example)
        finally:
            self.inflight.clear()

    def repeat(self, trial: Trial) -> None:
        """Launch an example again, so that what was not written or read astray is seen."""
        self._announce(trial.example)
        try:
            repeat(trial, self.counter)
        finally:
            self.inflight.clear()

    def _announce(self, example: Example) -> None:
        """Say what is about to be launched, for whoever finds this process dead."""
        self.current = example
        self.inflight.write(encode(example, self.backend))

    def _tell(self, phase: str, example: Example) -> None:
        now = time.monotonic()
        if now - self._told > 0.1:
            self._told = now
            self.emit(
                Progress(
                    self.request.case,
                    str(self.backend),
                    len(self.seen) + self.fleet.examples,
                    phase,
                    example.label(),
                )
            )

    def avoids(self, example: Example) -> bool:
        """Whether an example is at least as large as one that killed an earlier process."""
        return any(
            example.tiles == bad.tiles
            and all(n >= m for (_, n), (_, m) in zip(example.sizes, bad.sizes, strict=True))
            for bad in self.avoided
        )

    def skip(self, example: Example, reason: str) -> None:
        """Count an example that is not judged."""
        self.unjudged.add(example)
        entry = self.skips.setdefault(reason, _Skips(reason))
        entry.count += 1
        entry.dtypes.add(example.dtype())

    def try_example(self, example: Example, phase: str) -> tuple[str, ...]:
        """Launch and diagnose an example once; the faults that it shows."""
        if example in self.seen:
            return self.seen[example]
        if self.avoids(example):
            return ()
        kinds = tuple(d for _, d in example.dtypes)
        if self.limited.get(kinds, 0) >= 3:
            self.skip(example, self._limit_of(kinds))
            return ()
        self.seen[example] = ()
        trial = self.launch(example, phase, thorough=not self.seen or len(self.seen) % 16 == 1)
        found = self.judge(trial)
        self.seen[example] = found
        return found

    def _limit_of(self, kinds: tuple[str, ...]) -> str:
        for reason, entry in self.skips.items():
            if kinds[0] in entry.dtypes:
                return reason
        return "a limit of the backend"

    def judge(self, trial: Trial) -> tuple[str, ...]:
        """Record what a trial shows."""
        limit = limit_of(trial)
        if limit:
            self.unjudged.add(trial.example)
            self.skip(trial.example, limit)
            kinds = tuple(d for _, d in trial.example.dtypes)
            self.limited[kinds] = self.limited.get(kinds, 0) + 1
            return ()
        if self.request.judge or self.request.compare:
            self.digests[trial.example] = digest(trial)
        if trial.faultless:
            self.record[trial.example] = ()
            self.notes.update(filter(None, [view_note(trial)]))
            if len(self.right) < KEPT_RIGHT:
                self.right.append(trial)
            return ()
        diagnosis = self._familiar(trial)
        if diagnosis is None:
            self.repeat(trial)
            # A kernel that nothing explains is not asked about at every example.
            known = len(self.unexplained) >= PUZZLED and len(self.seen) % PUZZLED != 0
            diagnosis = diagnose(trial, self.remembered, only_remembered=known)
        if diagnosis.explanations:
            for found in diagnosis.explanations[0].candidates:
                if found not in self.remembered:
                    self.remembered.append(found)
        self.record[trial.example] = diagnosis.faults
        self._keep(trial)
        if MISMATCH in diagnosis.faults and len(self.unexplained) < KEPT_WRONG:
            self.unexplained.append(trial)
        for fault in diagnosis.faults:
            self._sight(fault, trial, diagnosis)
        return diagnosis.faults

    def _keep(self, trial: Trial) -> None:
        """Keep a wrong trial for proofs; few of one structure, or there is no room for others."""
        place = (trial.example.sizes, trial.example.tiles)
        alike = self.kept.get(place, 0)
        if len(self.wrong) < KEPT_WRONG and alike < KEPT_ALIKE:
            self.kept[place] = alike + 1
            self.wrong.append(trial)

    def _familiar(self, trial: Trial) -> Diagnosis | None:
        """The diagnosis of a trial that a candidate of an earlier one predicts to the last bit.

        Such a trial needs no further launches; None where anything else is odd about it.
        """
        if not trial.comparable or shows_poison(trial) or not self.remembered:
            return None
        diagnosis = diagnose(trial, self.remembered, only_remembered=True)
        return diagnosis if diagnosis.explanations and not diagnosis.left else None

    def _sight(self, fault: str, trial: Trial, diagnosis: Diagnosis) -> None:
        known = self.sightings.get(fault)
        if known is None:
            known = self.sightings[fault] = _Sighting(trial, diagnosis, 0)
        known.seen += 1
        known.dtypes.add(trial.example.dtype())
        if _order(trial.example, diagnosis.faults) < _order(
            known.trial.example, known.diagnosis.faults
        ):
            known.trial, known.diagnosis = trial, diagnosis

    # ------------------------------------------------------------------ phases

    def run(self) -> None:
        """Sweep, every bit pattern, census; then shrink what was found."""
        budget = self.request.max_examples
        try:
            self.case = with_edges(self.case, self._try_launch)
            if self.backend is Backend.GPU:
                self._fleets(budget)
            else:
                self._sweep(budget)
            self._every_pattern()
            if self.request.exhaustive:
                self._all_patterns()
            self._compare()
            self._census(max(1, budget - len(self.seen)) if budget else CENSUS[self.backend])
            for fault in list(self.sightings):
                if self.is_asked(fault):
                    self._shrink(fault)
        except OutOfTimeError:
            why = self.ended or "the time limit was reached"
            self._cut_short(f"{why} after {len(self.seen)} examples")

    def is_asked(self, fault: str) -> bool:
        """Whether a fault is to be reported."""
        return not self.request.faults or fault in self.request.faults

    def end_soon(self, reason: str) -> None:
        """Launch nothing more, and report what was found. May be called by a signal handler."""
        self.ended, self.deadline = reason, 0.0

    def _cut_short(self, why: str) -> None:
        """Note why the search ends before its time, and what it did not come to."""
        left = sum(1 for _ in self.ahead)
        tried = {example.dtype() for example, _ in self._judged()}
        never = [d for d in self.case.inputs[0].dtypes if d not in tried]
        missed = [f"{left} examples of the sweep"] if left else []
        missed += [", ".join(never)] if never else []
        self.cut = f"{why}; not reached: {' and '.join(missed)}" if missed else why

    def _sweep(self, budget: int) -> None:
        self.ahead = generate.sweep(self.case)
        while not (budget and len(self.seen) >= max(1, budget * 4 // 5)):
            example = next(self.ahead, None)
            if example is None:
                return
            self.try_example(example, "sweep")
        self._cut_short(f"the budget of {budget} examples ended the sweep")

    def _fleets(self, budget: int) -> None:
        """The sweep of a GPU: batches first, what they flag one by one, then large examples."""
        groups = generate.fleets(self.case)
        self.ahead = (example for group in groups for example in group)
        for group in groups:
            if budget and len(self.seen) + self.fleet.examples >= max(1, budget * 4 // 5):
                self.ahead = itertools.chain(group, self.ahead)
                self._cut_short(f"the budget of {budget} examples ended the sweep")
                break
            self._send(group, "sweep")
        self._look_closer(self.fleet.settle(), "sweep")
        for example in generate.large(self.case):
            self.try_example(example, "large")

    def _send(self, group: list[Example], phase: str) -> None:
        """Queue a batch, and look closer at what has been flagged meanwhile."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        if not self.avoids(group[0]):
            self._look_closer(self.fleet.send(group), phase)
            self.counter.launches += len(group)
            self._tell(phase, group[0])

    def _look_closer(self, groups: Iterator[Sequence[Example]], phase: str) -> None:
        for flagged in groups:
            most = CLOSER if len(self.wrong) < KEPT_WRONG else 1
            for example in flagged[:most]:
                self.try_example(example, phase)

    def _every_pattern(self) -> None:
        elements = PATTERN_ELEMENTS[self.backend]
        for name, parts in generate.every_pattern(self.case, elements):
            done = 0
            for example in parts:
                if self.avoids(example):
                    break
                self.try_example(example, "patterns")
                done += 1
            if done == len(parts):
                self.exhaustive.append(name)

    def _all_patterns(self) -> None:
        """Every bit pattern of up to 32 bits, where that was asked for."""
        for dtypes in exhaustive.choices(self.case):
            base = replace(generate.largest(self.case, 1), dtypes=dtypes)
            if self.avoids(base):
                continue
            self._announce(base)
            try:
                found = exhaustive.every_pattern(self.case, dtypes)
            except Exception as error:
                if not device_lives():
                    raise DeviceLostError(explain_error(error).message) from error
                continue  # what is refused or raised is a finding of the sweep
            finally:
                self.inflight.clear()
            self.notes.add(found.sentence())
            self.counter.elements += found.total
            name = " x ".join(d for _, d in dtypes)
            if name not in self.exhaustive:
                self.exhaustive.append(name)
            smallest = replace(generate.structures(self.case)[0], dtypes=dtypes)
            for bits in found.first[:CLOSER]:
                edits = [Edit(n, 0, b) for (n, _), b in zip(dtypes, bits, strict=True)]
                self.try_example(replace(smallest, edits=tuple(edits)), "patterns")

    def _compare(self) -> None:
        """Try what another backend tried, and note where the two disagree."""
        for theirs in self.request.compare:
            example = decode(theirs.token)
            if self.avoids(example):
                continue
            faults = self.try_example(example, "compare")
            own = self.digests.get(example)
            if own is None or example in self.unjudged:
                continue
            if own == theirs.digest:
                continue
            trial = self.launch(example, "compare")
            exact = trial.expected.ulps is None
            told = disagreement(theirs, str(self.backend), faults, own, exact)
            if told:
                order = _order(example, ())
                self.divergent.append((order, len(self.divergent), trial, told, theirs))

    def judgements(self) -> tuple[Judgement, ...]:
        """What became of each example that was judged one by one."""
        return tuple(
            Judgement(str(self.backend), encode(e, self.backend), faults, self.digests[e])
            for e, faults in self.seen.items()
            if e in self.digests and e not in self.unjudged
        )

    def _census(self, count: int) -> None:
        """Anchored examples from Hypothesis; the body records and never raises."""
        seen_before = len(self.seen)
        limit = self.request.elements or ELEMENTS[self.backend]
        gpu = self.backend is Backend.GPU
        launches = [(), *(generate.launch_choices(self.case) if gpu else ())]
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
        @hypothesis.seed(self.request.seed)
        @hypothesis.given(generate.examples(self.case, limit, launches))
        def body(example: Example) -> None:
            if stop or len(self.seen) - seen_before >= count:
                return
            try:
                if gpu:
                    # One drawn structure carries a batch of values.
                    group = [*generate.fleet(self.case, example), example]
                    self._send(list(dict.fromkeys(group)), "census")
                else:
                    self.try_example(example, "census")
            except BaseException as error:
                stop.append(error)

        body()
        if stop:
            raise stop[0]
        self._look_closer(self.fleet.settle(), "census")

    # ------------------------------------------------------------------ shrinking

    def _shrink(self, fault: str) -> None:
        """Find the smallest example of one fault: sizes first, then values, then sizes again."""
        launches = self.counter.launches
        large = generate.cost(self.sightings[fault].trial.example)[0] > 1 << 16
        limit = launches + (SHRINK_LAUNCHES // 2 if large else SHRINK_LAUNCHES * 3)

        def shows(example: Example) -> bool:
            if self.avoids(example):
                return False
            return fault in self.try_example(example, "shrink")

        for _ in range(3):
            before = self.sightings[fault].trial.example
            for smaller in generate.smaller_sizes(self.case, before, SHRINK_LAUNCHES):
                if self.counter.launches > limit or shows(smaller):
                    break
            for simpler in generate.simpler(self.case, self.sightings[fault].trial.example):
                if self.counter.launches > limit:
                    break
                if _order(simpler, ()) < _order(self.sightings[fault].trial.example, ()):
                    shows(simpler)
            self._alone(fault)
            if self.sightings[fault].trial.example == before:
                return

    def _alone(self, fault: str) -> None:
        """Where a fault was seen only beside others, look for a size that shows it alone."""
        known = self.sightings[fault]
        if len(known.diagnosis.faults) == 1:
            return
        best = known.trial.example
        for base in generate.structures(self.case):
            example = replace(base, dtypes=best.dtypes, fill=best.fill)
            if self.avoids(example) or generate.cost(base)[0] > 64 * generate.cost(best)[0]:
                continue
            if self.try_example(example, "shrink") == (fault,):
                return

    # ------------------------------------------------------------------ naming

    def accept(self) -> list[Candidate]:
        """The candidates about classes of elements that nothing refutes: companions in proofs."""
        return [
            c
            for c in self.remembered
            if c.partial and prove(c, self.wrong + self.right).refuted_by is None
        ]

    def _confirm(self) -> Iterator[Finding]:
        """Launch each smallest example again; what does not show again is not deterministic."""
        for fault, sighting in list(self.sightings.items()):
            if fault == NONDETERMINISTIC or not self.is_asked(fault):
                continue
            tries = [sighting.trial]
            if fault == MISMATCH:  # which of these is reported is decided later
                tries = sorted(self.unexplained, key=lambda t: _order(t.example, ()))[:MISMATCHES]
            if not any(self._shows_again(fault, trial) for trial in tries):
                del self.sightings[fault]
                if fault == MISMATCH:
                    self.unexplained.clear()
                yield self._flaky(fault, sighting)

    def _shows_again(self, fault: str, trial: Trial) -> bool:
        def name(again: Trial) -> tuple[str, ...]:
            self.repeat(again)
            return diagnose(again, self.remembered).faults

        try:
            return shows_again(fault, trial, lambda: self.launch(trial.example, "confirm"), name)
        except OutOfTimeError:
            return True  # nothing speaks against it

    def _flaky(self, fault: str, sighting: _Sighting) -> Finding:
        evidence = f"it looked like {fault} first; launched again, the same example did not show it"
        seen = _Sighting(
            sighting.trial,
            Diagnosis(direct={NONDETERMINISTIC: Direct((evidence,))}),
            sighting.seen,
            sighting.dtypes,
        )
        proof = Proof(elements=int(sighting.trial.wrong.sum()), statement=evidence)
        return self._finding(NONDETERMINISTIC, seen, proof)

    def findings(self) -> Iterator[Finding]:
        """One finding for each fault, with its smallest example and its proof."""
        companions = self.accept()
        named: dict[str, list[Finding]] = {}
        proven: list[Candidate] = []
        for flaky in self._confirm():
            named.setdefault(NONDETERMINISTIC, []).append(flaky)
        for fault in FAULT_IDS:
            sighting = self.sightings.get(fault)
            if sighting is None or fault == MISMATCH:
                continue
            settled = self._settle(fault, sighting, companions)
            if settled is None:
                self.unexplained.append(sighting.trial)
                continue
            names, proof, candidates = settled
            proven += candidates
            for name in names:
                named.setdefault(name, []).append(self._finding(name, sighting, proof))
        if self.divergent:
            named["backend-divergence"] = [self._divergence()]
        mismatch = self._mismatch(proven)
        if mismatch is not None:
            named[MISMATCH] = [mismatch]
        for fault in FAULT_IDS:
            group = sorted(named.get(fault, []), key=lambda f: generate.cost(f.example))
            if group and not self.is_asked(fault):
                self.notes.add(f"{fault} showed as well, which was not asked for")
            elif group:
                dtypes = sorted({d for f in group for d in f.dtypes})
                words = unnoticed(
                    fault,
                    self.record,
                    self.case,
                    named=named,
                    assert_close_passes=group[0].assert_close_passes,
                )
                yield replace(
                    group[0],
                    dtypes=tuple(dtypes),
                    seen=sum(f.seen for f in group),
                    unnoticed=words,
                )

    def _divergence(self) -> Finding:
        """Where two backends disagree, at the smallest such example."""
        _, _, trial, told, theirs = min(self.divergent)
        dtypes = {t.example.dtype() for _, _, t, _, _ in self.divergent}
        wrong = int(trial.wrong.sum())
        seen = _Sighting(trial, Diagnosis(wrong=wrong), len(self.divergent), dtypes)
        proof = Proof(wrong, 0, len(self.divergent) - 1, statement=told)
        finding = self._finding("backend-divergence", seen, proof)
        consists = because(theirs, str(self.backend), self.seen[trial.example])
        return replace(finding, evidence=(told, *finding.evidence), because=consists)

    def _mismatch(self, proven: list[Candidate]) -> Finding | None:
        """What no proven candidate accounts for, at its smallest example."""
        trials: list[tuple[tuple[int, ...], int, int, Trial]] = []
        for trial in self.unexplained:
            left = int(left_over(trial, proven).sum()) if trial.comparable else 0
            if left or not trial.comparable:
                trials.append((_order(trial.example, ()), len(trials), left, trial))
        if not trials:
            return None
        _, _, left, trial = min(trials)
        full = diagnose(trial, self.remembered, exhaustive=True)
        refuted = []
        for explanation in full.explanations:
            verdict = self._test(explanation, full, trial, [])
            if isinstance(verdict, str):
                refuted += [(f, verdict) for f in explanation.faults]
        proof = Proof(
            elements=full.wrong, explained=full.wrong - left, rivals=tuple(dict(refuted).items())
        )
        seen = _Sighting(trial, full, len(trials), {t.example.dtype() for *_, t in trials})
        return self._finding(MISMATCH, seen, proof)

    def _settle(
        self, fault: str, sighting: _Sighting, companions: list[Candidate]
    ) -> tuple[tuple[str, ...], Proof, tuple[Candidate, ...]] | None:
        """Prove the name of a fault at its smallest example, or find the names that hold there.

        None: every explanation was refuted on another example.
        """
        trial = sighting.trial
        full = diagnose(trial, self.remembered, exhaustive=True)
        if fault in full.direct:
            proof = Proof(
                elements=full.wrong,
                explained=_count(full, fault, trial),
                statement="; ".join(full.direct[fault].evidence),
                parameters=full.direct[fault].parameters,
                probes=max(0, sighting.seen - 1),
            )
            return (fault,), proof, ()
        rivals: list[tuple[str, str]] = []
        for alike in (False, True):
            for explanation in full.explanations:
                verdict = self._test(explanation, full, trial, companions, alike)
                if isinstance(verdict, str):
                    rivals += [(f, verdict) for f in explanation.faults]
                    continue
                # Where another fault holds than the one sighted, it is a finding of that name.
                names = (fault,) if fault in explanation.faults else explanation.faults
                rivals += self._rivals(explanation, full, companions)
                unique = {f: where for f, where in rivals if f not in names}
                proof = replace(verdict, rivals=tuple(unique.items()))
                return names, proof, explanation.candidates
        return None

    def _rivals(
        self,
        chosen: Explanation,
        full: Diagnosis,
        companions: list[Candidate],
    ) -> list[tuple[str, str]]:
        """The other faults that fit the smallest example, and what refuted them."""
        out = []
        for other in full.explanations:
            if other is chosen or set(other.faults) & set(chosen.faults):
                continue
            for found in other.candidates:
                test = prove(found, self.wrong + self.right, companions)
                if test.refuted_by is not None:
                    where = test.refuted_by.example
                    out += [(f, f"{where.label()} {where.dtype()}") for f in other.faults]
                    break
        return out

    def _test(
        self,
        explanation: Explanation,
        full: Diagnosis,
        trial: Trial,
        companions: list[Candidate],
        alike: bool = False,
    ) -> Proof | str:
        """The proof of an explanation, or the example that refutes it.

        `alike`: only on examples of the same dtypes; a compiler may treat each dtype by itself.
        """
        probes = 0
        for found in explanation.candidates:
            others = [t for t in (*self.wrong, *self.right) if t.example != trial.example]
            if alike:
                others = [t for t in others if t.example.dtypes == trial.example.dtypes]
            test = prove(found, others, companions)
            if test.refuted_by is None and test.probes < PROBES:
                extra = self._more_probes(found, trial)  # in the same dtypes
                again = prove(found, extra, companions)
                test.probes += again.probes
                test.refuted_by = again.refuted_by
            if test.refuted_by is not None:
                where = test.refuted_by.example
                return f"{where.label()} {where.dtype()}"
            probes += test.probes
        return Proof(
            elements=full.wrong,
            explained=full.accounted + explanation.explained,
            probes=probes,
            statement="; ".join(c.statement for c in explanation.candidates if c.statement)
            + (f" (in {trial.example.dtype()})" if alike else ""),
            parameters=tuple(p for c in explanation.candidates for p in c.parameters),
        )

    def _more_probes(self, found: Candidate, trial: Trial) -> list[Trial]:
        """Launch further examples that may tell a candidate from its neighbours."""
        del found
        out: list[Trial] = []
        base = trial.example
        tries = [replace(base, fill=Fill(k, s), edits=()) for k, s in _PROBE_FILLS]
        tries += [
            replace(s, dtypes=base.dtypes, fill=base.fill, edits=generate.kept_edits(self.case, e))
            for s in generate.structures(self.case)[:4]
            for e in [replace(s, edits=base.edits)]
        ]
        for example in tries:
            if len(out) >= 2 * PROBES:
                break
            if example in self.seen or self.avoids(example):
                continue
            try:
                probe = self.launch(example, "probe", thorough=True)
            except OutOfTimeError:
                break
            self.judge(probe)
            self.seen[example] = ()
            if not limit_of(probe):
                out.append(probe)
        return out

    def _finding(self, fault: str, sighting: _Sighting, proof: Proof) -> Finding:
        trial = sighting.trial
        return Finding(
            case=self.request.case,
            fault=fault,
            severity=SEVERITIES[fault],
            expected=False,
            backend=str(self.backend),
            dtype=trial.example.dtype(),
            example=trial.example,
            repro=encode(trial.example, self.backend),
            summary=summarise(fault),
            proof=proof,
            assert_close_passes=plain_verdict(trial),
            location=locate(trial, fault),
            excerpt=excerpt(trial),
            index_map=self._index_map(fault, trial),
            evidence=evidence_of(fault, trial, sighting.diagnosis),
            dtypes=tuple(sorted(sighting.dtypes)),
            seen=sighting.seen,
        )

    def _index_map(self, fault: str, smallest: Trial) -> IndexMap | None:
        """Recover where each element came from, unless the time is up."""
        alike = [t for t in self.wrong if fault in self.record[t.example]]
        alike.sort(key=lambda t: _order(t.example, self.record[t.example]))
        trial = telling(smallest, alike)
        try:
            found = index_map([self.launch(e, "map", thorough=True) for e in map_examples(trial)])
        except OutOfTimeError:
            return None
        if found is None or trial is smallest:
            return found
        return replace(found, example=trial.example)

    def _judged(self) -> list[tuple[Example, int]]:
        """Every example that was judged, and one of each batch with how many it stands for."""
        return [(e, 1) for e in self.seen if e not in self.unjudged] + self.fleet.structures

    def coverage(self) -> Coverage:
        """What was launched and judged."""
        counted = self._judged()
        judged = [e for e, _ in counted]
        axes = []
        for axis in self.case.axis_names():
            sizes = sorted({e.size(axis) for e in judged})
            if sizes:
                axes.append((axis, sizes[0], sizes[-1], len(sizes)))
        tiles = tuple(
            (t.name, tuple(sorted({e.tile(t.name) for e in judged}))) for t in self.case.tiles
        )
        dtypes: dict[str, int] = {}
        for example, count in counted:
            dtypes[example.dtype()] = dtypes.get(example.dtype(), 0) + count
        rate = self.fleet.examples / self.fleet.seconds if self.fleet.seconds else 0.0
        return Coverage(
            examples=len(self.seen.keys() - self.unjudged) + self.fleet.examples,
            launches=self.counter.launches,
            elements=self.counter.elements,
            sizes=tuple(axes),
            tiles=tiles,
            dtypes=tuple(dtypes.items()),
            layouts=tuple(sorted({x for e in judged for _, x in e.layouts})),
            exhaustive=tuple(self.exhaustive),
            skipped=tuple(
                Skipped(s.reason, s.count, tuple(sorted(s.dtypes))) for s in self.skips.values()
            ),
            cut_short=self.cut,
            examples_per_second=rate,
        )


_PROBE_FILLS = (
    (FillKind.NORMAL, 11),
    (FillKind.SPECIAL, 12),
    (FillKind.RANDOM, 13),
    (FillKind.INDEX, 0),
)


def limit_of(trial: Trial) -> str:
    """Why a trial must not be judged: a limit of the backend that its wrong values come from."""
    error = trial.seen.error
    if error is not None:
        return error.message if error.kind == "limit" else ""
    if not trial.seen.limits or not bool(trial.wrong.any()):
        return ""
    return ", ".join(trial.seen.limits)


def _count(full: Diagnosis, fault: str, trial: Trial) -> int:
    where = full.direct[fault].where
    return int((trial.wrong & where).sum()) if where is not None else full.wrong


#: dtypes in which an example reads best.
_FAMILIAR = ("float32", "int32", "int8", "float16", "float64", "int64", "int16", "uint8")


def _order(example: Example, faults: tuple[str, ...]) -> tuple[int, ...]:
    """Smaller first; at equal size fewer faults, fewer edits, simpler values, a familiar dtype."""
    kind = list(FillKind).index(example.fill.kind)
    odd = sum(x != "contiguous" for _, x in example.layouts)
    elements, tiles, edits = generate.cost(example)
    name = example.dtype()
    dtype = _FAMILIAR.index(name) if name in _FAMILIAR else len(_FAMILIAR)
    return len(faults) > 1, elements, tiles, odd, kind, edits, dtype


# --------------------------------------------------------------------------- entry points


#: the latest search of this process, for `end_soon`.
_RUNNING: list[_Search] = []


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
    search = _Search(case, request, emit, inflight)
    _RUNNING[:] = [search]
    outcome, reason = Outcome.PASS, ""
    try:
        gpu = search.backend is Backend.GPU
        if gpu and request.repro is None:
            compile_kinds(case, itertools.chain.from_iterable(generate.fleets(case)))
        with slot(gpu):
            if request.repro is None:
                search.run()
            else:
                _replay(search, request.repro)
            findings = tuple(named(case, f, search._announce) for f in search.findings())
    except CaseError as error:
        findings, outcome, reason = (), Outcome.ERROR, str(error)
    except DeviceLostError as error:
        # Nothing more can be launched from here. The supervisor finds the example in flight.
        sys.stderr.write(f"{DEVICE_FAILED}{error}\n")
        sys.stderr.flush()
        if search.current is not None:
            inflight.write(encode(search.current, search.backend))
        os._exit(DEVICE_UNSURE if search.fleet.unsure else DEVICE_LOST)
    if findings:
        outcome = Outcome.FAIL
    return CaseResult(
        case=request.case,
        backend=str(search.backend),
        outcome=outcome,
        reason=reason,
        coverage=search.coverage(),
        seconds=time.monotonic() - start,
        findings=findings,
        notes=tuple(sorted(search.notes)),
        judgements=search.judgements() if request.judge else (),
    )


def _replay(search: _Search, token: str) -> None:
    """Run one stored example, and its neighbours only as far as a proof needs them."""
    example = decode(token)
    _fits(search.case, example)
    search.try_example(example, "replay")


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


def smaller_examples(request: UnitRequest, token: str) -> tuple[str, ...]:
    """Tokens of smaller variants of an example, smallest first: candidates for a smaller crash."""
    case = case_of(request)
    example = decode(token)
    backend = token.split("/")[1]
    return tuple(encode(e, backend) for e in generate.smaller_sizes(case, example, 24))
