"""Many examples of one structure at once: filled on the device, launched, compared in one go.

On a GPU a launch takes some ten microseconds and everything around it far more, if it is done for
each example by itself. Examples that differ only in their values share one allocation; a row of it
is one example with its own guard bands. All rows are filled by a few kernels, the author's kernel
is launched on one row after another, and one comparison gives one flag an example: "as it should
be" or "look closer". Nothing is judged here: what is flagged is examined by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

import torch

from tritaudit.backend import reach_of
from tritaudit.contracts import EXACT, Abs, AnyContract, Flip, form_of
from tritaudit.dtypes import DType, dtype_of, to_signed
from tritaudit.model import Case, Example, FillKind, Layout
from tritaudit.model import Tensor as Input
from tritaudit.tensors import (
    GUARD,
    POISON,
    bits_of,
    fill_rows,
    flip_bits,
    from_bits,
    guard_elements,
    same_bits,
    strides_of,
)
from tritaudit.trial import Expected, disagrees


class NotBatchableError(Exception):
    """These examples have to be examined one by one; the message says why."""


def structure_of(example: Example) -> Example:
    """What examples of one batch have in common: everything but the values."""
    return replace(example, fill=replace(example.fill, kind=FillKind.ZERO, seed=0), edits=())


def batches(examples: Sequence[Example], most: int) -> Iterator[list[Example]]:
    """Runs of examples of one structure, at most `most` in each, in their order."""
    group: list[Example] = []
    for example in examples:
        if group and (len(group) >= most or structure_of(group[0]) != structure_of(example)):
            yield group
            group = []
        group.append(example)
    if group:
        yield group


# --------------------------------------------------------------------------- rows


@dataclass(slots=True)
class Rows:
    """One tensor of every example: `store` is [examples, band + elements + band] in integers."""

    store: torch.Tensor
    views: list[torch.Tensor]
    together: torch.Tensor  # [examples, *shape], a view of the same memory
    outside: torch.Tensor  # mask over a row of `store`: True beside the elements
    guard: int


def _rows(
    count: int,
    shape: tuple[int, ...],
    d: DType,
    pattern: int,
    reach: int,
    layout: Layout,
    where: str | torch.device,
) -> Rows:
    strides, span = strides_of(shape, layout)
    band = guard_elements(d, reach)
    start = band + (1 if layout is Layout.OFFSET else 0)
    step = max(1, 16 // d.bytes)
    row = -(-(start + span + band) // step) * step
    guard = to_signed(pattern & d.mask, d.bits)
    store = torch.full((count, row), guard, dtype=d.carrier, device=where)
    whole = from_bits(store, d)
    together = whole.as_strided((count, *shape), (row, *strides), start)
    outside = torch.ones(row, dtype=torch.bool, device=where)
    outside.as_strided(shape, strides, start).fill_(False)
    return Rows(store, list(together.unbind(0)), together, outside, guard)


@lru_cache(maxsize=64)
def _seeds(seeds: tuple[int, ...], where: str) -> torch.Tensor:
    """Seeds on a device; every structure uses the same ones."""
    return torch.tensor(seeds, device=where)


def _values(
    spec: Input, ordinal: int, examples: Sequence[Example], where: str | torch.device
) -> torch.Tensor:
    """The logical values of one input for every example: [examples, *shape]."""
    first = examples[0]
    shape = tuple(first.size(axis) for axis in spec.axes)
    d, count = dtype_of(first.dtype(spec.name)), math.prod(shape)
    runs = [
        bits_of(
            fill_rows(count, d, kind, _seeds(tuple(e.fill.seed for e in run), str(where)), ordinal)
        )
        for kind, run in groupby(examples, key=lambda e: e.fill.kind)
    ]
    out = torch.cat(runs) if len(runs) > 1 else runs[0]
    edits = [
        (k * count + e.index, to_signed(e.bits, d.bits))
        for k, example in enumerate(examples)
        for e in example.edits
        if e.tensor == spec.name and e.index < count
    ]
    if edits:
        places, bits = torch.tensor(edits).to(where).unbind(1)
        out = out.contiguous()
        out.view(-1)[places] = bits.to(d.carrier)
    value = out.reshape(len(examples), *shape)
    if first.layout(spec.name) is Layout.EXPANDED and shape and shape[0] > 1:
        value = value[:, :1].expand(len(examples), *shape).contiguous()
    return from_bits(value, d)


# --------------------------------------------------------------------------- the oracle


def _expected(
    case: Case, examples: Sequence[Example], values: dict[str, torch.Tensor], shape: tuple[int, ...]
) -> Expected:
    """The right outputs of all examples: [examples, *shape]."""
    contract: AnyContract = case.contract  # type: ignore[assignment]
    first = examples[0]
    if isinstance(contract, Flip):
        dims = [k + 1 for k in contract.dims(case)]
        return Expected(flip_bits(values[case.inputs[0].name], dims))
    together: Expected | None = contract.expect(case, first, values, EXACT)
    if together is None or together.value.shape != (len(examples), *shape):
        raise NotBatchableError("the reference does not take examples side by side")
    if not isinstance(contract, Abs):
        alone = contract.expect(case, first, {k: v[-1] for k, v in values.items()}, EXACT)
        if alone is None or bool((~same_bits(together.value[-1], alone.value)).any()):
            raise NotBatchableError("the reference mixes the examples of a batch")
    return together


# --------------------------------------------------------------------------- the launch


@dataclass(slots=True)
class Pending:
    """A batch that is on its way. `flags` says for each example whether to look closer."""

    examples: list[Example]
    flags: torch.Tensor
    elements: int


def suspicious(waiting: Sequence[Pending]) -> list[list[Example]]:
    """For each batch the examples to look at one by one. Waits for the device once."""
    if not waiting:
        return []
    flags = iter(torch.cat([p.flags for p in waiting]).tolist())
    return [[e for e in p.examples if next(flags)] for p in waiting]


def launch_batch(case: Case, examples: list[Example], where: str | torch.device) -> Pending:
    """Queue the launches of examples of one structure and their comparison.

    Raises:
        NotBatchableError: the case allocates its output, or its reference cannot take a batch.
        Exception: whatever `run` raises; then each example has to be tried by itself.
    """
    if not case.takes_out and case.in_place is None:
        raise NotBatchableError("the case allocates its own output")
    first, count = examples[0], len(examples)
    values = {t.name: _values(t, k, examples, where) for k, t in enumerate(case.inputs)}
    shape, dtype = form_of(case, first, {name: x[0] for name, x in values.items()})
    if case.in_place is not None and dtype != first.dtype(case.in_place):
        raise NotBatchableError("the output has another dtype than the contract asks for")
    inputs = {t.name: _input_rows(case, t, values[t.name], first, where) for t in case.inputs}
    saved = {n: rows.store.clone() for n, rows in inputs.items()}
    wanted = dtype_of(dtype)
    out = None
    if case.takes_out:
        reach = reach_of(case, first, shape)
        out = _rows(count, shape, wanted, POISON[0], reach, Layout.CONTIGUOUS, where)
    _launch_all(case, first, inputs, out, count)
    expected = _expected(case, examples, values, shape)
    got = out.together if out is not None else inputs[str(case.in_place)].together
    wrong = disagrees(from_bits(bits_of(got).contiguous(), wanted), expected)
    flags = wrong.reshape(count, -1).any(1) if wrong.numel() else wrong.new_zeros(count)
    if out is not None:
        flags = flags | ((out.store != out.guard) & out.outside).any(1)
    for name, rows in inputs.items():
        changed = rows.store != saved[name]
        if name == case.in_place:
            changed = changed & rows.outside
        flags = flags | changed.any(1)
    return Pending(examples, flags, count * math.prod(shape))


def _input_rows(
    case: Case, spec: Input, values: torch.Tensor, first: Example, where: str | torch.device
) -> Rows:
    shape = tuple(values.shape[1:])
    layout = first.layout(spec.name)
    d = dtype_of(first.dtype(spec.name))
    rows = _rows(len(values), shape, d, GUARD[0], reach_of(case, first, shape), layout, where)
    target, source = bits_of(rows.together), bits_of(values)
    if layout is Layout.EXPANDED and shape and shape[0] > 1:
        target, source = target[:, :1], source[:, :1]
    target.copy_(source)
    return rows


def _launch_all(
    case: Case, first: Example, inputs: dict[str, Rows], out: Rows | None, count: int
) -> None:
    keywords: dict[str, Any] = {**dict(first.tiles), **dict(first.scalars), **dict(first.launch)}
    columns = [inputs[t.name].views for t in case.inputs]
    run = case.run
    if out is None:
        for k in range(count):
            run(*[views[k] for views in columns], **keywords)
        return
    for k, target in enumerate(out.views):
        run(*[views[k] for views in columns], out=target, **keywords)
