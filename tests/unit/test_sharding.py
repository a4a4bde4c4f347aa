"""Parts of a run: all of it, once, about equally long, and the same every time."""

from __future__ import annotations

import random

import pytest

from tritaudit.sharding import ShardError, fingerprint, parse, split

NAMES = [f"flip/{letter}" for letter in "gfedcba"]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_every_name_is_in_one_part(count: int) -> None:
    parts = split(NAMES, {"flip/a": 5.0, "flip/zz": 1.0}, count)
    assert len(parts) == count
    assert sorted(name for part in parts for name in part) == sorted(NAMES)


def test_without_durations_names_go_round() -> None:
    assert split(NAMES, {}, 3) == (
        ("flip/a", "flip/d", "flip/g"),
        ("flip/b", "flip/e"),
        ("flip/c", "flip/f"),
    )


def test_parts_are_about_equally_long() -> None:
    seconds = dict(zip(NAMES, (10.0, 1.0, 1.0, 4.0, 3.0, 1.0, 1.0), strict=True))
    loads = sorted(sum(seconds[n] for n in part) for part in split(NAMES, seconds, 2))
    assert loads == [10.0, 11.0]


def test_a_new_case_counts_as_the_median() -> None:
    seconds = {"a": 8.0, "b": 2.0, "c": 2.0}
    parts = split(["a", "b", "c", "new", "new2"], seconds, 2)
    assert parts == (("a",), ("b", "c", "new", "new2"))


def test_the_order_of_names_does_not_matter() -> None:
    seconds = {name: float(k % 3) for k, name in enumerate(NAMES)}
    shuffled = random.Random(1).sample(NAMES, len(NAMES))
    assert split(shuffled, seconds, 3) == split(NAMES, seconds, 3)


def test_a_fingerprint_tells_splits_apart() -> None:
    assert fingerprint(split(NAMES, {}, 2)) == fingerprint(split(list(reversed(NAMES)), {}, 2))
    others = {fingerprint(split(NAMES, {}, n)) for n in (1, 2, 3)}
    assert len(others) == 3
    assert fingerprint([["a", "b"], []]) != fingerprint([["a"], ["b"]])


def test_a_part_is_read() -> None:
    assert parse("2/3") == (2, 3)
    for text in ("", "3", "0/3", "4/3", "1/0", "a/3", "1/3/5", "-1/3", "1/²", "1/123456"):
        with pytest.raises(ShardError):
            parse(text)
