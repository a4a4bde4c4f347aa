"""What a terminal shows: widths, marks without colour, safety of foreign text, lines to paste."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from rich.cells import cell_len
from rich.console import Console, RenderableType

from tritaudit.model import (
    MASKED,
    Cell,
    Coverage,
    Excerpt,
    Finding,
    IndexMap,
    Outcome,
    Progress,
    Proof,
    Severity,
    UnitFinished,
    UnitStarted,
)
from tritaudit.report import bits, mapdraw, mapview, severity, terminal, wording
from tritaudit.report.excerpt import render_excerpt
from tritaudit.report.explain import PLACES, Source, render_explanation
from tritaudit.report.live import LiveProgress
from tritaudit.report.resultline import name_column

GOLDEN = Path(__file__).parent.parent / "golden"
FINDINGS = samples.all_findings()


def shown(drawn: RenderableType, width: int = 80, colour: bool = False) -> str:
    system: Any = "standard" if colour else None
    console = Console(file=io.StringIO(), width=width, force_terminal=colour, color_system=system)
    terminal.show(console, drawn)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def rows(drawn: RenderableType, width: int = 80) -> list[str]:
    return [row.rstrip() for row in shown(drawn, width).splitlines()]


def is_golden(name: str, text: str) -> None:
    """Compare with a golden file; TRITAUDIT_GOLDEN=write writes it."""
    text = "".join(f"{row.rstrip()}\n" for row in text.splitlines())
    path = GOLDEN / name
    if os.environ.get("TRITAUDIT_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


# --------------------------------------------------------------------------- tables


def test_every_severity_and_every_outcome_has_its_row() -> None:
    assert set(severity.SEVERITIES) == set(Severity)
    assert set(severity.OUTCOMES) == set(Outcome)


# --------------------------------------------------------------------------- golden


def test_the_panel_of_a_finding() -> None:
    is_golden("panel_padding_leak.txt", shown(terminal.render_finding(samples.padding_leak())))


def test_the_explanation_of_a_finding() -> None:
    source = Source(13, ("    mask = offs < n", "    x = tl.flip(x, 0)", "    tl.store(out, x)"))
    drawn = render_explanation(
        samples.block_local_flip(),
        source=source,
        why="tl.flip reverses one tile; it knows nothing of the axis that the tiles lie on.",
        fix="Load the tile from the mirrored place: offs = n - 1 - (pid * BLOCK + lanes).",
        twin="flip/address_remap",
        twin_path="cases/flip/address_remap.py",
    )
    is_golden("explain_block_local_flip.txt", shown(drawn))


def test_the_lines_of_a_run() -> None:
    report = samples.report()
    names = name_column([r.case for r in report.results], 80)
    lines = [shown(terminal.render_result_line(r, 80, name_width=names)) for r in report.results]
    is_golden("run_lines.txt", "".join(lines) + shown(terminal.render_summary(report, 80)))


# --------------------------------------------------------------------------- width and colour


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("render", [terminal.render_finding, render_explanation])
@pytest.mark.parametrize("finding", FINDINGS, ids=lambda f: f.fault)
def test_only_the_line_to_paste_is_wider_than_the_terminal(
    finding: Finding, render: Callable[..., RenderableType], width: int
) -> None:
    for row in rows(render(finding, width), width):
        assert cell_len(row) <= width or row.startswith("tritaudit explain "), row


@pytest.mark.parametrize("width", [1, 20, 300])
def test_an_odd_width_breaks_nothing(width: int) -> None:
    for finding in FINDINGS:
        assert shown(terminal.render_finding(finding, width), width)
        assert shown(render_explanation(finding, width), width)
    for result in samples.report().results:
        assert shown(terminal.render_result_line(result, width), width)
    assert shown(terminal.render_case_list(samples.infos(), width), width)
    assert shown(terminal.render_fault_list(samples.FAULTS, width), width)


@pytest.mark.parametrize("width", [80, 140])
def test_result_lines_are_aligned(width: int) -> None:
    report = samples.report()
    names = name_column([r.case for r in report.results], width)
    for result in report.results:
        lines = rows(terminal.render_result_line(result, width, name_width=names), width)
        assert {cell_len(row) for row in lines[:1]} == {min(width, 132)}
        assert all(row.startswith(" " * (names + 8)) for row in lines[1:])


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda f: f.fault)
def test_wrong_elements_are_marked_without_colour(finding: Finding) -> None:
    if finding.excerpt is None:
        pytest.skip("nothing to mark")
    assert "✗" in shown(render_excerpt(finding.excerpt, 76))


def test_colour_is_used_on_a_terminal_only() -> None:
    drawn = terminal.render_finding(samples.padding_leak())
    assert "\x1b[" in shown(drawn, colour=True)
    assert "\x1b" not in shown(drawn)


# --------------------------------------------------------------------------- foreign text


@pytest.mark.parametrize("render", [terminal.render_finding, render_explanation])
def test_hostile_text_is_shown_as_it_is_and_controls_nothing(
    render: Callable[..., RenderableType],
) -> None:
    text = shown(render(samples.unexplained(), 140), 140)
    for character in ("\x1b", "\x07", "\r", "\u202e", "\ud800"):
        assert character not in text
    assert "evil/[red]|x|[/red] <b>&amp;" in text
    assert "[red]not markup[/red]" in text
    assert "x = [bold]1[/bold]" in text


def test_hostile_names_in_lines_and_lists() -> None:
    [result] = [r for r in samples.report().results if r.case == samples.HOSTILE]
    line = shown(terminal.render_result_line(result, 140), 140)
    assert "[red]|x|[/red]" in line
    assert "\x1b" not in line and "\u202e" not in line
    listing = shown(terminal.render_case_list(samples.infos(), None))
    assert listing.count("\n") == len(samples.infos())
    assert "\x1b" not in listing


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\r\nb\tc", "a b c"),
        ("a\x00\x08\x7fb\x9b31mc", "abc"),
        ("a\u2028b", "a b"),
        ("\ud800", "\ufffd"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_a_line_is_made_safe(text: str, safe: str) -> None:
    assert wording.line(text) == safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("each tile is reversed", "Each tile is reversed."),
        ("out[i] = in[7 - i]", "out[i] = in[7 - i]."),
        ("tl.flip reverses.", "tl.flip reverses."),
        ("", ""),
    ],
)
def test_a_sentence_begins_and_ends_like_one(text: str, shown: str) -> None:
    assert wording.sentence(text) == shown


def test_a_block_keeps_its_lines() -> None:
    assert wording.block("a\r\n  b\x1b[2J\rc\td") == "a\n  b\nc   d"


# --------------------------------------------------------------------------- lines to paste


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda f: f.fault)
@pytest.mark.parametrize("render", [terminal.render_finding, render_explanation])
def test_the_line_to_paste_is_whole_and_a_shell_reads_it(
    finding: Finding, render: Callable[..., RenderableType]
) -> None:
    [row] = [r for r in rows(render(finding, 80)) if r.startswith("tritaudit explain ")]
    case, token = wording.line(finding.case), wording.line(finding.repro)
    assert shlex.split(row) == ["tritaudit", "explain", case, "--repro", token]


# --------------------------------------------------------------------------- drawings


def test_the_line_to_paste_names_the_target_of_a_case() -> None:
    finding = replace(samples.padding_leak(), target="my kernels/flip.py:second")
    assert "tritaudit explain 'my kernels/flip.py:second' --repro" in shown(
        terminal.render_finding(finding)
    )


def test_an_excerpt_in_a_row_is_cut_at_tile_borders() -> None:
    finding = samples.block_local_flip(12, 4)
    assert finding.excerpt is not None
    assert rows(render_excerpt(finding.excerpt, 80))[0] == (
        "       N  0  1  2  3 │  4  5  6  7 │  8  9 10 11"
    )
    narrow = rows(render_excerpt(finding.excerpt, 40))
    assert narrow[0] == "       N  0  1  2  3 │  4  5  6  7 │"
    assert narrow[6] == "       N  8  9 10 11"


def test_left_out_elements_show() -> None:
    finding = samples.block_local_flip(100, 32)
    assert finding.excerpt is not None
    first = rows(render_excerpt(finding.excerpt, 140))[0].split()
    assert first.count("…") == 2
    ends = replace(finding.excerpt, cells=finding.excerpt.cells[:8])
    assert rows(render_excerpt(ends, 140))[0].endswith("7 …")


def test_two_axes_are_drawn_as_grids_with_tile_borders() -> None:
    excerpt = samples.wrong_axis().excerpt
    assert excerpt is not None
    text = rows(render_excerpt(excerpt, 80))
    assert text[1].split() == ["input", "expected", "got"]
    assert text[3].split("    ")[-1] == "0 11✗ 12✗ 13✗ 14✗ │ 15✗"
    assert "┼" in text[5]
    stacked = rows(render_excerpt(excerpt, 40))
    assert "input" in stacked and "expected" in stacked and "got" in stacked


def test_long_values_are_listed_one_a_line() -> None:
    excerpt = samples.int_abs_overflow().excerpt
    assert excerpt is not None
    assert rows(render_excerpt(excerpt, 76))[2].endswith("-128 ✗")


def test_a_list_shows_the_wrong_elements_of_many() -> None:
    cells = tuple(Cell((i,), "1" * 12, "1", "2", i > 90) for i in range(100))
    excerpt = Excerpt(("N",), (100,), "int64", "int64", (0,), cells, 9, 100)
    text = shown(render_excerpt(excerpt, 76))
    assert text.count("✗") == 9
    assert "91 more elements, 0 wrong" in text


def test_an_empty_output_and_a_scalar_can_be_drawn() -> None:
    empty = Excerpt(("N",), (0,), "int8", "int8", (8,), (), 0, 0)
    assert "no elements" in shown(render_excerpt(empty, 76))
    scalar = Excerpt((), (), "int8", "int32", (), (Cell((), "", "3", "4", True),), 1, 1)
    assert "✗" in shown(render_excerpt(scalar, 76))
    for shape, source in (((0,), ()), ((), (0,))):
        drawn = mapdraw.render_map(IndexMap((), shape, (), source, source), 76)
        assert shown(drawn).strip()


def test_the_map_shows_padding_lanes_and_leaks() -> None:
    index_map = samples.padding_leak().index_map
    assert index_map is not None
    assert rows(mapdraw.render_map(index_map, 76)) == [
        " output N   0   1   2   3   4   ·   ·   ·",
        "should be   4   3   2   1   0   ·   ·   ·",
        "came from pad pad pad   4   3   ·   ·   ·",
        "            ✗   ✗   ✗   ✗   ✗",
    ]


def test_a_source_beyond_the_shape_of_the_output_is_shown_flat() -> None:
    index_map = IndexMap(("N", "M"), (2, 2), (0, 0), (9, 1, 2, 3), (0, 1, 2, 3))
    assert "9✗" in shown(mapdraw.render_map(index_map, 76))


def test_the_runs_of_a_map() -> None:
    index_map = samples.tail_dropped().index_map
    assert index_map is not None
    found = mapview.runs(index_map)
    assert [(r.first, r.last, r.wrong) for r in found] == [(0, 959, False), (960, 999, True)]
    scattered = IndexMap(("N",), (4,), (0,), (2, 0, 3, 1), (3, 2, 1, 0))
    assert mapdraw.render_runs(scattered) is None


def test_a_large_map_is_drawn_around_the_first_border_that_goes_wrong() -> None:
    assert mapview.window([False] * 960 + [True] * 40, 64) == (944, 976)
    assert mapview.window([False] * 500 + [True] * 500, 0) == (484, 516)
    assert mapview.window([False] * 100, 10) == (0, 100)


def test_a_large_map_of_two_axes_keeps_to_the_width() -> None:
    finding = samples.wrong_axis(40, 200, (16, 64))
    assert finding.index_map is not None
    text = rows(mapdraw.render_map(finding.index_map, 80))
    assert max(map(cell_len, text)) <= 80
    assert any("│" in row for row in text)


def test_the_middle_of_a_long_map_is_left_out_with_a_verdict() -> None:
    source = (MASKED, *range(1, 300))
    index_map = IndexMap(("N",), (300,), (0,), source, tuple(range(300)))
    assert "left out: all right" in shown(mapdraw.render_map(index_map, 80))


@pytest.mark.parametrize("dtype", bits.FIELDS)
def test_a_bit_table_fits_80_columns(dtype: str) -> None:
    width = bits.FIELDS[dtype].bits
    top = 1 << (width - 1)
    cell = Cell((12,), "-0.0", "0.0", "-0.0", True, top, 0, top | 1)
    excerpt = Excerpt(("N",), (20,), dtype, dtype, (16,), (cell,), 1, 20)
    text = rows(bits.render_bits(excerpt, 78))
    assert max(map(cell_len, text)) <= 78
    got, marks = text[3], text[4]
    assert [got[i] for i, m in enumerate(marks) if m == "^"] == ["1", "1"]


def test_a_value_that_no_bits_hold_is_said_in_words() -> None:
    excerpt = samples.int_abs_overflow().excerpt
    assert excerpt is not None
    assert "128, which no bit pattern of int8 means" in shown(bits.render_bits(excerpt, 78))


# --------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("dtypes", "short"),
    [
        (("float16", "bfloat16", "float32", "float64"), "floats"),
        (("int8", "int16", "int32", "int64"), "signed ints"),
        (("bool", "float32"), "bool float32"),
        ((), ""),
    ],
)
def test_dtypes_in_short(dtypes: tuple[str, ...], short: str) -> None:
    assert wording.dtypes_in_short(dtypes) == short


@pytest.mark.parametrize(
    ("value", "text"), [(0.04, "0.0s"), (9.96, "10s"), (59.7, "1m00s"), (3725, "1h02m")]
)
def test_durations(value: float, text: str) -> None:
    assert wording.seconds(value) == text


def test_how_much_is_explained() -> None:
    def said(elements: int, explained: int, statement: str = "") -> str:
        proof = Proof(elements, explained, 0, (), (), statement)
        finding = replace(samples.padding_leak(), proof=proof, evidence=("nothing was written",))
        text = terminal.proof_text(finding)
        return "" if text is None else text.plain

    assert said(1, 1) == "Proved: this predicts the only wrong element bit for bit."
    assert said(5, 3) == "Partly explained: this predicts 3 of 5 wrong elements bit for bit."
    assert said(5, 0) == "Nothing explains the 5 wrong elements."
    assert said(1, 0) == "Nothing explains the only wrong element."
    assert said(0, 0) == ""
    assert said(0, 0, "nothing was written") == "", "the evidence says so already"


def test_places_are_faults() -> None:
    from tritaudit import faults

    assert set(faults.FAULT_IDS) >= PLACES


def test_assert_close_verdicts() -> None:
    for passes, said in ((True, "would have PASSED"), (False, "would have failed")):
        finding = replace(samples.padding_leak(), assert_close_passes=passes)
        assert f"torch.testing.assert_close against torch: {said}" in shown(
            terminal.render_finding(finding)
        )
    finding = replace(samples.padding_leak(), assert_close_passes=None)
    assert "assert_close" not in shown(terminal.render_finding(finding))


def test_problems_show_what_a_line_cannot_hold() -> None:
    drawn = {
        r.outcome: terminal.render_problem(r) for r in samples.report().results if not r.findings
    }
    stale, error = drawn[Outcome.STALE], drawn[Outcome.ERROR]
    assert stale is not None and error is not None
    assert "padding-leak" in shown(stale)
    assert "RuntimeError: expected a tensor with two axes" in shown(error)
    assert "about to fail" in shown(error)
    assert drawn[Outcome.PASS] is None


def test_a_stale_expectation_is_told_beside_an_unexpected_finding() -> None:
    failed = replace(samples.report().results[0], outcome=Outcome.FAIL, missing=("padding-leak",))
    assert terminal.render_problem(replace(failed, missing=())) is None
    drawn = terminal.render_problem(failed)
    assert drawn is not None
    assert "expect= names padding-leak, which did not show" in " ".join(shown(drawn).split())
    assert "padding-leak did not show" in terminal.render_result_line(failed).plain


def test_a_summary_of_nothing_says_so() -> None:
    empty = replace(samples.report(), results=(), ended="interrupted: 0 of 8 cases finished")
    drawn = rows(terminal.render_summary(empty))
    assert (drawn[0], drawn[-1]) == (
        "0 cases: nothing was run",
        "interrupted: 0 of 8 cases finished",
    )


# --------------------------------------------------------------------------- progress


def progress_of_a_run(terminal_like: bool, quiet: bool = False) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal_like)
    report = samples.report()
    with LiveProgress(console, [r.case for r in report.results], quiet=quiet) as progress:
        for result in report.results:
            progress.handle(UnitStarted(result.case, result.backend))
            progress.handle(Progress(result.case, result.backend, 12, "sweep", "N=1"))
            progress.handle(UnitFinished(result))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_pipe_gets_result_lines_only() -> None:
    text = progress_of_a_run(False)
    assert "\x1b" not in text and "sweep" not in text
    starts = [row[:5].strip() for row in text.splitlines() if not row.startswith(" ")]
    outcomes = [severity.outcome_look(r.outcome).word for r in samples.report().results]
    assert starts == outcomes


def test_a_terminal_gets_a_live_area() -> None:
    text = progress_of_a_run(True)
    assert "of 16 cases" in text


def test_quiet_leaves_out_what_needs_no_look() -> None:
    text = progress_of_a_run(False, quiet=True)
    assert "pass" not in text and "known" not in text and "FAIL" in text


def test_coverage_of_nothing_is_said() -> None:
    result = samples.result("a", Outcome.PASS, coverage=Coverage())
    assert "0 examples" in shown(terminal.render_result_line(result))
