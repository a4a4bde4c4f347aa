"""From what a search has seen to findings: each fault at its smallest example, with its proof.

The explanations of the smallest example are tested on the other trials of the unit, and on further
ones where these are too few. The first that nothing refutes is the name. What no proven candidate
accounts for is `value-mismatch`. A finding whose example does not show it again is
`nondeterministic`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from tritaudit import generate, tuning
from tritaudit.confirm import same_result, shows_again
from tritaudit.contracts import Flip
from tritaudit.divergence import because
from tritaudit.faults import FAULT_IDS, SEVERITIES
from tritaudit.faults.diagnosis import (
    MISMATCH,
    Diagnosis,
    Explanation,
    Test,
    asked,
    diagnose,
    left_over,
    prove,
)
from tritaudit.faults.protocol import Candidate, Direct
from tritaudit.ledger import Ledger, OutOfTimeError, Sighting, limit_of, order_of
from tritaudit.model import Example, Fill, FillKind, Finding, IndexMap, Layout, Proof
from tritaudit.present import (
    changed_input,
    constant,
    evidence_of,
    excerpt,
    index_map,
    launch_places,
    locate,
    map_examples,
    plain_verdict,
    summarise,
    telling,
)
from tritaudit.report.wording import listed
from tritaudit.repro import encode
from tritaudit.trial import Trial
from tritaudit.unnoticed import unnoticed

#: examples that a proof asks for when those at hand are too few.
PROBES = 3
#: examples without an explanation that are launched again until one shows the same.
MISMATCHES = 3
#: launches of such an example that have to agree where something else was not deterministic.
STEADY = 8
NONDETERMINISTIC = "nondeterministic"
BESIDE, WRONG_AXIS = "out-of-bounds-read", "wrong-axis"
_UNTRIED = " (the time was over before this was tried on three further examples)"
#: larger sizes at which an explanation has to hold that is said to hold from some size on.
LARGER = 2
#: how the examples from some size of an axis on are marked.
_FROM = "from "
_PROBE_FILLS = (
    (FillKind.NORMAL, 11),
    (FillKind.SPECIAL, 12),
    (FillKind.RANDOM, 13),
    (FillKind.INDEX, 0),
)


class Naming:
    """The findings of one unit."""

    def __init__(self, book: Ledger) -> None:
        self.book = book

    def accept(self) -> list[Candidate]:
        """The candidates about classes of elements that nothing refutes: companions in proofs."""
        return [
            c
            for c in self.book.remembered
            if c.partial and prove(c, self.book.wrong + self.book.right).refuted_by is None
        ]

    def _confirm(self) -> Iterator[Finding]:
        """Launch each smallest example again; what does not show again is not deterministic."""
        for fault, sighting in list(self.book.sightings.items()):
            if fault == NONDETERMINISTIC or not self.book.is_asked(fault):
                continue
            tries = [sighting.trial]
            if fault == MISMATCH:  # which of these is reported is decided later
                tries = sorted(self.book.unexplained, key=lambda t: order_of(t.example, ()))[
                    :MISMATCHES
                ]
            if not any(self._shows_again(fault, trial) for trial in tries):
                del self.book.sightings[fault]
                if fault == MISMATCH:
                    self.book.unexplained.clear()
                yield self._flaky(fault, sighting)

    def _shows_again(self, fault: str, trial: Trial) -> bool:
        def name(again: Trial) -> tuple[str, ...]:
            self.book.repeat(again)
            return diagnose(again, self.book.remembered).faults

        try:
            return shows_again(
                fault, trial, lambda: self.book.launch(trial.example, "confirm"), name
            )
        except OutOfTimeError:
            return True  # nothing speaks against it

    def _steady(self, trial: Trial) -> bool:
        """Whether an example gives the same result each time, as far as a few launches can tell."""
        try:
            launches = (self.book.launch(trial.example, "confirm") for _ in range(STEADY))
            return all(same_result(trial.seen, again.seen) for again in launches)
        except OutOfTimeError:
            return True  # nothing speaks against it

    def _flaky(self, fault: str, sighting: Sighting) -> Finding:
        evidence = f"it looked like {fault} first; launched again, the same example did not show it"
        seen = Sighting(
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
        changing = NONDETERMINISTIC in named or NONDETERMINISTIC in self.book.sightings
        for fault in FAULT_IDS:
            sighting = self.book.sightings.get(fault)
            if sighting is None or fault == MISMATCH:
                continue
            if fault == BESIDE and changing and not self._steady(sighting.trial):
                continue  # the output changed, but not because the guard bands did
            settled = self._settle(fault, sighting, [*companions, *proven])
            if settled is None:
                self.book.unexplained.append(sighting.trial)
                continue
            names, proof, candidates = settled
            proven += candidates
            for name in names:
                shown = self._visible(name, sighting, proof, candidates)
                named.setdefault(name, []).append(self._finding(name, *shown))
        if self.book.divergent:
            named["backend-divergence"] = [self._divergence()]
        mismatch = self._mismatch(proven, tuple(named))
        if mismatch is not None:
            named[MISMATCH] = [mismatch]
        for fault in FAULT_IDS:
            group = sorted(named.get(fault, []), key=lambda f: generate.cost(f.example))
            if group and not self.book.is_asked(fault):
                self.book.notes.add(f"{fault} showed as well, which was not asked for")
            elif group:
                dtypes = sorted({d for f in group for d in f.dtypes})
                words = unnoticed(
                    fault,
                    {**dict.fromkeys(self.book.fleet.right, ()), **self.book.record},
                    self.book.case,
                    named=named,
                    assert_close_passes=group[0].assert_close_passes,
                )
                yield replace(
                    group[0],
                    dtypes=tuple(dtypes),
                    seen=sum(f.seen for f in group),
                    unnoticed=words,
                )

    def _visible(
        self, fault: str, sighting: Sighting, proof: Proof, candidates: tuple[Candidate, ...]
    ) -> tuple[Sighting, Proof]:
        """A sighting in which each axis that is reversed, or should be, has two elements.

        That `H` is reversed cannot be seen at H = 1.
        """
        example, case = sighting.trial.example, self.book.case
        told = {a for c in candidates for a, way in c.parameters if way.split()[0] == "reverse"}
        if isinstance(case.contract, Flip):
            told |= set(case.contract.axes)
        hidden = {a for a, size in example.sizes if size == 1 and a in told}
        fixed = any((case.bounds(axis)[1] or 2) < 2 for axis in hidden)
        if fault != WRONG_AXIS or not hidden or fixed or self.book.only is not None:
            return sighting, proof
        sizes = tuple((a, 2 if a in hidden else size) for a, size in example.sizes)
        larger = replace(example, sizes=sizes, edits=())
        if self.book.avoids(larger):
            return sighting, proof
        try:
            trial = self.book.launch(larger, "probe", thorough=True)
        except OutOfTimeError:
            return sighting, proof
        found = diagnose(trial, candidates)
        if found.faults != (fault,) or found.explanations[0].candidates != candidates:
            return sighting, proof
        seen = Sighting(trial, found, sighting.seen, sighting.dtypes)
        return seen, replace(proof, elements=found.wrong, explained=found.wrong)

    def _divergence(self) -> Finding:
        """Where two backends disagree, at the smallest such example."""
        _, _, trial, told, theirs = min(self.book.divergent)
        dtypes = {t.example.dtype() for _, _, t, _, _ in self.book.divergent}
        wrong = int(trial.wrong.sum())
        seen = Sighting(trial, Diagnosis(wrong=wrong), len(self.book.divergent), dtypes)
        proof = Proof(wrong, 0, len(self.book.divergent) - 1, statement=told)
        finding = self._finding("backend-divergence", seen, proof)
        consists = because(theirs, str(self.book.backend), self.book.seen[trial.example])
        return replace(finding, evidence=(told, *finding.evidence), because=consists)

    def _mismatch(self, proven: list[Candidate], named: tuple[str, ...]) -> Finding | None:
        """What no proven candidate accounts for, at its smallest example."""
        trials: list[tuple[tuple[int, ...], int, torch.Tensor, Trial]] = []
        for trial in self.book.unexplained:
            left = self._left(trial, proven, named) if trial.comparable else trial.wrong
            if bool(left.any()) or not trial.comparable:
                trials.append((order_of(trial.example, ()), len(trials), left, trial))
        smallest = sorted(trials, key=lambda t: t[:2])[:MISMATCHES]
        if NONDETERMINISTIC in named:
            # What comes out differently each time is no mismatch beside that.
            smallest = [t for t in smallest if self._steady(t[-1])]
        if not smallest:
            return None
        *_, left, trial = smallest[0]
        full = diagnose(trial, self.book.remembered, exhaustive=True)
        refuted = []
        for explanation in full.explanations:
            verdict = self._test(explanation, full, trial, [])
            if not isinstance(verdict, Proof):
                refuted += [(f, verdict) for f in explanation.faults if verdict]
        proof = Proof(
            elements=full.wrong,
            explained=full.wrong - int(left.sum()),
            rivals=tuple(dict(refuted).items()),
        )
        seen = Sighting(trial, full, len(trials), {t.example.dtype() for *_, t in trials})
        finding = self._finding(MISMATCH, seen, proof)
        told = [constant([(t, mask) for *_, mask, t in trials])]
        tried = asked(trial)
        if tried and not int(full.wrong - left.sum()):
            told.append(f"no prediction of {listed(tried, 'or')} is what came out")
        return replace(finding, evidence=(*finding.evidence, *filter(None, told)))

    def _left(self, trial: Trial, proven: list[Candidate], named: tuple[str, ...]) -> torch.Tensor:
        """The wrong elements that nothing accounts for.

        A trial that looked familiar was launched once; what it read beside its inputs shows only
        when it is launched again.
        """
        left = left_over(trial, proven, named)
        if bool(left.any()) and trial.unwritten is None:
            self.book.repeat(trial)
            left = left_over(trial, proven, named)
        return left

    def _settle(
        self, fault: str, sighting: Sighting, companions: list[Candidate]
    ) -> tuple[tuple[str, ...], Proof, tuple[Candidate, ...]] | None:
        """Prove the name of a fault at its smallest example, or find the names that hold there.

        None: every explanation was refuted on another example.
        """
        trial = sighting.trial
        full = diagnose(trial, self.book.remembered, exhaustive=True)
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
        kinds = ("", *(["config"] if len(tuning.choices()) > 1 else []), "layouts", "dtypes")
        for alike in (*kinds, *self._thresholds(trial.example)):
            for explanation in full.explanations:
                verdict = self._test(explanation, full, trial, companions, alike)
                if not isinstance(verdict, Proof):
                    rivals += [(f, verdict) for f in explanation.faults if verdict]
                    continue
                # Where another fault holds than the one sighted, it is a finding of that name.
                names = (fault,) if fault in explanation.faults else explanation.faults
                rivals += self._rivals(explanation, full, companions)
                unique = {f: w for f, w in rivals if f not in (*names, *explanation.faults)}
                proof = replace(verdict, rivals=tuple(unique.items()))
                return names, proof, explanation.candidates
        return None

    def _thresholds(self, example: Example) -> list[str]:
        """The axes from whose size on a fault may be at work: what is smaller comes out right."""
        return [
            f"{_FROM}{axis}"
            for axis, size in example.sizes
            if any(t.example.size(axis) < size for t in self.book.right)
            and not any(t.example.size(axis) < size for t in self.book.wrong)
        ]

    def _rivals(
        self,
        chosen: Explanation,
        full: Diagnosis,
        companions: list[Candidate],
    ) -> list[tuple[str, str]]:
        """The other faults that fit the smallest example, and what refuted them."""
        out = []
        trials = self.book.wrong + self.book.right
        for other in full.explanations:
            if other is chosen or set(other.faults) & set(chosen.faults):
                continue
            for found in other.candidates:
                test = prove(found, trials, companions, self.book.sightings)
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
        alike: str = "",
    ) -> Proof | str:
        """The proof of an explanation, or the example that refutes it.

        "" where nothing refutes it and too few examples could be had to prove it. Where the time
        ran out instead, the name stands, and the proof tells on how little.

        `alike`: only on examples of the same launch options, because each configuration of an
        autotuned kernel has its own tiles; or of the same layouts as well, where another fault may
        be at work in others; or of the same dtypes, too, because a compiler may treat each dtype by
        itself. Or only on examples that are as large along an axis, because a function may launch
        another kernel from some size on.
        """
        probes = 0
        axis = alike.removeprefix(_FROM) if alike.startswith(_FROM) else ""
        for found in explanation.candidates:
            others = [t for t in (*self.book.wrong, *self.book.right) if t.example != trial.example]
            if axis:
                others = [t for t in others if _as_large(t.example, trial.example, axis)]
            elif alike:
                others = [t for t in others if t.example.launch == trial.example.launch]
            if alike in ("layouts", "dtypes"):
                others = [t for t in others if t.example.layouts == trial.example.layouts]
            if alike == "dtypes":
                others = [t for t in others if t.example.dtypes == trial.example.dtypes]
            test = prove(found, others, companions, self.book.sightings)
            if test.refuted_by is None and test.probes < PROBES:
                again = self._probe(found, trial, companions, PROBES - test.probes, axis)
                test.probes += again.probes
                test.refuted_by = again.refuted_by
            if test.refuted_by is not None:
                where = test.refuted_by.example
                return f"{where.label()} {where.dtype()}"
            if test.probes < PROBES and not self.book.is_over:
                return ""
            if axis and self._larger(found, trial, companions, axis) < LARGER:
                return ""
            probes += test.probes
        return Proof(
            elements=full.wrong,
            explained=full.accounted + explanation.explained,
            probes=probes,
            statement="; ".join(c.statement for c in explanation.candidates if c.statement)
            + _limited_to(trial.example, alike)
            + (_UNTRIED if probes < PROBES else ""),
            parameters=tuple(p for c in explanation.candidates for p in c.parameters),
        )

    def _larger(
        self, found: Candidate, trial: Trial, companions: list[Candidate], axis: str
    ) -> int:
        """At how many larger sizes of an axis a candidate predicted wrong elements."""
        size = trial.example.size(axis)
        larger = [t for t in self.book.wrong if t.example.size(axis) > size]
        held = [t for t in larger if prove(found, [t], companions, self.book.sightings).probes]
        return len({t.example.size(axis) for t in held})

    def _probe(
        self,
        found: Candidate,
        trial: Trial,
        companions: list[Candidate],
        wanted: int,
        axis: str = "",
    ) -> Test:
        """Test a candidate on further examples in the same dtypes, until it held on enough of them.

        What only an edited element shows (a NaN, a minimum) needs that element in them. `axis`:
        none of these is smaller along it.
        """
        test = Test()
        base = trial.example
        tries = [replace(base, fill=Fill(k, s), edits=()) for k, s in _PROBE_FILLS]
        if base.edits:
            tries += [replace(base, fill=Fill(k, s)) for k, s in _PROBE_FILLS]
        shapes = generate.structures(self.book.case)
        larger = [s for s in shapes if generate.cost(s) > generate.cost(replace(base, edits=()))]
        for shape in (*larger[:4], *shapes[:4]):
            edits = generate.kept_edits(self.book.case, replace(shape, edits=base.edits))
            here = replace(shape, launch=base.launch, dtypes=base.dtypes, fill=base.fill)
            tries.append(replace(here, edits=edits))
        for example in tries:
            if test.probes >= wanted or test.refuted_by is not None:
                break
            if example in self.book.seen or self.book.avoids(example):
                continue
            if axis and not _as_large(example, base, axis):
                continue
            try:
                probe = self.book.launch(example, "probe", thorough=True)
            except OutOfTimeError:
                break
            self.book.judge(probe)
            self.book.seen[example] = ()
            if limit_of(probe):
                continue
            one = prove(found, [probe], companions, self.book.sightings)
            test.probes += one.probes
            test.refuted_by = one.refuted_by
        return test

    def _finding(self, fault: str, sighting: Sighting, proof: Proof) -> Finding:
        trial = sighting.trial
        location = locate(trial, fault)
        shown = changed_input(trial) if fault == "input-mutated" else None
        return Finding(
            case=self.book.request.case,
            fault=fault,
            severity=SEVERITIES[fault],
            expected=False,
            backend=str(self.book.backend),
            dtype=trial.example.dtype(),
            example=trial.example,
            repro=encode(trial.example, self.book.backend),
            summary=summarise(fault),
            proof=proof,
            assert_close_passes=plain_verdict(trial),
            location=location,
            launches=launch_places(trial, location),
            excerpt=shown or excerpt(trial),
            index_map=self._index_map(fault, trial),
            evidence=evidence_of(fault, trial, sighting.diagnosis),
            dtypes=tuple(sorted(sighting.dtypes)),
            seen=sighting.seen,
        )

    def _index_map(self, fault: str, smallest: Trial) -> IndexMap | None:
        """Recover where each element came from, unless the time is up."""
        alike = [t for t in self.book.wrong if fault in self.book.record[t.example]]
        alike.sort(key=lambda t: order_of(t.example, self.book.record[t.example]))
        trial = telling(smallest, alike)
        try:
            found = index_map(
                [self.book.launch(e, "map", thorough=True) for e in map_examples(trial)]
            )
        except OutOfTimeError:
            return None
        if found is None or trial is smallest:
            return found
        return replace(found, example=trial.example)


def _as_large(example: Example, than: Example, axis: str) -> bool:
    return example.size(axis) >= than.size(axis)


def _limited_to(example: Example, alike: str) -> str:
    """Of which examples an explanation is true, if not of all."""
    if not alike:
        return ""
    if alike.startswith(_FROM):
        axis = alike.removeprefix(_FROM)
        return f" (from {axis} = {example.size(axis)} on)"
    if alike == "config":
        return ""
    if alike == "dtypes":
        return f" (in {example.dtype()})"
    odd = [str(layout) for _, layout in example.layouts if layout != Layout.CONTIGUOUS]
    return f" (where the input is {odd[0] if odd else Layout.CONTIGUOUS})"


def _count(full: Diagnosis, fault: str, trial: Trial) -> int:
    where = full.direct[fault].where
    return int((trial.wrong & where).sum()) if where is not None else full.wrong
