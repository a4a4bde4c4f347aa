"""Several reports joined into one: the parts of a run, its backends, runs on several machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from tritaudit.model import Environment, Report, Shard

__all__ = ["MergeError", "Named", "merge", "missing_parts"]


class MergeError(ValueError):
    """Reports that do not belong together. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class Named:
    """A report and the name by which a message tells it from others."""

    name: str
    report: Report


def merge(reports: Sequence[Named]) -> Report:
    """One report of all. Where a part of a split run is missing, `ended` says which.

    Raises:
        MergeError: two have a verdict on the same unit, or parts come from different splits.
    """
    _refuse_doubles(reports)
    _refuse_mixed_splits(reports)
    ended = [f"{n.name}: {n.report.ended}" for n in reports if n.report.ended]
    ended += missing_parts(reports)
    results = (result for n in reports for result in n.report.results)
    return Report(
        environment=_environment([n.report.environment for n in reports]),
        results=tuple(sorted(results, key=lambda r: (r.case, r.backend))),
        seed=reports[0].report.seed,
        seconds=sum(n.report.seconds for n in reports),
        ended="; ".join(ended),
        profile=_joined(n.report.profile for n in reports),
        remarks=(*_remarks(reports), *_different_seeds(reports)),
    )


def missing_parts(reports: Sequence[Named]) -> list[str]:
    """A sentence for each split run of which parts are missing."""
    out = []
    for group in _groups(reports).values():
        shards = [n.report.shard for n in group if n.report.shard is not None]
        count = shards[0].count
        absent = sorted(set(range(1, count + 1)) - {s.index for s in shards})
        if absent:
            which = ", ".join(f"{index}/{count}" for index in absent)
            verb = "is" if len(absent) == 1 else "are"
            out.append(f"shard {which} on the {group[0].report.environment.backend} {verb} missing")
    return out


def _refuse_doubles(reports: Sequence[Named]) -> None:
    first: dict[tuple[str, str], str] = {}
    for named in reports:
        for result in named.report.results:
            key = (result.case, result.backend)
            if key in first:
                raise MergeError(
                    f"{first[key]} and {named.name} both have a verdict on {result.case} on the "
                    f"{result.backend}: tritaudit compare sets such reports side by side"
                )
            first[key] = named.name


def _groups(reports: Sequence[Named]) -> dict[tuple[str, int, int], list[Named]]:
    """The parts of each split run: of one backend, one number of parts and one of cases."""
    groups: dict[tuple[str, int, int], list[Named]] = {}
    for named in reports:
        shard = named.report.shard
        if shard is not None:
            key = (named.report.environment.backend, shard.count, shard.cases)
            groups.setdefault(key, []).append(named)
    return groups


def _refuse_mixed_splits(reports: Sequence[Named]) -> None:
    for group in _groups(reports).values():
        first, shard = group[0], _shard(group[0])
        for other in group[1:]:
            if _shard(other).split != shard.split:
                raise MergeError(
                    f"{first.name} and {other.name} are parts of different splits: give every "
                    "part the same --durations"
                )


def _shard(named: Named) -> Shard:
    assert named.report.shard is not None
    return named.report.shard


def _environment(environments: Sequence[Environment]) -> Environment:
    """What is the same everywhere; where it differs, all of it in order of appearance."""
    values = {
        f.name: _joined(getattr(e, f.name) for e in environments) for f in fields(Environment)
    }
    return Environment(**values)


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, texts)))


def _remarks(reports: Sequence[Named]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(remark for n in reports for remark in n.report.remarks))


def _different_seeds(reports: Sequence[Named]) -> tuple[str, ...]:
    seeds = sorted({n.report.seed for n in reports})
    return (f"the seeds differ: {', '.join(map(str, seeds))}",) if len(seeds) > 1 else ()
