"""The SARIF 2.1.0 report, as GitHub code scanning reads it.

GitHub refuses a file in which one result has no location inside the repository, so a finding
without one becomes a notification of the tool. It tells results on one line apart by
`primaryLocationLineHash`, so that is made of case, fault and backend. It reads 25,000 results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from tritaudit.model import CaseResult, Finding, Location, Outcome, Report, Severity
from tritaudit.report.places import place_of, uri_in_repository
from tritaudit.report.severity import severity_look
from tritaudit.report.terminal import plain, render_panel
from tritaudit.report.wording import block, explain_command, fault_in_short, line, sentence

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 25_000
#: the rule of an expectation that no longer shows.
STALE = "stale-expectation"

Json = dict[str, Any]
_NO_TITLES: Mapping[str, str] = MappingProxyType({})


def render(report: Report, titles: Mapping[str, str] = _NO_TITLES) -> str:
    """Unexpected findings and stale expectations as SARIF text that ends in a newline.

    Args:
        report: the run.
        titles: a one-line description for each fault id, where there is one.
    """
    results: list[Json] = []
    notices: list[Json] = []
    for result in report.results:
        for entry in _entries(result):
            (results if "locations" in entry else notices).append(entry)
    if len(results) > MOST_RESULTS:
        left = len(results) - MOST_RESULTS
        notices.append(_notice("warning", f"{left} more results are left out of this file."))
        results = results[:MOST_RESULTS]
    rules = sorted({(r["ruleId"], r["level"]) for r in results})
    log = {
        "$schema": SCHEMA_URI,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver(report, dict(rules), titles)},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The repository."}}},
                "invocations": [_invocation(report, notices)],
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=2, allow_nan=False) + "\n"


def _driver(report: Report, rules: Mapping[str, str], titles: Mapping[str, str]) -> Json:
    return {
        "name": "tritaudit",
        "semanticVersion": line(report.environment.tritaudit) or "0.0.0",
        "rules": [
            {
                "id": rule,
                "name": "".join(word.capitalize() for word in rule.split("-")),
                "shortDescription": {"text": line(titles.get(rule, "")) or _in_words(rule)},
                "help": {"text": _help(rule)},
                "defaultConfiguration": {"level": level},
            }
            for rule, level in rules.items()
        ],
    }


def _in_words(rule: str) -> str:
    return rule.replace("-", " ").capitalize()


def _help(rule: str) -> str:
    if rule == STALE:
        return "Remove the expectation from the case if the kernel is repaired."
    return f"tritaudit explain {rule}"


def _invocation(report: Report, notices: list[Json]) -> Json:
    failed = any(r.outcome is Outcome.ERROR for r in report.results)
    invocation: Json = {"executionSuccessful": not failed and not report.ended}
    if report.ended:
        notices = [*notices, _notice("error", f"The run ended early. {sentence(report.ended)}")]
    if notices:
        invocation["toolExecutionNotifications"] = notices
    return invocation


def _notice(level: str, text: str) -> Json:
    return {"level": level, "message": {"text": text}}


def _entries(result: CaseResult) -> Iterator[Json]:
    """Results where there is a place in the repository, else notifications."""
    for finding in result.findings:
        if not finding.expected:
            text = f"{line(finding.summary)} ({line(finding.case)}: {fault_in_short(finding)})"
            level = severity_look(finding.severity).sarif
            entry = _result(line(finding.fault), level, text, place_of(finding, result))
            yield {**entry, **_identity(entry, result), **_details(entry, finding)}
    if result.outcome in (Outcome.STALE, Outcome.FAIL):
        for fault in result.missing:
            text = f"{line(result.case)} expects {line(fault)}, which no longer shows."
            level = severity_look(Severity.WARNING).sarif
            entry = _result(STALE, level, text, result.location)
            yield {**entry, **_identity(entry, result, fault)}
    if result.outcome is Outcome.ERROR:
        yield _notice("error", f"{line(result.case)}: {block(result.reason)}")


def _result(rule: str, level: str, text: str, location: Location | None) -> Json:
    uri = uri_in_repository(location)
    if uri is None or location is None:
        return _notice(level, f"{rule}: {text}")
    region: Json = {"startLine": max(location.line, 1)}
    if location.text:
        region["snippet"] = {"text": block(location.text)}
    physical = {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, "region": region}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": physical}],
    }


def _identity(entry: Json, result: CaseResult, detail: str = "") -> Json:
    """What stays the same when lines move: case, fault and backend."""
    if "locations" not in entry:
        return {}
    parts = "\0".join((result.case, entry["ruleId"], result.backend, detail))
    digest = hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:16]
    return {"partialFingerprints": {"primaryLocationLineHash": f"{digest}:1"}}


def _details(entry: Json, finding: Finding) -> Json:
    if "locations" not in entry:
        return {}
    return {
        "properties": {
            "case": line(finding.case),
            "backend": line(finding.backend),
            "repro": explain_command(finding),
            "details": plain(render_panel(finding, 100)),
        }
    }
