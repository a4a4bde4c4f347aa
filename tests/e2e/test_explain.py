"""`tritaudit explain` of a kernel that nobody has seen before, on the terminal and as a page."""

from __future__ import annotations

import html
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]

KERNEL = '''"""Reverse tile by tile."""

import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile


@triton.jit
def turn(src_ptr, dst_ptr, size, TILE: tl.constexpr):
    lanes = tl.program_id(0) * TILE + tl.arange(0, TILE)
    values = tl.load(src_ptr + lanes, mask=lanes < size, other=0)
    tl.store(dst_ptr + lanes, tl.flip(values, 0), mask=lanes < size)


def run(x, out, *, TILE):
    turn[(triton.cdiv(x.numel(), TILE),)](x, out, x.numel(), TILE=TILE)


case = Case(
    run=run,
    contract=Flip("N"),
    inputs=Tensor("x", "N", dtypes="int32"),
    tiles=Tile("TILE", axis="N", sizes=4),
)
'''
LEAK = "v1/interpreter/N=3/TILE=4/-/x:int32"
REMAP = "values = tl.load(src_ptr + (size - 1 - lanes), mask=lanes < size, other=0)"


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "turn.py"
    path.write_text(KERNEL, encoding="utf-8")
    return path


def test_an_explanation_speaks_of_the_kernel_itself(tritaudit: Command, kernel: Path) -> None:
    shown = tritaudit("explain", "turn.py", "--repro", LEAK)
    assert shown.returncode == 1, shown.stderr
    text = " ".join(shown.stdout.split())
    for words in (
        "padding-leak in turn",
        "N = 3 fills 3 of the 4 lanes of its tile (TILE = 4).",
        "`tl.flip(values, 0)` (line 13) turns the whole tile",
        "> 13 tl.store(dst_ptr + lanes, tl.flip(values, 0), mask=lanes < size)",
        "+ values = tl.load(src_ptr + (size - 1 - lanes), mask=lanes < size, + other=0)",
        "A right kernel to read: flip/address_remap",
    ):
        assert words in text, words
    assert all(len(row) <= 80 or row.startswith("tritaudit") for row in shown.stdout.splitlines())


def test_the_page_says_the_same_and_needs_no_network(
    tritaudit: Command, kernel: Path, tmp_path: Path
) -> None:
    shown = tritaudit("explain", "turn.py", "--repro", LEAK, "--html", "why.html")
    assert shown.returncode == 1, shown.stderr
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.count("<svg") == 1
    assert html.escape(REMAP) in page and "default-src &#x27;none&#x27;" in page
    links = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\')\s>]+)', page)
    assert [link for link in links if not link.startswith("#")] == []


def test_the_change_of_an_explanation_makes_the_kernel_right(
    tritaudit: Command, kernel: Path
) -> None:
    old = "values = tl.load(src_ptr + lanes, mask=lanes < size, other=0)"
    repaired = KERNEL.replace(old, REMAP).replace("tl.flip(values, 0)", "values")
    kernel.write_text(repaired, encoding="utf-8")
    assert tritaudit("run", "turn.py", "--max-examples", "40").returncode == 0


def test_a_pasted_line_names_what_the_run_named(tritaudit: Command, kernel: Path) -> None:
    """Two elements are too few to tell a rotation from a copy: the examples around them do."""
    rolled = KERNEL.replace("src_ptr + lanes,", "src_ptr + (size - lanes) % size,")
    kernel.write_text(rolled.replace("tl.flip(values, 0)", "values"), encoding="utf-8")
    token = "v1/interpreter/N=2/TILE=4/-/x:int32/-/index"
    shown = tritaudit("explain", "turn.py", "--repro", token)
    assert shown.returncode == 1, shown.stderr
    assert "off-by-one in turn" in shown.stdout
    assert "not-reversed is ruled out by N=" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("padding-leak", "--html", "x.html"), 2, "--html needs a case"),
        (("turn.py", "--repro", LEAK, "--html", "turn.py/page.html"), 3, "cannot be written"),
    ],
)
def test_a_page_that_cannot_be_made(
    tritaudit: Command, kernel: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    shown = tritaudit("explain", *arguments)
    assert shown.returncode == code
    assert says in " ".join(shown.stderr.split())
