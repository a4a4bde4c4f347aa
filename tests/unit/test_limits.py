"""What the interpreter cannot do, or does in its own way, is no fault of a kernel."""

from __future__ import annotations

from collections.abc import Callable
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
from tritaudit.trial import Trial


@triton.jit
def larger_kernel(x_ptr, out_ptr, n, more, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.maximum(x, -x) + more, mask=offs < n)


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


def larger_of_both_signs(more: float) -> Trial:
    """The trial of `maximum(x, -x) + more` at +0.0 and 2."""

    def run(x: torch.Tensor, out: torch.Tensor) -> None:
        larger_kernel[(1,)](x, out, x.numel(), more, BLOCK=2)

    case = Case(run=run, contract=Abs(), inputs=Tensor("x", "N", dtypes="float32"))
    example = Example(
        sizes=(("N", 2),),
        dtypes=(("x", "float32"),),
        layouts=(("x", "contiguous"),),
        edits=(Edit("x", 0, 0),),
    )
    return examine(case, example, Counter())


def raised_by(function: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(Exception) as caught:
        function()
    told = explain_error(caught.value)
    return told.kind, told.message


def test_which_zero_is_the_larger_one_is_left_to_numpy() -> None:
    prepare()
    trial = larger_of_both_signs(-0.0)
    assert trial.seen.limits == (ZEROS_LIMIT,)
    assert limit_of(trial) == (ZEROS_LIMIT if trial.wrong.any() else "")


def test_what_else_is_wrong_beside_a_zero_is_judged() -> None:
    prepare()
    trial = larger_of_both_signs(1.0)
    assert trial.got.tolist() == [1.0, 3.0]
    assert limit_of(trial) == ""


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
