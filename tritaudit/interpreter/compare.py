"""Whether two launches of one example did the same."""

from __future__ import annotations

import dataclasses

import torch

from tritaudit.tensors import same_bits
from tritaudit.trial import Observation

__all__ = ["same_observation"]

#: fields of an Observation that are compared by themselves.
_TENSORS = ("error", "out", "mutated", "after")


def same_observation(one: Observation, other: Observation) -> bool:
    """Whether two launches did the same, to the last bit.

    The texts of errors may hold addresses, so only their kinds and places count.
    """
    if _plain(one) != _plain(other):
        return False
    if not all(torch.equal(mask, other.mutated[name]) for name, mask in one.mutated.items()):
        return False
    if not all(bool(same_bits(x, other.after[name]).all()) for name, x in one.after.items()):
        return False
    if one.out is None or other.out is None:
        return True
    return bool(same_bits(one.out, other.out).all())


def _plain(seen: Observation) -> tuple[object, ...]:
    """What can be compared without looking into a tensor."""
    error, out = seen.error, seen.out
    return (
        None if error is None else (error.kind, error.path, error.line),
        None if out is None else (out.shape, out.dtype),
        seen.mutated.keys(),
        *(getattr(seen, f.name) for f in dataclasses.fields(seen) if f.name not in _TENSORS),
    )
