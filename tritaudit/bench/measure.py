"""Times the rows of a case on this process's device: check once, then measure."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from tritaudit.backend import device, explain_error
from tritaudit.bench.model import Entry, Measured, Timing, Work
from tritaudit.calls import case_of
from tritaudit.contracts import AnyContract, form_of
from tritaudit.dtypes import dtype_of
from tritaudit.ir import recorder
from tritaudit.ir.compile import costs_of, forms
from tritaudit.ir.costs import total
from tritaudit.ir.model import Costs, Target
from tritaudit.model import Case, Example, Fill, FillKind
from tritaudit.tensors import logical_values
from tritaudit.trial import disagrees

__all__ = ["EXPRESSIONS", "Timer", "on_gpu", "work"]

#: gives the time of a call by calling it as often as it takes.
Timer = Callable[[Callable[[], object]], Timing]


def _huber(x: torch.Tensor, y: torch.Tensor, delta: float = 1.0) -> torch.Tensor:
    """The Huber loss as a formula, an operation a kernel."""
    d = torch.abs(x - y)
    return torch.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))


#: torch expressions that are rows of their own.
EXPRESSIONS: dict[str, Callable[..., torch.Tensor]] = {"unfused torch": _huber}


def on_gpu(call: Callable[[], object]) -> Timing:
    """The time of a call by CUDA events, with a cleared cache before each call."""
    from triton.testing import do_bench

    median, low, high = do_bench(call, warmup=25, rep=100, quantiles=[0.5, 0.2, 0.8])
    return Timing(float(median), float(low), float(high))


def work(asked: Work, timer: Timer = on_gpu) -> tuple[Measured, ...]:
    """Measure the rows of a case, one after another.

    Raises:
        CatalogueError: the case file does not load any more.
    """
    case = case_of(asked.request)
    baselines = _Baselines(case, timer)
    return tuple(_measure(case, entry, timer, baselines) for entry in asked.entries)


class _Baselines:
    """The times of a copy and of torch, measured once for each input."""

    def __init__(self, case: Case, timer: Timer) -> None:
        self._case, self._timer = case, timer
        self._known: dict[object, tuple[Timing | None, Timing | None]] = {}

    def of(
        self, example: Example, inputs: dict[str, torch.Tensor]
    ) -> tuple[Timing | None, Timing | None]:
        """The times of copying the first input, and of the plain torch function."""
        key = (example.sizes, example.dtypes, example.scalars)
        if key not in self._known:
            first = inputs[self._case.inputs[0].name]
            target = torch.empty_like(first)
            copy = self._timer(lambda: target.copy_(first))
            self._known[key] = (copy, self._torch(example, inputs))
        return self._known[key]

    def _torch(self, example: Example, inputs: dict[str, torch.Tensor]) -> Timing | None:
        plain = functools.partial(_contract(self._case).plain, self._case, example, inputs)
        try:
            plain()
        except (RuntimeError, NotImplementedError):
            return None  # torch has no such function for the dtype
        return self._timer(plain)


def _contract(case: Case) -> AnyContract:
    assert isinstance(case.contract, AnyContract)
    return case.contract


def _example(case: Case, entry: Entry) -> Example:
    sizes, tiles = dict(entry.sizes), dict(entry.tiles)
    return Example(
        sizes=tuple((axis, sizes[axis]) for axis in case.axis_names()),
        tiles=tuple((t.name, tiles.get(t.name, t.sizes[-1])) for t in case.tiles),
        scalars=tuple((s.name, s.choices()[0]) for s in case.scalars),
        dtypes=tuple((t.name, entry.dtype) for t in case.inputs),
        fill=Fill(FillKind.NORMAL, 1),
    )


def _measure(case: Case, entry: Entry, timer: Timer, baselines: _Baselines) -> Measured:
    example = _example(case, entry)
    row = Measured(entry, torch_name=_torch_name(case))
    try:
        inputs = logical_values(case, example, device())
        moved = _moved(case, example, inputs)
        copy, plain = baselines.of(example, inputs)
        row = replace(row, moved=moved, copy=copy, torch=plain)
        if entry.expression:
            formula = functools.partial(EXPRESSIONS[entry.expression], *inputs.values())
            return replace(row, time=timer(formula))
        call, seen = _launch(case, example, inputs)
        with recorder.recording(entry.num_warps, start=True) as launches:
            returned = call()
        correct, doubt = _check(case, example, inputs, seen(returned))
        with recorder.forcing(entry.num_warps):
            time = timer(call)
    except Exception as error:
        return replace(row, problem=explain_error(error).message)
    costs = _costs(launches)
    return replace(row, time=time, correct=correct, costs=costs, problem=doubt)


def _launch(
    case: Case, example: Example, inputs: dict[str, torch.Tensor]
) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """A call of `run`, and how to get its output from what it returned."""
    given = dict(inputs)
    keywords: dict[str, Any] = {**dict(example.tiles), **dict(example.scalars)}
    if case.in_place is not None:
        given[case.in_place] = inputs[case.in_place].clone()
    if case.takes_out:
        shape, dtype = form_of(case, example, inputs)
        first = next(iter(inputs.values()))
        keywords["out"] = torch.empty(shape, dtype=dtype_of(dtype).torch, device=first.device)
    call = functools.partial(case.run, *given.values(), **keywords)

    def seen(returned: Any) -> Any:
        if case.in_place is not None:
            return given[case.in_place]
        return keywords.get("out", returned)

    return call, seen


def _check(
    case: Case, example: Example, inputs: dict[str, torch.Tensor], got: Any
) -> tuple[bool | None, str]:
    """Whether an output is right; None and why, where it cannot be told."""
    try:
        expected = _contract(case).expect(case, example, inputs)
        assert expected is not None  # no operation is replaced
        same = (
            isinstance(got, torch.Tensor)
            and got.shape == expected.value.shape
            and got.dtype == expected.value.dtype
        )
        return same and not bool(disagrees(got, expected).any()), ""
    except torch.OutOfMemoryError:
        return None, "not checked: the memory of the device does not hold the oracle as well"


def _moved(case: Case, example: Example, inputs: dict[str, torch.Tensor]) -> int:
    read = sum(x.numel() * x.element_size() for x in inputs.values())
    shape, dtype = form_of(case, example, inputs)
    return read + math.prod(shape) * dtype_of(dtype).bytes


def _torch_name(case: Case) -> str:
    described = case.contract.describe()
    known = {"Flip": "torch.flip", "Abs": "torch.abs"}
    return known.get(described.partition("(")[0], "torch")


def _costs(launches: list[recorder.Launch]) -> Costs | None:
    """The costs of the kernels of a row; None on the interpreter, which compiles none."""
    last = {id(launch.function): launch for launch in launches}  # after autotuning: the chosen one
    target = recorder.driver_target() if last else None
    if target is None:
        return None
    return total([_costs_of(launch.compiled, target) for launch in last.values()])


def _costs_of(compiled: Any, target: Target) -> Costs:
    texts, rows = forms(compiled, target)
    return costs_of(compiled, target, texts, rows)
