"""The failures of the last runs: kept, run again, dropped once they have passed, explained."""

from __future__ import annotations

from collections.abc import Sequence

from tritaudit.acceptance import Acceptance
from tritaudit.catalogue import Listing
from tritaudit.commands.functions import calls_of, read_options
from tritaudit.commands.session import cases_of, complain
from tritaudit.model import CallSpec, CaseInfo, CaseResult, Finding, Outcome, Report, UnitFinished
from tritaudit.repro import ReproError, decode
from tritaudit.storage import Failure, Storage
from tritaudit.supervisor import Supervisor
from tritaudit.targets import resolve
from tritaudit.unit import request_for

__all__ = ["list_failed", "remember"]

#: seconds for one stored example.
_REPLAY_LIMIT = 30.0


def list_failed(
    supervisor: Supervisor, storage: Storage, targets: Sequence[str], calls: Sequence[CallSpec]
) -> Listing:
    """The cases of targets that have stored failures, of all where there are no targets.

    A failure whose file is gone is dropped.

    Raises:
        Usage: a target names nothing, or a file does not load.
        BackendError: the backend does not start.
    """
    failures = [storage.shown(failure) for failure in storage.failures()]
    wanted = {(f.target, f.finding.options) for f in failures}
    if targets:
        listing = cases_of(supervisor, targets, calls)
        cases = [c for c in listing.cases if (c.target or c.name, c.options) in wanted]
        return Listing(tuple(cases))
    found: dict[str, CaseInfo] = {}
    for target, options in sorted(wanted):
        if not options and resolve([target])[1]:
            for failure in failures:
                if failure.target == target:
                    complain(f"{target} is gone, and so is its failure in {failure.path.name}")
                    storage.drop(failure)
            continue
        specs = calls_of(read_options(options), [target])
        for case in cases_of(supervisor, [target], specs).cases:
            found.setdefault(case.name, case)
    return Listing(tuple(found[name] for name in sorted(found)))


def remember(
    storage: Storage,
    report: Report,
    supervisor: Supervisor,
    cases: Sequence[CaseInfo],
    acceptance: Acceptance,
) -> None:
    """Store what is new, and drop what was stored and has passed now.

    Raises:
        OSError: something cannot be written.
    """
    for result in report.results:
        for finding in result.findings:
            if not finding.expected:
                storage.save(report, result, finding)
    if supervisor.stopped:
        return
    infos = {(c.target or c.name, c.options): c for c in cases}
    results = {(r.case, r.backend): r for r in report.results}
    for failure in map(storage.shown, storage.failures()):
        info = infos.get((failure.target, failure.finding.options))
        seen = results.get((info.name, failure.finding.backend)) if info else None
        if info and seen and _has_passed(failure, info, seen, supervisor, acceptance):
            storage.drop(failure)


def _has_passed(
    failure: Failure,
    info: CaseInfo,
    result: CaseResult,
    supervisor: Supervisor,
    acceptance: Acceptance,
) -> bool:
    """Whether a stored fault shows no more, its own example run again, or its case expects it.

    One that shows and that only an ignore or a baseline accepts is still a failure.
    """
    fault = failure.finding.fault
    shown = [f for f in result.findings if f.fault == fault]
    if shown:
        return all(_is_declared(f) for f in shown)
    if result.outcome in (Outcome.ERROR, Outcome.SKIP):
        return False
    if not _fits(failure.finding.repro, info):
        return True  # the case has changed so much that its example is none any more
    request = request_for(info, str(supervisor.backend), repro=failure.finding.repro)
    for event in supervisor.run_units([(info, request)], 1, _REPLAY_LIMIT, acceptance=acceptance):
        if isinstance(event, UnitFinished):
            again = event.result
            there = any(f.fault == fault and not _is_declared(f) for f in again.findings)
            return again.outcome is not Outcome.ERROR and not there
    return False


def _is_declared(finding: Finding) -> bool:
    """Whether the case itself says that it shows this fault."""
    return finding.expected and not finding.accepted


def _fits(token: str, info: CaseInfo) -> bool:
    """Whether a stored example can be one of a case."""
    try:
        example = decode(token)
    except ReproError:
        return False
    axes, tiles = [name for name, _ in example.sizes], [name for name, _ in example.tiles]
    return (
        sorted(axes) == sorted(name for name, _, _ in info.axes)
        and sorted(tiles) == sorted(name for name, _ in info.tiles)
        and example.dtype() in info.dtypes
    )
