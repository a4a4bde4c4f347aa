"""Parts of an explanation: the source around a line, the values of an example, how it is known."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tritaudit.faults import FAULT_IDS
from tritaudit.model import UNKNOWN, Cell, Edit, Excerpt, Location, Proof
from tritaudit.report.bits import render_bits
from tritaudit.report.excerpt import caption
from tritaudit.report.explain import read_source, render_explanation, values_in_words
from tritaudit.report.terminal import DIRECTLY, plain, proof_text, show

FILE = """\
import triton


@triton.jit
def kernel(p):
    x = tl.load(p)

    tl.store(p, x)


def run(x):
    kernel[(1,)](x)
    if x:
        return x
"""


@pytest.mark.parametrize(
    ("line", "first", "last"), [(6, 5, 8), (8, 5, 8), (12, 11, 14), (1, 1, 4), (4, 1, 6)]
)
def test_the_source_around_a_line_stays_inside_its_function(
    line: int, first: int, last: int, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(FILE, encoding="utf-8")
    found = read_source(Location(str(path), line))
    assert found is not None
    assert (found.first, found.first + len(found.lines) - 1) == (first, last)
    assert found.lines == tuple(FILE.splitlines()[first - 1 : last])


@pytest.mark.parametrize(("text", "line"), [("", 1), ("x = 1\n", 9), ("def f(:\n", 1)])
def test_a_source_that_cannot_be_read_does_not_matter(text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(text, encoding="utf-8")
    found = read_source(Location(str(path), line))
    assert found is None or found.lines
    assert read_source(Location(str(tmp_path / "gone.py"), 1)) is None
    assert read_source(None) is None


def test_elements_that_were_set_by_hand_are_named() -> None:
    plain_one = samples.signed_zero_kept()
    cells = (Cell((0,), "-0.0", "0.0", "-0.0", True, 0x80000000, 0, 0x80000000),)
    excerpt = Excerpt(("N",), (1,), "float32", "float32", (0,), cells, 1, 1)
    example = replace(
        plain_one.example,
        dtypes=(("x", "float32"),),
        edits=(Edit("x", 0, 0x80000000),),
    )
    alone = replace(plain_one, example=example, excerpt=excerpt)
    assert values_in_words(alone) == "x[0] = -0.0"
    among = replace(alone, excerpt=replace(excerpt, total=5))
    assert values_in_words(among).endswith(", x[0] = -0.0")
    unknown = replace(alone, excerpt=replace(excerpt, cells=()))
    assert values_in_words(unknown).endswith("1 element set by hand")


def test_the_sign_of_what_was_never_written_is_explained() -> None:
    cells = (Cell((0,), "1.0", "1.0", UNKNOWN, True),)
    excerpt = Excerpt(("N",), (1,), "float32", "float32", (0,), cells, 1, 1)
    assert caption(excerpt).endswith("? = never written")


def test_a_map_of_another_example_says_so_and_the_output_is_shown_as_well() -> None:
    finding = samples.tail_dropped()
    shown = plain(render_explanation(finding, 80), 80)
    assert "at N=1000 BLOCK=64 int16, a larger example of the same fault" in shown
    assert "The output" in shown.splitlines()


def test_how_a_fault_is_known_that_predicts_nothing() -> None:
    finding = replace(samples.tail_dropped(), proof=Proof(40, 40, 3))
    text = proof_text(finding)
    assert text is not None
    assert text.plain.startswith("Seen: elements kept what the output was filled with")
    assert text.plain.endswith("; in 3 further examples, too.")
    assert "predicts" not in text.plain


def test_every_fault_that_predicts_nothing_says_how_it_is_known() -> None:
    from tritaudit.faults.diagnosis import registry
    from tritaudit.faults.protocol import Fault

    silent = {f.id for f in registry() if f.candidates == Fault("x").candidates}
    assert silent - {"value-mismatch"} <= set(DIRECTLY) <= set(FAULT_IDS)


def test_where_it_was_predicted_the_prediction_is_told() -> None:
    proof = Proof(2, 2, 3, statement="the tail of BLOCK along N stays as it was")
    text = proof_text(replace(samples.tail_dropped(), proof=proof))
    assert text is not None
    assert text.plain.startswith("The tail of BLOCK along N stays as it was. Proved: this predicts")


def test_a_bit_table_in_a_narrow_terminal_loses_no_bit() -> None:
    cell = Cell((3,), "-1.0", "1.0", "-1.0", True, 0xBFF0000000000000, 0x3FF0000000000001, 1 << 63)
    excerpt = Excerpt(("N",), (4,), "float64", "float64", (), (cell,), 1, 4)
    whole = render_bits(excerpt, 100).plain.splitlines()
    narrow = render_bits(excerpt, 38).plain.splitlines()
    assert max(map(len, narrow)) <= 38
    for label in ("input", "expected", "got"):
        [row] = [r for r in whole if r.strip().startswith(label)]
        bits = row.strip().removeprefix(label).partition("=")[0]
        parts = [r.strip().removeprefix(label) for r in narrow if r.strip().startswith(label)]
        assert len(parts) > 1
        joined = "".join(part.partition("=")[0] for part in parts)
        assert joined.replace(" ", "") == bits.replace(" ", "")
    marks = "".join(row for row in narrow if "^" in row)
    assert marks.count("^") == sum("^" in c for row in whole for c in row)


def test_what_is_piped_has_no_spaces_at_the_end_of_a_line() -> None:
    padded = Padding(Text("some text"), (0, 20, 0, 2))
    piped, drawn = io.StringIO(), io.StringIO()
    show(Console(file=piped, width=60), padded)
    assert piped.getvalue() == "  some text\n"
    show(Console(file=drawn, width=60, force_terminal=True, color_system=None), padded)
    assert drawn.getvalue().rstrip() == "  some text"
