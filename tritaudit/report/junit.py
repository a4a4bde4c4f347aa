"""The JUnit report: one test a case and backend, for the CI systems that read such files.

Written by hand, because there is no standard that all readers agree on: attributes that every
reader knows, one failure a test, and no control character anywhere (ElementTree lets them pass and
readers refuse them).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from xml.etree import ElementTree

from tritaudit.model import CaseResult, Environment, Outcome, Report
from tritaudit.report.terminal import plain, render_finding
from tritaudit.report.wording import block, fault_in_short, line, sentence


def render(report: Report) -> str:
    """The report as XML text that ends in a newline, one suite a backend."""
    root = ElementTree.Element("testsuites", name="tritaudit")
    _count(root, report.results, report.seconds)
    for backend in dict.fromkeys(r.backend for r in report.results):
        results = [r for r in report.results if r.backend == backend]
        suite = ElementTree.SubElement(root, "testsuite", name=line(backend) or "tritaudit")
        _count(suite, results, math.fsum(_finite(r.seconds) for r in results))
        _properties(suite, report)
        for result in results:
            _test(suite, result)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _properties(suite: ElementTree.Element, report: Report) -> None:
    properties = ElementTree.SubElement(suite, "properties")
    values = {"seed": str(report.seed), "profile": report.profile, "ended": report.ended}
    values["remarks"] = " ".join(map(sentence, report.remarks))
    values |= {f.name: str(getattr(report.environment, f.name)) for f in fields(Environment)}
    for name, value in values.items():
        if value:
            ElementTree.SubElement(properties, "property", name=name, value=line(value))


def _count(element: ElementTree.Element, results: Sequence[CaseResult], seconds: float) -> None:
    def number(*outcomes: Outcome) -> str:
        return str(sum(r.outcome in outcomes for r in results))

    element.set("tests", str(len(results)))
    element.set("failures", number(Outcome.FAIL, Outcome.STALE))
    element.set("errors", number(Outcome.ERROR))
    element.set("skipped", number(Outcome.SKIP))
    element.set("time", f"{_finite(seconds):.3f}")


def _finite(seconds: float) -> float:
    return seconds if math.isfinite(seconds) else 0.0


def _test(suite: ElementTree.Element, result: CaseResult) -> None:
    name = line(result.case)
    folder, _, last = name.rpartition("/")
    # A space would not do as a name: some readers drop such tests.
    test = ElementTree.SubElement(
        suite,
        "testcase",
        name=last or name or "(unnamed)",
        classname=folder.replace("/", ".") or "tritaudit",
        time=f"{_finite(result.seconds):.3f}",
    )
    if result.location is not None:
        test.set("file", line(result.location.path))
        test.set("line", str(result.location.line))
    _verdict(test, result)
    if result.output:
        ElementTree.SubElement(test, "system-out").text = block(result.output)


def _verdict(test: ElementTree.Element, result: CaseResult) -> None:
    match result.outcome:
        case Outcome.PASS:
            return
        case Outcome.KNOWN:
            known = "; ".join(fault_in_short(f) for f in result.findings)
            ElementTree.SubElement(test, "system-out").text = f"known: {known}"
        case Outcome.FAIL:
            found = [f for f in result.findings if not f.expected]
            kinds = ", ".join(line(f.fault) for f in found) or "fail"
            failure = ElementTree.SubElement(test, "failure", type=kinds)
            told = [*_message(result), *_missing(result)]
            failure.set("message", "; ".join(told) or line(result.reason))
            failure.text = "\n\n".join(plain(render_finding(f, 100)) for f in found)
        case Outcome.STALE:
            failure = ElementTree.SubElement(test, "failure", type="stale")
            failure.set("message", "; ".join(_missing(result)))
            failure.text = block(result.reason)
        case Outcome.ERROR:
            error = ElementTree.SubElement(test, "error", type="error")
            error.set("message", line(result.reason))
            error.text = block(result.reason)
        case Outcome.SKIP:
            ElementTree.SubElement(test, "skipped", message=line(result.reason))


def _message(result: CaseResult) -> list[str]:
    found = [f for f in result.findings if not f.expected]
    return [f"{fault_in_short(f)}: {line(f.summary)}" for f in found]


def _missing(result: CaseResult) -> list[str]:
    names = ", ".join(map(line, result.missing))
    return [f"expected, but did not show: {names}"] if names else []
