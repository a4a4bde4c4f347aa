"""One launched example with all that is known about it, and the comparison with the oracle.

These types hold live tensors and never leave the process that made them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from tritaudit.dtypes import dtype_of
from tritaudit.model import Case, Example
from tritaudit.tensors import is_nan, same_bits


@dataclass(slots=True)
class Expected:
    """What the output has to be.

    Attributes:
        value: the right output, in the dtype of the output.
        wide: the right values as float64 or int64, where a tolerance or an overflow needs them.
        ulps: allowed distance from `wide` in units in the last place of the output dtype; None:
            the bits of `value`.
        scale: the magnitude (float64) whose unit in the last place that is; None: of `wide`.
        close: allowed distances from `wide`, relative and absolute: |got - wide| <= atol +
            rtol * |wide|.
        any_nan: a NaN of any sign and payload is right where `value` is a NaN.
        impossible: where no value of the output dtype is right.
        undecided: where the oracle cannot tell (it overflows itself); never counted as wrong.
    """

    value: torch.Tensor
    wide: torch.Tensor | None = None
    ulps: float | None = None
    scale: torch.Tensor | None = None
    close: tuple[float, float] | None = None
    any_nan: bool = False
    impossible: torch.Tensor | None = None
    undecided: torch.Tensor | None = None

    @property
    def exact(self) -> bool:
        """Whether nothing but the bits of `value` (and other NaNs, if allowed) is right."""
        return self.ulps is None and self.close is None

    def demand_bits(self) -> None:
        """Allow no tolerance: a prediction of bits."""
        self.ulps = self.close = None


def ulp(wide: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance between neighbouring values of a float dtype at `wide` (float64)."""
    d = dtype_of(dtype)
    bias = (1 << (d.exponent - 1)) - 1
    _, exponent = torch.frexp(wide.abs())
    floor = torch.clamp(exponent.to(torch.int64) - 1, min=1 - bias)
    floor = torch.where(wide == 0, 1 - bias, floor)  # frexp gives 0 the exponent of 0.5
    return torch.ldexp(torch.ones_like(wide), floor - d.mantissa)


def disagrees(got: torch.Tensor, expected: Expected) -> torch.Tensor:
    """Where an output is wrong (bool, the shape of the output)."""
    value = expected.value
    wrong = ~same_bits(got, value)
    if expected.any_nan:
        wrong &= ~(is_nan(got) & is_nan(value))
    if expected.wide is not None and bool(wrong.any()):
        wrong &= ~_near(got, expected, expected.wide)
    if expected.impossible is not None:
        wrong |= expected.impossible
    if expected.undecided is not None:
        wrong &= ~expected.undecided
    return wrong


def _near(got: torch.Tensor, expected: Expected, wide: torch.Tensor) -> torch.Tensor:
    """Where an output is as close to the wide result as the contract asks."""
    if expected.exact:
        return torch.zeros(got.shape, dtype=torch.bool, device=got.device)
    near = got.to(torch.float64)
    away = (near - wide).abs()
    close = near == expected.value.to(torch.float64)
    if expected.ulps is not None:
        scale = wide if expected.scale is None else expected.scale
        close |= away <= expected.ulps * ulp(scale, got.dtype)
    if expected.close is not None:
        rtol, atol = expected.close
        close |= away <= atol + rtol * wide.abs()
    return close


@dataclass(frozen=True, slots=True)
class LaunchError:
    """A launch that raised.

    Attributes:
        kind: "rejected" (Triton refused the kernel), "limit" (the backend cannot do it),
            "device" (the device reported an error), "raised" (the author's code raised) or
            "returned" (it returned nothing that can be compared).
        message: one line.
        path, line: the innermost place in the author's code; "" and 0 if there is none.
    """

    kind: str
    message: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Started:
    """A kernel that was started: its file and name, and the place in the author's code.

    `path` is "" and `line` 0 where the author's code did not start it.
    """

    file: str
    name: str
    path: str = ""
    line: int = 0


@dataclass(slots=True)
class Observation:
    """What one launch did.

    Attributes:
        out: the output as a contiguous tensor, None when the launch raised or returned no tensor.
        error: why there is no output.
        outside: positions beside the output that were written, relative to its first element.
        beside_inputs: the same for each input that had any.
        mutated: inputs whose elements changed, with a mask.
        after: what these inputs held after the launch.
        assigned: those that an in-place operation of torch has written to; the stores of a kernel
            are none.
        shape, dtype: of the output where they are not what the case says, else None.
        limits: names of backend limits that the kernel ran into (results must not be judged).
        poison: which pattern filled the output before the launch.
        printed: what the kernel or `run` printed.
        returned_view: the returned tensor shares memory with an input.
        filled: where `run` allocated the output itself and filled it: which of its allocations that
            was, and the bits (signed) that it was filled with.
        started: the kernels that were started, in their order, each from each place once.
        tuned: the autotuned kernels that were launched, each with its configuration in words.
    """

    out: torch.Tensor | None = None
    error: LaunchError | None = None
    outside: tuple[int, ...] = ()
    beside_inputs: tuple[tuple[str, tuple[int, ...]], ...] = ()
    mutated: dict[str, torch.Tensor] = field(default_factory=dict)
    after: dict[str, torch.Tensor] = field(default_factory=dict)
    assigned: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    limits: tuple[str, ...] = ()
    poison: int = 0
    returned_view: str | None = None
    filled: tuple[int, int] | None = None
    started: tuple[Started, ...] = ()
    tuned: tuple[str, ...] = ()


@dataclass(slots=True)
class Trial:
    """An example, its inputs, what was expected and what was seen.

    Attributes:
        inputs: the logical values before the launch, contiguous, by name.
        wrong: where the output is wrong (all False when there is no output to compare).
        unwritten: where the output kept what it was filled with in runs with two fills; None: not
            looked at.
        unstable: where two equal launches disagree; None: not looked at.
        strays: where the output depends on what lies beside the inputs; None: not looked at.
    """

    case: Case
    example: Example
    inputs: dict[str, torch.Tensor]
    expected: Expected
    seen: Observation
    wrong: torch.Tensor
    unwritten: torch.Tensor | None = None
    unstable: torch.Tensor | None = None
    strays: torch.Tensor | None = None

    @property
    def got(self) -> torch.Tensor:
        """The output.

        Raises:
            ValueError: there is none.
        """
        if self.seen.out is None:
            raise ValueError("this launch has no output")
        return self.seen.out

    @property
    def source(self) -> torch.Tensor:
        """The first input."""
        return self.inputs[self.case.inputs[0].name]

    @property
    def out_axes(self) -> tuple[str, ...]:
        """The axes of the output.

        `out0`, `out1`, ... where it has another shape than those that the case names for it: then a
        reference decides the shape.
        """
        axes, shape = self.case.out_axes(), tuple(self.expected.value.shape)
        if shape == tuple(self.example.size(axis) for axis in axes):
            return axes
        return tuple(f"out{k}" for k in range(len(shape)))

    @property
    def comparable(self) -> bool:
        """Whether there is an output of the right shape and dtype."""
        return self.seen.out is not None and self.seen.shape is None and self.seen.dtype is None

    @property
    def faultless(self) -> bool:
        """Whether nothing at all was wrong with this launch."""
        s = self.seen
        return (
            self.comparable
            and not bool(self.wrong.any())
            and not s.outside
            and not s.beside_inputs
            and not s.mutated
            and (self.unstable is None or not bool(self.unstable.any()))
        )
