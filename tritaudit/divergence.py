"""The same example on two backends: what each of them made of it, and whether they agree.

An example that both get right agrees. Where one is right and the other is not, the oracle says
which one departs. Where both are wrong they agree if they are wrong in the same bits; a fault whose
outcome is left to chance (a race, an unwritten element) says nothing about the backends.
"""

from __future__ import annotations

import zlib

import torch

from tritaudit.model import Judgement
from tritaudit.tensors import bits_of, is_nan
from tritaudit.trial import Trial

#: faults whose wrong values are not determined by the example.
BY_CHANCE = frozenset(
    {"alias-race", "nondeterministic", "out-of-bounds-read", "unwritten-output", "crash", "timeout"}
)


def digest(trial: Trial) -> int:
    """CRC-32 of the output's bits, NaNs taken as one; 0 where there is no output."""
    if trial.seen.out is None:
        return 0
    bits = bits_of(trial.seen.out).clone()
    bits[is_nan(trial.seen.out)] = -1
    flat = bits.reshape(-1).contiguous()
    return zlib.crc32(flat.view(torch.uint8).numpy().tobytes()) if flat.numel() else 0


def disagreement(
    theirs: Judgement, backend: str, faults: tuple[str, ...], own: int, exact: bool
) -> str:
    """One sentence on how two backends disagree on an example; "" where they agree.

    Args:
        theirs: what the other backend made of the example.
        backend, faults, own: this backend, what the example showed on it, the digest of its output.
        exact: the contract asks for bits; where it has a tolerance, each may round as it likes.
    """
    other = theirs.backend
    if own == theirs.digest:
        return ""
    if bool(theirs.faults) == bool(faults):
        if not faults or not exact or BY_CHANCE & {*faults, *theirs.faults}:
            return ""
        return (
            f"both depart from the oracle, in different ways: {', '.join(theirs.faults)} on the "
            f"{other}, {', '.join(faults)} on the {backend}"
        )
    if faults:
        return f"the {backend} departs from the oracle ({', '.join(faults)}), the {other} does not"
    return (
        f"the {other} departs from the oracle ({', '.join(theirs.faults)}), the {backend} does not"
    )


def because(
    theirs: Judgement, backend: str, faults: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """The faults that the disagreement consists of, each with the backend that showed it.

    Of two backends that are both wrong, what only one of them shows; if they show the same, all.
    """
    both = set(theirs.faults) & set(faults)
    if both == set(theirs.faults) | set(faults):
        both = set()
    mine = [(f, backend) for f in faults if f not in both]
    return (*mine, *((f, theirs.backend) for f in theirs.faults if f not in both))
