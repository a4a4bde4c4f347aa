"""Whether two launches did the same, and how often an example is launched until it shows again."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tritaudit.confirm import LAUNCHES, same_result, shows_again
from tritaudit.trial import LaunchError, Observation, Trial


def seen(*values: float, **more: Any) -> Observation:
    return Observation(out=torch.tensor(values), **more)


def failed(kind: str) -> Observation:
    return Observation(error=LaunchError(kind, "no"))


NAN = float("nan")


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (seen(1.0, NAN), seen(1.0, NAN), True),
        (seen(0.0), seen(-0.0), False),
        (seen(1.0), seen(1.0, 2.0), False),
        (seen(1.0), Observation(out=torch.tensor([1.0], dtype=torch.float64)), False),
        (seen(1.0), Observation(), False),
        (Observation(), Observation(), True),
        (failed("raised"), failed("raised"), True),
        (failed("raised"), failed("rejected"), False),
        (failed("raised"), seen(1.0), False),
        (seen(1.0, outside=(3,)), seen(1.0, outside=(3,)), True),
        (seen(1.0, outside=(3,)), seen(1.0), False),
        (seen(1.0, mutated={"x": torch.ones(1)}), seen(1.0), False),
        (seen(1.0, beside_inputs=(("x", (1,)),)), seen(1.0), False),
    ],
)
def test_two_launches_are_compared_to_the_last_bit(
    a: Observation, b: Observation, same: bool
) -> None:
    assert same_result(a, b) is same
    assert same_result(b, a) is same


def trial(observation: Observation) -> Trial:
    return Trial(None, None, {}, None, observation, torch.zeros(1, dtype=torch.bool))  # type: ignore[arg-type]


def confirm(*again: Observation, named: tuple[str, ...] = ()) -> tuple[bool, int]:
    """Whether a fault seen as 1.0 shows again, and how many launches that took."""
    left = [trial(observation) for observation in again]
    holds = shows_again("crash", trial(seen(1.0)), lambda: left.pop(0), lambda t: named)
    return holds, len(again) - len(left)


def test_the_same_again_needs_one_launch() -> None:
    assert confirm(seen(1.0), seen(2.0), seen(2.0)) == (True, 1)


def test_another_result_with_the_same_fault_will_do() -> None:
    assert confirm(seen(2.0), seen(2.0), seen(2.0), named=("crash",)) == (True, 1)


def test_a_race_gets_a_second_chance_and_then_it_is_over() -> None:
    assert confirm(seen(2.0), seen(1.0), seen(2.0)) == (True, 2)
    assert confirm(*[seen(2.0)] * LAUNCHES, named=("timeout",)) == (False, LAUNCHES)
