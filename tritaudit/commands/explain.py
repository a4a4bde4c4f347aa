"""`tritaudit explain`: a case's findings in full, one example again, or the text of a fault."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from tritaudit import faults
from tritaudit.commands import FINDINGS, NOTHING_UNEXPECTED, Usage
from tritaudit.commands.options import BackendChoice
from tritaudit.commands.run import Plan, audit, exit_code
from tritaudit.commands.session import cases_of, open_backend, output
from tritaudit.model import CaseInfo, CaseResult
from tritaudit.report.explain import print_explanation
from tritaudit.report.severity import severity_look
from tritaudit.report.terminal import print_problem, render_result_line, show
from tritaudit.targets import builtin_root, shown_path
from tritaudit.unit import request_for

__all__ = ["explain_case", "explain_fault"]


def explain_fault(fault: str) -> int:
    """Print the documentation of a fault."""
    console = output()
    info = faults.info(fault)
    look = severity_look(info.severity)
    console.print(Text.assemble((fault, f"bold {look.style}"), f"  {look.word}"))
    console.print(Markdown(info.text))
    return NOTHING_UNEXPECTED


def explain_case(target: str, backend: BackendChoice, plan: Plan) -> int:
    """Run the cases of a target, or replay one example, and explain all that shows.

    Raises:
        Usage: the target names no case, or several together with a repro token.
        BackendError: the backend does not start.
    """
    console = output()
    with open_backend(backend) as supervisor:
        cases = cases_of(supervisor, [target]).cases
        if plan.repro is not None and len(cases) != 1:
            raise Usage(f"--repro needs one case; {target!r} names {len(cases)}")
        report = audit(supervisor, cases, plan, console if len(cases) > 1 else None)
    for result in report.results:
        _explain(console, result, cases)
    code = exit_code(report, supervisor.stopped, exit_zero=True)
    if code == NOTHING_UNEXPECTED and any(r.findings for r in report.results):
        return FINDINGS
    return code


def _explain(console: Console, result: CaseResult, cases: Sequence[CaseInfo]) -> None:
    if not result.findings:
        show(console, render_result_line(result, console.width))
    print_problem(console, result)
    twin = next((c.twin for c in cases if c.name == result.case and c.twin), "")
    for finding in result.findings:
        print_explanation(
            console, finding, twin=twin, twin_path=_twin_path(twin, cases) if twin else ""
        )


def _twin_path(twin: str, cases: Sequence[CaseInfo]) -> str:
    """The file of a right kernel: beside the case, or in the catalogue."""
    stem = twin.partition(":")[0]
    roots = [Path(request_for(case, "").root) for case in cases] + [builtin_root()]
    found = (root / f"{stem}.py" for root in roots)
    return next((shown_path(path) for path in found if path.is_file()), "")
