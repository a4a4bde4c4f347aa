"""Which example a finding shows; functions of torch stand in for kernels."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"

import torch

from tritaudit import Case, Flip, Tensor
from tritaudit.inflight import InFlight
from tritaudit.ledger import Ledger
from tritaudit.model import Finding, UnitRequest
from tritaudit.naming import Naming
from tritaudit.search import Search


def found(case: Case, budget: int = 0) -> dict[str, Finding]:
    """The findings of a search, by fault."""
    request = UnitRequest("k", "", "", "", "interpreter", max_examples=budget)
    book = Ledger(case, request, lambda event: None, InFlight())
    Search(book).run()
    return {finding.fault: finding for finding in Naming(book).findings()}


def test_a_wrong_axis_is_shown_where_it_can_be_seen() -> None:
    def rows(x: torch.Tensor) -> torch.Tensor:
        return x.flip(0)

    for axes, seen in ((None, 2), ({"H": (1, 1)}, 1)):
        case = Case(run=rows, contract=Flip("W"), inputs=Tensor("x", "H W"), axes=axes or {})
        [finding] = found(case).values()
        assert finding.fault in ("wrong-axis", "not-reversed")
        assert dict(finding.example.sizes) == {"H": seen, "W": 2}
        if seen == 2:
            assert finding.fault == "wrong-axis"
            assert (finding.proof.elements, finding.proof.explained) == (4, 4)
            assert finding.excerpt is not None
            assert [c.got for c in finding.excerpt.cells] == ["3.0", "4.0", "1.0", "2.0"]
