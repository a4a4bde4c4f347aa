"""What a fault has to say: what it saw directly, and what it predicts.

A fault that can be seen without the values (a guard band was written, the dtype is another) says so
in `direct`. Every other one offers candidates: predictions of the wrong output, made from the
example and the oracle alone, so that the same candidate can be tested on other examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch

from tritaudit.contracts import AnyContract, Operations
from tritaudit.model import CaseError
from tritaudit.trial import Expected, Trial, disagrees


@dataclass(slots=True)
class Claim:
    """A prediction for one trial.

    Attributes:
        predicted: the predicted output.
        where: the elements that the prediction is about; None: all of them.
        faults: the faults that are at work in this trial if the prediction is true.
        masked: the elements that a masked lane's value is predicted for, where that is known.
    """

    predicted: Expected
    where: torch.Tensor | None
    faults: tuple[str, ...]
    masked: torch.Tensor | None = None

    def about(self, trial: Trial) -> torch.Tensor:
        """The mask of the elements that the prediction is about."""
        return torch.ones_like(trial.wrong) if self.where is None else self.where

    def refuted(self, trial: Trial, ignore: torch.Tensor | None = None) -> torch.Tensor:
        """Where the output is not what was predicted."""
        missed = disagrees(trial.got, self.predicted) & self.about(trial)
        return missed if ignore is None else missed & ~ignore

    def explains(self, trial: Trial) -> torch.Tensor:
        """The wrong elements whose bits were predicted."""
        return trial.wrong & self.about(trial) & ~disagrees(trial.got, self.predicted)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fault with its parameters: a way to predict the output of any example of the case.

    Attributes:
        key: tells candidates apart ("local N BLOCK").
        fault: the fault that offers it.
        predict: the claim for a trial; None where it has nothing to say there.
        statement: the prediction in words, for people.
        parameters: names and values, for people and machines.
        partial: the claims are about a class of elements, so that other faults may be at work on
            the rest.
        general: how far the parameters carry over to other sizes (0 best); breaks ties.
    """

    key: str
    fault: str
    predict: Callable[[Trial], Claim | None] = field(compare=False)
    statement: str = field(default="", compare=False)
    parameters: tuple[tuple[str, str], ...] = ()
    partial: bool = False
    general: int = 0


@dataclass(frozen=True, slots=True)
class Direct:
    """A fault that was seen without predicting values.

    Attributes:
        evidence: sentences.
        where: the output elements that it accounts for; None: none of them.
        parameters: names and values.
    """

    evidence: tuple[str, ...]
    where: torch.Tensor | None = field(default=None, compare=False)
    parameters: tuple[tuple[str, str], ...] = ()


def _nothing_direct(trial: Trial) -> Direct | None:
    del trial
    return None


def _no_candidates(trial: Trial) -> Iterable[Candidate]:
    del trial
    return ()


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of bug. `direct` and `candidates` look at one trial and know nothing of others."""

    id: str
    direct: Callable[[Trial], Direct | None] = _nothing_direct
    candidates: Callable[[Trial], Iterable[Candidate]] = _no_candidates


def contract_of(trial: Trial) -> AnyContract:
    """The contract of a trial's case, with the methods that need torch."""
    return trial.case.contract  # type: ignore[return-value]


def evaluate(
    trial: Trial,
    operations: Operations | None = None,
    inputs: dict[str, torch.Tensor] | None = None,
) -> Expected | None:
    """The oracle with replaced operations or inputs; None where that makes no sense.

    A torch callable that refuses a dtype or a shape that the oracle itself would never hand it
    makes no prediction.
    """
    try:
        return contract_of(trial).expect(
            trial.case,
            trial.example,
            trial.inputs if inputs is None else inputs,
            operations or Operations(),
        )
    except (CaseError, RuntimeError, NotImplementedError, TypeError, IndexError, ValueError):
        return None


def fixed(value: torch.Tensor) -> Expected:
    """A prediction of bits; a NaN may have any sign and payload."""
    return Expected(value, any_nan=True)


def aligned(trial: Trial) -> torch.Tensor | None:
    """The first input, if its elements correspond one to one to those of the output."""
    return trial.source if trial.source.shape == trial.wrong.shape else None
