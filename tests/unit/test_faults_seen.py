"""Faults that are seen without predicting values: memory, launches, shapes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from trials import build, faults, tags

from tritaudit.contracts import Abs, Flip
from tritaudit.faults.diagnosis import diagnose, registry, seen_directly
from tritaudit.faults.unwritten_output import pattern
from tritaudit.trial import LaunchError, Trial


def evidence(trial: Trial, fault: str) -> str:
    return "; ".join(seen_directly(trial)[fault].evidence)


def mask(*flags: int) -> torch.Tensor:
    return torch.tensor(flags, dtype=torch.bool)


# --------------------------------------------------------------------------- launches that fail


@pytest.mark.parametrize(
    ("kind", "fault"),
    [("rejected", "api-rejects"), ("raised", "crash"), ("device", "crash")],
)
def test_an_error_is_a_fault_with_its_message(kind: str, fault: str) -> None:
    trial = build(Abs(), tags(4), None, error=LaunchError(kind, "ValueError: no such thing"))
    assert faults(trial) == {fault}
    assert evidence(trial, fault) == "ValueError: no such thing"


def test_a_limit_of_the_backend_is_no_fault() -> None:
    trial = build(Abs(), tags(4), None, error=LaunchError("limit", "bfloat16 arithmetic"))
    assert faults(trial) == set()


def test_another_shape_and_another_dtype() -> None:
    shape = build(Abs(), tags(4), tags(8), seen={"shape": (8,)})
    assert faults(shape) == {"wrong-shape"}
    assert evidence(shape, "wrong-shape") == "the output has the shape (8,), not (4,)"
    dtype = build(Abs(), tags(4), tags(4), seen={"dtype": "float64"})
    assert faults(dtype) == {"wrong-dtype"}
    assert evidence(dtype, "wrong-dtype") == "the output is float64, not float32"


# --------------------------------------------------------------------------- memory


@pytest.mark.parametrize(
    ("outside", "words"),
    [
        ((4, 5, 6), "3 elements after its end (the first at index 4; its last index is 3)"),
        ((-2, -1), "2 elements before its start (the nearest at -1)"),
        ((-1, 7), "1 element before its start (the nearest at -1), 1 element after its end (the "
         "first at index 7; its last index is 3)"),
        ((1,), "1 element between its elements (the first at index 1)"),
    ],
)  # fmt: skip
def test_memory_beside_the_output(outside: tuple[int, ...], words: str) -> None:
    x = -tags(4)
    trial = build(Abs(), x, x.abs(), seen={"outside": outside})
    assert faults(trial) == {"out-of-bounds-write"}
    assert (
        evidence(trial, "out-of-bounds-write") == f"memory beside the output was written: {words}"
    )


def test_memory_beside_an_input() -> None:
    x = tags(4)
    trial = build(Abs(), x, x.abs(), seen={"beside_inputs": (("x", (4,)),)})
    assert "memory beside x was written" in evidence(trial, "out-of-bounds-write")


def test_an_input_that_changed() -> None:
    x = tags(4)
    trial = build(Abs(), x, x.abs(), seen={"mutated": {"x": mask(1, 0, 0, 1)}})
    assert faults(trial) == {"input-mutated"}
    assert evidence(trial, "input-mutated") == "2 of 4 elements of x were changed"


def test_values_from_beside_the_inputs() -> None:
    x = tags(4)
    got = torch.tensor([-391.5, 4.0, 3.0, 2.0])
    trial = build(Flip("N"), x, got, strays=mask(1, 0, 0, 0))
    assert "out-of-bounds-read" in faults(trial)
    assert evidence(trial, "out-of-bounds-read").startswith("1 of 4 output elements")


def test_a_stray_read_that_does_no_harm_is_none() -> None:
    x = tags(4)
    assert faults(build(Flip("N"), x, x.flip(0), strays=mask(1, 0, 0, 0))) == set()


def test_two_launches_that_differ() -> None:
    x = tags(4)
    trial = build(Flip("N"), x, torch.tensor([4.0, 9.0, 2.0, 1.0]), unstable=mask(0, 1, 0, 0))
    assert faults(trial) == {"nondeterministic"}
    assert (
        evidence(trial, "nondeterministic") == "1 of 4 elements differs between two equal launches"
    )


# --------------------------------------------------------------------------- unwritten output

POISON = -2.8735182e-16


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (0, "nothing was written"),
        (8, "the tail of N after the last whole BLOCK was dropped"),
        (5, "the tail of N from 5 on was not written"),
    ],
)
def test_elements_that_keep_what_was_there(written: int, words: str) -> None:
    x = tags(10)
    got = x.flip(0)
    got[written:] = POISON
    missing = torch.arange(10) >= written
    trial = build(Flip("N"), x, got, tiles={"BLOCK": ("N", 4)}, unwritten=missing)
    assert faults(trial) == {"unwritten-output"}
    assert evidence(trial, "unwritten-output") == words


def test_a_head_and_single_elements_that_were_not_written() -> None:
    x = tags(2, 6)
    trial = build(Flip("W"), x, x.flip(1))
    head = torch.zeros(2, 6, dtype=torch.bool)
    head[:, :2] = True
    assert pattern(trial, head) == "the head of W up to 1 was not written"
    some = torch.zeros(2, 6, dtype=torch.bool)
    some[0, 3] = some[1, 1] = True
    assert pattern(trial, some) == "2 of 12 elements were not written"
    some = torch.zeros_like(some)
    some[1, 1] = True
    assert pattern(trial, some) == "1 of 12 elements was not written"


def test_a_leak_that_only_reaches_unwritten_places_has_leaked_nowhere() -> None:
    """A flipped mask: the tail of the tile is dropped and the padding is never stored."""
    x = tags(3)
    got = torch.tensor([POISON, 3.0, 2.0])  # lanes 1 to 3 of a tile of 4 that was flipped
    trial = build(
        Flip("N"),
        x,
        got,
        tiles={"BLOCK": ("N", 4)},
        unwritten=mask(1, 0, 0),
        seen={"outside": (3,)},
    )
    assert "padding-leak" not in faults(trial)
    assert faults(trial) >= {"unwritten-output", "out-of-bounds-write"}


# --------------------------------------------------------------------------- the registry


@pytest.mark.parametrize("fault", registry(), ids=lambda f: f.id)
def test_nothing_is_seen_in_a_right_launch(fault: Any) -> None:
    x = tags(4)
    nothing = torch.zeros(4, dtype=torch.bool)
    trial = build(
        Flip("N"), x, x.flip(0), unwritten=nothing, unstable=nothing.clone(), strays=nothing.clone()
    )
    assert fault.direct(trial) is None
    assert diagnose(trial).faults == ()
