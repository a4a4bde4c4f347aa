"""Trials built by hand: inputs and an output as tensors, without Triton and without a launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from tritaudit.contracts import AnyContract
from tritaudit.faults.diagnosis import diagnose
from tritaudit.faults.protocol import Candidate
from tritaudit.model import Case, Example, Tensor, Tile
from tritaudit.trial import LaunchError, Observation, Trial, disagrees

#: the axes of a tensor of one, two, three and four dimensions.
AXES = {1: "N", 2: "H W", 3: "B H W", 4: "B H T D"}


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def build(
    contract: AnyContract,
    inputs: torch.Tensor | Mapping[str, torch.Tensor],
    got: torch.Tensor | None,
    *,
    tiles: Mapping[str, tuple[str, int]] | None = None,
    layouts: Mapping[str, str] | None = None,
    in_place: str | None = None,
    out_axes: str | None = None,
    scalars: Sequence[tuple[str, float]] = (),
    error: LaunchError | None = None,
    seen: Mapping[str, Any] | None = None,
    **looked: torch.Tensor | None,
) -> Trial:
    """A trial: what is expected comes from the contract, what was seen is `got`.

    Args:
        inputs: tensors by name, or one that is called x; axes are N, H W, B H W or B H T D.
        tiles: axis and size by the name of the constexpr.
        out_axes: those of the output where they are not those of the first input.
        seen: further fields of the Observation.
        looked: unwritten, unstable and strays of the Trial.
    """
    named = {"x": inputs} if isinstance(inputs, torch.Tensor) else dict(inputs)
    first = next(iter(named.values()))
    out_dtype = None if got is None or got.dtype == first.dtype else name_of(got.dtype)
    case = Case(
        run=_in_place if in_place else _launch,
        contract=contract,
        inputs=[
            Tensor(n, AXES[x.dim()], name_of(x.dtype), ("contiguous", "strided", "transposed"))
            for n, x in named.items()
        ],
        tiles=[Tile(n, axis, size) for n, (axis, size) in (tiles or {}).items()],
        in_place=in_place,
        out_dtype=out_dtype,
        out_shape=out_axes,
    )
    sizes = {
        a: n for x in named.values() for a, n in zip(AXES[x.dim()].split(), x.shape, strict=True)
    }
    example = Example(
        sizes=tuple(sizes.items()),
        tiles=tuple((n, size) for n, (_, size) in (tiles or {}).items()),
        scalars=tuple(scalars),
        dtypes=tuple((n, name_of(x.dtype)) for n, x in named.items()),
        layouts=tuple((n, (layouts or {}).get(n, "contiguous")) for n in named),
    )
    expected = contract.expect(case, example, named)
    assert expected is not None
    observation = Observation(out=got, error=error, **dict(seen or {}))
    wrong = torch.zeros(expected.value.shape, dtype=torch.bool)
    trial = Trial(case, example, named, expected, observation, wrong)
    for field, value in looked.items():
        setattr(trial, field, value)
    if trial.comparable:
        trial.wrong = disagrees(trial.got, expected)
    return trial


def _launch(*inputs: torch.Tensor, out: torch.Tensor, **tiles: int) -> None:
    """Never called: it only has the parameters that a Case asks for."""


def _in_place(*inputs: torch.Tensor, **tiles: int) -> None:
    """Never called."""


def faults(trial: Trial) -> set[str]:
    """The faults that a trial is diagnosed with."""
    return set(diagnose(trial).faults)


def plausible(trial: Trial) -> set[str]:
    """Every fault that some explanation of a trial names."""
    full = diagnose(trial, exhaustive=True)
    return set(full.direct) | {f for e in full.explanations for f in e.faults}


def candidates(trial: Trial, fault: str) -> list[Candidate]:
    """The candidates that explain a trial and show a fault there."""
    full = diagnose(trial, exhaustive=True)
    return [c for e in full.explanations if fault in e.faults for c in e.candidates]


def tags(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """1, 2, 3, … in a shape."""
    total = 1
    for n in shape:
        total *= n
    return torch.arange(1, total + 1).reshape(shape).to(dtype)
