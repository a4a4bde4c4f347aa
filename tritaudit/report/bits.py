"""Bit tables: the same element as input, expected and got, field by field, changed bits marked."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rich.text import Text

from tritaudit.model import Cell, Excerpt
from tritaudit.report.tape import FAINT, RIGHT, WRONG
from tritaudit.report.wording import line


@dataclass(frozen=True, slots=True)
class Fields:
    """Widths of the bit fields of a dtype. Integers and bool have neither exponent nor mantissa."""

    bits: int
    exponent: int = 0
    mantissa: int = 0
    signed: bool = True


#: IEEE 754-2019; bfloat16 is float32 cut to 16 bits; OCP 8-bit floating point specification 1.0.
FIELDS: Mapping[str, Fields] = MappingProxyType(
    {
        "float16": Fields(16, 5, 10),
        "bfloat16": Fields(16, 8, 7),
        "float32": Fields(32, 8, 23),
        "float64": Fields(64, 11, 52),
        "float8_e4m3fn": Fields(8, 4, 3),
        "float8_e5m2": Fields(8, 5, 2),
        "int8": Fields(8),
        "int16": Fields(16),
        "int32": Fields(32),
        "int64": Fields(64),
        "uint8": Fields(8, signed=False),
        "uint16": Fields(16, signed=False),
        "uint32": Fields(32, signed=False),
        "uint64": Fields(64, signed=False),
        "bool": Fields(8, signed=False),
    }
)

_LABEL = 9


def worth_a_bit_table(excerpt: Excerpt) -> bool:
    """Whether some wrong cell has bits, of a dtype whose fields are known."""
    cells = excerpt.cells
    if excerpt.of:  # an input before and after
        return False
    return excerpt.out_dtype in FIELDS and any(c.wrong and c.got_bits is not None for c in cells)


def render_bits(excerpt: Excerpt, width: int, most: int = 3) -> Text:
    """The bit tables of the first wrong elements, lines of at most `width` cells (80 suffice)."""
    out = Text(no_wrap=True, overflow="ignore")
    for cell in telling_cells(excerpt, most):
        out.append("\n\n" if out.plain else "")
        _draw_cell(out, excerpt, cell, width)
    return out


def telling_cells(excerpt: Excerpt, most: int) -> list[Cell]:
    """The first wrong elements that have bits, each pair of expected and got bits once."""
    seen: set[tuple[int | None, int | None]] = set()
    chosen = []
    for cell in excerpt.cells:
        pair = (cell.expected_bits, cell.got_bits)
        if cell.wrong and cell.got_bits is not None and pair not in seen:
            seen.add(pair)
            chosen.append(cell)
    return chosen[:most]


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a table: its label, its bits, which of them are marked, and their value."""

    label: str
    bits: str
    value: str = ""
    marks: str = ""
    style: str = ""


def _draw_cell(out: Text, excerpt: Excerpt, cell: Cell, width: int) -> None:
    fields = FIELDS[excerpt.out_dtype]
    assert cell.got_bits is not None
    expected = expected_bits(cell)
    head, legend = f"element [{', '.join(map(str, cell.index))}]", _legend(fields)
    out.append(head, "bold")
    if len(head) + 3 + len(legend) <= width:
        out.append(f"   {legend}\n", FAINT)
    else:
        out.append("\n" + "\n".join(textwrap.wrap(legend, max(width, 20))) + "\n", FAINT)
    rows = []
    in_fields = FIELDS.get(excerpt.in_dtype)
    if cell.input_bits is not None and in_fields is not None:
        own = "" if excerpt.in_dtype == excerpt.out_dtype else f" {line(excerpt.in_dtype)}"
        rows.append(_Row("input", spread(cell.input_bits, in_fields), line(cell.input) + own))
    got = spread(cell.got_bits, fields)
    if expected is None:
        _draw_rows(out, rows, width)
        number = line(cell.expected).partition(" (")[0]
        told = f"{number}, which no bit pattern of {line(excerpt.out_dtype)} means"
        pieces = textwrap.wrap(told, max(width - _LABEL, 8))
        out.append("expected".rjust(_LABEL - 1) + " ", FAINT)
        out.append(f"\n{' ' * _LABEL}".join(pieces) + "\n", RIGHT)
        _draw_rows(out, [_Row("got", got, line(cell.got))], width)
    else:
        marks = spread(expected ^ cell.got_bits, fields)
        rows.append(_Row("expected", spread(expected, fields), line(cell.expected), style=RIGHT))
        changed = WRONG if "1" in marks else ""
        rows.append(_Row("got", got, line(cell.got), marks, changed))
        under = marks.replace("0", " ").replace("1", "^")
        rows.append(_Row("", under, marks=marks))
        _draw_rows(out, rows, width)
    out.rstrip()


def _draw_rows(out: Text, rows: Sequence[_Row], width: int) -> None:
    """Draw rows below each other; where they are too long, in parts that fit."""
    room = max(width - _LABEL, 8)
    longest = max((len(row.bits) for row in rows), default=0)
    for start in range(0, longest, room):
        for row in rows:
            part = row.bits[start : start + room]
            if not row.label:
                part = part.rstrip()
            if not part:
                continue
            out.append(row.label.rjust(_LABEL - 1) + " ", FAINT)
            marks = row.marks[start : start + room].ljust(len(part))
            for digit, mark in zip(part, marks, strict=False):
                out.append(digit, WRONG if mark == "1" else "")
            shown = f"  = {row.value}"
            ends = row.label and start + room >= len(row.bits)
            if ends and _LABEL + len(part) + len(shown) <= width:
                out.append(shown, row.style)
            out.append("\n")


def expected_bits(cell: Cell) -> int | None:
    """The expected bits; None where no bits are right, so that even the same ones are wrong."""
    return None if cell.expected_bits == cell.got_bits else cell.expected_bits


def _legend(fields: Fields) -> str:
    if fields.exponent:
        return f"sign · exponent ({fields.exponent} bits) · mantissa ({fields.mantissa} bits)"
    if fields.signed:
        return f"{fields.bits} bits, two's complement; the first bit is the sign"
    return f"{fields.bits} bits, no sign"


def spread(bits: int, fields: Fields) -> str:
    """The bits in groups: sign, exponent, mantissa; or bytes (pairs of bytes for 64 bits)."""
    digits = f"{bits & ((1 << fields.bits) - 1):0{fields.bits}b}"
    return " ".join(_groups(digits, fields))


def _groups(digits: str, fields: Fields) -> Sequence[str]:
    if fields.exponent:
        return digits[0], digits[1 : 1 + fields.exponent], digits[1 + fields.exponent :]
    # Byte groups of a 64-bit number would not leave room for the labels in 80 cells.
    step = 16 if fields.bits == 64 else 8
    groups = [digits[i : i + step] for i in range(0, fields.bits, step)]
    if fields.signed:
        return [groups[0][0], groups[0][1:], *groups[1:]]
    return groups
