"""Joining reports: parts of one run, two backends; and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import finding, report, result

from tritaudit.merging import MergeError, Named, merge
from tritaudit.model import Environment, Report, Shard


def part(index: int, *cases: str, count: int = 3, split: str = "s", **fields: object) -> Named:
    shard = Shard(index, count, 9, split)
    return Named(f"{index}.json", report(*map(result, cases), shard=shard, **fields))


def test_all_parts_are_the_whole_run() -> None:
    whole = report(result("a"), result("b", finding("b")), result("c"), profile="ci", seed=4)
    parts = [
        Named(f"{k}", replace(whole, results=(r,), shard=Shard(k, 3, 3, "s")))
        for k, r in enumerate(whole.results, 1)
    ]
    joined = merge(parts[::-1])
    assert replace(joined, seconds=whole.seconds) == whole
    assert joined.seconds == 30.0


def test_a_missing_part_is_named() -> None:
    assert merge([part(1, "a"), part(3, "b")]).ended == "shard 2/3 on the interpreter is missing"
    told = merge([part(2, "a", count=4)]).ended
    assert told == "shard 1/4, 3/4, 4/4 on the interpreter are missing"


def test_a_part_that_ended_early_says_so() -> None:
    parts = [part(1, "a", ended="interrupted"), part(2, "b"), part(3, "c")]
    assert merge(parts).ended == "1.json: interrupted"


def test_two_verdicts_on_one_unit_are_refused() -> None:
    with pytest.raises(MergeError, match=r"^1\.json and 2\.json both have a verdict on a on the i"):
        merge([part(1, "a"), part(2, "b", "a")])
    with pytest.raises(MergeError, match=r"^1\.json and 1\.json both"):
        merge([part(1, "a", "a")])


def test_parts_of_different_splits_are_refused() -> None:
    with pytest.raises(MergeError, match="different splits: give every part the same --durations"):
        merge([part(1, "a"), part(2, "b", split="t")])


def gpu(*cases: str) -> Report:
    results = [replace(result(case), backend="gpu") for case in cases]
    environment = Environment(triton="3.6.0", gpu="H200", backend="gpu")
    return report(*results, environment=environment, profile="deep", seed=7, remarks=("r", "s"))


def test_backends_and_machines_are_joined() -> None:
    joined = merge([part(1, "b", count=1, remarks=("r",), profile="ci"), Named("g", gpu("b", "a"))])
    assert [(r.case, r.backend) for r in joined.results] == [
        ("a", "gpu"),
        ("b", "gpu"),
        ("b", "interpreter"),
    ]
    environment = joined.environment
    assert (environment.backend, environment.gpu) == ("interpreter, gpu", "H200")
    assert environment.triton == "3.9.0, 3.6.0"
    assert joined.profile == "ci, deep"
    assert joined.remarks == ("r", "s", "the seeds differ: 0, 7")
    assert joined.ended == ""
