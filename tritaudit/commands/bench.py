"""`tritaudit bench`: how long kernels take on the GPU, against a copy, torch and each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from tritaudit import __version__
from tritaudit.bench.model import Entry, Measured, Work
from tritaudit.bench.preset import LARGE, claims
from tritaudit.bench.render import render_bench
from tritaudit.bench.table import slower
from tritaudit.commands import NOTHING_UNEXPECTED, UNABLE, Usage
from tritaudit.commands.functions import FunctionOptions, calls_of
from tritaudit.commands.ir import check_launch, put_json
from tritaudit.commands.reports import STDOUT
from tritaudit.commands.session import Output, cases_of, output
from tritaudit.forkserver import BackendError, Call, Died, Ended, Overdue, Raised, Returned
from tritaudit.model import Backend, CallSpec, CaseInfo
from tritaudit.plain import from_plain, to_plain
from tritaudit.report.terminal import show
from tritaudit.report.wording import line
from tritaudit.supervisor import Supervisor
from tritaudit.unit import request_for

__all__ = ["SCHEMA", "Plan", "bench", "entries_for", "with_twins"]

SCHEMA = "tritaudit-bench/1"
#: seconds for all rows of a case.
_LIMIT = 600.0
NO_GPU = (
    "no GPU is visible to torch, and the times of the interpreter say nothing: "
    "tritaudit ir CASE shows what a kernel costs without one"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure, as it was asked for on the command line; no case: the claims."""

    cases: tuple[str, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    tiles: tuple[tuple[str, int], ...] = ()
    num_warps: tuple[int, ...] = ()
    json: str | None = None


def bench(plan: Plan, function: FunctionOptions) -> int:
    """Measure kernels and print what they take; the exit code.

    Raises:
        Usage: a case, tile or axis does not exist.
        BackendError: there is no GPU.
        ReportWriteError: the JSON file cannot be written; all is printed by then.
    """
    dtypes = function.dtypes()
    if not plan.cases and (plan.sizes or plan.tiles or plan.num_warps or dtypes):
        raise Usage(
            "--size, --tile, --num-warps and --dtype need a case; without one the rows are fixed"
        )
    check_launch(plan.tiles, plan.num_warps)
    calls = calls_of(function, plan.cases)
    with Supervisor(Backend.GPU) as supervisor:
        environment = supervisor.environment()
        if not environment.gpu:
            raise BackendError(NO_GPU)
        infos, entries = _asked(supervisor, plan, calls, dtypes)
        rows: list[Measured] = []
        with Output(stderr=True).status("") as status:
            for work in _works(infos, entries):
                status.update(f"measuring {line(work.request.case)}")
                rows += _measured(supervisor, work)
    order = {entry: number for number, entry in enumerate(entries)}
    rows.sort(key=lambda row: order[row.entry])
    if plan.json != STDOUT:
        console = output()
        show(console, render_bench(rows, console.width))
    if plan.json is not None:
        put_json(plan.json, _value(rows, to_plain(environment)))
    return UNABLE if any(row.time is None for row in rows) else NOTHING_UNEXPECTED


def _value(rows: Sequence[Measured], environment: object) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "tritaudit": __version__,
        "environment": environment,
        "rows": to_plain(tuple(rows)),
        "slower": [asdict(found) for found in slower(rows)],
    }


# --------------------------------------------------------------------------- which rows


def _asked(
    supervisor: Supervisor, plan: Plan, calls: Sequence[CallSpec], dtypes: Sequence[str]
) -> tuple[list[CaseInfo], tuple[Entry, ...]]:
    """The cases to load, and their rows."""
    if not plan.cases:
        entries = claims()
        names = dict.fromkeys(entry.case for entry in entries)
        return list(cases_of(supervisor, list(names)).cases), entries
    chosen = [
        info
        for number, target in enumerate(plan.cases)
        for info in cases_of(supervisor, [target], calls[number : number + 1]).cases
    ]
    infos = with_twins(chosen, cases_of(supervisor, []).cases)
    return infos, entries_for(infos, plan, dtypes)


def with_twins(chosen: Sequence[CaseInfo], catalogue: Sequence[CaseInfo]) -> list[CaseInfo]:
    """The chosen cases, their right twins, and the cases whose twins they are."""
    found = {info.name: info for info in chosen}
    names = set(found)
    for info in catalogue:
        if info.name in {i.twin for i in chosen} or info.twin in names:
            found.setdefault(info.name, info)
    return list(found.values())


def entries_for(
    infos: Sequence[CaseInfo], plan: Plan, dtypes: Sequence[str] = ()
) -> tuple[Entry, ...]:
    """A row for each case and number of warps; cases of one contract and size are compared.

    Raises:
        Usage: an axis or a tile is named that no case has.
    """
    _known("--size", "axis", plan.sizes, {axis for i in infos for axis, _, _ in i.axes})
    _known("--tile", "tile", plan.tiles, {name for i in infos for name, _ in i.tiles})
    return tuple(
        replace(entry, num_warps=warps)
        for entry in (_entry(info, infos, plan, dtypes) for info in infos)
        for warps in plan.num_warps or (None,)
    )


def _known(option: str, what: str, given: Sequence[tuple[str, int]], names: set[str]) -> None:
    for name, _ in given:
        if name not in names:
            raise Usage(
                f"{option}: no {what} is named {name!r}; there is {', '.join(sorted(names))}"
            )


def _entry(info: CaseInfo, infos: Sequence[CaseInfo], plan: Plan, dtypes: Sequence[str]) -> Entry:
    dtype = next(iter(dtypes), None) or _dtype(info)
    same = [i for i in infos if i.contract == info.contract and _axes(i) == _axes(info)]
    sizes = _sizes(same, dict(plan.sizes))
    told = " ".join(f"{axis}={size:,}" for axis, size in sizes)
    return Entry(
        case=info.name,
        group=f"{info.contract} of {dtype}, {told}",
        sizes=sizes,
        tiles=_tiles(info, dict(plan.tiles)),
        dtype=dtype,
    )


def _dtype(info: CaseInfo) -> str:
    return next((d for d in ("float32", "int32") if d in info.dtypes), info.dtypes[0])


def _axes(info: CaseInfo) -> tuple[str, ...]:
    return tuple(axis for axis, _, _ in info.axes)


def _sizes(infos: Sequence[CaseInfo], given: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Sizes that all of the cases allow, with as many elements as the claims where they can be."""
    tops: dict[str, int | None] = {}
    for info in infos:
        for axis, _, high in info.axes:
            known = [top for top in (tops.get(axis), high) if top is not None]
            tops[axis] = min(known, default=None)
    sizes = {axis: given.get(axis, top) for axis, top in tops.items()}
    free = [axis for axis, size in sizes.items() if size is None]
    left = LARGE
    for size in sizes.values():
        left //= max(size or 1, 1)
    for number, axis in enumerate(free):
        # 2**k elements over n axes: the later axes get what is left over.
        bits = max(left, 1).bit_length() - 1
        sizes[axis] = 1 << bits // (len(free) - number)
        left >>= bits // (len(free) - number)
    return tuple((axis, size or 1) for axis, size in sizes.items())


def _tiles(info: CaseInfo, given: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """1,024 elements for one tile, 32 x 64 for two; tiles of one element and several stay."""
    usual = (1024,) if len(info.tiles) == 1 else (32, 64)
    chosen = []
    for number, (name, declared) in enumerate(info.tiles):
        fits = len(info.tiles) <= 2 and declared[-1] > 1
        chosen.append((name, given.get(name, usual[number] if fits else declared[-1])))
    return tuple(chosen)


# --------------------------------------------------------------------------- measuring


def _works(infos: Sequence[CaseInfo], entries: Sequence[Entry]) -> Iterator[Work]:
    for info in infos:
        own = tuple(entry for entry in entries if entry.case == info.name)
        if own:
            yield Work(request_for(info, str(Backend.GPU)), own)


def _measured(supervisor: Supervisor, work: Work) -> list[Measured]:
    ended = supervisor.call(Call("bench", to_plain(work), _LIMIT))
    if isinstance(ended, Returned):
        return list(from_plain(tuple[Measured, ...], ended.value))
    return [Measured(entry, problem=_why(ended)) for entry in work.entries]


def _why(ended: Ended) -> str:
    match ended:
        case Died():
            return f"the process ended ({ended.how})"
        case Overdue():
            return f"not measured after {ended.seconds:.0f} s"
        case Raised():
            return ended.message
        case Returned():
            return "no answer"
