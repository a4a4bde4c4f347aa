"""Which kernel a finding points to, and where that was launched."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"

import inspect
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor
from tritaudit.examine import Counter, examine
from tritaudit.generate import plain_example
from tritaudit.present import launch_places, locate
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
