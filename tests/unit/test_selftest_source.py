"""Changing the text of a case file where its syntax tree says."""

from __future__ import annotations

import ast

import pytest

from tritaudit.selftest.source import CaseSource, NoMatch

TEXT = '''"""Reverse a matrix. (−1 is not the hyphen of this docstring.)"""

@triton.jit
def kernel(x_ptr, out_ptr, H, W, B: tl.constexpr):
    rows = tl.arange(0, B)
    mask = rows < H  # a comment that stays: ≤ is no operator
    x = tl.load(x_ptr + (H - 1 - rows) * W, mask=mask, other=0)
    tl.store(out_ptr + rows * W, tl.flip(x, 0), mask=mask)


def run(x, out, *, B):
    H, W = x.shape
    kernel[(triton.cdiv(H, B),)](x, out, H, W, B=B)


case = Case(
    run=run,
    contract=Flip("H", "W"),
    inputs=[Tensor("x", "H W", dtypes=FLOATS), Tensor("y", "H")],
    tiles=[Tile("B", axis="H", sizes=(4, 8))],
)
'''
SOURCE = CaseSource("a/case", TEXT)


def test_it_knows_the_parts_of_a_case_file() -> None:
    assert SOURCE.kernel.name == "kernel"
    assert SOURCE.run.name == "run"
    assert ast.unparse(SOURCE.launch).startswith("kernel[triton.cdiv(H, B),](x, out, ")
    assert SOURCE.contract == "Flip"
    assert SOURCE.flipped == ("H", "W")
    assert SOURCE.axes == ("H", "W")
    assert SOURCE.option("tiles") == "[Tile('B', axis='H', sizes=(4, 8))]"
    assert SOURCE.option("in_place") == ""


def test_a_mirrored_index_is_found_with_its_parts() -> None:
    (mirror,) = SOURCE.mirrors()
    assert (mirror.length, mirror.rest) == ("H", "rows")


def test_only_what_is_changed_changes() -> None:
    (mirror,) = SOURCE.mirrors()
    changed = SOURCE.put((mirror.node, "H - rows"))
    assert changed.text == TEXT.replace("H - 1 - rows", "H - rows")
    assert SOURCE.text == TEXT


def test_several_changes_are_made_at_once() -> None:
    load, store = SOURCE.call("tl.load"), SOURCE.call("tl.store")
    changed = SOURCE.put((store, "STORE"), (load, "LOAD"))
    assert "x = LOAD\n    STORE\n" in changed.text


def test_an_expression_is_found_however_it_is_spaced() -> None:
    changed = SOURCE.swap("rows<H", "(rows <= H)")
    assert changed.text == TEXT.replace("mask = rows < H ", "mask = (rows <= H) ")


def test_an_expression_that_is_there_twice_is_no_match() -> None:
    with pytest.raises(NoMatch):
        SOURCE.swap("rows", "cols")


def test_keywords_are_replaced_and_taken_out() -> None:
    load = SOURCE.call("tl.load")
    assert "mask=mask, other=7)" in SOURCE.keyword(load, "other", "7").text
    assert "* W, mask=mask)" in SOURCE.keyword(load, "other", None).text
    with pytest.raises(NoMatch):
        SOURCE.keyword(load, "cache", None)


def test_every_input_gets_other_dtypes_and_layouts() -> None:
    changed = SOURCE.dtypes("int8").layouts("offset")
    assert changed.text.count("dtypes=('int8',), layouts=('offset',)") == 2


def test_options_of_the_case_are_added_replaced_and_taken_out() -> None:
    changed = SOURCE.options(in_place="'x'", tiles=None)
    assert changed.option("in_place") == "'x'"
    assert changed.option("tiles") == ""
    with pytest.raises(NoMatch):
        SOURCE.options(twin=None)


def test_a_change_that_changes_nothing_is_no_match() -> None:
    with pytest.raises(NoMatch):
        SOURCE.edited(lambda text: text.replace("absent", "present"))


def test_what_is_no_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        SOURCE.edited(lambda text: text + "def")


def test_the_docstring_says_what_the_mutant_is() -> None:
    assert ast.get_docstring(SOURCE.titled("A mutant.").tree) == "A mutant."
