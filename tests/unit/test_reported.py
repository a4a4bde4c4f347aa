"""The reported bugs: what the wrong kernel gives, and what is right, in exact numbers."""

from __future__ import annotations

import importlib.util
import itertools
import math
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest
import torch

from tritaudit import Case

ROOT = Path(__file__).resolve().parents[2] / "cases"
NAMES = sorted(p.stem for p in (ROOT / "reported").glob("*.py"))


def load(name: str) -> ModuleType:
    path = ROOT / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def output(name: str, x: torch.Tensor, **options: float) -> torch.Tensor:
    """What the case of a file gives for one input."""
    case = load(f"reported/{name}").case
    out = torch.full_like(x, 77)
    case.run(x, out, **options)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_kernel_names_its_right_twin_and_the_other_way_round(name: str) -> None:
    module = load(f"reported/{name}")
    assert module.__doc__ and module.__doc__.splitlines()[0].endswith(".")
    cases = [value for value in vars(module).values() if isinstance(value, Case)]
    for case in cases:
        assert bool(case.expect) == (case.twin is not None)
        if case.twin is not None:
            path, _, variable = case.twin.partition(":")
            twin = getattr(load(path), variable or "case")
            assert not twin.expect
            assert type(twin.contract) is type(case.contract)
            assert f"`{path}`" in module.__doc__


def test_the_middle_axis_of_a_flat_index_taken_apart_backwards() -> None:
    """(20, 32, 15) reversed along axis 1: 9598 of 9600 wrong, and none of them lost."""
    x = torch.arange(9600, dtype=torch.int32).reshape(20, 32, 15)
    right = [
        (a * 32 + (31 - b)) * 15 + c
        for a, b, c in itertools.product(range(20), range(32), range(15))
    ]
    assert output("flat_index", x, BLOCK=256).flatten().tolist() == right
    wrong = output("flat_index_swapped", x, BLOCK=256).flatten().tolist()
    assert sum(w != r for w, r in zip(wrong, right, strict=True)) == 9598
    assert sorted(wrong) == list(range(9600))


def test_a_reverse_cumulative_sum_by_its_total_has_no_room_for_the_ones() -> None:
    x = torch.tensor([[1e8] * 32 + [1.0] * 32])
    exact = [sum(map(Fraction, x[0, i:].tolist())) for i in range(64)]
    right = output("reverse_cumsum", x, BLOCK=64)[0].tolist()
    assert right[32:] == [float(n) for n in range(32, 0, -1)] == [float(e) for e in exact[32:]]
    assert all(abs(Fraction(r) - e) <= 64 * 256 for r, e in zip(right, exact, strict=True))
    wrong = output("reverse_cumsum_by_total", x, BLOCK=64)[0].tolist()
    assert set(wrong[32:]) <= {0.0, 1.0}


def test_one_nan_spreads_from_the_total_to_sums_that_do_not_see_it() -> None:
    x = torch.tensor([[math.nan, 1.0, 2.0]])
    assert output("reverse_cumsum", x, BLOCK=64)[0, 1:].tolist() == [3.0, 2.0]
    assert output("reverse_cumsum_by_total", x, BLOCK=64).isnan().all()


def test_the_huber_loss_of_a_large_negative_error() -> None:
    """d = -3 and delta = 1: delta * (|d| - delta / 2) = 2.5."""
    x, y = torch.tensor([-3.0, 3.0, -0.5]), torch.zeros(3)
    out = torch.zeros(3)
    load("reported/huber_signed_error").case.run(x, y, out, delta=1.0, BLOCK=16)
    assert out.tolist() == [4.5, 2.5, 0.125]
    load("loss/huber").case.run(x, y, out, delta=1.0, BLOCK=16)
    assert out.tolist() == [2.5, 2.5, 0.125]


def test_a_row_quantiser_of_zeros_and_of_a_nan() -> None:
    x = torch.tensor([[0.0, -0.0, 0.0], [1.0, math.nan, -2.0], [1.0, 0.5, -2.0]])
    level, largest = load("reported/row_quantiser").run(x, BLOCK=32)
    assert level[0].tolist() == [0, 0, 0] and largest[0] == 0
    assert level[1].isnan().all() and largest[1].isnan()
    # floor(127 / 2 + 1/2), floor(127 / 4 + 1/2), floor(-127 + 1/2)
    assert level[2].tolist() == [64, 32, -127] and largest[2] == 2
    level, largest = load("reported/row_quantiser_unguarded").run(x, BLOCK=32)
    assert level[0].isnan().all()
    assert largest[1:].tolist() == [2, 2]
    assert level[1, 0] == 64 and level[1, 2] == -127


def test_offsets_beyond_2_to_the_31st() -> None:
    assert 319 * 7_864_320 > 2**31 and 2 * (1 << 30) == 2**31
    x = torch.arange(1, 7, dtype=torch.int8).reshape(3, 2)
    assert output("row_offsets_int64", x, BLOCK=16).tolist() == [[5, 6], [3, 4], [1, 2]]
    assert output("row_offsets_int32", x, BLOCK=16).tolist() == [[-1, -1], [3, 4], [1, 2]]


def test_the_rows_of_a_reversal_without_its_step() -> None:
    x = torch.arange(1, 7, dtype=torch.int32).reshape(3, 2)
    assert output("rows_by_step", x, BLOCK=16).tolist() == [[5, 6], [3, 4], [1, 2]]
    assert output("rows_without_step", x, BLOCK=16).tolist() == [[5, 6]] * 3
