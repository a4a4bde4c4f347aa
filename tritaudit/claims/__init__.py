"""What is said about tl.flip and tl.abs, and what was found: `claims.toml`, read and checked.

Numbers such as A16 are stable names: the docstrings of the catalogue and of the faults use them.
"""

from __future__ import annotations

import enum
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Claim", "ClaimError", "Verdict", "claims", "mentioned"]

_NUMBER = re.compile(r"[ABS]\d+[a-z]?\Z")
_MENTION = re.compile(r"\b[Cc]laims?\s+((?:[ABS]\d+[a-z]?(?:\s*,\s*|\s+and\s+|\s+to\s+)?)+)")
_ONE = re.compile(r"([ABS])(\d+)([a-z]?)(?:\s+to\s+\1(\d+))?")
_TEXTS, _LISTS = ("claim", "verdict", "found", "measured"), ("cases", "commands")


class ClaimError(ValueError):
    """`claims.toml` cannot be used. The message names the claim."""


class Verdict(enum.StrEnum):
    """What became of a claim."""

    TRUE = "true"
    FALSE = "false"
    PARTLY = "partly"
    VERSIONS = "versions"
    OPINION = "opinion"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its verdict and what shows it.

    Attributes:
        id: such as A16.
        claim: what is said.
        verdict: what became of it.
        found: what was seen.
        cases: names in the catalogue.
        commands: lines to paste.
        measured: with what, where neither a case nor a command shows it.
    """

    id: str
    claim: str
    verdict: Verdict
    found: str
    cases: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    measured: str = ""


@cache
def claims() -> tuple[Claim, ...]:
    """All claims, in order.

    Raises:
        ClaimError: one of them is not what it should be.
    """
    text = Path(__file__).with_name("claims.toml").read_text(encoding="utf-8")
    return parse(text)


def parse(text: str) -> tuple[Claim, ...]:
    """The claims of a text in the form of `claims.toml`.

    Raises:
        ClaimError: as for `claims`.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ClaimError(f"claims.toml: {error}") from error
    return tuple(_claim(number, table) for number, table in tables.items())


def _claim(number: str, table: object) -> Claim:
    if not _NUMBER.match(number) or not isinstance(table, dict):
        raise ClaimError(f"{number!r} is no number of a claim, such as A16")
    unknown = [key for key in table if key not in _TEXTS + _LISTS]
    if unknown:
        raise ClaimError(f"claim {number} has the unknown entry {unknown[0]!r}")
    texts = {key: table.get(key, "") for key in _TEXTS}
    lists = {key: table.get(key, []) for key in _LISTS}
    for key, value in texts.items():
        if not isinstance(value, str) or (not value and key != "measured"):
            raise ClaimError(f"claim {number} needs {key!r}, a text")
    for key, values in lists.items():
        if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
            raise ClaimError(f"claim {number} needs {key!r} to be a list of texts")
    if texts["verdict"] not in [str(v) for v in Verdict]:
        raise ClaimError(f"claim {number} has the unknown verdict {texts['verdict']!r}")
    verdict = Verdict(texts["verdict"])
    shown = lists["cases"] or lists["commands"] or texts["measured"]
    if not shown and verdict is not Verdict.OPINION:
        raise ClaimError(f"claim {number} needs a case, a command or a measurement that shows it")
    return Claim(
        number,
        texts["claim"],
        verdict,
        texts["found"],
        tuple(lists["cases"]),
        tuple(lists["commands"]),
        texts["measured"],
    )


def mentioned(text: str) -> frozenset[str]:
    """The numbers of the claims that a docstring names: `Claims A14, B30 and B31`, `B14 to B17`."""
    found: set[str] = set()
    for mention in _MENTION.finditer(" ".join(text.split())):
        for kind, first, letter, last in _ONE.findall(mention[1]):
            numbers = range(int(first), int(last or first) + 1)
            found.update(f"{kind}{n}{letter}" for n in numbers)
    return frozenset(found)
