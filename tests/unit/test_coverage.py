"""What is said about a search that ended before its time."""

from __future__ import annotations

import pytest

from tritaudit import Case, Flip, Tensor
from tritaudit.inflight import InFlight
from tritaudit.ledger import Ledger
from tritaudit.model import Coverage, UnitRequest
from tritaudit.search import Search

DTYPES = ("float32", "int32", "float16", "int8")


def searched(budget: int, seed: int) -> Coverage:
    """The coverage of a search of a right function with a budget of examples."""
    case = Case(run=lambda x: x.flip(0), contract=Flip("N"), inputs=Tensor("x", "N", DTYPES))
    request = UnitRequest("k", "", "", "", "interpreter", seed=seed, max_examples=budget)
    book = Ledger(case, request, lambda event: None, InFlight())
    Search(book).run()
    return book.coverage()


@pytest.mark.parametrize("seed", range(4))
def test_what_was_covered_is_not_among_what_was_not_reached(seed: int) -> None:
    seen = searched(8, seed)
    why, _, missed = seen.cut_short.partition("; not reached: ")
    assert why == "the budget of 8 examples ended the sweep"
    sweep, _, dtypes = missed.partition(" of the sweep")
    assert sweep.endswith(" examples")
    named = set(filter(None, dtypes.removeprefix(" and ").split(", ")))
    assert named == set(DTYPES) - {name for name, _ in seen.dtypes}
