"""What a finding shows of a trial: elements, and where each came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from trials import build, tags

from tritaudit.contracts import Abs, Flip, Reference
from tritaudit.faults.diagnosis import Diagnosis, diagnose
from tritaudit.model import BESIDE, MASKED, OTHER, UNKNOWN, UNWRITTEN, Example, IndexMap
from tritaudit.present import (
    TELLING,
    evidence_of,
    excerpt,
    index_map,
    map_examples,
    plain_verdict,
    telling,
)
from tritaudit.tensors import logical_values
from tritaudit.trial import Trial

Kernel = Callable[[torch.Tensor], torch.Tensor]


# --------------------------------------------------------------------------- elements


def test_a_value_that_no_bits_mean_has_none() -> None:
    x = torch.tensor([-128, -5], dtype=torch.int8)
    shown = excerpt(build(Abs(), x, x.abs()))
    assert shown is not None
    first, second = shown.cells
    assert (first.expected, first.expected_bits) == ("128 (no int8)", None)
    assert (first.got, first.got_bits, first.wrong) == ("-128", 0x80, True)
    assert (second.expected, second.expected_bits, second.wrong) == ("5", 5, False)


def test_what_was_reduced_is_shown_in_short() -> None:
    x = torch.tensor([[1.0, -2.0, 3.0, 4.0, 65504.0], [5.0, 6.0, 7.0, 8.0, 9.0]])
    trial = build(
        Reference(lambda x: x.abs().sum(1)), x, torch.tensor([65510.0, 35.0]), out_axes="H"
    )
    shown = excerpt(trial)
    assert shown is not None
    assert [c.input for c in shown.cells] == [
        "[1.0, -2.0, … 65504.0] of 5",
        "[5.0, 6.0, … 9.0] of 5",
    ]
    assert [c.wrong for c in shown.cells] == [True, False]
    narrow = {"x": x[:, :2], "y": x[:, 2:4]}
    both = Reference(lambda x, y: (x - y).abs().sum(0))
    shown = excerpt(build(both, narrow, torch.tensor([4.0, 9.0]), out_axes="W"))
    assert shown is not None
    assert [c.input for c in shown.cells] == ["[1.0, 5.0]; [3.0, 7.0]", "[-2.0, 6.0]; [4.0, 8.0]"]


def test_what_was_never_written_or_lies_outside_has_no_value() -> None:
    x = tags(4)
    got = torch.tensor([-391.5, 3.0, -2.8735182e-16, 1.0])
    trial = build(
        Flip("N"),
        x,
        got,
        unwritten=torch.tensor([False, False, True, False]),
        strays=torch.tensor([True, False, False, False]),
    )
    shown = excerpt(trial)
    assert shown is not None
    assert [c.got for c in shown.cells] == [BESIDE, "3.0", UNKNOWN, "1.0"]
    assert [c.got_bits is None for c in shown.cells] == [True, False, True, False]


def test_large_outputs_are_shown_around_the_first_wrong_element() -> None:
    x = tags(500)
    got = x.flip(0)
    got[300] = got[400] = 0.0
    shown = excerpt(build(Flip("N"), x, got))
    assert shown is not None and shown.total == 500 and shown.wrong == 2
    assert [c.index[0] for c in shown.cells if c.wrong] == [300, 400]
    assert shown.cells[-1].index == (499,) and len(shown.cells) < 64


def test_the_count_of_wrong_elements_is_no_evidence() -> None:
    x = tags(4)
    trial = build(Flip("N"), x, x)
    assert evidence_of("not-reversed", trial, diagnose(trial)) == ()
    assert evidence_of("not-reversed", trial, Diagnosis()) == ()


@pytest.mark.parametrize(
    ("got", "passes"),
    [(torch.tensor([0.0, 1.0]), True), (torch.tensor([0.5, 1.0]), False)],
)
def test_what_assert_close_would_have_said(got: torch.Tensor, passes: bool) -> None:
    assert plain_verdict(build(Abs(), torch.tensor([-0.0, -1.0]), got)) is passes


def test_assert_close_has_nothing_to_compare_with_where_torch_has_no_abs() -> None:
    x = torch.tensor([1, 2], dtype=torch.int32).view(torch.uint32)
    assert plain_verdict(build(Abs(), x, x.clone())) is None


# --------------------------------------------------------------------------- the index map


def launched(trial: Trial, kernel: Kernel, example: Example, **looked: torch.Tensor) -> Trial:
    """A launch of another example of a trial's case by a function that stands for the kernel."""
    x = logical_values(trial.case, example)["x"]
    again = build(trial.case.contract, x, kernel(x), **looked)  # type: ignore[arg-type]
    return replace_example(again, example)


def replace_example(trial: Trial, example: Example) -> Trial:
    trial.example = replace(
        trial.example, fill=example.fill, edits=example.edits, dtypes=example.dtypes
    )
    return trial


def mapped(x: torch.Tensor, kernel: Kernel, **looked: torch.Tensor) -> IndexMap | None:
    trial = build(Flip(*("N" if x.dim() == 1 else ("W",))), x, kernel(x))
    return index_map([launched(trial, kernel, e, **looked) for e in map_examples(trial)])


def tile_by_tile(x: torch.Tensor) -> torch.Tensor:
    out = x.clone()
    for start in range(0, len(x), 4):
        lanes = torch.zeros(4, dtype=x.dtype)
        lanes[: len(x[start : start + 4])] = x[start : start + 4]
        out[start : start + 4] = lanes.flip(0)[: len(out[start : start + 4])]
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.int64, torch.uint16])
def test_where_each_element_came_from(dtype: torch.dtype) -> None:
    if dtype is torch.uint16:  # torch has no arithmetic for it
        found = mapped(
            torch.zeros(8, dtype=dtype), lambda x: tile_by_tile(x.view(torch.int16)).view(dtype)
        )
    else:
        found = mapped(tags(8, dtype=dtype), tile_by_tile)
    assert found is not None
    assert found.source == (3, 2, 1, 0, 7, 6, 5, 4)
    assert found.expected == (7, 6, 5, 4, 3, 2, 1, 0)


def test_a_dtype_with_few_tags_needs_digit_planes() -> None:
    x = torch.zeros(300, dtype=torch.int8)
    trial = build(Flip("N"), x, x)
    assert len(map_examples(trial)) == 3  # two planes and a check with other values
    found = mapped(x, lambda v: v.roll(1))
    assert found is not None and found.source == (299, *range(299))


def test_padding_has_a_value_and_no_place() -> None:
    found = mapped(tags(6), tile_by_tile)
    assert found is not None
    assert found.source == (3, 2, 1, 0, MASKED, MASKED) and found.leaked == "0.0"


def test_what_was_not_written_is_told_from_padding() -> None:
    missing = torch.tensor([False] * 4 + [True] * 2)
    found = mapped(tags(6), tile_by_tile, unwritten=missing)
    assert found is not None and found.source[4:] == (UNWRITTEN, UNWRITTEN)


def test_what_was_read_from_outside_is_no_padding() -> None:
    outside = torch.tensor([False] * 4 + [True] * 2)
    found = mapped(tags(6), tile_by_tile, strays=outside)
    assert found is not None and found.source[4:] == (OTHER, OTHER)


def test_there_is_no_map_of_what_depends_on_the_values() -> None:
    assert mapped(tags(8), lambda x: x * 2) is None


def test_there_is_no_map_where_every_element_is_in_its_place() -> None:
    assert mapped(tags(8), lambda x: x.flip(0)) is None


def test_a_contract_that_computes_has_no_map() -> None:
    assert map_examples(build(Abs(), tags(4), tags(4))) == []


# --------------------------------------------------------------------------- a telling example


def leaking(n: int, block: int = 8) -> Trial:
    x = tags(n)
    lanes = torch.zeros(block)
    lanes[:n] = x
    return build(Flip("N"), x, lanes.flip(0)[:n], tiles={"BLOCK": ("N", block)})


def test_an_example_that_is_large_enough_shows_itself() -> None:
    trial = leaking(TELLING)
    assert telling(trial, [leaking(6)]) is trial


def test_a_larger_one_in_which_elements_come_out_is_preferred() -> None:
    all_padding, lively, large = leaking(5, 16), leaking(6), leaking(7)
    assert telling(leaking(1), [leaking(2), all_padding, lively, large]) is lively


def test_without_a_better_one_it_stays() -> None:
    trial = leaking(1)
    assert telling(trial, [leaking(2), leaking(3)]) is trial
    assert telling(trial, []) is trial
