"""The JSON report: its own shape, versioned, described by `schema.json` beside this file.

The shape is a promise to readers and is not the shape of the dataclasses: a name can change there
without changing here. What JSON cannot hold is written as text: bit patterns as "0x7fc00000"
(64-bit integers do not survive every reader), non-finite numbers as "NaN", "Infinity", "-Infinity".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from tritaudit.model import (
    CaseResult,
    Cell,
    Coverage,
    Environment,
    Example,
    Excerpt,
    Finding,
    IndexMap,
    Location,
    Proof,
    Report,
    Shard,
)
from tritaudit.report.json_reader import ReportError, read_report

__all__ = ["SCHEMA", "ReportError", "parse", "render", "schema"]

#: changes when a reader of the old shape would misread the new one.
SCHEMA = "tritaudit-report/1"

_SURROGATE = re.compile("[\ud800-\udfff]")
Json = dict[str, Any]


def render(report: Report) -> str:
    """The report as JSON text that ends in a newline. The same report gives the same text."""
    text = json.dumps(_report(report), indent=2, ensure_ascii=False, allow_nan=False)
    # A lone surrogate (a name that is not UTF-8) could not be written to a file.
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text) + "\n"


def parse(text: str) -> Report:
    """The report that `render` wrote.

    Raises:
        ReportError: the text is no report of this version; the message names the place.
    """
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ReportError(f"not a tritaudit report: {error}") from error
    if not isinstance(value, dict):
        raise ReportError("not a tritaudit report: the top level is no JSON object")
    if value.get("schema") != SCHEMA:
        raise ReportError(
            f"the report says schema {value.get('schema')!r}; this version reads {SCHEMA!r}"
        )
    return read_report(value)


def schema() -> str:
    """The JSON Schema of the report, as text."""
    return resources.files("tritaudit.report").joinpath("schema.json").read_text(encoding="utf-8")


# --------------------------------------------------------------------------- writing


def _number(value: int | float) -> int | float | str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _bits(value: int | None) -> str | None:
    return None if value is None else f"{value:#x}"


def _report(report: Report) -> Json:
    return {
        "schema": SCHEMA,
        "environment": _environment(report.environment),
        "seed": report.seed,
        "profile": report.profile,
        "shard": None if report.shard is None else _shard(report.shard),
        "seconds": _number(report.seconds),
        "ended": report.ended,
        "remarks": list(report.remarks),
        "results": [_result(r) for r in report.results],
    }


def _shard(s: Shard) -> Json:
    return {"index": s.index, "count": s.count, "cases": s.cases, "split": s.split}


def _environment(e: Environment) -> Json:
    return {
        "tritaudit": e.tritaudit,
        "python": e.python,
        "triton": e.triton,
        "torch": e.torch,
        "numpy": e.numpy,
        "gpu": e.gpu,
        "driver": e.driver,
        "backend": e.backend,
        "platform": e.platform,
    }


def _result(result: CaseResult) -> Json:
    return {
        "case": result.case,
        "target": result.target,
        "backend": result.backend,
        "outcome": str(result.outcome),
        "reason": result.reason,
        "missing": list(result.missing),
        "notes": list(result.notes),
        "location": _location(result.location),
        "coverage": _coverage(result.coverage),
        "seconds": _number(result.seconds),
        "output": result.output,
        "findings": [_finding(f) for f in result.findings],
    }


def _coverage(c: Coverage) -> Json:
    return {
        "examples": c.examples,
        "launches": c.launches,
        "elements": c.elements,
        "sizes": {
            axis: {"smallest": low, "largest": high, "different": number}
            for axis, low, high, number in c.sizes
        },
        "tiles": {name: list(sizes) for name, sizes in c.tiles},
        "dtypes": dict(c.dtypes),
        "layouts": list(c.layouts),
        "exhaustive": list(c.exhaustive),
        "skipped": [
            {"reason": s.reason, "examples": s.count, "dtypes": list(s.dtypes)} for s in c.skipped
        ],
        "cut_short": c.cut_short,
        "examples_per_second": c.examples_per_second,
    }


def _finding(f: Finding) -> Json:
    return {
        "case": f.case,
        "target": f.target,
        "options": list(f.options),
        "backend": f.backend,
        "fault": f.fault,
        "severity": str(f.severity),
        "expected": f.expected,
        "accepted": f.accepted,
        "summary": f.summary,
        "dtype": f.dtype,
        "dtypes": list(f.dtypes),
        "example": _example(f.example),
        "repro": f.repro,
        "location": _location(f.location),
        "launches": [_location(place) for place in f.launches],
        "assert_close_passes": f.assert_close_passes,
        "proof": _proof(f.proof),
        "evidence": list(f.evidence),
        "unnoticed": list(f.unnoticed),
        "excerpt": None if f.excerpt is None else _excerpt(f.excerpt),
        "index_map": None if f.index_map is None else _index_map(f.index_map),
        "output": f.output,
        "because": [{"fault": fault, "backend": backend} for fault, backend in f.because],
        "seen": f.seen,
    }


def _example(e: Example) -> Json:
    return {
        "sizes": dict(e.sizes),
        "tiles": dict(e.tiles),
        "scalars": {name: _number(value) for name, value in e.scalars},
        "dtypes": dict(e.dtypes),
        "layouts": {name: str(layout) for name, layout in e.layouts},
        "launch": dict(e.launch),
        "fill": {"kind": str(e.fill.kind), "seed": e.fill.seed},
        "edits": [{"tensor": x.tensor, "index": x.index, "bits": _bits(x.bits)} for x in e.edits],
    }


def _location(location: Location | None) -> Json | None:
    if location is None:
        return None
    return {"path": location.path, "line": location.line, "text": location.text}


def _proof(p: Proof) -> Json:
    return {
        "statement": p.statement,
        "elements": p.elements,
        "explained": p.explained,
        "partial": p.partial,
        "probes": p.probes,
        "rivals": [{"fault": fault, "refuted_by": by} for fault, by in p.rivals],
        "parameters": dict(p.parameters),
    }


def _excerpt(e: Excerpt) -> Json:
    return {
        "of": e.of,
        "axes": list(e.axes),
        "shape": list(e.shape),
        "tiles": list(e.tiles),
        "in_dtype": e.in_dtype,
        "out_dtype": e.out_dtype,
        "wrong": e.wrong,
        "total": e.total,
        "cells": _cells(e.cells),
    }


def _cells(cells: Sequence[Cell]) -> list[Json]:
    return [
        {
            "index": list(c.index),
            "input": c.input,
            "expected": c.expected,
            "got": c.got,
            "wrong": c.wrong,
            "input_bits": _bits(c.input_bits),
            "expected_bits": _bits(c.expected_bits),
            "got_bits": _bits(c.got_bits),
        }
        for c in cells
    ]


def _index_map(m: IndexMap) -> Json:
    return {
        "axes": list(m.axes),
        "shape": list(m.shape),
        "tiles": list(m.tiles),
        "source": list(m.source),
        "expected": list(m.expected),
        "leaked": m.leaked,
        "launches": m.launches,
        "example": None if m.example is None else _example(m.example),
    }
