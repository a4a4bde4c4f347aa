"""Severities that make a run fail, and profiles."""

from __future__ import annotations

import pytest

from tritaudit.choices import BackendChoice, FailOn, ProfileChoice
from tritaudit.model import Backend, Severity
from tritaudit.profiles import PROFILES


@pytest.mark.parametrize(
    ("fail_on", "counting"),
    [
        (FailOn.NOTE, {"note", "warning", "error"}),
        (FailOn.WARNING, {"warning", "error"}),
        (FailOn.ERROR, {"error"}),
        (FailOn.NEVER, set()),
    ],
)
def test_a_severity_counts_from_a_threshold_on(fail_on: FailOn, counting: set[str]) -> None:
    assert {str(s) for s in Severity if fail_on.counts(s)} == counting


def test_a_backend_can_be_chosen_by_its_name() -> None:
    assert {str(b) for b in Backend} < {str(c) for c in BackendChoice}


def test_every_profile_is_there_and_each_looks_harder_than_the_one_before() -> None:
    assert list(PROFILES) == list(ProfileChoice)
    assert [p.name for p in PROFILES.values()] == list(ProfileChoice)
    quick, ci, deep = PROFILES.values()
    assert quick.timeout < ci.timeout < deep.timeout
    for backend in Backend:
        assert 0 < quick.budget(backend).examples < deep.budget(backend).examples
        assert 0 < quick.budget(backend).elements < deep.budget(backend).elements
        assert (ci.budget(backend).examples, ci.budget(backend).elements) == (0, 0)
