"""Which kernel a finding points to, and where that was launched."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor
from tritaudit.examine import Counter, examine
from tritaudit.faults.diagnosis import diagnose
from tritaudit.generate import plain_example
from tritaudit.present import changed_input, launch_places, locate
from tritaudit.report.excerpt import caption, render_excerpt
from tritaudit.targets import shown_path


@triton.jit
def whole_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + n - 1 - offs, mask=offs < n)
    tl.store(out_ptr + offs, x, mask=offs < n)


@triton.jit
def tile_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.flip(x, 0), mask=offs < n)


def run(x: torch.Tensor) -> torch.Tensor:
    out, n = torch.empty_like(x), x.numel()
    if n <= 8:
        whole_kernel[(1,)](x, out, n, BLOCK=8)
    else:
        tile_kernel[(triton.cdiv(n, 8),)](x, out, n, BLOCK=8)
    return out


def line_of(function: Any, text: str) -> int:
    """The line of this file where a function has a text."""
    lines, first = inspect.getsourcelines(getattr(function, "fn", function))
    return first + next(k for k, row in enumerate(lines) if text in row)


def test_only_a_kernel_that_was_started_is_pointed_to() -> None:
    case = Case(run=run, contract=Flip("N"), inputs=Tensor("x", "N"))
    for size, kernel in ((5, whole_kernel), (9, tile_kernel)):
        trial = examine(case, plain_example(case, {"N": size}), Counter())
        found = locate(trial, "unwritten-output")
        assert found is not None
        assert found.line == line_of(kernel, "tl.store")
        [place] = launch_places(trial, found)
        assert place.path == found.path == shown_path(str(Path(__file__)))
        assert place.line == line_of(run, f"{kernel.fn.__name__}[")
        assert place.text.startswith(f"{kernel.fn.__name__}[")


def clears(x: torch.Tensor) -> torch.Tensor:
    out = run(x)
    x[1:].zero_()
    return out


@triton.jit
def negate_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, -tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def negates(x: torch.Tensor) -> torch.Tensor:
    out = run(x)
    negate_kernel[(1,)](x, x.numel(), BLOCK=8)
    return out


def test_an_input_that_torch_changes_is_no_fault_of_a_store() -> None:
    example = plain_example(Case(run=run, contract=Flip("N"), inputs=Tensor("x", "N")), {"N": 3})
    for function, told, line in (
        (clears, "2 of 3 elements of x were changed, by an in-place operation of torch", "def "),
        (negates, "3 of 3 elements of x were changed", "tl.store"),
    ):
        case = Case(run=function, contract=Flip("N"), inputs=Tensor("x", "N"))
        trial = examine(case, example, Counter())
        assert diagnose(trial).direct["input-mutated"].evidence == (told,)
        found = locate(trial, "input-mutated")
        assert found is not None
        owner = clears if function is clears else negate_kernel
        assert found.line == line_of(owner, line)


def test_a_changed_input_is_shown_before_and_after() -> None:
    case = Case(run=clears, contract=Flip("N"), inputs=Tensor("x", "N"))
    shown = changed_input(examine(case, plain_example(case, {"N": 3}), Counter()))
    assert shown is not None
    assert (shown.of, shown.axes, shown.shape, shown.wrong) == ("x", ("N",), (3,), 2)
    assert [(c.expected, c.got, c.wrong) for c in shown.cells] == [
        ("1.0", "1.0", False),
        ("2.0", "0.0", True),
        ("3.0", "0.0", True),
    ]
    drawn = caption(shown), render_excerpt(shown, 80).plain.split("\n")
    assert drawn[0].startswith("2 of 3 elements of x changed · shape [3]")
    assert [row.split() for row in drawn[1][:3]] == [
        ["N", "0", "1", "2"],
        ["before", "1", "2", "3"],
        ["after", "1", "0", "0"],
    ]
