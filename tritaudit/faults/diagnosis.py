"""Names the faults of a trial, and tests the names on other trials.

`diagnose` looks at one trial. What was seen directly accounts for its elements; the candidates of
every fault are then asked to predict the rest. A candidate that predicts every remaining wrong
element is an explanation; if there is none, candidates that each predict a class of elements are
put together. What is left over is `value-mismatch`.

One trial seldom tells neighbours apart: at N = 1 a leaked 0 could have many causes. `prove` tests a
candidate on other trials of the same case, where it has to be right as well; what it is refuted by
is kept.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch

from tritaudit.faults import FAULT_IDS
from tritaudit.faults.motions import several_axes
from tritaudit.faults.protocol import Candidate, Claim, Direct, Fault
from tritaudit.tensors import bits_of, is_nan, is_negative_zero
from tritaudit.trial import Trial, disagrees

MISMATCH = "value-mismatch"


@cache
def registry() -> tuple[Fault, ...]:
    """Every fault, in the order in which equally good explanations are preferred."""
    out = []
    for name in FAULT_IDS:
        module = importlib.import_module(f"tritaudit.faults.{name.replace('-', '_')}")
        out.append(module.FAULT)
    return tuple(out)


def asked(trial: Trial) -> tuple[str, ...]:
    """The faults that have a prediction for a trial, true or not."""
    if not trial.comparable:
        return ()
    return tuple(f.id for f in registry() if next(iter(f.candidates(trial)), None) is not None)


@dataclass(slots=True)
class Explanation:
    """Candidates that together predict the wrong elements of a trial, and the faults they show."""

    candidates: tuple[Candidate, ...]
    faults: tuple[str, ...]
    explained: int

    @property
    def rank(self) -> tuple[int, int, int, int]:
        first = min((FAULT_IDS.index(f) for f in self.faults), default=len(FAULT_IDS))
        general = sum(c.general for c in self.candidates)
        return len(self.candidates), len(self.faults), first, general


@dataclass(slots=True)
class Diagnosis:
    """What is wrong with one trial.

    Attributes:
        direct: faults that were seen without predicting values.
        explanations: every way to predict the remaining wrong elements, best first.
        wrong: wrong elements, and how many of them `direct` accounts for.
        left: wrong elements that the best explanation does not predict.
    """

    direct: dict[str, Direct] = field(default_factory=dict)
    explanations: list[Explanation] = field(default_factory=list)
    wrong: int = 0
    accounted: int = 0
    left: int = 0

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults of the best explanation, value-mismatch for what it leaves over."""
        found = set(self.direct)
        if self.explanations:
            found.update(self.explanations[0].faults)
        if self.left:
            found.add(MISMATCH)
        return tuple(f for f in FAULT_IDS if f in found)


def accounted(trial: Trial, direct: dict[str, Direct]) -> torch.Tensor:
    """The elements that need no prediction: seen directly to be unwritten, stray or unstable."""
    mask = torch.zeros_like(trial.wrong)
    for seen in direct.values():
        if seen.where is not None:
            mask |= seen.where
    return mask


def seen_directly(trial: Trial) -> dict[str, Direct]:
    """The faults that need no prediction."""
    out: dict[str, Direct] = {}
    for fault in registry():
        found = fault.direct(trial)
        if found is not None:
            out[fault.id] = found
    return out


def _candidates(
    trial: Trial, remembered: Sequence[Candidate], only_remembered: bool
) -> Iterator[Candidate]:
    """Candidates that explained earlier trials, then those of every fault, each once."""
    yield from remembered
    if only_remembered:
        return
    known = {c.key for c in remembered}
    for fault in registry():
        for found in fault.candidates(trial):
            if found.key not in known:
                known.add(found.key)
                yield found


def _visible_faults(
    claim: Claim, skip: torch.Tensor, direct: Collection[str] = ()
) -> tuple[str, ...]:
    """The faults of a claim that can be seen in what is left of the output.

    A masked lane that reaches only positions which were never written has leaked nowhere: the
    fault is that they were not written. What was seen directly needs no prediction, so a claim that
    predicts it as well is no more than one that leaves it out.
    """
    faults = tuple(f for f in claim.faults if f not in direct) or claim.faults
    if claim.masked is None or not bool(skip.any()) or bool((claim.masked & ~skip).any()):
        return faults
    return tuple(f for f in faults if f != "padding-leak")


def diagnose(
    trial: Trial,
    remembered: Sequence[Candidate] = (),
    exhaustive: bool = False,
    only_remembered: bool = False,
) -> Diagnosis:
    """Explain one trial.

    Args:
        remembered: candidates that explained earlier trials of the case; tried first.
        exhaustive: keep looking for rivals after the first explanation.
        only_remembered: try no others.
    """
    result = Diagnosis(direct=seen_directly(trial), wrong=int(trial.wrong.sum()))
    if not trial.comparable:
        return result
    if trial.case.in_place is not None and "nondeterministic" in result.direct:
        _take_for_race(trial, result)
    skip = accounted(trial, result.direct)
    rest = trial.wrong & ~skip
    result.accounted = result.wrong - int(rest.sum())
    if not bool(rest.any()):
        return result
    partial: list[tuple[Candidate, Claim]] = []
    for found in _candidates(trial, remembered, only_remembered):
        claim = found.predict(trial)
        if claim is None or not claim.faults or bool(claim.refuted(trial, skip).any()):
            continue
        hit = claim.explains(trial) & rest
        if bool((rest & ~hit).any()):
            if bool(hit.any()):
                partial.append((found, claim))
            continue
        faults = _visible_faults(claim, skip, result.direct)
        result.explanations.append(Explanation((found,), faults, int(hit.sum())))
        if not exhaustive and found in remembered:
            break
    if not result.explanations:
        _combine(trial, rest, partial, result)
    if (exhaustive or not result.explanations or result.left) and not only_remembered:
        _several(trial, rest, skip, result, exhaustive)
    result.explanations.sort(key=lambda e: e.rank)
    return result


def _take_for_race(trial: Trial, result: Diagnosis) -> None:
    """Where an alias race explains every wrong element, that results vary is part of it."""
    from tritaudit.faults import alias_race

    for found in alias_race.candidates(trial):
        claim = found.predict(trial)
        if claim is not None and not bool((trial.wrong & ~claim.explains(trial)).any()):
            del result.direct["nondeterministic"]
            return


def _combine(
    trial: Trial,
    rest: torch.Tensor,
    partial: list[tuple[Candidate, Claim]],
    result: Diagnosis,
) -> None:
    """Put candidates together that each predict a class of the remaining elements."""
    picked: list[Candidate] = []
    faults: set[str] = set()
    left = rest.clone()
    # A candidate about a class of elements leaves room for others; most elements first.
    pool = [(c, claim) for c, claim in partial if claim.where is not None]
    pool.sort(key=lambda p: (-int((p[1].explains(trial) & rest).sum()), p[0].general))
    for found, claim in pool:
        hit = claim.explains(trial) & left
        if bool(hit.any()):
            picked.append(found)
            faults.update(claim.faults)
            left &= ~hit
    result.left = int(left.sum())
    if picked:
        names = tuple(f for f in FAULT_IDS if f in faults)
        count = int(rest.sum()) - result.left
        result.explanations.append(Explanation(tuple(picked), names, count))


def _several(
    trial: Trial, rest: torch.Tensor, skip: torch.Tensor, result: Diagnosis, exhaustive: bool
) -> None:
    """Motions that are wrong along two axes, tried when nothing simpler is right."""
    for found in several_axes(trial):
        claim = found.predict(trial)
        if claim is None or not claim.faults or bool(claim.refuted(trial, skip).any()):
            continue
        if not bool((rest & ~claim.explains(trial)).any()):
            if result.left:
                result.explanations, result.left = [], 0
            faults = _visible_faults(claim, skip, result.direct)
            result.explanations.append(Explanation((found,), faults, int(rest.sum())))
            if not exhaustive:
                return


def left_over(
    trial: Trial, proven: Sequence[Candidate], named: Collection[str] = ()
) -> torch.Tensor:
    """The wrong elements that neither a direct sighting nor a proven candidate accounts for.

    `named` are the faults that were proven.
    """
    rest = trial.wrong & ~accounted(trial, seen_directly(trial))
    for found in proven:
        if not bool(rest.any()):
            break
        claim = found.predict(trial)
        if claim is not None:
            rest = rest & ~claim.explains(trial) & ~_excused(trial, claim, (), named)
    return rest


# --------------------------------------------------------------------------- proof


@dataclass(slots=True)
class Test:
    """How a candidate fared on other trials."""

    probes: int = 0
    refuted_by: Trial | None = None


def _excused(
    trial: Trial, claim: Claim, companions: Sequence[Candidate], sighted: Collection[str]
) -> torch.Tensor:
    """The elements that do not speak against a claim, because something else is at work there.

    Arithmetic on what should only move goes on after the move: where a kernel sums what it moves,
    a NaN or Inf spreads and a -0.0 loses its sign wherever the elements have come to lie.
    """
    mask = torch.zeros_like(trial.wrong)
    for other in companions:
        theirs = other.predict(trial)
        # What is about every element excuses only a claim that is about some.
        if theirs is not None and (theirs.where is not None or claim.where is not None):
            mask |= theirs.about(trial) & ~disagrees(trial.got, theirs.predicted)
    if "nan-contamination" in sighted and _has_non_finite(trial):
        mask |= is_nan(trial.got)
    if "signed-zero-lost" in sighted:
        mask |= is_negative_zero(claim.predicted.value) & (bits_of(trial.got) == 0)
    return mask


def _has_non_finite(trial: Trial) -> bool:
    """Whether an input holds a NaN or an infinity."""
    floats = [x for x in trial.inputs.values() if x.is_floating_point()]
    return any(not bool(torch.isfinite(x.to(torch.float64)).all()) for x in floats)


def prove(
    candidate: Candidate,
    trials: Iterable[Trial],
    companions: Sequence[Candidate] = (),
    sighted: Collection[str] = (),
) -> Test:
    """Test a candidate on trials other than the one that suggested it.

    A trial counts as a probe if the candidate predicts at least one wrong element there. Elements
    that were seen directly to be unwritten, stray or unstable do not speak against it, nor do those
    that a companion (another accepted candidate) predicts, nor what the other faults that were
    `sighted` in the case do to any element.
    """
    test = Test()
    sighted = [fault for fault in sighted if fault != candidate.fault]
    for trial in trials:
        if not trial.comparable:
            continue
        claim = candidate.predict(trial)
        if claim is None:
            continue
        others = [c for c in companions if c.key != candidate.key]
        ignore = accounted(trial, seen_directly(trial)) | _excused(trial, claim, others, sighted)
        if bool(claim.refuted(trial, ignore).any()):
            test.refuted_by = trial
            return test
        if bool((claim.explains(trial) & ~ignore).any()):
            test.probes += 1
    return test
