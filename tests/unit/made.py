"""Results, findings and reports made in one line, for tests that do not look at their details."""

from __future__ import annotations

from dataclasses import replace

from tritaudit.model import (
    CaseResult,
    Coverage,
    Environment,
    Example,
    Finding,
    Outcome,
    Report,
    Severity,
)

RAN = Coverage(examples=9, launches=9, dtypes=(("float32", 9),))


def finding(
    case: str = "a/b",
    fault: str = "padding-leak",
    *,
    backend: str = "interpreter",
    severity: Severity = Severity.ERROR,
    size: int = 1,
    dtypes: tuple[str, ...] = ("float32",),
    expected: bool = False,
    accepted: str = "",
) -> Finding:
    """A finding at N = `size`."""
    return Finding(
        case=case,
        fault=fault,
        severity=severity,
        expected=expected,
        backend=backend,
        dtype=dtypes[0],
        example=Example(sizes=(("N", size),), dtypes=(("x", dtypes[0]),)),
        repro=f"v1/{backend}/N={size}/-/-/x:{dtypes[0]}",
        summary=f"what {fault} means",
        dtypes=dtypes,
        accepted=accepted,
    )


def result(
    case: str = "a/b", *findings: Finding, outcome: Outcome | None = None, **fields: object
) -> CaseResult:
    """A result whose outcome follows from its findings, unless it is given."""
    if outcome is None:
        news = any(not f.expected for f in findings)
        outcome = Outcome.FAIL if news else Outcome.KNOWN if findings else Outcome.PASS
    made = CaseResult(case, "interpreter", outcome, coverage=RAN, seconds=1.0, findings=findings)
    return replace(made, **fields)  # type: ignore[arg-type]


def report(*results: CaseResult, backend: str = "interpreter", **fields: object) -> Report:
    """A report of results."""
    made = Report(Environment(triton="3.9.0", backend=backend), results, seconds=10.0)
    return replace(made, **fields)  # type: ignore[arg-type]
