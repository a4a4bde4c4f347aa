"""Every bit pattern of a dtype through an elementwise kernel, made and compared on the device.

One input of up to 32 bits, or two inputs of up to 16 bits each: 2**32 elements, in chunks that
share one allocation each. Only the wrong patterns leave the device.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from tritaudit.backend import device
from tritaudit.contracts import EXACT, AnyContract, form_of
from tritaudit.dtypes import dtype_of, to_signed, value_text
from tritaudit.generate import dtype_choices, is_elementwise, largest
from tritaudit.model import Case, Example
from tritaudit.tensors import POISON, bits_of, fill_rows, from_bits
from tritaudit.trial import disagrees

#: widest sum of the bits of all inputs.
MOST_BITS = 32
#: elements of a chunk: of one input, and of two (whose oracle needs more memory).
CHUNK = {1: 1 << 28, 2: 1 << 26}
#: wrong patterns that are taken off the device.
SHOWN = 64


@dataclass(frozen=True, slots=True)
class Patterns:
    """What every bit pattern of some dtypes gave.

    Attributes:
        dtypes: of the inputs.
        total, wrong: how many patterns there are, and how many came out wrong.
        first: the first wrong patterns, each with the bits of every input.
        seconds: from the first fill to the last flag, compilation not included.
    """

    dtypes: tuple[tuple[str, str], ...]
    total: int
    wrong: int
    first: tuple[tuple[int, ...], ...]
    seconds: float

    def sentence(self) -> str:
        """One line: how many, which ones, how long."""
        names = " x ".join(d for _, d in self.dtypes)
        if not self.wrong:
            return f"{names}: all {self.total:,} bit patterns are right ({self.seconds:.3f} s)"
        shown = []
        for bits in self.first[:4]:
            texts = [value_text(d, b) for (_, d), b in zip(self.dtypes, bits, strict=True)]
            shown.append(texts[0] if len(texts) == 1 else f"({', '.join(texts)})")
        more = ", ..." if self.wrong > len(shown) else ""
        return (
            f"{names}: {self.wrong:,} of {self.total:,} bit patterns wrong: "
            f"{', '.join(shown)}{more} ({self.seconds:.3f} s)"
        )


def choices(case: Case) -> list[tuple[tuple[str, str], ...]]:
    """The dtypes whose every pattern can be run: elementwise contracts, at most 32 bits."""
    if not is_elementwise(case):
        return []
    out = []
    for dtypes in dtype_choices(case):
        bits = sum(dtype_of(d).bits for _, d in dtypes)
        if bits <= MOST_BITS and len(dtypes) <= 2:
            out.append(dtypes)
    return out


def every_pattern(case: Case, dtypes: tuple[tuple[str, str], ...], most: int = 0) -> Patterns:
    """Run every bit pattern of these dtypes.

    Args:
        most: elements of a chunk; 0: as many as CHUNK says and the axes allow.

    Raises:
        Exception: whatever `run` raises.
    """
    total = math.prod(2 if d == "bool" else 1 << dtype_of(d).bits for _, d in dtypes)
    base = replace(largest(case, min(total, most or CHUNK[len(dtypes)])), dtypes=dtypes)
    count = math.prod(base.size(a) for a in case.inputs[0].axes)
    _chunk(case, base, 0, count)  # compiles
    _wait()
    start = time.monotonic()
    wrong = 0
    first: list[tuple[int, ...]] = []
    for low in range(0, total, count):
        flags = _chunk(case, base, low, min(count, total - low))
        found = int(flags.sum())
        wrong += found
        if found and len(first) < SHOWN:
            places = flags.nonzero().reshape(-1)[: SHOWN - len(first)].tolist()
            first += [_bits(low + p, dtypes) for p in places]
    return Patterns(dtypes, total, wrong, tuple(first), time.monotonic() - start)


def _wait() -> None:
    if device() != "cpu":
        torch.accelerator.synchronize()


def _bits(pattern: int, dtypes: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
    """The bits of each input in one pattern: those of the first input are the lowest."""
    out = []
    for _, name in dtypes:
        d = dtype_of(name)
        out.append(pattern & (1 if d.kind == "bool" else d.mask))
        pattern >>= d.bits
    return tuple(out)


def _chunk(case: Case, base: Example, low: int, used: int) -> torch.Tensor:
    """Where the patterns low, low + 1, ... come out wrong: a flag for each of `used`."""
    contract: AnyContract = case.contract  # type: ignore[assignment]
    shape = tuple(base.size(axis) for axis in case.inputs[0].axes)
    count = math.prod(shape)
    seeds = torch.full((1,), low, dtype=torch.int64, device=device())
    values = {}
    for ordinal, spec in enumerate(case.inputs):
        d = dtype_of(base.dtype(spec.name))
        values[spec.name] = fill_rows(count, d, base.fill.kind, seeds, ordinal)[0].reshape(shape)
    expected = contract.expect(case, base, values, EXACT)
    assert expected is not None  # only a replaced operation can be missing
    wrong = disagrees(_run(case, base, values, shape), expected)
    return wrong.reshape(-1)[:used]


def _run(
    case: Case, base: Example, values: dict[str, torch.Tensor], shape: tuple[int, ...]
) -> torch.Tensor:
    keywords: dict[str, Any] = {**dict(base.tiles), **dict(base.scalars), **dict(base.launch)}
    arguments = [values[t.name] for t in case.inputs]
    if case.in_place is not None:
        arguments = [x.clone() if n == case.in_place else x for n, x in values.items()]
        case.run(*arguments, **keywords)
        return arguments[[t.name for t in case.inputs].index(case.in_place)]
    if not case.takes_out:
        returned: torch.Tensor = case.run(*arguments, **keywords)
        return returned
    d = dtype_of(form_of(case, base, values)[1])
    out = from_bits(torch.full_like(bits_of(arguments[0]), 0, dtype=d.carrier), d)
    bits_of(out).fill_(to_signed(POISON[0] & d.mask, d.bits))
    case.run(*arguments, out=out.reshape(shape), **keywords)
    return out.reshape(shape)


def all_patterns(case: Case) -> Iterator[Patterns]:
    """Every pattern of every dtype that `choices` names."""
    for dtypes in choices(case):
        yield every_pattern(case, dtypes)
