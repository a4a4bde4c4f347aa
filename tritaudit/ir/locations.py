"""Where each line of a compiler's text comes from, read from its debug information.

Every form has its own: MLIR a table of `#loc`, LLVM a table of `!DILocation`, PTX and AMD's
assembly `.loc` directives, SASS the comments of nvdisasm. A line gets the chains of places that it
stems from: the innermost place first, and then the places into which that was inlined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

__all__ = ["Chain", "Place", "Row", "read"]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source file. `column` 0 where it is not known, else from 0 or 1 by version.

    `path` is the whole path, or only the name of the file where the form has no more.
    """

    path: str
    line: int
    column: int = 0


#: from the place of an operation outwards to the place in the kernel.
Chain = tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a text. `operation` is "" where the line does nothing."""

    text: str
    operation: str = ""
    chains: tuple[Chain, ...] = ()


def read(stage: str, text: str, inlined: tuple[Chain, ...] = ()) -> list[Row]:
    """The lines of a stage without its tables of locations.

    Args:
        inlined: chains of the LLVM IR, for stages that name only the innermost place (PTX before
            Triton 3.3, SASS before 3.8).
    """
    readers: dict[str, Callable[[], Iterator[Row]]] = {
        "ttir": lambda: _mlir(text),
        "ttgir": lambda: _mlir(text),
        "llir": lambda: _llvm(text),
        "ptx": lambda: _assembly(text, "//", inlined),
        "amdgcn": lambda: _assembly(text, ";", inlined),
        "sass": lambda: _sass(text, inlined),
    }
    return list(readers[stage]())


# --------------------------------------------------------------------------- MLIR

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_MLIR_OPERATION = re.compile(r'^\s*(?:%[\w$.:#, ]+ = )?"?([a-z_]\w*\.[\w.]+)"?[\s(]')
_LOCATION_AT_END = re.compile(r" loc\((?:[^()]|\([^()]*\)|\((?:[^()]|\([^()]*\))*\))*\)")


class _Locations:
    """The `#loc` table of a module."""

    def __init__(self, rows: list[str]) -> None:
        found = (_ALIAS.match(row) for row in rows)
        self._written = {m.group(1): m.group(2) for m in found if m}
        self._known: dict[str, tuple[Chain, ...]] = {}

    def chains(self, text: str) -> tuple[Chain, ...]:
        """The chains of a location as MLIR writes it; text beyond its end is ignored."""
        return self._parse(text)[0]

    def _parse(self, text: str) -> tuple[tuple[Chain, ...], str]:
        if text.startswith("callsite("):
            inner, rest = self._parse(text.removeprefix("callsite("))
            outer, rest = self._parse(rest.removeprefix(" at "))
            return tuple(i + o for i in inner for o in outer), rest.removeprefix(")")
        if text.startswith("fused"):
            return self._fused(text)
        if found := re.match(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)(?: to (?:\d*:)?\d+)?', text):
            place = Place(found.group(1), int(found.group(2)), int(found.group(3)))
            return ((place,),), text[found.end() :]
        if found := re.match(r'"(?:[^"\\]|\\.)*"\(', text):
            chains, rest = self._parse(text[found.end() :])
            return chains, rest.removeprefix(")")
        if found := re.match(r"#loc\d*", text):
            return self._named(found.group()), text[found.end() :]
        found = re.match(r'unknown|"(?:[^"\\]|\\.)*"', text)
        return ((),), text[found.end() :] if found else ""

    def _fused(self, text: str) -> tuple[tuple[Chain, ...], str]:
        _, _, rest = text.partition("[")
        chains: list[Chain] = []
        while rest and not rest.startswith("]"):
            part, rest = self._parse(rest.removeprefix(", "))
            chains += part
        return tuple(chains), rest.removeprefix("]")

    def _named(self, name: str) -> tuple[Chain, ...]:
        if name not in self._known:
            self._known[name] = ((),)  # a table that refers to itself ends here
            self._known[name] = self.chains(self._written.get(name, "unknown"))
        return self._known[name]


def _mlir(text: str) -> Iterator[Row]:
    lines = text.splitlines()
    table = _Locations(lines)
    rows: list[Row] = []
    open_rows: list[int] = []  # an operation with a region has its location after the region
    for line in lines:
        if _ALIAS.match(line):
            continue
        at = line.rfind("loc(")
        chains = table.chains(line[at + 4 :]) if at >= 0 else ()
        operation = _MLIR_OPERATION.match(line)
        name = operation.group(1) if operation else ""
        rows.append(Row(_LOCATION_AT_END.sub("", line), name, chains if name else ()))
        if line.lstrip().startswith("}") and open_rows:
            number = open_rows.pop()
            opened = rows[number]
            if opened.operation and not opened.operation.endswith((".func", "module")):
                rows[number] = Row(opened.text, opened.operation, chains)
        if line.rstrip().endswith("{"):
            open_rows.append(len(rows) - 1)
    yield from rows


# --------------------------------------------------------------------------- LLVM

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|!(\d+)|(\w+))')
_DEBUG = re.compile(r", !dbg !(\d+)")
_LLVM_CALL = re.compile(r"\bcall\b[^@\n]*?(?:@([\w.$]+)\(|asm )")
_LLVM_PLAIN = re.compile(r"^\s+(?:%[\w.]+ = )?([a-z]\w*)\b")
_LLVM_TABLE = re.compile(r"^(?:!\d+ = |![\w.]+ = )")


def _llvm(text: str) -> Iterator[Row]:
    lines = text.splitlines()
    nodes: dict[str, dict[str, str]] = {}
    for line in lines:
        if found := _NODE.match(line):
            fields = {m[0]: m[1] or m[2] or m[3] for m in _FIELD.findall(found.group(3))}
            nodes[found.group(1)] = fields
    for line in lines:
        if _LLVM_TABLE.match(line):
            continue
        found = _DEBUG.search(line)
        chains = (_llvm_chain(nodes, found.group(1)),) if found else ()
        yield Row(_DEBUG.sub("", line), _llvm_operation(line), chains)


def _llvm_operation(line: str) -> str:
    if found := _LLVM_CALL.search(line):
        return found.group(1) or "asm"
    found = _LLVM_PLAIN.match(line)
    return found.group(1) if found and not line.rstrip().endswith(":") else ""


def _llvm_chain(nodes: dict[str, dict[str, str]], number: str) -> Chain:
    places = []
    while number:
        node = nodes.get(number, {})
        line, column = int(node.get("line", 0)), int(node.get("column", 0))
        places.append(Place(_llvm_file(nodes, node.get("scope", "")), line, column))
        number = node.get("inlinedAt", "")
    return tuple(places)


def _llvm_file(nodes: dict[str, dict[str, str]], scope: str) -> str:
    for _ in range(len(nodes)):  # a scope without a file lies in another scope
        node = nodes.get(scope, {})
        if "file" in node:
            file = nodes.get(node["file"], {})
            return str(PurePosixPath(file.get("directory", ""), file.get("filename", "")))
        scope = node.get("scope", "")
    return ""


# --------------------------------------------------------------------------- PTX and amdgcn

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(.*)$")
_INLINED_AT = re.compile(r"inlined_at (\d+) (\d+) (\d+)")
_IN_COMMENT = re.compile(r"([^\s@\[\]:][^@\[\]]*):(\d+):(\d+)")
_TABLES = re.compile(r"^\s*(?:\.section\s+\.debug|\.amdgpu_metadata)")
_PREDICATE = re.compile(r"^@!?%\w+\s+")


def _assembly(text: str, comment: str, inlined: tuple[Chain, ...]) -> Iterator[Row]:
    lines = text.splitlines()
    files = _files(lines)
    outer: dict[Place, Chain] = {}  # the places that PTX names after "inlined_at"
    chains: tuple[Chain, ...] = ()
    for line in lines:
        if _TABLES.match(line):
            break  # debug information, or a description of the kernel, up to the end
        if found := _LOC.match(line):
            place = Place(files.get(found.group(1), ""), int(found.group(2)), int(found.group(3)))
            chain = _loc_chain(place, found.group(4), comment, files, outer)
            chains = (chain,) if len(chain) > 1 else _known_chains(place, inlined)
            continue
        if _FILE.match(line):
            continue
        operation = _assembly_operation(line, comment)
        yield Row(line, operation, chains if operation else ())


def _files(lines: list[str]) -> dict[str, str]:
    found = (_FILE.match(line) for line in lines)
    return {
        m.group(1): str(PurePosixPath(m.group(2), m.group(3))) if m.group(3) else m.group(2)
        for m in found
        if m
    }


def _loc_chain(
    place: Place, rest: str, comment: str, files: dict[str, str], outer: dict[Place, Chain]
) -> Chain:
    """The chain of a .loc directive: PTX tells it itself, or LLVM tells it in the comment."""
    directive, _, told = rest.partition(comment)
    if found := _INLINED_AT.search(directive):
        around = Place(files.get(found.group(1), ""), int(found.group(2)), int(found.group(3)))
        chain = (place, *outer.get(around, (around,)))
    elif "@[" in told:
        chain = (place, *(_in_comment(m, files) for m in _IN_COMMENT.findall(told)[1:]))
    else:
        chain = (place,)
    outer[place] = chain
    return chain


def _in_comment(found: tuple[str, str, str], files: dict[str, str]) -> Place:
    name = found[0].strip()
    same = [path for path in files.values() if PurePosixPath(path).name == name]
    return Place(same[0] if len(same) == 1 else name, int(found[1]), int(found[2]))


def _known_chains(place: Place, inlined: tuple[Chain, ...]) -> tuple[Chain, ...]:
    """The chains of the LLVM IR through which a place was inlined, which tells at least its line.

    Several of them, where one place was inlined at several calls.
    """
    found = [
        chain
        for chain in inlined
        if len(chain) > 1
        and (chain[0].path, chain[0].line) == (place.path, place.line)
        and place.column in (0, chain[0].column)
    ]
    return tuple(found) or ((place,),)


def _assembly_operation(line: str, comment: str) -> str:
    code = line.partition(comment)[0].strip()
    if not code or code[0] in ".{}()-" or code.endswith((":", "(")):
        return ""
    return _PREDICATE.sub("", code).split()[0].rstrip(";")


# --------------------------------------------------------------------------- SASS

_SASS_PLACE = re.compile(r'"([^"]*)", line (\d+)')
_SASS_CODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;?\s*$")
_SASS_PREDICATE = re.compile(r"^@!?U?P\w+\s+")


def _sass(text: str, inlined: tuple[Chain, ...]) -> Iterator[Row]:
    chains: tuple[Chain, ...] = ()
    told: list[Place] = []
    for line in text.splitlines():
        if line.lstrip().startswith("//##"):
            places = [Place(path, int(number)) for path, number in _SASS_PLACE.findall(line)]
            # A chain is told from the inside, a line for each step from one place to the next.
            told = [*told, *places[1:]] if told and told[-1:] == places[:1] else places
            chains = (tuple(told),) if len(told) > 1 else _known_chains(places[0], inlined)
        elif code := _SASS_CODE.match(line):
            operation = _SASS_PREDICATE.sub("", code.group(1)).split(" ")[0]
            yield Row(line, operation, chains)
            told = []
        else:
            yield Row(line)
