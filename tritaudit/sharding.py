"""Splitting a run into parts of about the same duration. The same input gives the same parts."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Mapping, Sequence

__all__ = ["ShardError", "fingerprint", "parse", "split"]


class ShardError(ValueError):
    """A text that names no part of a run. The message is one sentence."""


def parse(text: str) -> tuple[int, int]:
    """The part and the number of parts of a text such as `2/3`.

    Raises:
        ShardError: it is not of that form, or the part is none of them.
    """
    index, slash, count = text.partition("/")
    if not slash or not all(n.isascii() and n.isdigit() and len(n) < 6 for n in (index, count)):
        raise ShardError(f"{text!r} is not a part of a run such as 1/3")
    if not 1 <= int(index) <= int(count):
        raise ShardError(f"{text!r} names part {int(index)} of {int(count)}")
    return int(index), int(count)


def split(
    names: Sequence[str], seconds: Mapping[str, float], count: int
) -> tuple[tuple[str, ...], ...]:
    """Names in `count` parts, each part sorted.

    The longest goes first, each to the part that has the least to do so far. A name without a
    duration counts as the median of the others; where no duration is known, names go round.
    """
    ordered = sorted(names)
    known = [seconds[name] for name in ordered if name in seconds]
    if not known:
        return tuple(tuple(ordered[k::count]) for k in range(count))
    usual = statistics.median(known)
    load = [0.0] * count
    parts: list[list[str]] = [[] for _ in range(count)]
    for name in sorted(ordered, key=lambda n: (-seconds.get(n, usual), n)):
        least = load.index(min(load))
        load[least] += seconds.get(name, usual)
        parts[least].append(name)
    return tuple(tuple(sorted(part)) for part in parts)


def fingerprint(parts: Sequence[Sequence[str]]) -> str:
    """The same for the same parts, so that parts of different splits are not put together."""
    text = "\n\n".join("\n".join(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
