"""What `run` and a reference may return, and how closely they have to agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tritaudit import Case, CaseError, Reference, Tensor
from tritaudit.examine import Counter, examine, repeat
from tritaudit.faults.diagnosis import diagnose
from tritaudit.model import Example
from tritaudit.present import constant
from tritaudit.trial import Trial


def case_of(run: Callable[..., Any], reference: Reference, **more: Any) -> Case:
    given = {"inputs": Tensor("x", "N"), **more}
    return Case(run=run, contract=reference, **given)


def tried(case: Case, n: int = 3) -> Trial:
    """The case on 1, 2, ..., n."""
    kinds = tuple((t.name, t.dtypes[0]) for t in case.inputs)
    return examine(case, Example(sizes=(("N", n),), dtypes=kinds), Counter())


def wrong(case: Case, n: int = 3) -> list[bool]:
    return tried(case, n).wrong.reshape(-1).tolist()


def message(case: Case) -> str:
    error = tried(case).seen.error
    assert error is not None and error.kind == "returned"
    return error.message


SQUARE = Reference(torch.square)


def test_one_of_several_outputs_is_judged() -> None:
    def run(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * x, x + 1

    assert wrong(case_of(run, SQUARE, output=0)) == [False] * 3
    assert wrong(case_of(run, SQUARE, output=1)) == [True] * 3
    assert message(case_of(run, SQUARE)) == "run returned a tuple of 2, not a tensor"
    assert message(case_of(run, SQUARE, output=2)).endswith("a tuple of 2, without an entry 2")


def test_a_reference_may_return_a_tuple_too() -> None:
    def run(x: torch.Tensor) -> list[torch.Tensor]:
        return [x[-1:].sum(), x.argmax()]

    largest = Reference(lambda x: torch.max(x, 0))
    assert wrong(case_of(run, largest, output=0, out_shape="")) == [False]
    assert wrong(case_of(run, largest, output=1, out_shape="", out_dtype="int64")) == [False]


@pytest.mark.parametrize("total", [lambda x: x.sum(), lambda x: x.sum().item()])
def test_an_output_without_axes_is_a_tensor_or_a_number(total: Callable[..., Any]) -> None:
    assert wrong(case_of(total, Reference(torch.sum), out_shape="")) == [False]
    assert wrong(case_of(total, Reference(lambda x: 7.0), out_shape="")) == [True]
    assert wrong(case_of(total, Reference(lambda x: x.sum().item()), out_shape="")) == [False]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "run returned None, not a tensor"),
        ("text", "run returned a value of type str, not a tensor"),
        (torch.empty(3, device="meta"), "run returned a tensor on meta, not on cpu"),
    ],
)
def test_what_is_no_output_is_told(value: object, told: str) -> None:
    assert message(case_of(lambda x: value, SQUARE)) == told


def test_relative_and_absolute_distances() -> None:
    def off(x: torch.Tensor) -> torch.Tensor:
        return x * x + torch.tensor([0.01, 0.01, 0.9])

    assert wrong(case_of(off, SQUARE)) == [True] * 3
    assert wrong(case_of(off, Reference(torch.square, atol=0.02))) == [False, False, True]
    assert wrong(case_of(off, Reference(torch.square, rtol=0.005))) == [True, False, True]
    assert wrong(case_of(off, Reference(torch.square, rtol=0.1, atol=0.02))) == [False] * 3


def test_an_integer_output_may_be_off_by_one_level() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([1, 3, 5], dtype=torch.int8)

    near = Reference(lambda x: x, atol=1)
    assert wrong(case_of(run, near, out_dtype="int8")) == [False, False, True]


def test_a_tolerance_in_units_of_the_magnitudes_of_a_sum() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        return torch.full((), 2.0**-20)

    def cancels(x: torch.Tensor) -> torch.Tensor:
        return (x - x).sum()

    def magnitude(x: torch.Tensor) -> torch.Tensor:
        return 2 * x.sum()

    assert wrong(case_of(run, Reference(cancels), out_shape="")) == [True]
    # The sum of the magnitudes is 12, whose unit in the last place is 2**-20.
    close = Reference(cancels, tolerance=1, scale=magnitude)
    assert wrong(case_of(run, close, out_shape="")) == [False]
    close = Reference(cancels, tolerance=0.5, scale=magnitude)
    assert wrong(case_of(run, close, out_shape="")) == [True]


def test_where_the_magnitudes_overflow_nothing_is_judged() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        return torch.full_like(x, float("inf"))

    reference = Reference(lambda x: x, scale=lambda x: x * 1e39)
    assert wrong(case_of(run, reference)) == [False] * 3


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"rtol": -1}, "rtol=-1"),
        ({"atol": float("inf")}, "atol=inf"),
        ({"tolerance": "exact", "atol": 1}, "one or the other"),
        ({"tolerance": "exact", "scale": torch.abs}, "nothing to scale"),
        ({"scale": 3}, "is not a torch callable"),
    ],
)
def test_a_closeness_that_makes_no_sense_is_refused(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CaseError, match=sentence):
        Reference(torch.neg, **more)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"output": -1}, "output is an index"),
        ({"output": 0, "in_place": "x"}, "neither in_place nor out"),
        ({"edges": {"M": 4}}, "edges names 'M', which no input has"),
        ({"edges": {"N": 0}}, "positive sizes, not 0"),
    ],
)
def test_an_output_or_an_edge_that_makes_no_sense_is_refused(
    more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(CaseError, match=sentence):
        case_of(lambda x: x, SQUARE, **more)


# --------------------------------------------------------------------------- what run allocates


FILLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": lambda x: torch.zeros(x.shape, dtype=x.dtype),
    "zeros_like": torch.zeros_like,
    "new_zeros": lambda x: x.new_zeros(x.shape),
    "ones_like": torch.ones_like,
    "full_like": lambda x: torch.full_like(x, -1.0),
    "new_full": lambda x: x.new_full(x.shape, float("nan")),
    "zero_": lambda x: torch.empty_like(x).zero_(),
    "fill_": lambda x: torch.empty_like(x).fill_(7.0),
}


def looked_at(run: Callable[..., Any], reference: Reference, n: int = 5) -> Trial:
    counter = Counter()
    trial = examine(
        case_of(run, reference), Example((("N", n),), dtypes=(("x", "float32"),)), counter
    )
    repeat(trial, counter)
    return trial


@pytest.mark.parametrize("allocate", FILLS.values(), ids=FILLS)
def test_a_tail_that_keeps_what_run_filled_it_with(
    allocate: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        out = allocate(x)
        out[:3] = x[:3] * x[:3]
        return out

    trial = looked_at(run, SQUARE)
    assert trial.unwritten is not None
    assert trial.unwritten.tolist() == [False] * 3 + [True] * 2
    assert diagnose(trial).faults == ("unwritten-output",)


def test_a_wrong_value_that_is_written_over_the_fill_was_written() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        out[:3] = x[:3] * x[:3]
        out[3:] = 0.0
        return out

    trial = looked_at(run, SQUARE)
    assert trial.unwritten is not None and not trial.unwritten.any()
    assert diagnose(trial).faults == ("value-mismatch",)


def test_what_is_right_because_it_was_filled_is_no_fault() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        out[:3] = x[:3]
        return out

    def first_three(x: torch.Tensor) -> torch.Tensor:
        return torch.where(torch.arange(len(x)) < 3, x, 0.0)

    trial = looked_at(run, Reference(first_three))
    assert trial.faultless
    assert trial.unwritten is not None and not trial.unwritten.any()


def test_only_the_output_is_filled_anew() -> None:
    """A tensor of locks or of offsets has to hold what `run` wrote into it."""

    def run(x: torch.Tensor) -> torch.Tensor:
        offsets = torch.zeros(2, dtype=torch.int64)
        out = torch.zeros_like(x)
        assert offsets.tolist() == [0, 0]
        out[0] = x[int(offsets[0])]
        return out

    trial = looked_at(run, SQUARE)
    assert trial.seen.filled == (1, 0)
    assert trial.unwritten is not None
    assert trial.unwritten.tolist() == [False] + [True] * 4


def test_a_write_beside_an_output_that_run_filled_is_seen() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        wide = out.as_strided((len(x) + 2,), (1,), out.storage_offset())
        wide[:-2], wide[-2:] = x * x, 1.0
        return out

    assert tried(case_of(run, SQUARE)).seen.outside == (3, 4)


# --------------------------------------------------------------------------- what stays unexplained


def halves(*values: float) -> list[tuple[Trial, torch.Tensor]]:
    """Trials of 1 to n whose second half comes out as a value each."""
    out = []
    for n, value in zip((4, 6, 8, 10), values, strict=True):

        def run(x: torch.Tensor, value: float = value) -> torch.Tensor:
            return torch.where(torch.arange(len(x)) < len(x) // 2, x * x, value)

        trial = tried(case_of(run, SQUARE), n)
        out.append((trial, trial.wrong))
    return out


def test_it_is_said_where_one_value_comes_out_whatever_the_input() -> None:
    told = "0 comes out there whatever the input, in all 4 such examples"
    assert constant(halves(0.0, 0.0, 0.0, 0.0)) == told
    assert constant(halves(0.0, 0.0, 0.0, 1.0)) == ""
    assert constant(halves(0.0, 0.0, 0.0, 0.0)[:2]) == ""
