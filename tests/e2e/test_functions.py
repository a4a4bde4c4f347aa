"""Functions audited by name, in a folder outside of the repository."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from conftest import Command

OPS = '''"""Operations on rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + start + n - 1 - cols, mask=cols < n)
    tl.store(out_ptr + start + cols, x, mask=cols < n)


@triton.jit
def tile_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    last = tl.minimum(tl.program_id(0) * BLOCK + BLOCK, n) - 1
    x = tl.load(x_ptr + last - tl.arange(0, BLOCK), mask=offs < n)
    tl.store(out_ptr + offs, x, mask=offs < n)


def right(x):
    """Reverse each row."""
    out = torch.empty_like(x)
    rows, n = x.shape
    rows_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
    return out


def blocks(x):
    """Reverse a vector, in blocks of 256."""
    out, n = torch.empty_like(x), x.numel()
    tile_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def raises(x):
    raise ValueError("only tensors of 7 axes are supported")


def gives_nothing(x):
    right(x)


def gives_view(x):
    return x


def gives_double(x):
    return right(x).double()


def gives_other_device(x):
    return torch.empty_like(x, device="meta")


def changes_input(x):
    out = right(x)
    x.zero_()
    return out


def needs_keyword(x, *, scale):
    return x


def keeps(x):
    return x.view(x.dtype)
'''

QUICK = ("--max-examples", "12", "--backend", "interpreter", "--dtype", "float32")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "rowpkg"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "ops.py").write_text(OPS)
    return folder


def line_of(text: str) -> int:
    return OPS[: OPS.index(text)].count("\n") + 1


def test_every_misbehaviour_has_one_verdict(tritaudit: Command, package: Path) -> None:
    wanted = {
        "right": ("pass", "", "", 0),
        "raises": ("fail", "crash", "`raises` raised ValueError: only", line_of("raise ValueErr")),
        "gives_nothing": (
            "fail",
            "crash",
            "`gives_nothing` returned None",
            line_of("def gives_nothing"),
        ),
        "gives_view": ("fail", "not-reversed", "shares memory with x", line_of("def gives_view")),
        "gives_double": ("fail", "wrong-dtype", "is float64, not", line_of("def gives_double")),
        "gives_other_device": ("fail", "crash", "on meta, not on cpu", line_of("def gives_other")),
        "changes_input": ("fail", "input-mutated", "by an in-place op", line_of("def changes_i")),
    }
    names = [f"rowpkg.ops:{name}" for name in wanted]
    told = tritaudit("run", *names, "--flip", "1", *QUICK, "--report", "json=r.json")
    assert told.returncode == 1, told.stderr
    results = json.loads((package.parent / "r.json").read_text())["results"]
    for result in results:
        outcome, fault, evidence, line = wanted[result["case"].removeprefix("rowpkg.ops:")]
        assert result["outcome"] == outcome
        assert [f["fault"] for f in result["findings"]] == ([fault] if fault else [])
        for finding in result["findings"]:
            assert evidence in " ".join(finding["evidence"])
            assert finding["location"]["path"] == "rowpkg/ops.py"
            assert line in (0, finding["location"]["line"])
    assert len(results) == len(wanted)


def test_a_function_that_takes_no_tensor_of_so_many_axes_is_remarked_on(
    tritaudit: Command, package: Path
) -> None:
    told = tritaudit("run", "rowpkg.ops:right", "--flip", "7", *QUICK)
    assert told.returncode == 1
    remark = " ".join(told.stdout.split())
    assert "the function refuses every tensor of 8 axes, the fewest for which --flip 7" in remark
    told = tritaudit("run", "rowpkg.ops:right", "--flip", "7", "--ndim", "8", *QUICK)
    assert "--ndim sets another number" not in " ".join(told.stdout.split())


SHAPED = '''"""Outputs of another shape or dtype than the input."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, n, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n)
    tl.store(out_ptr + cols * rows + row, x, mask=cols < n)


def transpose(x):
    rows, n = x.shape
    out = x.new_empty((n, rows))
    transpose_kernel[(rows,)](x, out, rows, n, BLOCK=triton.next_power_of_2(n))
    return out


@triton.jit
def signbit_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x.to(tl.int32, bitcast=True) < 0, mask=offs < n)


def signbit(x):
    out, n = torch.empty(x.shape, dtype=torch.bool, device=x.device), x.numel()
    signbit_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def absmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + row, tl.max(tl.abs(x), 0))


def absmax(x):
    rows, n = x.shape
    out = x.new_empty(rows)
    absmax_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
    return out


def right_absmax(x):
    return x.abs().amax(1)
'''


@pytest.mark.parametrize(
    ("function", "options", "told"),
    [
        ("transpose", ("--reference", "torch.t", "--ndim", "2"), ""),
        ("signbit", ("--reference", "torch.signbit"), ""),
        ("transpose", ("--reference", "torch.neg", "--ndim", "2"), "the shape (2, 1), not (1, 2)"),
        # It loses NaN.
        (
            "absmax",
            ("--reference", "shaped:right_absmax", "--max-examples", "40"),
            "value-mismatch",
        ),
    ],
)
def test_a_reference_decides_the_shape_and_the_dtype_of_the_output(
    tritaudit: Command, tmp_path: Path, function: str, options: tuple[str, ...], told: str
) -> None:
    (tmp_path / "shaped.py").write_text(SHAPED)
    result = tritaudit("run", f"shaped:{function}", *QUICK, *options)
    assert result.returncode == bool(told), result.stdout
    assert told in result.stdout


def test_a_reference_that_refuses_a_dtype_is_one_sentence_and_exit_2(
    tritaudit: Command, package: Path
) -> None:
    options = ("--reference", "torch.abs", "--backend", "interpreter", "--dtype", "float32,bool")
    told = tritaudit("run", "rowpkg.ops:keeps", *options)
    assert (told.returncode, told.stdout) == (2, "")
    [line] = told.stderr.splitlines()
    assert "Reference(torch.abs) refuses bool of shape (1,) (NotImplementedError: " in line


def test_a_view_that_is_right_is_remarked_on(tritaudit: Command, package: Path) -> None:
    told = tritaudit("run", "rowpkg.ops:keeps", "--abs", *QUICK[:-1], "uint8")
    assert told.returncode == 0, told.stdout
    assert "shares memory with x" in told.stdout


def test_a_block_that_the_function_chooses_is_found_and_the_line_to_paste_works(
    tritaudit: Command, package: Path
) -> None:
    quick = ("--backend", "interpreter", "--dtype", "float32", "--max-examples", "60")
    told = tritaudit("run", "rowpkg/ops.py:blocks", "--flip", "0", *quick)
    assert told.returncode == 1, told.stderr
    assert "block-local-flip dim0=257" in told.stdout
    [pasted] = re.findall(r"^tritaudit (explain .*)$", told.stdout, re.MULTILINE)
    told = tritaudit(*shlex.split(pasted))
    assert told.returncode == 1
    assert "block-local-flip in rowpkg/ops:blocks" in told.stdout
    assert "tl.store(out_ptr + offs, x, mask=offs < n)" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("rowpkg.ops:rihgt", "--flip", "1"), "rowpkg.ops has no function 'rihgt'; nearest: right"),
        (("rowpkg.osp:right", "--flip", "1"), "no module is named 'osp' in rowpkg; nearest: ops"),
        (("rowpkg.ops:needs_keyword", "--flip", "1"), "give --arg scale=VALUE"),
        (("rowpkg.ops:right",), "for a function say what it promises with --flip AXES"),
        (("rowpkg.ops:right", "--flip", "1", "--abs"), "a function has one promise"),
    ],
)
def test_what_cannot_be_audited_is_one_sentence_and_exit_2(
    tritaudit: Command, package: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    told = tritaudit("run", *arguments, "--backend", "interpreter")
    assert told.returncode == 2
    assert told.stdout == ""
    [line] = told.stderr.splitlines()
    assert sentence in line


def test_a_new_case_file_runs_at_once_and_is_not_overwritten(
    tritaudit: Command, package: Path
) -> None:
    told = tritaudit("new", "rowpkg.ops:right")
    assert (told.returncode, told.stdout.splitlines()[0]) == (
        0,
        "audit_right.py written. Next: tritaudit run audit_right.py",
    )
    text = (package.parent / "audit_right.py").read_text()
    assert text.startswith('"""Reverse each row."""')
    assert 'contract=Flip("N")' in text and '"M N"' in text
    assert "rows_kernel: BLOCK is chosen by right itself" in text
    assert tritaudit("run", "audit_right.py", *QUICK).returncode == 0
    told = tritaudit("new", "rowpkg.ops:right")
    assert told.returncode == 2
    assert "audit_right.py is there already" in told.stderr
    assert (package.parent / "audit_right.py").read_text() == text
    told = tritaudit("new", "rowpkg.ops:raises", "-o", "other.py")
    assert told.returncode == 2
    assert "takes none of the tensors that were tried (ValueError: only tensors" in told.stderr
    assert not (package.parent / "other.py").exists()


TUNED = '''"""Kernels whose block is chosen by measuring."""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32}, num_warps=8)]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def right_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + n - 1 - offs, mask=offs < n), mask=offs < n)


@triton.autotune(configs=CONFIGS, key=["n"], reset_to_zero=["out_ptr"])
@triton.jit
def wrong_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    if BLOCK == 16:
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offs, tl.load(x_ptr + n - 1 - offs, mask=offs < n), mask=offs < n)
    else:
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0)
        tl.store(out_ptr + offs, tl.flip(x, 0), mask=offs < n)


def launched(kernel, x):
    out, n = torch.empty_like(x), x.numel()
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out


def right(x):
    return launched(right_kernel, x)


def wrong(x):
    return launched(wrong_kernel, x)
'''


SEVERAL = '''"""More than one promise, or none that is returned."""

import torch
import triton
import triton.language as tl


@triton.jit
def both_kernel(x_ptr, out_ptr, n, BM: tl.constexpr, BN: tl.constexpr):
    offs = tl.program_id(0) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + n - 1 - offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.abs(x), mask=offs < n)


def flip_abs(x):
    """Magnitudes, from the end."""
    out, n = torch.empty_like(x), x.numel()
    both_kernel[(triton.cdiv(n, 16),)](x, out, n, BM=16, BN=16)
    return out


def reverse_in_place(x):
    x.copy_(x.flip(0))


async def later(x):
    return x
'''


def test_a_new_case_file_claims_only_what_was_seen(tritaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "several.py").write_text(SEVERAL)
    told = tritaudit("new", "several:flip_abs")
    assert told.returncode == 0, told.stderr
    text = (tmp_path / "audit_flip_abs.py").read_text()
    line = text.splitlines().index("    contract=None,") + 1
    assert " ".join(told.stdout.split()) == (
        f"audit_flip_abs.py written. Next: say in line {line} what the function promises, then: "
        "tritaudit run audit_flip_abs.py"
    )
    assert "on a tensor of 8 (float32) it was neither Abs() nor a Flip of any axis" in text
    assert "both_kernel: BM, BN are chosen by flip_abs itself" in text
    told = tritaudit("run", "audit_flip_abs.py", *QUICK)
    assert told.returncode == 2
    assert told.stderr.endswith(": contract is not filled in: say Flip, Abs or Reference\n")


def test_a_function_that_works_in_place_or_later_is_told_so(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "several.py").write_text(SEVERAL)
    told = tritaudit("new", "several:reverse_in_place")
    assert (told.returncode, told.stderr) == (
        2,
        "tritaudit: several:reverse_in_place returns None and changes its input: if that is what "
        "it is for, say --in-place\n",
    )
    assert tritaudit("new", "several:reverse_in_place", "--in-place").returncode == 0
    told = tritaudit("run", "several:later", "--abs", *QUICK)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == (
        "tritaudit: several:later is async: name a function that returns its tensor when it is "
        "called\n"
    )
    text = (tmp_path / "audit_reverse_in_place.py").read_text()
    assert 'contract=Flip("N")' in text and 'in_place="x"' in text


def test_an_autotuned_kernel_is_judged_in_each_configuration(
    tritaudit: Command, tmp_path: Path
) -> None:
    (tmp_path / "tuned.py").write_text(TUNED)
    quick = ("--backend", "interpreter", "--dtype", "float32", "--max-examples", "90")
    told = tritaudit("run", "tuned:right", "tuned:wrong", "--flip", "0", *quick)
    assert told.returncode == 1, told.stderr
    text = " ".join(told.stdout.split())
    assert "pass tuned:right" in text
    assert "2 of 2 different configurations were run (BLOCK=16; BLOCK=32)" in text
    assert "padding-leak in tuned:wrong" in text and "dim0=1 config=1" in text
    assert "block-local-flip in tuned:wrong" in text and "dim0=33 config=1" in text
    assert "autotuned: run as wrong_kernel with BLOCK=32" in text
    assert "value-mismatch" not in text
    pasted = re.findall(r"^tritaudit (explain .*)$", told.stdout, re.MULTILINE)
    told = tritaudit(*shlex.split(next(line for line in pasted if "dim0=1/" in line)))
    assert told.returncode == 1
    assert "padding-leak in tuned:wrong" in told.stdout
    told = tritaudit("new", "tuned:right")
    assert told.returncode == 0, told.stderr
    assert 'contract=Flip("N")' in (tmp_path / "audit_right.py").read_text()
