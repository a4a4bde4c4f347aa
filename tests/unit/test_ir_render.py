"""What `tritaudit ir` prints, and the options that it reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritaudit.commands import Usage
from tritaudit.commands.ir import named_numbers, numbers
from tritaudit.ir.model import (
    Answer,
    Argument,
    Call,
    Compiled,
    Costs,
    Question,
    Refused,
    Stage,
    Target,
)
from tritaudit.ir.render import render_answers, render_comparison, render_costs, render_listing
from tritaudit.model import UnitRequest
from tritaudit.plain import from_plain, to_plain
from tritaudit.report.terminal import plain

FREE = Costs(0, 0, 0, 0, 0, 12, 0, 28)
DEAR = Costs(7, 7, 4, 4, 16512, None, None, 1120)
CALL = Call("flip", "/r/case.py", 25, 28, 25, 41, "tl.flip(x, 0)")
TTIR = Stage(
    "ttir",
    ("%0 = tt.load %x", "%1 = tt.reshape %0", "%2 = arith.xori %1", "tt.store %2"),
    marked=(1, 2),
    near=(3,),
    operations=(("arith.xori", 1), ("tt.reshape", 1)),
    mentions=12,
)


def kernel(costs: Costs, calls: tuple[Call, ...] = (), num_warps: int = 4) -> Compiled:
    arguments = (Argument("x_ptr", "*float32", True), Argument("BLOCK", "constexpr 128"))
    stages = (TTIR, Stage("ptx", ("ret;",)))
    return Compiled(
        "reverse_kernel", "/r/case.py", 19, (8,), arguments, num_warps, costs, calls, stages
    )


def answer(case: str, *kernels: Compiled, dim: int | None = None) -> Answer:
    return Answer(
        case, "cuda:90", "3.6.0", "float32", (("N", 1024),), (("BLOCK", 128),), kernels, dim=dim
    )


REMAP = answer("flip/address_remap", kernel(FREE))
TILES = answer("flip/mirrored_tiles", kernel(DEAR, (CALL,)))


@pytest.mark.parametrize("width", [80, 140])
def test_everything_that_can_be_wrapped_fits_the_width(width: int) -> None:
    text = plain(render_answers([REMAP, TILES], width), width)
    assert max(len(row) for row in text.splitlines()) <= width


def test_a_kernel_is_shown_with_its_launch_and_what_became_of_its_calls() -> None:
    text = plain(render_answers([REMAP, TILES], 100), 100)
    assert "flip/mirrored_tiles  float32 N=1024 BLOCK=128  cuda:90, Triton 3.6.0" in text
    assert "reverse_kernel[(8,)] with 4 warps" in text
    assert "x_ptr: *float32 ÷16, BLOCK: constexpr 128" in text
    assert "case.py:25  tl.flip(x, 0) became" in text
    assert "ttir   2 of 4 lines      arith.xori 1, tt.reshape 1" in text
    assert "ptx    nothing of its own" in text
    assert "neither tl.flip nor tl.abs is called: no line is marked" in text


def test_it_says_why_a_search_for_flip_finds_nothing() -> None:
    text = " ".join(plain(render_answers([TILES], 100), 100).split())
    assert 'A search for "flip" in this TTIR finds 12 lines, which are names' in text
    assert "and no operation" in text
    silent = replace(TTIR, mentions=0)
    unnamed = replace(TILES, kernels=(replace(TILES.kernels[0], stages=(silent,)),))
    text = " ".join(plain(render_answers([unnamed], 100), 100).split())
    assert "in this TTIR finds nothing: tl.flip is a library function" in text
    absolute = Call("abs", "/r/case.py", 25, 28, 25, 41, "tl.abs(x)")
    text = plain(render_answers([answer("abs/vector", kernel(FREE, (absolute,)))], 100))
    assert "search" not in text


def test_costs_stand_in_columns_below_each_other() -> None:
    text = plain(render_costs([REMAP, TILES])).splitlines()
    assert text[0].split() == ["shared", "shared", "shared", "regis-", "instruc-"]
    ends = [len(row) for row in text if row.startswith("  4 warps")]
    assert ends == [len(text[0])] * 2
    assert text[5].split() == ["4", "warps", "7", "7", "4", "4", "16,512", "?", "?", "1,120"]


def test_a_label_names_what_differs() -> None:
    both = [answer("c", kernel(FREE, num_warps=1), kernel(FREE, num_warps=8), dim=0)]
    text = plain(render_costs(both))
    assert "  dim 0, 1 warp " in text
    assert "  dim 0, 8 warps" in text


def test_a_comparison_names_every_difference_once() -> None:
    sentence = render_comparison(REMAP, TILES, 400)
    assert sentence is not None
    assert sentence.plain == (
        "flip/address_remap against flip/mirrored_tiles, 4 warps: shuffles 0 against 7, "
        "barriers 0 against 7, shared loads 0 against 4, shared stores 0 against 4, "
        "shared bytes 0 against 16,512 and instructions 28 against 1,120."
    )
    narrow = render_comparison(REMAP, TILES, 80)
    assert narrow is not None
    assert max(len(row) for row in narrow.plain.splitlines()) <= 80
    same = render_comparison(REMAP, answer("flip/other", kernel(FREE)), 80)
    assert same is not None
    assert same.plain.endswith("4 warps: the same costs.")
    assert render_comparison(REMAP, answer("x", kernel(FREE, num_warps=8)), 80) is None


def test_a_listing_marks_lines_with_signs() -> None:
    rows = plain(render_listing(TILES, TILES.kernels[0], TTIR)).splitlines()
    assert [row[:3] for row in rows[1:]] == ["   ", ">> ", ">> ", ">  "]
    assert rows[2] == ">> %1 = tt.reshape %0"


def test_a_refusal_says_why_and_where() -> None:
    refused = Answer(
        "flip/x",
        "cuda:90",
        "3.2.0",
        "int32",
        (),
        (),
        refused=(Refused(8, "AssertionError: Currently only\x1b[31m", "/r/case.py", 3),),
    )
    text = plain(render_answers([refused], 100))
    assert "not compiled with 8 warps: AssertionError: Currently only\n  at /r/case.py:3" in text
    assert "shuffles" not in text


def test_an_autotuned_kernel_says_that_one_configuration_is_shown() -> None:
    tuned = Compiled("k", "/r/c.py", 1, (2, 3), (), 4, FREE, configurations=12)
    text = plain(render_answers([answer("c", tuned)], 100))
    assert "k[(2, 3)] with 4 warps, the first of 12 configurations" in text


def test_questions_and_answers_survive_the_way_to_another_process() -> None:
    question = Question(UnitRequest("c", "/r/c.py", "case", "/r", "gpu"), num_warps=(1, 4), dim=-1)
    assert from_plain(Question, to_plain(question)) == question
    assert from_plain(Answer, to_plain(TILES)) == TILES


# --------------------------------------------------------------------------- options


def test_targets_are_gpus_by_vendor() -> None:
    assert str(Target.parse("cuda:90")) == "cuda:90"
    assert Target.parse("hip:gfx942").lanes == 64
    assert Target.parse("hip:gfx1100").lanes == 32
    assert (Target.parse("cuda:80").lanes, Target.parse("cuda:80").assembly) == (32, "ptx")
    for text in ("", "cuda", "cuda:", "cuda:sm_90", "hip:942", "rocm:gfx942", "cuda:９"):
        with pytest.raises(ValueError, match="is no target; targets are like cuda:90"):
            Target.parse(text)


def test_numbers_are_lists() -> None:
    assert numbers("--num-warps", "1, 4,8,4", 1) == (1, 4, 8)
    assert numbers("--dim", "-1,0", -8) == (-1, 0)
    assert numbers("--dim", None, 0) == ()
    for text in ("", "0", "x", "1,,2", "1.5", "²"):
        with pytest.raises(Usage, match="is not a list of numbers"):
            numbers("--num-warps", text, 1)


def test_named_numbers_may_be_repeated_or_listed() -> None:
    assert named_numbers("--tile", ["BH=32,BW=64", "BH=16"], 1) == (("BH", 16), ("BW", 64))
    for text in ("BLOCK", "BLOCK=", "=3", "BLOCK=-1", "BLOCK=0", "B-K=3"):
        with pytest.raises(Usage, match="is not NAME=NUMBER with a number from 1"):
            named_numbers("--tile", [text], 1)
