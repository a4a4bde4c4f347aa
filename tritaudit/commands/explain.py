"""`tritaudit explain`: a case's findings in full, one example again, or the text of a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tritaudit import advice, faults, repro
from tritaudit.choices import BackendChoice
from tritaudit.commands import FINDINGS, NOTHING_UNEXPECTED, Usage
from tritaudit.commands.auditing import audit, exit_code
from tritaudit.commands.functions import FunctionOptions, calls_of
from tritaudit.commands.reports import write_page
from tritaudit.commands.runoptions import RunOptions
from tritaudit.commands.session import cases_of, open_backend, output
from tritaudit.commands.settings import backend_of, plan_of, settings_of
from tritaudit.model import CaseInfo, CaseResult, Finding, Outcome
from tritaudit.report.explain import Explained, print_explanation, read_source
from tritaudit.report.faulttext import render_fault
from tritaudit.report.html import explain_page
from tritaudit.report.terminal import print_notes, print_problem, show
from tritaudit.report.wording import sentence
from tritaudit.targets import builtin_root, catalogue_names, is_name, nearest, resolve, shown_path
from tritaudit.unit import request_for
from tritaudit.verdict import NOTHING

__all__ = ["explain_case", "explain_fault", "explained_of"]


def explain_fault(fault: str) -> int:
    """Print the documentation of a fault."""
    console = output()
    info = faults.info(fault)
    coloured = console.color_system is not None
    show(console, render_fault(fault, info.severity, info.text, coloured))
    return NOTHING_UNEXPECTED


def explain_case(
    target: str,
    token: str | None,
    options: RunOptions,
    function: FunctionOptions,
    page: str | None = None,
) -> int:
    """Run the cases of a target, or replay one example, and explain all that shows.

    Args:
        token: the example to replay; None: search.
        page: where the explanations go as an HTML page as well.

    Raises:
        ReportWriteError: the page cannot be written.
        Usage: the target names no case, or several together with a repro token.
        BackendError: the backend does not start.
    """
    console, settings = output(), settings_of(options.config)
    plan = replace(plan_of(options, settings, ()), repro=token, acceptance=NOTHING)
    backend = backend_of(options.backend, settings)
    if backend is BackendChoice.BOTH:  # of the configuration: one shows what there is to explain
        backend = BackendChoice.AUTO
    if token is not None:
        backend = _backend_of_token(token, backend)
    calls = calls_of(function, [target])
    if not calls:
        _not_a_name(target)
    with open_backend(backend) as supervisor:
        cases = cases_of(supervisor, [target], calls).cases
        if token is not None:
            _check_token(token, target, cases)
        report = audit(supervisor, cases, plan, console)
    explained = [e for result in report.results for e in _explain(console, result, cases)]
    if page is not None:
        write_page(page, explain_page(explained))
    if report.ended:
        console.print(sentence(report.ended))
    code = exit_code(report, supervisor.stopped, exit_zero=True)
    if code == NOTHING_UNEXPECTED and any(r.findings for r in report.results):
        return FINDINGS
    return code


def _backend_of_token(token: str, choice: BackendChoice) -> BackendChoice:
    """The backend that a token names, unless another one was chosen."""
    try:
        repro.decode(token)
        named = repro.backend_of(token)
    except repro.ReproError as error:
        raise Usage(str(error)) from error
    return BackendChoice(named) if choice is BackendChoice.AUTO else choice


def _not_a_name(what: str) -> None:
    """Refuse what is neither a case nor a fault, and a token without a case."""
    if what.startswith(f"{repro.VERSION}/"):
        raise Usage("a repro token needs its case: tritaudit explain CASE --repro TOKEN")
    if is_name(what) and resolve([what])[1]:
        near = nearest(what, [*faults.FAULT_IDS, *catalogue_names()])
        raise Usage(
            f"no case and no fault is named {what!r}{near}\n"
            "explain takes a case or its file, a fault (tritaudit list --faults), a JSON report, "
            "or a case with --repro TOKEN"
        )


def _check_token(token: str, target: str, cases: Sequence[CaseInfo]) -> None:
    if len(cases) != 1:
        names = ", ".join(case.target for case in cases)
        raise Usage(f"--repro needs one case; {target!r} names {len(cases)}: {names}")
    example, case = repro.decode(token), cases[0]
    for what, given, has in (
        ("axes", example.sizes, [axis for axis, _, _ in case.axes]),
        ("tiles", example.tiles, [tile for tile, _ in case.tiles]),
    ):
        named = [name for name, _ in given]
        if sorted(named) != sorted(has):
            told, wanted = ", ".join(named) or "none", ", ".join(has) or "none"
            raise Usage(f"the repro token names the {what} {told}; {case.name} has {wanted}")


def _explain(console: Console, result: CaseResult, cases: Sequence[CaseInfo]) -> list[Explained]:
    """Print what a result shows; its findings with their explanations."""
    console.print()
    if not result.findings and result.outcome is not Outcome.ERROR:
        console.print("No fault shows.")
    print_problem(console, result)
    print_notes(console, result)
    info = next((c for c in cases if c.name == result.case), None)
    explained = [explained_of(finding, info) for finding in result.findings]
    for k, e in enumerate(explained):
        if k:
            console.print()
        print_explanation(console, e)
    return explained


def explained_of(finding: Finding, info: CaseInfo | None) -> Explained:
    """A finding with all that is known about it; `info` None where only a report tells of it."""
    contract = info.contract if info is not None else ""
    twin = (info.twin if info is not None else None) or advice.twin(finding, contract)
    return Explained(
        finding,
        source=read_source(finding.location),
        why=advice.why(finding, contract),
        fix=advice.fix(finding, contract),
        twin=twin,
        twin_path=_twin_path(twin, info) if twin else "",
    )


def _twin_path(twin: str, info: CaseInfo | None) -> str:
    """The file of a right kernel: beside the case, or in the catalogue."""
    stem = twin.partition(":")[0]
    roots = [builtin_root()]
    if info is not None:
        roots.insert(0, Path(request_for(info, "").root))
    found = (root / f"{stem}.py" for root in roots)
    return next((shown_path(path) for path in found if path.is_file()), "")
