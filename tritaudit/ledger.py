"""What one unit has launched and seen, and every launch of it.

The search asks for examples to be tried and reads here what came of them; the naming tests names on
the trials that are kept here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from tritaudit import generate
from tritaudit.backend import ZEROS_LIMIT, current, launch
from tritaudit.divergence import digest
from tritaudit.examine import Counter, examine, repeat, shows_poison
from tritaudit.faults.diagnosis import MISMATCH, Diagnosis, diagnose
from tritaudit.faults.protocol import Candidate
from tritaudit.fleet import QUEUED, Fleet
from tritaudit.inflight import InFlight
from tritaudit.model import (
    Case,
    Coverage,
    Event,
    Example,
    FillKind,
    Judgement,
    Progress,
    Skipped,
    UnitRequest,
)
from tritaudit.present import view_note
from tritaudit.report.wording import count
from tritaudit.repro import decode, encode
from tritaudit.trial import Trial

#: failing trials that are kept for proofs, and right ones.
KEPT_WRONG, KEPT_RIGHT, KEPT_ALIKE = 120, 40, 5
#: elements of the largest trial that is kept for proofs: a prediction takes time for each.
KEPT_ELEMENTS = 1 << 16
#: unexplained examples after which every candidate is tried only now and then.
PUZZLED = 12
#: how many of them have to be of the dtypes of an example.
PUZZLED_ALIKE = 3


class OutOfTimeError(Exception):
    """The deadline of the unit has passed."""


@dataclass(slots=True)
class Sighting:
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


class Ledger:
    """What one unit has launched and seen; every launch of a search goes through here."""

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
        self.sightings: dict[str, Sighting] = {}
        self.remembered: list[Candidate] = []
        self.wrong: list[Trial] = []
        self.right: list[Trial] = []
        self.unjudged: set[Example] = set()
        self.digests: dict[Example, int] = {}
        self.divergent: list[tuple[tuple[int, ...], int, Trial, str, Judgement]] = []
        self.kept: dict[tuple[object, ...], int] = {}
        self.unexplained: list[Trial] = []
        #: the example whose faults are asked for, where it is one: others only serve its proofs.
        self.only: Example | None = None
        self.skips: dict[str, _Skips] = {}
        self.limited: dict[tuple[str, ...], int] = {}
        self.exhaustive: list[str] = []
        self.avoided = [decode(token) for token in request.avoid]
        self.notes: set[str] = set()
        #: why the search ended before its time, and the examples of the sweep that were left then.
        self.cut, self.ahead = "", 0
        self.fleet = Fleet(case, self.announce, 1 if request.careful else QUEUED)
        self.current: Example | None = None
        self._told = 0.0

    # ------------------------------------------------------------------ one example

    @property
    def is_over(self) -> bool:
        """Whether the time of the unit has passed."""
        return time.monotonic() > self.deadline

    def launch(self, example: Example, phase: str, thorough: bool = False) -> Trial:
        """Announce an example, launch it, and count it."""
        if self.is_over:
            raise OutOfTimeError
        self.announce(example)
        try:
            trial = examine(self.case, example, self.counter)
            if thorough:
                repeat(trial, self.counter)
        finally:
            self.inflight.clear()
        self.tell(phase, example)
        return trial

    def try_launch(self, example: Example) -> None:
        """Launch an example only to see what the kernel does; its output is not judged."""
        if self.avoids(example):
            return
        self.announce(example)
        try:
            launch(self.case, example)
        finally:
            self.inflight.clear()

    def repeat(self, trial: Trial) -> None:
        """Launch an example again, so that what was not written or read astray is seen."""
        self.announce(trial.example)
        try:
            repeat(trial, self.counter)
        finally:
            self.inflight.clear()

    def announce(self, example: Example) -> None:
        """Say what is about to be launched, for whoever finds this process dead."""
        self.current = example
        self.inflight.write(encode(example, self.backend))

    def tell(self, phase: str, example: Example) -> None:
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

    def news(self, example: Example, phase: str) -> Trial | None:
        """Launch an example; the trial where it is wrong as no candidate so far predicts.

        Everything else is recorded as ever. News is not, so that it can be found again elsewhere.
        """
        if example in self.seen or self.avoids(example):
            return None
        trial = self.launch(example, phase)
        odd = not limit_of(trial) and not trial.faultless
        familiar = self._familiar(trial) if odd else None
        if odd and familiar is None:
            return trial
        self.seen[example] = self.judge(trial, familiar)
        return None

    def _limit_of(self, kinds: tuple[str, ...]) -> str:
        for reason, entry in self.skips.items():
            if kinds[0] in entry.dtypes:
                return reason
        return "a limit of the backend"

    def judge(self, trial: Trial, familiar: Diagnosis | None = None) -> tuple[str, ...]:
        """Record what a trial shows. `familiar`: what `_familiar` says of it, if it was asked."""
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
            if len(self.right) < KEPT_RIGHT and _is_handy(trial):
                self.right.append(trial)
            return ()
        diagnosis = familiar or self._familiar(trial)
        if diagnosis is None:
            self.repeat(trial)
            known = is_puzzling(trial, self.unexplained) and len(self.seen) % PUZZLED != 0
            diagnosis = diagnose(trial, self.remembered, only_remembered=known)
        if diagnosis.explanations:
            for found in diagnosis.explanations[0].candidates:
                if found not in self.remembered:
                    self.remembered.append(found)
        self.record[trial.example] = diagnosis.faults
        self._keep(trial)
        if self.only not in (None, trial.example):
            return diagnosis.faults
        if MISMATCH in diagnosis.faults and len(self.unexplained) < KEPT_WRONG:
            self.unexplained.append(trial)
        for fault in diagnosis.faults:
            self._sight(fault, trial, diagnosis)
        return diagnosis.faults

    def _keep(self, trial: Trial) -> None:
        """Keep a wrong trial for proofs; few of one structure, or there is no room for others."""
        place = (trial.example.sizes, trial.example.tiles, trial.example.launch)
        alike = self.kept.get(place, 0)
        if len(self.wrong) < KEPT_WRONG and alike < KEPT_ALIKE and _is_handy(trial):
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
            known = self.sightings[fault] = Sighting(trial, diagnosis, 0)
        known.seen += 1
        known.dtypes.add(trial.example.dtype())
        if order_of(trial.example, diagnosis.faults) < order_of(
            known.trial.example, known.diagnosis.faults
        ):
            known.trial, known.diagnosis = trial, diagnosis

    def is_asked(self, fault: str) -> bool:
        """Whether a fault is to be reported."""
        return not self.request.faults or fault in self.request.faults

    def judgements(self) -> tuple[Judgement, ...]:
        """What became of each example that was judged one by one."""
        return tuple(
            Judgement(str(self.backend), encode(e, self.backend), faults, self.digests[e])
            for e, faults in self.seen.items()
            if e in self.digests and e not in self.unjudged
        )

    def judged(self) -> list[tuple[Example, int]]:
        """Every example that was judged, and one of each batch with how many it stands for."""
        return [(e, 1) for e in self.seen if e not in self.unjudged] + self.fleet.structures

    def coverage(self) -> Coverage:
        """What was launched and judged."""
        counted = self.judged()
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
        for example, number in counted:
            dtypes[example.dtype()] = dtypes.get(example.dtype(), 0) + number
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
            cut_short=self._cut_short(dtypes) if self.cut else "",
            examples_per_second=rate,
        )

    def _cut_short(self, judged: Collection[str]) -> str:
        """Why the search ended before its time, and what neither it nor a proof came to."""
        never = [d for d in self.case.inputs[0].dtypes if d not in judged]
        missed = [f"{count(self.ahead, 'example')} of the sweep"] if self.ahead else []
        missed += [", ".join(never)] if never else []
        return f"{self.cut}; not reached: {' and '.join(missed)}" if missed else self.cut


def _is_handy(trial: Trial) -> bool:
    """Whether a trial is small enough to be predicted over and over."""
    return trial.wrong.numel() <= KEPT_ELEMENTS


def is_puzzling(trial: Trial, unexplained: Sequence[Trial]) -> bool:
    """Whether so much is unexplained that few further examples like a trial are asked about.

    What is unexplained in one dtype says little of another: a compiler may break integers alone.
    """
    alike = sum(t.example.dtypes == trial.example.dtypes for t in unexplained)
    return len(unexplained) >= PUZZLED and alike >= PUZZLED_ALIKE


def limit_of(trial: Trial) -> str:
    """Why a trial must not be judged: a limit of the backend that its wrong values come from."""
    error = trial.seen.error
    if error is not None:
        return error.message if error.kind == "limit" else ""
    if not trial.seen.limits or not bool(trial.wrong.any()):
        return ""
    met = set(trial.seen.limits)
    if ZEROS_LIMIT in met and not _only_zeros_differ(trial):
        met.remove(ZEROS_LIMIT)
    return ", ".join(sorted(met))


def _only_zeros_differ(trial: Trial) -> bool:
    """Whether every wrong element is a zero where the other zero belongs."""
    if not trial.comparable or not trial.got.is_floating_point():
        return False
    got, wanted = trial.got[trial.wrong], trial.expected.value[trial.wrong]
    return bool(((got == 0) & (wanted == 0)).all())


#: dtypes in which an example reads best.
_FAMILIAR = ("float32", "int32", "int8", "float16", "float64", "int64", "int16", "uint8")


def order_of(example: Example, faults: tuple[str, ...]) -> tuple[int, ...]:
    """Smaller first; at equal size fewer faults, options and edits, simpler values and dtypes."""
    kind = list(FillKind).index(example.fill.kind)
    odd = sum(x != "contiguous" for _, x in example.layouts)
    elements, tiles, edits = generate.cost(example)
    name = example.dtype()
    dtype = _FAMILIAR.index(name) if name in _FAMILIAR else len(_FAMILIAR)
    return len(faults) > 1, elements, tiles, len(example.launch), odd, kind, edits, dtype
