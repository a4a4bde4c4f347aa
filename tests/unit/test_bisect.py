"""Large examples that are wrong are made small and then explained. Kernels are torch code."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch

from tritaudit import Case, Flip, Tensor, Tile, ledger
from tritaudit.bisect import SMALL, climb, narrow
from tritaudit.faults.diagnosis import Diagnosis, diagnose
from tritaudit.generate import LARGE, large
from tritaudit.inflight import InFlight
from tritaudit.ledger import Ledger, OutOfTimeError
from tritaudit.model import Example, UnitRequest
from tritaudit.search import Search
from tritaudit.trial import Trial


def case_of(run: Callable[..., None], names: str = "N", **more: object) -> Case:
    tiles = [Tile("BLOCK", axis=names.split()[-1], sizes=(16, 64))]
    inputs = [Tensor("x", names, dtypes="float32")]
    return Case(run=run, contract=Flip(names.split()[-1]), inputs=inputs, tiles=tiles, **more)  # type: ignore[arg-type]


def nothing(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None: ...


def example_of(case: Case) -> Example:
    return large(case)[0]


# --------------------------------------------------------------------------- which sizes


@pytest.mark.parametrize("limit", [1, SMALL + 1, 30_000, 65_536, 1_048_561])
def test_what_shows_from_a_size_on_is_found_at_that_size(limit: int) -> None:
    case = case_of(nothing)

    def shows(example: Example) -> bool:
        return example.size("N") >= limit

    below, found = climb(case, example_of(case), shows)
    if below is not None:
        assert below.size("N") < limit <= found.size("N") <= 2 * below.size("N")
        found = narrow(case, below, found, shows)
    assert found.size("N") == max(limit, SMALL)


def test_narrowing_ends_when_it_has_launched_enough() -> None:
    case, tried = case_of(nothing), list[int]()

    def shows(example: Example) -> bool:
        tried.append(example.size("N"))
        return example.size("N") == LARGE

    below, found = climb(case, example_of(case), shows)
    assert below is not None
    tried.clear()
    assert narrow(case, below, found, shows).size("N") == LARGE
    assert sum(tried) < 8 * LARGE


def test_the_longest_axis_is_halved_and_none_below_its_bound() -> None:
    case = case_of(nothing, "H W", axes={"W": (500, 4096)})
    sizes: list[tuple[int, int]] = []

    def shows(example: Example) -> bool:
        sizes.append((example.size("H"), example.size("W")))
        return False

    below, found = climb(case, example_of(case), shows)
    assert found == example_of(case)
    assert sizes[0] == (32, 500)
    assert sizes[-1] == (2048, 1024) or sizes[-1] == (1024, 2048)
    assert below is not None and (below.size("H"), below.size("W")) == sizes[-1]


def test_an_axis_that_does_not_matter_is_made_as_small_as_it_may_be() -> None:
    case = case_of(nothing, "H W", axes={"H": (1, 4)})

    def shows(example: Example) -> bool:
        return example.size("W") > 65_535 * 16

    below, found = climb(case, example_of(case), shows)
    assert below is not None
    assert narrow(case, below, found, shows).sizes == (("H", 1), ("W", 65_535 * 16 + 1))


def test_an_axis_that_matters_stays() -> None:
    case = case_of(nothing, "H W", axes={"H": (1, 4)})

    def shows(example: Example) -> bool:
        return example.size("W") >= 300_000 and example.size("H") == 4

    below, found = climb(case, example_of(case), shows)
    assert below is not None
    found = narrow(case, below, found, shows)
    assert found.size("H") == 4
    assert 300_000 <= found.size("W") < 310_000


# --------------------------------------------------------------------------- in a search


def search_of(case: Case, monkeypatch: pytest.MonkeyPatch) -> tuple[Search, list[int]]:
    """A search of a case, and the sizes of the trials that it explains from scratch."""
    request = UnitRequest(
        case="k", path="k.py", variable="case", root=".", backend="interpreter", deadline=60.0
    )
    explained: list[int] = []

    def watched(trial: Trial, *args: object, **named: object) -> Diagnosis:
        if not named.get("only_remembered"):
            explained.append(trial.wrong.numel())
        return diagnose(trial, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(ledger, "diagnose", watched)
    return Search(Ledger(case, request, lambda event: None, InFlight())), explained


def racing(seed: int, frequency: float) -> Callable[..., None]:
    """In place: from 30,000 elements on, `frequency` of the last half is overwritten unread."""
    generator = torch.Generator().manual_seed(seed)

    def run(x: torch.Tensor, *, BLOCK: int) -> None:
        out, n = x.flip(0), x.numel()
        if n >= 30_000:
            lost = torch.rand(n, generator=generator) < frequency
            lost[: n // 2 + 1] = False
            out = torch.where(lost, x, out)
        x.copy_(out)

    return run


def test_a_race_is_explained_where_it_is_small_and_shows_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = case_of(racing(1, 0.5), in_place="x")
    search, explained = search_of(case, monkeypatch)
    for example in large(case):
        search._try_large(example)
    assert list(search.book.sightings) == ["alias-race"]
    sighting = search.book.sightings["alias-race"]
    assert sighting.trial.example.size("N") == 32_768  # not narrowed down: it varies
    assert explained == [32_768]
    assert search.book.record[example_of(case)] == ("alias-race",)
    assert sighting.seen == 2  # with the larger tile it is familiar at full size


def test_what_does_not_vary_is_found_at_its_first_size(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
        if x.numel() > 65_535:
            raise RuntimeError("too many programs")
        out.copy_(x.flip(0))

    case = case_of(run)
    search, _ = search_of(case, monkeypatch)
    search._try_large(example_of(case))
    assert search.book.sightings["crash"].trial.example.size("N") == 65_536
    shown = {e.size("N"): faults for e, faults in search.book.record.items()}
    assert all((faults == ("crash",)) == (n >= 65_536) for n, faults in shown.items())
    assert {LARGE, 65_536, 65_535} <= set(shown)


def test_a_right_kernel_is_launched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = []

    def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
        launches.append(x.numel())
        out.copy_(x.flip(0))

    case = case_of(run)
    search, explained = search_of(case, monkeypatch)
    search._try_large(example_of(case))
    assert (launches, explained, search.book.sightings) == ([LARGE], [], {})
    assert search.book.record == {example_of(case): ()}
    assert search.book.right == []  # too large to be asked for proofs


def test_when_time_is_up_before_it_is_explained_a_note_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = case_of(racing(1, 0.5), in_place="x")
    search, _ = search_of(case, monkeypatch)
    first = search.book.news

    def slow(example: Example, phase: str) -> Trial | None:
        found = first(example, phase)
        search.book.deadline = time.monotonic() - 1
        return found

    monkeypatch.setattr(search.book, "news", slow)
    with pytest.raises(OutOfTimeError):
        search._try_large(example_of(case))
    assert search.book.notes == {
        "N=4194304 BLOCK=16 came out wrong, and there was no time left to find out why"
    }
