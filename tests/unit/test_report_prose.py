"""Sentences with code in them, and changed lines, on a terminal and on a page."""

from __future__ import annotations

import io
import textwrap

import pytest
from rich.console import Console, Group

from tritaudit.report.prose import in_html, in_text
from tritaudit.report.wording import share

CHANGE = """\
Load from `n - 1 - offs`:
    -  12  x = tl.load(x_ptr + offs, mask=mask)
    +      x = tl.load(x_ptr + (n - 1 - offs), mask=mask, other=0.0, cache_modifier=".cg")"""


def shown(text: str, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(Group(*in_text(text, width)))
    assert isinstance(console.file, io.StringIO)
    return [row.rstrip() for row in console.file.getvalue().splitlines()]


def test_code_in_a_sentence_keeps_its_backticks() -> None:
    assert shown("Use `tl.abs(x)` here.", 80) == ["Use `tl.abs(x)` here."]


def test_a_change_that_fits_stands_as_it_is() -> None:
    rows = shown(CHANGE, 120)
    assert rows[1] == "  -  12  x = tl.load(x_ptr + offs, mask=mask)"
    assert rows[2].startswith("  +      x = tl.load(x_ptr + (n - 1 - offs)") and len(rows) == 3


@pytest.mark.parametrize("width", [60, 80])
def test_a_change_that_does_not_fit_is_broken_behind_its_sign(width: int) -> None:
    rows = shown(CHANGE, width)
    added = [row for row in rows if row.startswith("  +")]
    assert len(added) > 1 and all(len(row) <= width for row in rows)
    assert all(row.startswith("  +          ") for row in added[1:]), "indented by four more"
    code = " ".join(row[9:].strip() for row in added)
    assert code == CHANGE.splitlines()[-1][11:]
    compile(textwrap.dedent("\n".join(row[9:] for row in added)), "change", "exec")


@pytest.mark.parametrize("width", [1, 10, 30])
def test_a_narrow_terminal_breaks_nothing(width: int) -> None:
    assert shown(CHANGE, width)


def test_foreign_text_stays_text() -> None:
    text = "A name `<b>\x1b[31m` here\n    +  <script>"
    assert "\x1b" not in "".join(shown(text, 80))
    page = "".join(in_html(text))
    assert "<script>" not in page and "&lt;script&gt;" in page and "<code>&lt;b&gt;</code>" in page


def test_a_page_marks_what_goes_and_what_comes() -> None:
    page = "".join(in_html(CHANGE))
    assert page.count('class="gone"') == page.count('class="new"') == 1
    assert page.startswith("<p>Load from <code>n - 1 - offs</code>:</p><pre>")


@pytest.mark.parametrize(
    ("part", "total", "text"),
    [
        (1, 1, "1 of 1 element was"),
        (1, 3, "1 of 3 elements was"),
        (2, 3000, "2 of 3,000 elements were"),
    ],
)
def test_a_part_of_a_whole(part: int, total: int, text: str) -> None:
    assert share(part, total, "element", "was", "were") == text
    assert share(part, total, "element") == text.rpartition(" ")[0]
