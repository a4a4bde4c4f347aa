"""Whether a finding shows again: its example is launched anew before it is reported.

The search remembers what an example showed and never launches it twice, so a result that comes and
goes would be reported as whatever it looked like first. Here nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Callable

from tritaudit.tensors import same_bits
from tritaudit.trial import Observation, Trial

__all__ = ["LAUNCHES", "same_result", "shows_again"]

#: how often an example is launched until its fault shows again. One that always shows needs one;
#: a race needs further chances.
LAUNCHES = 8


def shows_again(
    fault: str,
    trial: Trial,
    relaunch: Callable[[], Trial],
    name: Callable[[Trial], tuple[str, ...]],
) -> bool:
    """Whether a fault of a trial shows in one of a few further launches of the same example.

    Args:
        fault: a fault that `trial` shows.
        trial: the launch that showed it.
        relaunch: launches the example of `trial` again.
        name: the faults of a trial. Asked only where a launch ended differently than the first.
    """
    for _ in range(LAUNCHES):
        again = relaunch()
        if same_result(trial.seen, again.seen) or fault in name(again):
            return True
    return False


def same_result(a: Observation, b: Observation) -> bool:
    """Whether two launches of one example did the same, to the last bit."""
    if a.error is not None or b.error is not None:
        return a.error is not None and b.error is not None and a.error.kind == b.error.kind
    if (a.out is None) != (b.out is None):
        return False
    if a.out is not None and b.out is not None:
        alike = a.out.shape == b.out.shape and a.out.dtype == b.out.dtype
        if not alike or not bool(same_bits(a.out, b.out).all()):
            return False
    beside = (a.outside, a.beside_inputs, sorted(a.mutated))
    return beside == (b.outside, b.beside_inputs, sorted(b.mutated))
