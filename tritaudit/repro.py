"""An example as one word that can be pasted: `v1/interpreter/N=5/BLOCK=8/-/x:float32/-/index`.

The parts, separated by slashes, are: version, backend, sizes, tiles, scalars, dtypes, layouts
(those that are not contiguous), fill, edits, launch options. An empty part is `-`; those at the end
are left out. No character of it means anything to a shell. The values are those of version 1 of
`tritaudit.tensors.fill_values`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from tritaudit.model import DTYPES, Backend, Edit, Example, Fill, FillKind, Layout

VERSION = "v1"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_INT = re.compile(r"-?[0-9]+\Z")
T = TypeVar("T")


class ReproError(ValueError):
    """A token that cannot be read. The message is one sentence that names the offending part."""


def encode(example: Example, backend: str) -> str:
    """The token of an example on a backend."""
    fill = str(example.fill.kind)
    if example.fill.seed:
        fill += f".{example.fill.seed}"
    parts = [
        VERSION,
        str(backend),
        _join(f"{n}={v}" for n, v in example.sizes),
        _join(f"{n}={v}" for n, v in example.tiles),
        _join(f"{n}={v!r}" for n, v in example.scalars),
        _join(f"{n}:{v}" for n, v in example.dtypes),
        _join(f"{n}:{v}" for n, v in example.layouts if v != Layout.CONTIGUOUS),
        fill,
        _join(f"{e.tensor}@{e.index}=0x{e.bits:x}" for e in example.edits),
        _join(f"{n}={v}" for n, v in example.launch),
    ]
    while parts[-1] == "-":
        parts.pop()
    return "/".join(parts)


def _join(items: Iterable[str]) -> str:
    return ",".join(items) or "-"


def backend_of(token: str) -> Backend:
    """The backend that a token names.

    Raises:
        ReproError: it is no token of a known version.
    """
    return Backend(_split(token)[1])


def decode(token: str) -> Example:
    """The example of a token.

    Raises:
        ReproError: the token is not of version 1, or a part of it cannot be read.
    """
    parts = _split(token)
    sizes = _pairs(parts[2], "=", _size)
    dtypes = _pairs(parts[5], ":", _dtype)
    if not sizes and not dtypes:
        raise ReproError(f"the repro token {_short(token)} names neither sizes nor dtypes")
    layouts = dict(_pairs(parts[6], ":", _layout))
    return Example(
        sizes=sizes,
        tiles=_pairs(parts[3], "=", _size),
        scalars=_pairs(parts[4], "=", _number),
        dtypes=dtypes,
        layouts=tuple((n, layouts.get(n, str(Layout.CONTIGUOUS))) for n, _ in dtypes),
        fill=_fill(parts[7]),
        edits=_edits(parts[8]),
        launch=_pairs(parts[9], "=", _size),
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _split(token: str) -> list[str]:
    parts = token.strip().split("/")
    if parts[0] != VERSION:
        raise ReproError(f"{_short(token)} is not a repro token of version {VERSION[1:]}")
    if not 6 <= len(parts) <= 10:
        raise ReproError(f"the repro token {_short(token)} has not 6 to 10 parts but {len(parts)}")
    if parts[1] not in [str(b) for b in Backend]:
        raise ReproError(f"the repro token names the unknown backend {_short(parts[1])}")
    return parts + ["-"] * (10 - len(parts))


def _items(part: str) -> list[str]:
    return [] if part in ("-", "") else part.split(",")


def _pairs(part: str, sign: str, read: Callable[[str], T]) -> tuple[tuple[str, T], ...]:
    out = []
    for item in _items(part):
        name, found, value = item.partition(sign)
        if not found or not _NAME.match(name):
            raise ReproError(f"{_short(item)} in the repro token is not name{sign}value")
        out.append((name, read(value)))
    if len({name for name, _ in out}) != len(out):
        raise ReproError(f"{_short(part)} in the repro token names something twice")
    return tuple(out)


def _size(text: str) -> int:
    if not _INT.match(text) or int(text) < 0 or len(text) > 12:
        raise ReproError(f"{_short(text)} in the repro token is not a size")
    return int(text)


def _number(text: str) -> int | float:
    try:
        return int(text) if _INT.match(text) else float(text)
    except ValueError as error:
        raise ReproError(f"{_short(text)} in the repro token is not a number") from error


def _dtype(text: str) -> str:
    if text not in DTYPES:
        raise ReproError(f"{_short(text)} in the repro token is not a dtype")
    return text


def _layout(text: str) -> str:
    if text not in [str(x) for x in Layout]:
        raise ReproError(f"{_short(text)} in the repro token is not a layout")
    return text


def _fill(part: str) -> Fill:
    if part == "-":
        return Fill()
    kind, _, seed = part.partition(".")
    if kind not in [str(k) for k in FillKind] or (seed and not _INT.match(seed)):
        raise ReproError(f"{_short(part)} in the repro token is not a fill")
    return Fill(FillKind(kind), int(seed or 0))


def _edits(part: str) -> tuple[Edit, ...]:
    edits = tuple(_edit(item) for item in _items(part))
    places: set[tuple[str, int]] = set()
    for edit in edits:
        place = (edit.tensor, edit.index)
        if place in places:
            raise ReproError(f"{edit.tensor}@{edit.index} in the repro token is edited twice")
        places.add(place)
    return edits


def _edit(item: str) -> Edit:
    match = re.match(r"([A-Za-z_]\w*)@([0-9]{1,12})=0x([0-9a-f]{1,16})\Z", item)
    if match is None:
        raise ReproError(f"{_short(item)} in the repro token is not of the form name@index=0xbits")
    return Edit(match[1], int(match[2]), int(match[3], 16))
