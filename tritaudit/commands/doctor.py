"""`tritaudit doctor`: whether this installation can run kernels, and what its Triton does."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator

from tritaudit import __version__
from tritaudit.commands import NOTHING_UNEXPECTED, UNABLE
from tritaudit.commands.session import Output, output
from tritaudit.doctor.checks import problems
from tritaudit.doctor.look import look_at_cache, look_at_python
from tritaudit.doctor.model import Examination, Facts, Probe, Trial
from tritaudit.doctor.render import render_examination
from tritaudit.forkserver import BackendError, Call, Died, Ended, Overdue, Raised, Returned
from tritaudit.model import (
    Backend,
    CaseInfo,
    CaseResult,
    Outcome,
    Severity,
    UnitFinished,
    UnitStarted,
)
from tritaudit.plain import to_plain
from tritaudit.report.terminal import show
from tritaudit.report.wording import line
from tritaudit.supervisor import Supervisor, default_jobs
from tritaudit.unit import request_for

__all__ = ["SCHEMA", "doctor", "probe_of"]

SCHEMA = "tritaudit-doctor/1"
#: examples of each probe: the sweep reaches every dtype and every fault that is known within them.
_EXAMPLES = 30
#: seconds for a trivial kernel, and for a probe.
_LIMIT, _PROBE_LIMIT = 120.0, 60.0
PROBES = "semantics"


def doctor(*, as_json: bool) -> int:
    """Examine the installation and print what is found; the exit code.

    Raises:
        BackendError: not even a bare Python answers.
    """
    with Output(stderr=True).status("importing numpy, torch and triton") as status:
        try:
            facts = look_at_python()
        except RuntimeError as error:
            raise BackendError(str(error)) from error
        cache = look_at_cache()
        status.update("running a kernel")
        trial, probes = _on_interpreter(lambda case: status.update(f"probing {line(case)}"))
        status.update("running a kernel")
        trials = (trial, _on_gpu(facts))
    told = problems(facts, cache, trials, probes)
    found = Examination(facts, cache, trials, tuple(probes), told)
    if as_json:
        value = {"schema": SCHEMA, "tritaudit": __version__, **_plain(found)}
        sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    else:
        console = output()
        show(console, render_examination(found, console.width))
    broken = any(problem.severity is Severity.ERROR for problem in found.problems)
    return UNABLE if broken else NOTHING_UNEXPECTED


def _plain(found: Examination) -> dict[str, object]:
    plain = to_plain(found)
    assert isinstance(plain, dict)
    return plain


# --------------------------------------------------------------------------- kernels


def _on_interpreter(announce: Callable[[str], None]) -> tuple[Trial, list[Probe]]:
    """A kernel on the interpreter and, if it runs, the probes of the catalogue."""
    backend = Backend.INTERPRETER
    try:
        with Supervisor(backend) as supervisor:
            trial = _trial(supervisor)
            return trial, [] if trial.problem else list(_probes(supervisor, announce))
    except BackendError as error:
        return Trial(str(backend), False, str(error)), []


def _on_gpu(facts: Facts) -> Trial:
    """A kernel on the GPU, if torch sees one."""
    backend = Backend.GPU
    if not facts.gpus:
        return Trial(str(backend), False)
    try:
        with Supervisor(backend) as supervisor:
            return _trial(supervisor)
    except BackendError as error:
        return Trial(str(backend), False, str(error))


def _trial(supervisor: Supervisor) -> Trial:
    ended = supervisor.call(Call("trial", None, _LIMIT))
    return Trial(str(supervisor.backend), True, _problem(ended))


def _problem(ended: Ended) -> str:
    match ended:
        case Returned():
            return str(ended.value)
        case Died():
            return f"the process ended ({ended.how})"
        case Overdue():
            return f"it had not ended after {ended.seconds:.0f} s"
        case Raised():
            return ended.message


def _probes(supervisor: Supervisor, announce: Callable[[str], None]) -> Iterator[Probe]:
    backend = str(supervisor.backend)
    cases = {info.name: info for info in supervisor.list_cases([PROBES]).cases}
    units = [(info, request_for(info, backend, max_examples=_EXAMPLES)) for info in cases.values()]
    jobs = default_jobs(supervisor.backend, supervisor.devices())
    results = {}
    for event in supervisor.run_units(units, jobs, _PROBE_LIMIT):
        if isinstance(event, UnitFinished):
            results[event.result.case] = event.result
        elif isinstance(event, UnitStarted):
            announce(event.case)
    yield from (probe_of(cases[name], results[name]) for name in sorted(results))


def probe_of(info: CaseInfo, result: CaseResult) -> Probe:
    """What a verdict on a probe says of this Triton."""
    words = {Outcome.PASS: "holds", Outcome.KNOWN: "fails", Outcome.FAIL: "unexpected"}
    told = [
        f.fault for f in result.findings if result.outcome is not Outcome.FAIL or not f.expected
    ]
    return Probe(
        name=info.name,
        question=info.title.removeprefix("Probe: ").rstrip("."),
        outcome=words.get(result.outcome, str(result.outcome)),
        faults=tuple(dict.fromkeys(result.missing or told)),
        detail=result.reason,
    )
