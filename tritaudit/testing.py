"""`tritaudit.audit(case)`: a case audited from a plain test function.

The case runs in a process of its own, which loads the file that holds it: the backend is chosen
there, whatever this process has imported, and a kernel that crashes is a finding. So the case has
to stand in a variable of a module (or in a list or dict of it), and that file has to load by
itself, as case files do.
"""

from __future__ import annotations

import atexit
import sys
import unittest
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

from tritaudit.catalogue import cases_in
from tritaudit.choices import BackendChoice, ProfileChoice
from tritaudit.commands.auditing import Plan
from tritaudit.commands.session import open_backend
from tritaudit.model import Case, CaseInfo, CaseResult, Outcome, UnitFinished
from tritaudit.profiles import PROFILES
from tritaudit.report.terminal import plain, render_finding, render_problem
from tritaudit.report.wording import fault_in_short, line
from tritaudit.supervisor import Supervisor
from tritaudit.targets import shown_path

__all__ = ["AuditError", "audit", "rendered", "run_one"]

#: columns of a rendered finding.
_WIDTH = 100


class AuditError(RuntimeError):
    """A case could not be judged. The message says why."""


def audit(
    case: Case,
    *,
    backend: str = "auto",
    profile: str = "ci",
    seed: int = 0,
    max_examples: int = 0,
    timeout: float | None = None,
) -> CaseResult:
    """Audit a case as `tritaudit run` does; what it found, for a test that wants to look closer.

    Args:
        case: a variable of a module, or an entry of a list or dict of one.
        backend: "auto", "interpreter" or "gpu".
        profile: "quick", "ci" or "deep".
        seed: the same seed gives the same examples.
        max_examples: examples at most; 0: by the profile.
        timeout: seconds; None: by the profile.

    Raises:
        AssertionError: a finding that the case does not expect, or an expected one that did not
            show; the message is what `tritaudit run` prints.
        AuditError: the case could not be judged.
        unittest.SkipTest: there was nothing to judge on this backend; pytest takes it as a skip.
        ValueError: no module holds the case, or an argument makes no sense.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    chosen = ProfileChoice(profile)
    plan = Plan(
        seed=seed,
        max_examples=max_examples,
        timeout=PROFILES[chosen].timeout if timeout is None else timeout,
        profile=chosen,
    )
    supervisor = _supervisor(BackendChoice(backend))
    result = run_one(supervisor, _described(case), plan)
    match result.outcome:
        case Outcome.PASS | Outcome.KNOWN:
            return result
        case Outcome.FAIL | Outcome.STALE:
            raise AssertionError(rendered(result))
        case Outcome.SKIP:
            raise unittest.SkipTest(result.reason)
        case Outcome.ERROR:
            raise AuditError(rendered(result))


def run_one(supervisor: Supervisor, info: CaseInfo, plan: Plan) -> CaseResult:
    """The verdict on one case.

    Raises:
        KeyboardInterrupt: the user ended it.
        BackendError: the backend does not start.
    """
    units = [(info, plan.request(info, supervisor.backend))]
    events = supervisor.run_units(units, 1, plan.timeout, acceptance=plan.acceptance)
    results = [event.result for event in events if isinstance(event, UnitFinished)]
    if supervisor.stopped or not results:
        raise KeyboardInterrupt
    return results[0]


def rendered(result: CaseResult) -> str:
    """What `tritaudit run` prints of a case that does not pass: panels and lines to paste.

    The first line says in short what it is, for a summary that shows only one.
    """
    news = [f for f in result.findings if not f.expected]
    short = [f"{fault_in_short(f)}: {line(f.summary)}" for f in news]
    parts = [f"{line(result.case)}: {'; '.join(short) or line(result.reason)}"]
    parts += [plain(render_finding(f, _WIDTH), _WIDTH) for f in news]
    problem = render_problem(result, _WIDTH)
    if problem is not None:
        parts.append(plain(problem, _WIDTH))
    return "\n\n".join(parts)


# --------------------------------------------------------------------------- where a case stands


def _described(case: Case) -> CaseInfo:
    """What a supervisor has to know of a case: the file and the variable that hold it.

    Raises:
        ValueError: no module holds it.
    """
    for module in _modules(case):
        path = vars(module).get("__file__")
        if not isinstance(path, str) or not path.endswith(".py") or not _holds(module, case):
            continue
        for variable, value in cases_in(module, frozenset()):
            if value is case:
                return _info(case, str(Path(path).resolve()), variable)
    raise ValueError(
        "tritaudit.audit needs a case that is a variable of a module, or an entry of a list or "
        "dict of one: it is loaded again in a process of its own"
    )


def _modules(case: Case) -> Iterator[ModuleType]:
    """The modules that may hold a case; first the one that its launch function comes from."""
    home = sys.modules.get(getattr(case.run, "__module__", None) or "")
    if home is not None:
        yield home
    yield from list(sys.modules.values())


def _holds(module: ModuleType, case: Case) -> bool:
    """Whether a module holds a case. Asks no other object for anything: some warn or load."""
    for value in list(vars(module).values()):
        entries = value.values() if type(value) is dict else ()
        entries = value if type(value) in (list, tuple) else entries
        if value is case or any(entry is case for entry in entries):
            return True
    return False


def _info(case: Case, path: str, variable: str) -> CaseInfo:
    suffix = "" if variable == "case" else f":{variable}"
    code = getattr(case.run, "__code__", None)
    here = code is not None and str(Path(code.co_filename).resolve()) == path
    return CaseInfo(
        name=f"{Path(path).stem}{suffix}",
        path=path,
        line=code.co_firstlineno if here and code is not None else 1,
        variable=variable,
        contract=case.contract.describe(),
        title="",
        doc="",
        dtypes=case.inputs[0].dtypes,
        axes=tuple((axis, *case.bounds(axis)) for axis in case.axis_names()),
        tiles=tuple((tile.name, tile.sizes) for tile in case.tiles),
        expect=case.expect,
        twin=case.twin,
        target=f"{shown_path(path)}{suffix}",
    )


# --------------------------------------------------------------------------- processes

_OPEN = ExitStack()
_SUPERVISORS: dict[BackendChoice, Supervisor] = {}


def _supervisor(choice: BackendChoice) -> Supervisor:
    """One for each backend and process: starting it takes seconds, a case after that does not."""
    if choice not in _SUPERVISORS:
        if not _SUPERVISORS:
            atexit.register(_OPEN.close)
        _SUPERVISORS[choice] = _OPEN.enter_context(open_backend(choice))
    return _SUPERVISORS[choice]
