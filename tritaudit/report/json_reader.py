"""Reading a JSON report back. Unknown keys are ignored, so that an older reader keeps working."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from typing import Any, TypeVar

from tritaudit.model import (
    CaseResult,
    Cell,
    Coverage,
    Edit,
    Environment,
    Example,
    Excerpt,
    Fill,
    FillKind,
    Finding,
    IndexMap,
    Location,
    Outcome,
    Proof,
    Report,
    Severity,
    Shard,
    Skipped,
)

T = TypeVar("T")
E = TypeVar("E", bound=enum.StrEnum)

_NON_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_BITS = re.compile(r"0x[0-9a-f]{1,16}\Z")
_KINDS: dict[type, str] = {str: "text", int: "an integer", bool: "true or false", dict: "an object"}


class ReportError(ValueError):
    """A text that is no report. The message names the place, e.g. `results[3].outcome`."""


class Node:
    """A JSON value and the path that leads to it, so that an error can name the place."""

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str = "") -> None:
        self.value = value
        self.path = path

    def fail(self, problem: str) -> ReportError:
        return ReportError(f"{self.path or 'the report'}: {problem}")

    def __getitem__(self, key: str) -> Node:
        table = self._as(dict)
        if key not in table:
            raise self.fail(f"{key!r} is missing")
        return Node(table[key], f"{self.path}.{key}" if self.path else key)

    def _as(self, kind: type[T]) -> T:
        # bool is an int to Python, but not to a reader of JSON.
        wrong_bool = isinstance(self.value, bool) and kind is not bool
        if not isinstance(self.value, kind) or wrong_bool:
            raise self.fail(f"{_KINDS.get(kind, 'a list')} is needed, not {self.value!r:.60}")
        return self.value

    def text(self) -> str:
        return self._as(str)

    def integer(self) -> int:
        return self._as(int)

    def boolean(self) -> bool:
        return self._as(bool)

    def number(self) -> int | float:
        if isinstance(self.value, str) and self.value in _NON_FINITE:
            return _NON_FINITE[self.value]
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.fail(f"a number is needed, not {self.value!r:.60}")
        return self.value

    def bits(self) -> int:
        if not isinstance(self.value, str) or not _BITS.match(self.value):
            raise self.fail(f"a bit pattern such as '0x7fc0' is needed, not {self.value!r:.60}")
        return int(self.value, 16)

    def member(self, kind: type[E]) -> E:
        try:
            return kind(self.text())
        except ValueError:
            known = ", ".join(kind)
            raise self.fail(f"unknown {self.value!r:.60}; known are {known}") from None

    def maybe(self, read: Callable[[Node], T]) -> T | None:
        return None if self.value is None else read(self)

    def items(self, read: Callable[[Node], T]) -> tuple[T, ...]:
        return tuple(read(Node(v, f"{self.path}[{i}]")) for i, v in enumerate(self._as(list)))

    def pairs(self, read: Callable[[Node], T]) -> tuple[tuple[str, T], ...]:
        return tuple((k, read(self[k])) for k in self._as(dict))

    def texts(self) -> tuple[str, ...]:
        return self.items(Node.text)

    def integers(self) -> tuple[int, ...]:
        return self.items(Node.integer)


def read_report(value: dict[str, Any]) -> Report:
    """The report of a decoded JSON object.

    Raises:
        ReportError: a key is missing or holds something else than the schema says.
    """
    node = Node(value)
    return Report(
        environment=_environment(node["environment"]),
        results=node["results"].items(_result),
        seed=node["seed"].integer(),
        profile=node["profile"].text(),
        shard=node["shard"].maybe(_shard),
        seconds=float(node["seconds"].number()),
        ended=node["ended"].text(),
        remarks=node["remarks"].texts(),
    )


def _shard(n: Node) -> Shard:
    return Shard(
        index=n["index"].integer(),
        count=n["count"].integer(),
        cases=n["cases"].integer(),
        split=n["split"].text(),
    )


def _environment(n: Node) -> Environment:
    return Environment(
        tritaudit=n["tritaudit"].text(),
        python=n["python"].text(),
        triton=n["triton"].text(),
        torch=n["torch"].text(),
        numpy=n["numpy"].text(),
        gpu=n["gpu"].text(),
        driver=n["driver"].text(),
        backend=n["backend"].text(),
        platform=n["platform"].text(),
    )


def _result(n: Node) -> CaseResult:
    return CaseResult(
        case=n["case"].text(),
        target=n["target"].text(),
        backend=n["backend"].text(),
        outcome=n["outcome"].member(Outcome),
        reason=n["reason"].text(),
        coverage=_coverage(n["coverage"]),
        seconds=float(n["seconds"].number()),
        findings=n["findings"].items(_finding),
        missing=n["missing"].texts(),
        notes=n["notes"].texts(),
        location=n["location"].maybe(_location),
        output=n["output"].text(),
    )


def _coverage(n: Node) -> Coverage:
    return Coverage(
        examples=n["examples"].integer(),
        launches=n["launches"].integer(),
        elements=n["elements"].integer(),
        sizes=tuple((axis, *spread) for axis, spread in n["sizes"].pairs(_spread)),
        tiles=n["tiles"].pairs(Node.integers),
        dtypes=n["dtypes"].pairs(Node.integer),
        layouts=n["layouts"].texts(),
        exhaustive=n["exhaustive"].texts(),
        skipped=n["skipped"].items(
            lambda s: Skipped(s["reason"].text(), s["examples"].integer(), s["dtypes"].texts())
        ),
        cut_short=n["cut_short"].text(),
        examples_per_second=n["examples_per_second"].number(),
    )


def _spread(n: Node) -> tuple[int, int, int]:
    return n["smallest"].integer(), n["largest"].integer(), n["different"].integer()


def _finding(n: Node) -> Finding:
    return Finding(
        case=n["case"].text(),
        target=n["target"].text(),
        options=n["options"].texts(),
        fault=n["fault"].text(),
        severity=n["severity"].member(Severity),
        expected=n["expected"].boolean(),
        accepted=n["accepted"].text(),
        backend=n["backend"].text(),
        dtype=n["dtype"].text(),
        example=_example(n["example"]),
        repro=n["repro"].text(),
        summary=n["summary"].text(),
        proof=_proof(n["proof"]),
        assert_close_passes=n["assert_close_passes"].maybe(Node.boolean),
        location=n["location"].maybe(_location),
        launches=n["launches"].items(_location),
        excerpt=n["excerpt"].maybe(_excerpt),
        index_map=n["index_map"].maybe(_index_map),
        evidence=n["evidence"].texts(),
        unnoticed=n["unnoticed"].texts(),
        dtypes=n["dtypes"].texts(),
        output=n["output"].text(),
        because=n["because"].items(lambda b: (b["fault"].text(), b["backend"].text())),
        seen=n["seen"].integer(),
    )


def _example(n: Node) -> Example:
    fill = n["fill"]
    return Example(
        sizes=n["sizes"].pairs(Node.integer),
        tiles=n["tiles"].pairs(Node.integer),
        scalars=n["scalars"].pairs(Node.number),
        dtypes=n["dtypes"].pairs(Node.text),
        layouts=n["layouts"].pairs(Node.text),
        fill=Fill(fill["kind"].member(FillKind), fill["seed"].integer()),
        edits=n["edits"].items(
            lambda e: Edit(e["tensor"].text(), e["index"].integer(), e["bits"].bits())
        ),
        launch=n["launch"].pairs(Node.integer),
    )


def _location(n: Node) -> Location:
    return Location(n["path"].text(), n["line"].integer(), n["text"].text())


def _proof(n: Node) -> Proof:
    return Proof(
        elements=n["elements"].integer(),
        explained=n["explained"].integer(),
        probes=n["probes"].integer(),
        rivals=n["rivals"].items(lambda r: (r["fault"].text(), r["refuted_by"].text())),
        parameters=n["parameters"].pairs(Node.text),
        statement=n["statement"].text(),
    )


def _excerpt(n: Node) -> Excerpt:
    return Excerpt(
        of=n["of"].text(),
        axes=n["axes"].texts(),
        shape=n["shape"].integers(),
        in_dtype=n["in_dtype"].text(),
        out_dtype=n["out_dtype"].text(),
        tiles=n["tiles"].integers(),
        cells=n["cells"].items(_cell),
        wrong=n["wrong"].integer(),
        total=n["total"].integer(),
    )


def _cell(n: Node) -> Cell:
    return Cell(
        index=n["index"].integers(),
        input=n["input"].text(),
        expected=n["expected"].text(),
        got=n["got"].text(),
        wrong=n["wrong"].boolean(),
        input_bits=n["input_bits"].maybe(Node.bits),
        expected_bits=n["expected_bits"].maybe(Node.bits),
        got_bits=n["got_bits"].maybe(Node.bits),
    )


def _index_map(n: Node) -> IndexMap:
    return IndexMap(
        axes=n["axes"].texts(),
        shape=n["shape"].integers(),
        tiles=n["tiles"].integers(),
        source=n["source"].integers(),
        expected=n["expected"].integers(),
        leaked=n["leaked"].text(),
        launches=n["launches"].integer(),
        example=n["example"].maybe(_example),
    )
