"""One example looked at from all sides: launch, compare, and launch again where something is odd.

A launch that gave the right bits costs one launch. One that did not can be repeated: with another
poison (an element that keeps both was never written; one that changes with the guard bands was read
from beside an input) and once more unchanged (an element that differs then is not deterministic).
An output that `run` fills itself, with zeros say, is poisoned in a launch of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tritaudit.contracts import EXACT, AnyContract
from tritaudit.dtypes import dtype_of, to_signed
from tritaudit.interpreter import launch
from tritaudit.model import Case, Example
from tritaudit.tensors import POISON, bits_of, logical_values, same_bits
from tritaudit.trial import Expected, Observation, Trial, disagrees


@dataclass(slots=True)
class Counter:
    """What has been launched so far."""

    launches: int = 0
    elements: int = 0


def expected_of(case: Case, example: Example, inputs: dict[str, torch.Tensor]) -> Expected:
    """The right output of an example, of the declared shape.

    Raises:
        CaseError: the reference gave no tensor.
    """
    contract: AnyContract = case.contract  # type: ignore[assignment]
    expected = contract.expect(case, example, inputs, EXACT)
    assert expected is not None  # only a replaced operation can be missing
    return expected


def examine(case: Case, example: Example, counter: Counter) -> Trial:
    """Launch an example once and compare it with the oracle."""
    inputs = logical_values(case, example)
    expected = expected_of(case, example, inputs)
    seen = _counted(case, example, inputs, counter, 0)
    nothing = torch.zeros(expected.value.shape, dtype=torch.bool, device=expected.value.device)
    trial = Trial(case, example, inputs, expected, seen, nothing)
    if not trial.comparable or seen.out is None:
        return trial
    if tuple(seen.out.shape) != tuple(expected.value.shape):
        seen.shape = tuple(seen.out.shape)
        return trial
    if seen.out.dtype != expected.value.dtype:
        seen.dtype = str(seen.out.dtype).removeprefix("torch.")
        return trial
    trial.wrong = disagrees(seen.out, expected)
    return trial


def shows_poison(trial: Trial) -> bool:
    """Whether a wrong element holds the bits that the output was filled with before the launch."""
    if not trial.comparable or trial.case.in_place is not None:
        return False
    return bool((_holds(trial.got, _fill_of(trial)) & trial.wrong).any())


def _fill_of(trial: Trial) -> int:
    """The bits that the output was filled with before the launch, by `run` or by the tool."""
    if trial.seen.filled is not None:
        return trial.seen.filled[1]
    return _poison(trial, trial.seen.poison)


def _poison(trial: Trial, which: int) -> int:
    d = dtype_of(trial.got.dtype)
    return to_signed(POISON[which] & d.mask, d.bits)


def _holds(out: torch.Tensor, bits: int) -> torch.Tensor:
    return bits_of(out) == bits


def _counted(
    case: Case,
    example: Example,
    inputs: dict[str, torch.Tensor],
    counter: Counter,
    poison: int,
    refill: int | None = None,
) -> Observation:
    counter.launches += 1
    seen = launch(case, example, poison, inputs, refill)
    if seen.out is not None:
        counter.elements += seen.out.numel()
    return seen


def repeat(trial: Trial, counter: Counter) -> None:
    """Two more launches: with the other poison and guard bands, and unchanged.

    One more where wrong elements hold what `run` itself filled the output with. A trial without a
    comparable output, or one that was repeated already, is left as it is.
    """
    if not trial.comparable or trial.unwritten is not None:
        return
    case, example, got = trial.case, trial.example, trial.got
    again = _counted(case, example, trial.inputs, counter, 0).out
    other = _counted(case, example, trial.inputs, counter, 1).out
    trial.unwritten = torch.zeros_like(trial.wrong)
    trial.unstable = torch.zeros_like(trial.wrong)
    trial.strays = torch.zeros_like(trial.wrong)
    if again is not None and again.shape == got.shape:
        trial.unstable = ~same_bits(got, again)
    if other is None or other.shape != got.shape:
        return
    changed = ~same_bits(got, other)
    if case.in_place is None:
        trial.unwritten = _unwritten(trial, other, counter)
        trial.unstable &= ~trial.unwritten
    # Where equal launches disagree, a difference says nothing about what lies beside the inputs.
    settled = not bool(trial.unstable.any())
    trial.strays = changed & ~trial.unwritten if settled else torch.zeros_like(changed)


def _unwritten(trial: Trial, other: torch.Tensor, counter: Counter) -> torch.Tensor:
    """Where the output kept what it was filled with before, in two launches with two fills.

    Args:
        other: the output of a launch with the other poison.
    """
    got, filled = trial.got, trial.seen.filled
    if filled is None:
        return _holds(got, _poison(trial, 0)) & _holds(other, _poison(trial, 1))
    # What `run` fills and does not write may be meant so, unless it is wrong.
    place, bits = filled
    kept, poison = _holds(got, bits) & trial.wrong, _poison(trial, 0)
    if bits == poison or not bool(kept.any()):
        return torch.zeros_like(kept)
    out = _counted(trial.case, trial.example, trial.inputs, counter, 0, place).out
    if out is None or out.shape != got.shape:
        return torch.zeros_like(kept)
    return kept & _holds(out, poison)
