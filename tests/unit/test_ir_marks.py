"""Which lines stem from a call of tl.flip or tl.abs, and another axis for tl.flip."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tritaudit.ir.locations import Chain, Place, Row
from tritaudit.ir.marks import find_calls, mark, through, with_dim
from tritaudit.ir.model import Call

KERNELS = '''\
import torch
import triton
import triton.language as tl


@triton.jit
def reverse_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.flip(tl.load(x_ptr + offs), 0))


@triton.jit
def abs_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(
        out_ptr + offs,
        tl.load(x_ptr + offs)
        .abs(),
    )


def run(x, out):
    """Calls of torch are no calls of a kernel."""
    return torch.flip(x, (0,)), abs(-3)
'''
LIBRARY = """\
def flip(x, dim):
    return xor_sum(x)


def xor_sum(x):
    return x
"""


@pytest.fixture
def case(tmp_path: Path) -> str:
    path = tmp_path / "case.py"
    path.write_text(KERNELS)
    return str(path)


@pytest.fixture
def library(tmp_path: Path) -> str:
    path = tmp_path / "standard.py"
    path.write_text(LIBRARY)
    return str(path)


def test_calls_are_found_in_kernels_only(case: str) -> None:
    flip, absolute = find_calls(case)
    assert (flip.name, flip.line, flip.column) == ("flip", 9, 29)
    assert flip.text == "tl.flip(tl.load(x_ptr + offs), 0)"
    assert (absolute.name, absolute.line, absolute.end_line) == ("abs", 17, 18)
    assert absolute.text == "tl.load(x_ptr + offs) .abs()"
    assert find_calls("/no/such/file.py") == ()


def marked(rows: list[Row], calls: list[Call]) -> tuple[list[str], list[str]]:
    stage = mark("ttir", rows, calls)
    names = [row.operation for row in rows]
    return [names[n] for n in stage.marked], [names[n] for n in stage.near]


def row(operation: str, *chain: Place, text: str = "") -> Row:
    chains: tuple[Chain, ...] = (chain,) if chain else ()
    return Row(text or f"    {operation} x", operation, chains)


@pytest.mark.parametrize("column", [30, 54, 61])  # of the call from 1, or of its last argument
def test_what_was_inlined_from_the_library_stems_from_the_flip(
    case: str, library: str, column: int
) -> None:
    call = find_calls(case)[0]
    at = Place(case, 9, column)
    rows = [
        row("tt.load", Place(case, 9, 37)),
        row("arith.xori", Place(library, 2, 5), at),
        row("tt.reduce", Place(library, 6, 1), Place(library, 2, 9), at),
        row("tt.store", Place(case, 9, 29)),
        row("tt.return", Place(case, 9, 4)),
        row("elsewhere", Place(library, 2, 5), Place(case, 40, column)),
    ]
    assert marked(rows, [call]) == (
        ["arith.xori", "tt.reduce"],
        ["tt.load", "tt.store", "tt.return"],
    )


def test_another_library_function_in_the_same_place_is_told_apart(case: str, library: str) -> None:
    call, at = find_calls(case)[0], Place(case, 9, 30)
    of_flip = row("tt.reduce", Place(library, 6, 1), Place(library, 2, 9), at)
    of_another = row("arith.addf", Place(library, 6, 1), at)
    assert marked([of_flip, of_another], [call]) == (["tt.reduce"], ["arith.addf"])
    # Where LLVM leaves out the places in between, nothing tells them apart.
    assert marked([of_another], [call])[0] == ["arith.addf"]


def test_a_call_in_a_helper_is_known_by_the_library_where_chains_are_cut(
    case: str, library: str
) -> None:
    call, kernel = find_calls(case)[0], Place(case, 40, 5)
    inside = Place(library, 6, 1)
    ttir = [row("tt.reduce", inside, Place(library, 2, 9), Place(case, 9, 30), kernel)]
    inner = through(ttir, [call])
    assert inner == {inside}
    cut = [row("shfl", inside, kernel), row("add", Place(library, 7, 1), kernel)]
    assert mark("ptx", cut, [call], inner=inner).marked == (0,)
    assert mark("ptx", cut, [call]).marked == ()
    whole = [row("shfl", inside, Place(library, 2, 9), kernel), cut[0]]
    assert mark("ptx", whole, [call], inner=inner).marked == ()


def test_abs_is_what_stands_in_the_call_and_is_no_memory_access(case: str) -> None:
    call = find_calls(case)[1]
    rows = [
        row("math.absf", Place(case, 17, 9)),
        row("tt.load", Place(case, 17, 9)),
        row("arith.addi", Place(case, 16, 9)),
        row("st.global.b32", Place(case, 17, 9), text="@%p1 st.global.b32 [ %rd2 + 0 ], { %r2 };"),
    ]
    assert marked(rows, [call]) == (["math.absf"], ["tt.load", "st.global.b32"])


@pytest.mark.parametrize(
    "text",
    [
        "\tand.b32 \t%r2, %r1, 2147483647;",
        "\tand.b16  \t%rs2, %rs1, 32767;",
        "\tand.b32 \t%r5, %r1, 2147450879;",
        "        /*0130*/                   LOP3.LUT R6, R6, 0x7fffffff, RZ, 0xc0, !PT ;",
        "\tv_and_b32_e32 v1, 0x7fffffff, v1",
    ],
)
def test_clearing_the_sign_is_known_by_its_form(case: str, text: str) -> None:
    call = find_calls(case)[1]
    assert marked([row("and", Place(case, 40, 1), text=text)], [call])[0] == ["and"]
    flip = find_calls(case)[0]
    assert marked([row("and", Place(case, 40, 1), text=text)], [flip])[0] == []


def test_an_and_with_another_mask_is_not_abs(case: str) -> None:
    call = find_calls(case)[1]
    rows = [row("and", Place(case, 40, 1), text="\tand.b32 \t%r7, %r6, 127;")]
    assert marked(rows, [call]) == ([], [])


def test_places_without_columns_need_an_instruction_that_takes_abs(case: str) -> None:
    call = find_calls(case)[1]
    rows = [
        row("IABS", Place(case, 17), text="        /*0010*/   IABS R7, R7 ;"),
        row("EXIT", Place(case, 17), text="        /*0020*/   EXIT ;"),
    ]
    assert marked(rows, [call]) == (["IABS"], ["EXIT"])


def test_operations_are_counted_most_frequent_first(case: str, library: str) -> None:
    call, chain = find_calls(case)[0], (Place(library, 2, 1), Place(case, 9, 30))
    rows = [row("b", *chain), row("a", *chain), row("c", *chain), row("c", *chain)]
    stage = mark("ttgir", rows, [call], mentions=4)
    assert stage.operations == (("c", 2), ("a", 1), ("b", 1))
    assert (stage.name, stage.mentions, len(stage.rows)) == ("ttgir", 4, 4)


# --------------------------------------------------------------------------- another axis


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tl.flip(x)", "tl.flip(x, dim=1)"),
        ("tl.flip(x, 0)", "tl.flip(x, 1)"),
        ("tl.flip(x, dim=-1)", "tl.flip(x, dim=1)"),
        ("flip(x, 0,)", "flip(x, 1,)"),
        ("x.flip()", "x.flip(dim=1)"),
        ("(x + 1).flip(0)", "(x + 1).flip(1)"),
        ('tl.flip("é" + x, AXIS)', 'tl.flip("é" + x, 1)'),
        ("tl.trans(tl.flip(tl.flip(x, 0), -2))", "tl.trans(tl.flip(tl.flip(x, 1), 1))"),
        ("tl.flip(\n    x,\n    0,\n)", "tl.flip(\n    x,\n    1,\n)"),
    ],
)
def test_a_flip_gets_another_axis(before: str, after: str) -> None:
    body = textwrap.indent(f"y = {before}\nz = 1", "    ")
    wanted = textwrap.indent(f"y = {after}\nz = 1", "    ")
    assert with_dim(f"def kernel(x):\n{body}", 1) == f"def kernel(x):\n{wanted}"


def test_lines_keep_their_places_when_an_axis_is_replaced() -> None:
    source = "def kernel(x):\n    y = tl.flip(x, (\n        0\n    ))\n    return y\n"
    assert with_dim(source, -2).split("\n").index("    return y") == 4


def test_a_kernel_without_flip_has_no_axis() -> None:
    with pytest.raises(ValueError, match="which this kernel does not call"):
        with_dim("def kernel(x):\n    return tl.abs(x)\n", 0)
