"""Text that is safe to show, and the short forms of things that a report says.

Whatever a user, a kernel or a compiler wrote (names, reasons, printed output) goes through `line`
or `block` before it reaches a terminal: no control code, escape sequence or invisible direction
mark survives. Markup is no concern here: renderers build rich `Text`, which parses none.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from tritaudit.model import (
    BOOL,
    FLOATS,
    FP8,
    INTS,
    SIGNED_INTS,
    UNSIGNED_INTS,
    Coverage,
    Example,
    FillKind,
    Finding,
)

#: CSI and OSC sequences go as a whole, so that "\x1b[31mred" leaves "red" and not "[31mred".
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x9b[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]"
)
_JOINER = "\u200d"  # holds emoji together; every other format character only hides or reorders


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs" or ord(character) & 0xFFFE == 0xFFFE:
        return "\ufffd"  # surrogates and non-characters, which neither UTF-8 nor XML takes
    if category in ("Zl", "Zp"):
        return " "
    if category in ("Cc", "Cf") and character != _JOINER:
        return ""
    return character


def block(text: str) -> str:
    """Several lines of foreign text: newlines stay, tabs become spaces, control codes go."""
    plain = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    rows = (row.expandtabs(4) for row in plain.split("\n"))
    return "\n".join("".join(map(_visible, row)) for row in rows)


def line(text: str) -> str:
    """Foreign text as one line: as `block`, and runs of white space become one space."""
    return " ".join(block(text).split())


def sentence(text: str) -> str:
    """A line that begins like a sentence, unless it begins with code, and ends like one."""
    text = line(text)
    first = text.partition(" ")[0]
    if (len(first) > 1 or first == "a") and first.isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if not text or text[-1] in ".!?:…" else f"{text}."


def shorten(text: str, width: int) -> str:
    """At most `width` terminal cells of a line, the end replaced by `…`."""
    if cell_len(text) <= width:
        return text
    kept = ""
    for character in text:
        if cell_len(kept + character) > width - 1:
            break
        kept += character
    return kept.rstrip() + "…"


def wrapped(text: str, width: int) -> list[str]:
    """A line cut between words into lines of at most `width` cells; a longer word is shortened."""
    out: list[str] = []
    for word in text.split():
        word = shorten(word, width)
        if out and cell_len(out[-1]) + 1 + cell_len(word) <= width:
            out[-1] += f" {word}"
        else:
            out.append(word)
    return out


def joined(words: Iterable[str], width: int, glue: str = " · ") -> str:
    """Phrases joined by `glue`, a new line where the next one does not fit in `width` cells."""
    rows: list[str] = []
    for word in words:
        if rows and cell_len(rows[-1]) + len(glue) + cell_len(word) <= width:
            rows[-1] += f"{glue}{word}"
        else:
            rows.append(word)
    return "\n".join(rows)


def pad(text: str, width: int) -> str:
    """A line filled with spaces to `width` terminal cells."""
    return text + " " * (width - cell_len(text))


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 element`, `5,000 elements`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def share(part: int, total: int, noun: str, one: str = "", several: str = "") -> str:
    """`1 of 3 elements is`: a part of a whole, and a verb in the number of the part."""
    verb = one if part == 1 else several
    return f"{part:,} of {count(total, noun)} {verb}".rstrip()


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def seconds(value: float) -> str:
    """A duration in at most six characters: `0.3s`, `12s`, `2m05s`, `1h02m`."""
    if value < 9.95:
        return f"{max(value, 0.0):.1f}s"
    whole = round(value)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("floats", FLOATS),
    ("ints", INTS),
    ("signed ints", SIGNED_INTS),
    ("unsigned ints", UNSIGNED_INTS),
    ("fp8", FP8),
    ("bool", BOOL),
)


def dtypes_in_short(dtypes: Iterable[str]) -> str:
    """dtypes by the names of their groups where a group is complete: `floats ints bool`."""
    left = list(dict.fromkeys(dtypes))
    words = []
    for word, group in _GROUPS:
        if left and set(group) <= set(left):
            words.append(word)
            left = [d for d in left if d not in group]
    return " ".join(words + [line(d) for d in left])


def example_values(example: Example) -> str:
    """How the inputs of an example were filled, in words."""
    kinds = {
        FillKind.INDEX: "elements numbered from 1",
        FillKind.ZERO: "zeros",
        FillKind.NORMAL: "small numbers of both signs",
        FillKind.SPECIAL: "special values",
        FillKind.PATTERNS: "consecutive bit patterns",
        FillKind.RANDOM: "random bit patterns",
    }
    text = kinds[example.fill.kind]
    if example.fill.kind is FillKind.INDEX and example.fill.seed:
        text = f"elements numbered, digit plane {example.fill.seed}"
    if example.edits:
        edited = count(len(example.edits), "element")
        text = f"{text}, {edited} set by hand"
    return text


def example_label(example: Example) -> str:
    """Sizes, tiles, scalars, launch options and layouts of an example, safe to show."""
    return line(example.label())


def fault_in_short(finding: Finding) -> str:
    """`padding-leak N=1 BLOCK=8`."""
    return f"{line(finding.fault)} {example_label(finding.example)}".rstrip()


def coverage_pieces(coverage: Coverage) -> list[str]:
    """What was covered, most telling first, in pieces that a line joins as far as they fit."""
    pieces = [count(coverage.examples, "example")]
    sizes = [
        f"{line(axis)} {low}" if low == high else f"{line(axis)} {low}–{high}"
        for axis, low, high, _ in coverage.sizes
    ]
    if sizes:
        pieces.append(" ".join(sizes))
    names = [name for name, _ in coverage.dtypes]
    if names:
        short = dtypes_in_short(names)
        pieces.append(short if short.count(" ") < 2 else count(len(names), "dtype"))
    if coverage.exhaustive:
        pieces.append(f"every bit pattern of {dtypes_in_short(coverage.exhaustive)}")
    for skipped in coverage.skipped:
        what = dtypes_in_short(skipped.dtypes) or count(skipped.count, "example")
        pieces.append(f"{what} not judged")
    if coverage.examples_per_second:
        pieces.append(f"{coverage.examples_per_second:,.0f} checked/s")
    if coverage.cut_short:
        pieces.append(line(coverage.cut_short))
    return pieces


def explain_command(finding: Finding) -> str:
    """The line to paste; quoted for a shell, free of control codes, one line."""
    named = line(finding.target or finding.case)
    options = [line(option) for option in finding.options]
    words = ["tritaudit", "explain", named, *options, "--repro", line(finding.repro)]
    return shlex.join(words)
