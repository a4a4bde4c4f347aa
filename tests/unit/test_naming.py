"""Which example a finding shows; functions of torch stand in for kernels."""

from __future__ import annotations

import pytest
import torch

from tritaudit import Case, Flip, Reference, Tensor
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


@pytest.mark.parametrize("sizes", [(40, 90), (1, 400)])
def test_a_fault_from_some_size_on_is_named_so(sizes: tuple[int, int]) -> None:
    """Another kernel is launched above 60 elements; below the result is right."""

    def tiles(x: torch.Tensor) -> torch.Tensor:
        return x.flip(0) if len(x) <= 60 else torch.cat([p.flip(0) for p in x.split(16)])

    case = Case(run=tiles, contract=Flip("N"), inputs=Tensor("x", "N"), axes={"N": sizes})
    [finding] = found(case).values()
    assert (finding.fault, dict(finding.example.sizes)) == ("block-local-flip", {"N": 61})
    assert finding.proof.statement.endswith("(from N = 61 on)")
    assert finding.proof.probes >= 3
    assert "block-local-flip" not in dict(finding.proof.rivals)


def test_one_size_is_no_threshold() -> None:
    """The last row of three comes from elsewhere: what happens with four is not known."""

    def far(x: torch.Tensor) -> torch.Tensor:
        out = x.flip(0)
        out[: max(len(x) - 2, 0)] = -1
        return out

    for most in (3, 9):
        inputs = Tensor("x", "N", "int8")
        case = Case(run=far, contract=Flip("N"), inputs=inputs, axes={"N": (1, most)})
        assert set(found(case)) == {"value-mismatch"}


def test_what_nothing_explains_says_what_was_tried() -> None:
    """A sum in float16, in an order of its own."""

    def narrow(x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x.half().abs(), 1)[:, -1].float() + 0.25

    def wide(x: torch.Tensor) -> torch.Tensor:
        return x.abs().sum(1)

    inputs = Tensor("x", "M N", "float16")
    case = Case(
        run=narrow,
        contract=Reference(wide, tolerance=64),
        inputs=inputs,
        out_dtype="float32",
        out_shape="M",
        axes={"M": (1, 2), "N": (1, 9)},
    )
    [finding] = found(case, 30).values()
    assert finding.fault == "value-mismatch"
    [told] = [e for e in finding.evidence if e.startswith("no prediction of ")]
    assert "padding-leak" in told
    assert "precision-loss" in told
    assert told.endswith(" is what came out")


def test_what_fails_on_large_examples_too_is_not_named() -> None:
    """Tile by tile above 60 elements, and something else above 80."""

    def tiles(x: torch.Tensor) -> torch.Tensor:
        if len(x) <= 60:
            return x.flip(0)
        if len(x) > 80:
            return x.roll(5) * 3
        return torch.cat([p.flip(0) for p in x.split(16)])

    case = Case(run=tiles, contract=Flip("N"), inputs=Tensor("x", "N"), axes={"N": (40, 120)})
    assert set(found(case)) == {"value-mismatch"}
