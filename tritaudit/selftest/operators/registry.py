"""Operators and their registry: each makes one kind of mistake, and knows what it has planted.

An operator is a function from a right case to the mutants that it can make of it. It is told which
cases it may look at, and passes over those that do not say what it looks for (`NoMatch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tritaudit.selftest.source import CaseSource, NoMatch

__all__ = ["OPERATORS", "Operator", "Plant", "operator", "plant", "same"]


@dataclass(frozen=True, slots=True)
class Plant:
    """A changed case file, and what that change means.

    Attributes:
        source: the file.
        faults: the names that have to be found, the one that was meant first.
        also: names that are true as well, but need not be found.
        why: why that is so.
        equivalent: why the change changes nothing that can be seen; then nothing is to be found.
        label: tells several mutants of one operator and one case apart.
    """

    source: CaseSource
    faults: tuple[str, ...]
    also: tuple[str, ...] = ()
    why: str = ""
    equivalent: str = ""
    label: str = ""


Planter = Callable[[CaseSource], Iterable[Plant]]


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of mistake: its name, what it does in a sentence, and the cases that it is tried on.

    `on` holds names or globs of the catalogue.
    """

    name: str
    title: str
    on: tuple[str, ...]
    planter: Planter

    def plants(self, source: CaseSource) -> Iterator[Plant]:
        """The mutants of a case; none where it does not fit."""
        if any(fnmatchcase(source.name, pattern) for pattern in self.on):
            try:
                yield from self.planter(source)
            except NoMatch:
                return


#: every operator, in the order of their modules.
OPERATORS: list[Operator] = []


def operator(name: str, *on: str) -> Callable[[Planter], Planter]:
    """Register a function as an operator; the first line of its docstring says what it does."""

    def register(planter: Planter) -> Planter:
        title = (planter.__doc__ or "").strip().partition("\n")[0]
        OPERATORS.append(Operator(name, title, on, planter))
        return planter

    return register


def plant(
    source: CaseSource,
    *faults: str,
    also: tuple[str, ...] = (),
    why: str = "",
    label: str = "",
) -> Plant:
    """A mutant that shows faults."""
    return Plant(source, faults, also, why, label=label)


def same(source: CaseSource, reason: str, label: str = "") -> Plant:
    """A mutant that behaves as the original does, and why."""
    return Plant(source, (), equivalent=reason, label=label)
