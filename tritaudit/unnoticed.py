"""Where a fault does not show, so that the author of a kernel knows how it went unnoticed.

Everything is inferred from the examples that were run. A condition such as "N is a multiple of
BLOCK" is stated only if no example that meets it showed the fault, and enough did; how many is said
with it. Of several, the one that most examples meet is stated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.model import Case, Example, FillKind, Layout
from tritaudit.tensors import bits_of, has_sign, is_nan, is_negative_zero, logical_values

__all__ = ["unnoticed"]

#: what an example showed, for every example that was judged.
Record = Mapping[Example, tuple[str, ...]]

#: fewest examples, and fewest different sizes among them, that a statement rests on.
EXAMPLES, SIZES = 3, 2
#: largest input whose values are looked at.
_ELEMENTS = 1 << 16

_BEYOND = tuple(f"beyond {bits}" for bits in (53, 24, 11, 8))
#: for the faults that depend on the values of the elements and not on the sizes: the kinds of
#: values without which they do not show, the most general first.
VALUES: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "int-abs-overflow": (("minimum",),),
        "int-overflow": (("minimum",), ("large",), ("beyond 11",), ("beyond 8",)),
        "nan-contamination": (("nan", "inf"),),
        "nan-lost": (("nan",),),
        "precision-loss": tuple((kind,) for kind in _BEYOND),
        "sign-kept": (("negative", "-0.0"),),
        "signed-zero-kept": (("-0.0",), ("+0.0",), ("+0.0", "-0.0")),
        "signed-zero-lost": (("-0.0",),),
        "unsigned-as-signed": (("large",),),
    }
)
#: the kinds of values in words.
_WORDS: Mapping[tuple[str, ...], str] = MappingProxyType(
    {
        ("minimum",): "no element is the minimum of its dtype",
        ("large",): "no element is beyond half of its dtype's range",
        ("nan", "inf"): "no element is NaN or Inf",
        ("nan",): "no element is NaN",
        ("negative", "-0.0"): "no element is negative",
        ("-0.0",): "no element is -0.0",
        ("+0.0",): "no element is +0.0",
        ("+0.0", "-0.0"): "no element is a zero",
        **{(kind,): f"no element is beyond 2**{kind.removeprefix('beyond ')}" for kind in _BEYOND},
    }
)
#: faults that an ordinary test does not look for, because the output may be right.
UNSEEN: Mapping[str, str] = MappingProxyType(
    {
        "input-mutated": "An ordinary test does not look at the inputs after the launch",
        "nondeterministic": "An ordinary test runs the kernel once",
        "out-of-bounds-write": "An ordinary test compares the output, not the memory beside it",
    }
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on an example, in words that follow "where"."""

    words: str
    holds: Callable[[Example], bool]


# --------------------------------------------------------------------------- conditions


def power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def sizes_of(case: Case) -> Iterator[Condition]:
    """Conditions on one axis, most general first."""
    for axis in case.axis_names():
        for tile in case.tiles_of(axis):
            yield from _of_tile(axis, tile.name)
        yield from _of_axis(axis)


def _of_tile(axis: str, tile: str) -> Iterator[Condition]:
    yield Condition(f"{axis} is a multiple of {tile}", lambda e: e.size(axis) % e.tile(tile) == 0)
    yield Condition(f"{axis} is at most {tile}", lambda e: e.size(axis) <= e.tile(tile))


def _of_axis(axis: str) -> Iterator[Condition]:
    yield Condition(f"{axis} is a power of two", lambda e: power_of_two(e.size(axis)))
    yield Condition(
        f"{axis} is a power of two above 1",
        lambda e: power_of_two(e.size(axis)) and e.size(axis) > 1,
    )
    yield Condition(f"{axis} is even", lambda e: e.size(axis) % 2 == 0)
    yield Condition(f"{axis} is 1", lambda e: e.size(axis) == 1)


def circumstances(case: Case) -> Iterator[Condition]:
    """Conditions on layouts and scalars."""
    for spec in case.inputs:
        if len(spec.layouts) > 1:
            yield _contiguous(spec.name)
    for scalar in case.scalars:
        for value in scalar.choices():
            yield _scalar(scalar.name, value)


def _contiguous(name: str) -> Condition:
    return Condition(f"{name} is contiguous", lambda e: e.layout(name) is Layout.CONTIGUOUS)


def _scalar(name: str, value: int | float) -> Condition:
    return Condition(f"{name} is {value}", lambda e: dict(e.scalars)[name] == value)


def values_of(case: Case, kinds: Sequence[tuple[str, ...]]) -> Iterator[Condition]:
    """Conditions that the inputs hold no elements of some kinds."""
    known: dict[Example, frozenset[str]] = {}

    def without(kind: tuple[str, ...]) -> Callable[[Example], bool]:
        def holds(example: Example) -> bool:
            if example not in known:
                known[example] = _kinds_of_values(case, example)
            return not known[example] & {*kind, "unknown"}

        return holds

    for kind in kinds:
        yield Condition(_WORDS[kind], without(kind))


def _kinds_of_values(case: Case, example: Example) -> frozenset[str]:
    """What kinds of values the inputs of an example hold."""
    found: set[str] = set()
    if math.prod(n for _, n in example.sizes) > _ELEMENTS:
        return frozenset({"unknown"})
    for x in logical_values(case, example).values():
        d = dtype_of(x.dtype)
        if d.is_float:
            found |= _kinds_of_floats(x)
        elif d.is_int and x.numel():
            found |= _kinds_of_integers(x)
    return frozenset(found)


def _kinds_of_floats(x: torch.Tensor) -> set[str]:
    wide = x.to(torch.float64) if x.dtype.itemsize > 1 else x.to(torch.float32)
    tests = {
        "nan": is_nan(x),
        "inf": torch.isinf(wide),
        "-0.0": is_negative_zero(x),
        "+0.0": bits_of(x) == 0,
        "negative": has_sign(x) & ~is_nan(x),
    }
    return {kind for kind, where in tests.items() if bool(where.any())}


def _kinds_of_integers(x: torch.Tensor) -> set[str]:
    d = dtype_of(x.dtype)
    numbers = [int(v) for v in (x.view(d.carrier) if d.kind == "uint" else x).reshape(-1).tolist()]
    numbers = [n & d.mask for n in numbers] if d.kind == "uint" else numbers
    low, high, top = min(numbers), max(numbers), d.mask if d.kind == "uint" else d.mask >> 1
    size = max(high, -low)
    tests = {
        "minimum": d.is_signed_int and low == -top - 1,
        "negative": low < 0,
        "large": size > top // 2,
        **{kind: size > 1 << int(kind.removeprefix("beyond ")) for kind in _BEYOND},
    }
    return {kind for kind, holds in tests.items() if holds}


# --------------------------------------------------------------------------- choosing


@dataclass(frozen=True, slots=True)
class Support:
    """The examples that meet a condition: how many, and whether nothing at all was wrong there."""

    condition: Condition
    count: int
    right: bool

    def sentence(self) -> str:
        what = "The kernel is right" if self.right else "This fault does not show"
        return f"{what} where {self.condition.words} ({self.count} examples tried)"


def _support(condition: Condition, shows: Mapping[Example, bool], record: Record) -> Support | None:
    """How a condition is supported; None where an example speaks against it, or too few for it."""
    met = [e for e in shows if condition.holds(e)]
    if any(shows[e] for e in met) or len(met) < EXAMPLES or len({e.sizes for e in met}) < SIZES:
        return None
    return Support(condition, len(met), all(not record[e] for e in met))


def _best(
    conditions: Sequence[Condition], shows: Mapping[Example, bool], record: Record
) -> Support | None:
    """The condition that most examples meet; of equals, the first."""
    found = [s for c in conditions if (s := _support(c, shows, record)) is not None]
    return max(found, key=lambda s: s.count, default=None)


def _both(a: Condition, b: Condition) -> Condition:
    return Condition(f"{a.words} and {b.words}", lambda e: a.holds(e) and b.holds(e))


def _pairs(conditions: Sequence[Condition]) -> list[Condition]:
    return [_both(a, b) for a, b in itertools.combinations(conditions, 2)]


# --------------------------------------------------------------------------- sentences


def unnoticed(
    fault: str,
    record: Record,
    case: Case,
    *,
    named: Collection[str] = (),
    assert_close_passes: bool | None = None,
) -> tuple[str, ...]:
    """Where a fault does not show and what an ordinary test would have said, in sentences.

    Args:
        fault: the fault.
        record: every judged example with the faults that it showed.
        case: the case.
        named: the faults that the case was found to show in the end. An example that was taken for
            another one first may show this fault as well.
        assert_close_passes: what `assert_close` says of the smallest example.
    """
    if not any(fault in found for found in record.values()):
        return ()
    sure = {*named, fault}
    strange = {e for e, found in record.items() if set(found) - sure}
    shows = {e: fault in found or e in strange for e, found in record.items()}
    out = []
    if fault in VALUES:
        # What the condition has to be is known; it is only asked whether it holds here.
        clear = {e: shown for e, shown in shows.items() if e not in strange}
        conditions = values_of(case, VALUES[fault])
        best = next((s for c in conditions if (s := _support(c, clear, record))), None)
    else:
        places = [*sizes_of(case), *circumstances(case)]
        best = _best(places, shows, record) or _best(_pairs(places), shows, record)
    out += [best.sentence()] if best is not None else []
    out += _of_dtypes(shows, record)
    out += _of_an_ordinary_test(fault, shows, assert_close_passes)
    return tuple(out)


def _of_dtypes(shows: Mapping[Example, bool], record: Record) -> list[str]:
    """The dtypes in which a fault never showed.

    Only examples count that are the same but for the dtype as one that showed it in another.
    """
    shown = {_apart_from_dtypes(e) for e, here in shows.items() if here}
    alike = {e: here for e, here in shows.items() if _apart_from_dtypes(e) in shown}
    right = []
    for dtype in dict.fromkeys(e.dtype() for e in shows):
        if any(here for e, here in shows.items() if e.dtype() == dtype):
            continue
        support = _support(_dtype(dtype), alike, record)
        if support is not None:
            right.append((dtype, support))
    if not right:
        return []
    count = sum(s.count for _, s in right)
    what = "The kernel is right" if all(s.right for _, s in right) else "This fault does not show"
    return [f"{what} in {_listed([d for d, _ in right])} ({count} examples tried)"]


def _apart_from_dtypes(example: Example) -> Example:
    """What is left of an example where its dtypes, and the bits that depend on them, are not."""
    edits = tuple(replace(e, bits=0) for e in example.edits)
    return replace(example, dtypes=(), edits=edits)


def _dtype(name: str) -> Condition:
    return Condition(name, lambda e: e.dtype() == name)


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def ordinary(example: Example) -> bool:
    """Whether an ordinary test might run an example: sizes, values and layouts that come easily."""
    return (
        all(power_of_two(n) and n > 1 for _, n in example.sizes)
        and example.fill.kind in (FillKind.INDEX, FillKind.NORMAL)
        and not example.edits
        and all(x == Layout.CONTIGUOUS for _, x in example.layouts)
    )


def _of_an_ordinary_test(
    fault: str, shows: Mapping[Example, bool], assert_close_passes: bool | None
) -> list[str]:
    tried = [e for e in shows if ordinary(e)]
    wrong = [e for e in tried if shows[e]]
    if len(tried) >= EXAMPLES and not wrong:
        return [
            "A test with sizes that are powers of two and ordinary values does not notice: none of "
            f"{len(tried)} such examples showed the fault"
        ]
    if fault in UNSEEN:
        return [UNSEEN[fault]]
    if wrong and assert_close_passes is False:
        least = min(wrong, key=lambda e: (math.prod(n for _, n in e.sizes), e.label()))
        return [
            "A test with sizes that are powers of two and ordinary values notices as well, at "
            f"{least.label()} for instance"
        ]
    return []
