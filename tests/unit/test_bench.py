"""What `tritaudit bench` measures, computes and shows, with a stand-in for the timer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tritaudit.bench.model import Entry, Measured, Timing, Work
from tritaudit.bench.preset import LARGE, SIDE, claims
from tritaudit.bench.render import render_bench
from tritaudit.bench.table import bandwidth, groups, ratio, slower
from tritaudit.commands import Usage
from tritaudit.commands.bench import Plan, entries_for, with_twins
from tritaudit.ir.model import Costs
from tritaudit.model import CaseInfo, UnitRequest
from tritaudit.plain import from_plain, to_plain
from tritaudit.report.terminal import plain

ROOT = Path(__file__).parents[2]
N = (("N", LARGE),)


def timing(median: float) -> Timing:
    return Timing(median, median * 0.9, median * 1.1)


def row(case: str, median: float | None, block: int = 4096, **more: object) -> Measured:
    entry = Entry(case, f"BLOCK={block}", N, (("BLOCK", block),))
    time = None if median is None else timing(median)
    measured = Measured(entry, time, LARGE * 8, timing(0.131), timing(0.180), "torch.flip", True)
    return replace(measured, **more)  # type: ignore[arg-type]


REMAP = row("flip/address_remap", 0.133, costs=Costs(0, 0, 0, 0, 0, 24, 0, 99))
TILES = row("flip/mirrored_tiles", 1.181, costs=Costs(224, 9, 128, 128, 16384, 48, 0, 999))


def test_bandwidth_counts_what_has_to_be_moved() -> None:
    assert bandwidth(row("x", 0.131)) == pytest.approx(4098, rel=0.001)
    assert bandwidth(row("x", None)) is None


def test_ratios_are_of_medians() -> None:
    assert ratio(TILES.time, TILES.torch) == pytest.approx(6.561, rel=0.001)
    assert ratio(None, timing(1)) is None
    assert ratio(timing(1), timing(0)) is None


def test_the_slower_kernel_of_a_group_is_named_with_its_factor() -> None:
    (found,) = slower([REMAP, TILES])
    assert found.sentence() == (
        "flip/mirrored_tiles BLOCK=4096 is 8.9 times slower than flip/address_remap"
    )
    near = row("flip/other", 0.140)
    assert slower([REMAP, near]) == []
    other_group = row("flip/mirrored_tiles", 0.648, 1024)
    assert slower([REMAP, other_group]) == []


def test_a_wrong_or_failed_kernel_is_no_measure_for_others() -> None:
    wrong = row("flip/tile_per_program", 0.05, correct=False)
    failed = row("flip/crash", None, problem="CUDA error")
    assert [s.row for s in slower([wrong, failed, REMAP])] == []
    assert slower([wrong]) == []
    unknown = row("flip/large", 0.05, correct=None, problem="not checked: memory")
    assert slower([unknown, REMAP])[0].than == "flip/large"


def test_groups_keep_the_order_of_rows() -> None:
    rows = [row("a", 1, 1024), row("b", 1, 4096), row("c", 1, 1024)]
    assert [[r.entry.case for r in members] for members in groups(rows).values()] == [
        ["a", "c"],
        ["b"],
    ]


# --------------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("width", [80, 140])
def test_table_bars_and_sentences_fit_the_width(width: int) -> None:
    text = plain(render_bench([REMAP, TILES], width), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "8.9 times slower" in text


def test_the_table_shows_times_ratios_and_costs() -> None:
    rows = plain(render_bench([REMAP, TILES], 80)).splitlines()
    cells = [line.split() for line in rows if line.startswith("    BLOCK=4096")]
    assert cells[0][1:] == ["0.1330", "4,037", "1.02", "0.74", "0", "0", "24"]
    assert cells[1][1:] == ["1.1810", "455", "9.02", "6.56", "224", "16,384", "48"]
    assert next(line.split() for line in rows if line.startswith("  copy of"))[-1] == "0.1310"
    assert sum(line.split()[:1] == ["torch.flip"] for line in rows) == 2  # in the table, as a bar


def test_bars_are_as_long_as_times() -> None:
    text = plain(render_bench([REMAP, TILES], 140)).splitlines()
    bars = {line.split()[0]: line.count("█") for line in text if "█" in line}
    assert bars["flip/mirrored_tiles"] == 60
    assert bars["flip/address_remap"] == round(60 * 0.133 / 1.181)
    assert bars["torch.flip"] == round(60 * 0.180 / 1.181)


def test_a_row_without_a_variant_stands_on_the_line_of_its_case() -> None:
    entry = Entry("flip/row_sum", "sums", (("H", 8), ("W", 8)))
    long = replace(entry, case="somewhere/a_case_with_a_rather_long_name")
    rows = [Measured(e, timing(0.5), 8, torch_name="torch") for e in (entry, long)]
    text = plain(render_bench(rows, 80)).splitlines()
    assert [line.split() for line in text if "0.5000" in line] == [
        ["flip/row_sum", "0.5000", "0"],
        ["0.5000", "0"],
    ]


def test_what_went_wrong_stands_in_the_row() -> None:
    rows = [
        row("flip/tile_per_program", 0.1, correct=False),
        row("flip/crash", None, problem="CUDA error: \x1b[31millegal"),
        row("flip/large", 0.1, correct=None, problem="not checked: memory"),
    ]
    text = plain(render_bench(rows, 140))
    assert "wrong result" in text
    assert "CUDA error: illegal" in text
    assert "not checked: memory" in text
    assert "tritaudit explain flip/tile_per_program says why." in text


# --------------------------------------------------------------------------- which rows


def info(
    name: str, contract: str = 'Flip("N")', twin: str | None = None, high: int | None = None
) -> CaseInfo:
    return CaseInfo(
        name=name,
        path=f"/r/{name}.py",
        line=1,
        variable="case",
        contract=contract,
        title="",
        doc="",
        dtypes=("float16", "float32"),
        axes=(("N", 1, high),),
        tiles=(("BLOCK", (16, 64)),),
        expect=(),
        twin=twin,
    )


def test_a_case_is_measured_with_its_twin_and_with_those_whose_twin_it_is() -> None:
    right, wrong, other = info("right"), info("wrong", twin="right"), info("other")
    catalogue = [right, wrong, other]
    assert [i.name for i in with_twins([right], catalogue)] == ["right", "wrong"]
    assert [i.name for i in with_twins([wrong], catalogue)] == ["wrong", "right"]
    assert [i.name for i in with_twins([other], catalogue)] == ["other"]


def test_cases_of_one_contract_are_measured_in_one_size_that_all_allow() -> None:
    entries = entries_for([info("a"), info("b", high=512), info("c", "Abs()")], Plan())
    assert [(e.case, e.sizes) for e in entries] == [
        ("a", (("N", 512),)),
        ("b", (("N", 512),)),
        ("c", (("N", LARGE),)),
    ]
    assert entries[0].group == entries[1].group != entries[2].group
    assert entries[0].tiles == (("BLOCK", 1024),)
    assert entries[0].dtype == "float32"


def test_what_is_given_is_taken() -> None:
    plan = Plan(sizes=(("N", 10_000),), tiles=(("BLOCK", 4096),), num_warps=(1, 8))
    entries = entries_for([info("a", high=512)], plan, ["float16"])
    assert [e.num_warps for e in entries] == [1, 8]
    assert {(e.sizes, e.tiles, e.dtype) for e in entries} == {
        ((("N", 10_000),), (("BLOCK", 4096),), "float16")
    }
    assert entries[0].label == "a BLOCK=4096, 1 warp"


def test_two_axes_share_the_elements() -> None:
    image = replace(info("a"), axes=(("H", 1, None), ("W", 1, None)))
    assert entries_for([image], Plan())[0].sizes == (("H", SIDE), ("W", SIDE))
    rows = replace(info("a"), axes=(("H", 1, 4), ("W", 1, None)))
    assert entries_for([rows], Plan())[0].sizes == (("H", 4), ("W", LARGE // 4))


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (Plan(sizes=(("M", 1),)), "--size: no axis is named 'M'; there is N"),
        (Plan(tiles=(("B", 1),)), "--tile: no tile is named 'B'; there is BLOCK"),
    ],
)
def test_a_name_that_no_case_has_is_wrong_usage(plan: Plan, told: str) -> None:
    with pytest.raises(Usage, match=told):
        entries_for([info("a")], plan)


def test_the_claims_name_cases_of_the_catalogue() -> None:
    entries = claims()
    for entry in entries:
        stem, _, variable = entry.case.partition(":")
        text = (ROOT / "cases" / f"{stem}.py").read_text()
        assert f"{variable or 'case'} = Case(" in text
        for name, _ in (*entry.sizes, *entry.tiles):
            assert name in text
    assert len(set(entries)) == len(entries)
    assert {e.num_warps for e in entries} == {None, 1, 4, 8}


# --------------------------------------------------------------------------- measuring

STAND_IN = """
import json, sys
from dataclasses import replace
from tritaudit.bench.measure import work
from tritaudit.bench.model import Timing, Work
from tritaudit.plain import from_plain, to_plain

called = []

def timer(call):
    called.append(call())
    return Timing(float(len(called)), 0.5, 2.0)

works = from_plain(tuple[Work, ...], json.load(sys.stdin))
print(json.dumps([to_plain(work(w, timer)) for w in works]))
"""


def measured(*entries: Entry) -> list[Measured]:
    """Rows measured on the interpreter, with a timer that counts the calls."""
    works = []
    for entry in entries:
        stem, _, variable = entry.case.partition(":")
        path, root = ROOT / "cases" / f"{stem}.py", ROOT / "cases"
        request = UnitRequest(entry.case, str(path), variable or "case", str(root), "interpreter")
        works.append(Work(request, (entry,)))
    told = subprocess.run(
        [sys.executable, "-c", STAND_IN],
        input=json.dumps(to_plain(tuple(works))),
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [from_plain(tuple[Measured, ...], rows)[0] for rows in json.loads(told.stdout)]


def test_each_kind_of_row_is_checked_and_measured() -> None:
    small, tile = (("N", 100),), (("BLOCK", 32),)
    rows = measured(
        Entry("flip/address_remap", "g", small, tile),
        Entry("flip/tile_per_program", "g", small, tile),
        Entry("abs/in_place", "g", small, tile),
        Entry("flip/row_sum:flipped", "g", (("H", 3), ("W", 20))),
        Entry("loss/huber", "g", small, tile, expression="unfused torch"),
        Entry("semantics/flip_tuple_dim", "g", (("H", 2), ("W", 2)), dtype="int32"),
    )
    assert [r.correct for r in rows] == [True, False, True, True, None, None]
    assert [r.time is not None for r in rows] == [True, True, True, True, True, False]
    assert [r.moved for r in rows] == [800, 800, 800, 3 * 20 * 4 + 3 * 4, 1200, 32]
    assert [r.torch_name for r in rows[:4]] == ["torch.flip", "torch.flip", "torch.abs", "torch"]
    assert all(r.copy is not None for r in rows)
    assert "TypeError" in rows[5].problem or "Assertion" in rows[5].problem
    first = rows[0]  # copy, torch, then the kernel itself
    assert [t.median if t else 0 for t in (first.copy, first.torch, first.time)] == [1, 2, 3]
    assert first.costs is None
