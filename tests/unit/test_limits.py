"""What the interpreter cannot do, or does in its own way, is no fault of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tritaudit import Abs, Case, Tensor
from tritaudit.backend import ZEROS_LIMIT, explain_error, prepare
from tritaudit.examine import Counter, examine
from tritaudit.ledger import limit_of
from tritaudit.model import Edit, Example
from tritaudit.trial import Trial, disagrees


@triton.jit
def larger_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    mirrored = tl.load(x_ptr + n - 1 - offs, mask=mask)
    tl.store(out_ptr + offs, tl.maximum(x, mirrored), mask=mask)


@triton.jit
def asm_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    bits = tl.inline_asm_elementwise("abs.s32 $0, $1;", "=r,r", [x], tl.int32, True, 1)
    tl.store(out_ptr + tl.arange(0, 4), bits)


@triton.jit
def library_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    tl.store(out_ptr + tl.arange(0, 4), libdevice.abs(x))


@triton.jit
def nothing_kernel(x_ptr, out_ptr):
    nothing = None
    tl.store(out_ptr + tl.arange(0, 4), nothing)


def larger_of(*bits: int) -> Trial:
    """The trial of a vector of float32 beside its reverse, for a contract of abs."""

    def run(x: torch.Tensor, out: torch.Tensor) -> None:
        larger_kernel[(1,)](x, out, x.numel(), BLOCK=16)

    case = Case(run=run, contract=Abs(), inputs=Tensor("x", "N", dtypes="float32"))
    example = Example(
        sizes=(("N", len(bits)),),
        dtypes=(("x", "float32"),),
        layouts=(("x", "contiguous"),),
        edits=tuple(Edit("x", k, b) for k, b in enumerate(bits)),
    )
    prepare()
    return examine(case, example, Counter())


def with_output(trial: Trial, *values: float) -> Trial:
    """The trial as if these values had come out: which zero does is not the same each time."""
    out = torch.tensor(values)
    seen = replace(trial.seen, out=out)
    return replace(trial, seen=seen, wrong=disagrees(out, trial.expected))


def raised_by(function: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(Exception) as caught:
        function()
    told = explain_error(caught.value)
    return told.kind, told.message


def test_which_zero_is_the_larger_one_is_left_to_numpy() -> None:
    trial = larger_of(0, 1 << 31)
    assert trial.seen.limits == (ZEROS_LIMIT,)
    assert limit_of(with_output(trial, -0.0, 0.0)) == ZEROS_LIMIT
    assert limit_of(with_output(trial, 0.0, 0.0)) == ""


def test_what_else_is_wrong_beside_a_zero_is_judged() -> None:
    assert limit_of(with_output(larger_of(0, 1 << 31), -0.0, 1.0)) == ""


def test_zeros_of_one_sign_meet_no_limit() -> None:
    assert larger_of(0, 0).seen.limits == ()
    assert larger_of(1 << 31, 1 << 31).seen.limits == ()


@pytest.mark.parametrize("kernel", [asm_kernel, library_kernel])
def test_what_the_interpreter_lacks_is_a_limit(kernel: triton.JITFunction) -> None:
    x = torch.arange(4, dtype=torch.int32)
    assert raised_by(lambda: kernel[(1,)](x, x.clone()))[0] == "limit"


def test_a_none_of_the_kernels_own_is_refused() -> None:
    x = torch.arange(4, dtype=torch.int32)
    assert raised_by(lambda: nothing_kernel[(1,)](x, x.clone()))[0] == "rejected"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("assert x.is_cuda", "limit"),
        ("torch.zeros(1, device='cuda')", "limit"),
        ("raise ValueError('an NVIDIA device is needed')", "limit"),
        ("assert x.is_contiguous()", "raised"),
        ("raise ValueError('two axes are needed')", "raised"),
    ],
)
def test_a_launch_function_that_wants_a_gpu_is_not_blamed(
    tmp_path: Path, body: str, kind: str
) -> None:
    if torch.cuda.is_available():
        pytest.skip("torch sees a GPU")
    path = tmp_path / "author.py"
    path.write_text(f"import torch\n\n\ndef run(x):\n    {body}\n", encoding="utf-8")
    names: dict[str, Callable[[torch.Tensor], object]] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    assert raised_by(lambda: names["run"](torch.zeros(2, 2).t()[:1]))[0] == kind
