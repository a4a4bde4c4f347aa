"""The mutants: their names and files, what they plant, and which of them are quick."""

from __future__ import annotations

import ast
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tritaudit.faults import FAULT_IDS
from tritaudit.model import CaseInfo
from tritaudit.selftest.mutants import (
    QUICK,
    Mutant,
    all_mutants,
    built_mutants,
    mutants_of,
    quick,
    write,
)
from tritaudit.selftest.operators import OPERATORS, Operator
from tritaudit.targets import builtin_root, python_files


def info_of(name: str) -> CaseInfo:
    path = builtin_root() / f"{name}.py"
    return CaseInfo(name, str(path), 1, "case", "", "", "", (), (), (), ())


def catalogue() -> list[CaseInfo]:
    root = builtin_root()
    names = [path.relative_to(root).with_suffix("").as_posix() for path in python_files(root)]
    return [info_of(name) for name in names]


@pytest.fixture(scope="module")
def mutants() -> tuple[Mutant, ...]:
    return all_mutants(catalogue())


def test_there_are_enough(mutants: tuple[Mutant, ...]) -> None:
    assert sum(not m.equivalent for m in mutants) >= 120
    assert sum(m.origin == "" for m in mutants) >= 60
    assert sum(m.origin != "" for m in mutants) >= 120


def test_every_fault_of_one_backend_is_planted(mutants: tuple[Mutant, ...]) -> None:
    planted = Counter(fault for m in mutants for fault in m.faults)
    # Two backends are needed for backend-divergence.
    assert set(FAULT_IDS) - set(planted) == {"backend-divergence"}
    assert min(planted.values()) >= 3


def test_they_are_of_many_shapes(mutants: tuple[Mutant, ...]) -> None:
    texts = [m.text for m in mutants]
    assert any('"B H T D"' in t for t in texts)
    assert any("return out" in t for t in texts)
    assert any("in_place='x'" in t for t in texts)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_an_operator_fits_every_case_that_it_names(
    operator: Operator, mutants: tuple[Mutant, ...]
) -> None:
    names = [case.name for case in catalogue()]
    for pattern in operator.on:
        matching = [name for name in names if fnmatchcase(name, pattern)]
        assert matching, f"{pattern} is no case"
        for name in matching:
            made = [m for m in mutants if m.name.startswith(f"{name}/{operator.name}")]
            assert made, f"it does not fit {name} any more"


def test_a_mutant_says_what_it_is() -> None:
    made = {m.name: m for m in mutants_of(info_of("flip/address_remap"))}
    mutant = made["flip/address_remap/index-one-beyond"]
    assert mutant.origin == "flip/address_remap"
    assert mutant.faults == ("off-by-one", "out-of-bounds-read")
    assert mutant.what.startswith("The mirror of i is taken to be n - i")
    assert ast.get_docstring(ast.parse(mutant.text)) == f"Made from {mutant.origin}. {mutant.what}"
    assert "x_ptr + (n - offs)" in mutant.text


def test_what_may_be_found_as_well_has_a_reason(mutants: tuple[Mutant, ...]) -> None:
    for mutant in mutants:
        assert bool(mutant.also) == bool(mutant.why), mutant.name
        assert not set(mutant.also) & set(mutant.faults), mutant.name
        assert bool(mutant.faults) != bool(mutant.equivalent), mutant.name
        assert mutant.what.endswith("."), mutant.name


def test_built_mutants_are_read_from_their_file() -> None:
    built = {m.name: m for m in built_mutants()}
    rotated = built["built/vectors:rotated"]
    assert rotated.faults == ("off-by-one",)
    assert rotated.what == "The reversed vector is rotated by one."
    assert rotated.file == "built/vectors.py"
    turned = built["built/launches:turned"]
    assert turned.also == ("value-mismatch",)
    assert turned.why


def test_built_mutants_do_not_use_the_predictors() -> None:
    for mutant in built_mutants():
        assert "tritaudit.faults" not in mutant.text


def test_the_quick_ones_are_a_fixed_sample_with_most_faults(mutants: tuple[Mutant, ...]) -> None:
    some = quick(mutants, seed=0)
    assert len(some) == QUICK
    assert some == quick(tuple(reversed(mutants)), seed=0)
    assert some != quick(mutants, seed=1)
    assert len({m.faults[0] for m in some if m.faults}) >= 20
    assert any(m.equivalent for m in some)
    assert not any("timeout" in m.faults for m in some)


def test_files_lie_where_their_names_say(tmp_path: Path) -> None:
    some = [m for m in built_mutants() if m.file == "built/vectors.py"]
    some += list(mutants_of(info_of("abs/vector")))[:1]
    write(some, tmp_path)
    for mutant in some:
        assert (tmp_path / mutant.file).read_text(encoding="utf-8") == mutant.text


def test_another_text_is_another_mutant() -> None:
    one = Mutant("a", "", "", ("crash",), "text")
    assert one.digest == Mutant("a", "", "another sentence", ("crash",), "text").digest
    assert one.digest != Mutant("a", "", "", ("crash",), "other text").digest
    assert one.digest != Mutant("a", "", "", ("timeout",), "text").digest
