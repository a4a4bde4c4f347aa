"""Every fault against every kernel of the catalogue, and every change that is offered.

Each kernel is audited once, on the interpreter, as `tritaudit run` does it. Of every fault the
kernels that show it have to be those that expect it: no name is given to anything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tritaudit import advice
from tritaudit.faults import FAULT_IDS
from tritaudit.model import (
    Backend,
    CaseInfo,
    CaseResult,
    Finding,
    Outcome,
    UnitFinished,
    UnitRequest,
)
from tritaudit.report.explain import render_explanation
from tritaudit.report.terminal import plain
from tritaudit.supervisor import Supervisor
from tritaudit.unit import request_for

#: examples of a case: enough for every fault of the catalogue.
EXAMPLES = 50
#: seconds for a case, on a machine that has other things to do.
PATIENCE = 600.0
#: faults that are seen without a prediction: nothing has to be probed.
SEEN = {
    "api-rejects",
    "crash",
    "input-mutated",
    "nondeterministic",
    "out-of-bounds-read",
    "out-of-bounds-write",
    "timeout",
    "unwritten-output",
    "wrong-dtype",
    "wrong-shape",
}


@dataclass(frozen=True)
class Audit:
    """The catalogue and what was found in it."""

    infos: dict[str, CaseInfo]
    results: dict[str, CaseResult]
    triton: str

    def expected(self, name: str) -> set[str]:
        """The faults that a case expects here."""
        known = self.infos[name].expect
        return {k.fault for k in known if k.applies(self.triton, str(Backend.INTERPRETER))}

    def found(self, name: str) -> set[str]:
        return {f.fault for f in self.results[name].findings}

    def findings(self) -> Iterator[tuple[CaseInfo, Finding]]:
        for name, result in self.results.items():
            for finding in result.findings:
                yield self.infos[name], finding


def run(supervisor: Supervisor, *targets: str) -> Audit:
    """Audit the cases of targets, the catalogue if there are none."""
    infos = supervisor.list_cases(list(targets)).cases

    def ask(info: CaseInfo) -> UnitRequest:
        return request_for(info, "interpreter", max_examples=EXAMPLES, fast_interpreter=True)

    units = [(info, ask(info)) for info in infos]
    events = supervisor.run_units(units, 2, PATIENCE)
    results = {e.result.case: e.result for e in events if isinstance(e, UnitFinished)}
    triton = supervisor.environment().triton
    return Audit({info.name: info for info in infos}, results, triton)


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Supervisor]:
    with Supervisor(Backend.INTERPRETER) as running:
        yield running


@pytest.fixture(scope="module")
def audit(supervisor: Supervisor) -> Audit:
    return run(supervisor)


# --------------------------------------------------------------------------- the matrix


def test_every_kernel_was_audited(audit: Audit) -> None:
    assert len(audit.results) == len(audit.infos) >= 45
    ended = {n: r.reason for n, r in audit.results.items() if r.outcome is Outcome.ERROR}
    assert ended == {}


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_a_fault_is_named_where_it_is_expected_and_nowhere_else(fault: str, audit: Audit) -> None:
    found = {name for name in audit.results if fault in audit.found(name)}
    assert found == {name for name in audit.results if fault in audit.expected(name)}


def test_most_faults_can_be_seen_in_the_catalogue(audit: Audit) -> None:
    shown = {fault for name in audit.results for fault in audit.found(name)}
    # These need a race, a process that dies, a second backend, or a Triton that refuses.
    elsewhere = {"api-rejects", "backend-divergence", "crash", "nondeterministic", "timeout"}
    assert set(FAULT_IDS) - shown <= elsewhere | {"wrong-shape"}


# --------------------------------------------------------------------------- what is told of each


def test_every_name_is_proved(audit: Audit) -> None:
    for info, finding in audit.findings():
        proof = finding.proof
        if finding.fault in SEEN or finding.fault == "value-mismatch":
            continue
        where = f"{finding.fault} in {info.name}"
        assert not proof.partial and proof.elements, where
        assert proof.probes >= 3, where
        assert proof.statement, where


def test_every_finding_is_explained(audit: Audit) -> None:
    for info, finding in audit.findings():
        where = f"{finding.fault} in {info.name}"
        why, fix = advice.why(finding, info.contract), advice.fix(finding, info.contract)
        assert why and fix and finding.location is not None, where
        assert info.twin or info.name.startswith(("semantics/", "reported/")), where
        shown = plain(render_explanation(finding, 80, why=why, fix=fix), 80)
        assert finding.summary.split()[-1].rstrip(".") in shown, where
        assert all(
            len(row) <= 80 or row.startswith("tritaudit explain") for row in shown.split("\n")
        )


def test_what_goes_unnoticed_is_said_of_most(audit: Audit) -> None:
    told = [bool(f.unnoticed) for _, f in audit.findings()]
    assert sum(told) >= 0.8 * len(told)


# --------------------------------------------------------------------------- the changes


def test_the_change_that_is_offered_repairs_the_kernel(
    audit: Audit, supervisor: Supervisor, tmp_path: Path
) -> None:
    """The changed kernel shows neither the fault nor any other that it did not show before."""
    before: dict[str, tuple[str, set[str]]] = {}
    for info, finding in audit.findings():
        patch = advice.repair(finding, info.contract).patch
        if patch is None:
            continue
        name = f"{info.name.replace('/', '_')}_{finding.fault.replace('-', '_')}"
        (tmp_path / f"{name}.py").write_text(patch.new, encoding="utf-8")
        before[name] = finding.fault, audit.found(info.name)
    assert len(before) >= 25
    after = run(supervisor, str(tmp_path))
    assert set(after.results) == set(before)
    for name, (fault, others) in before.items():
        assert after.found(name) <= others - {fault}, name
