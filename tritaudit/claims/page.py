"""Writes the page of all claims from `claims.toml` and from what the cases expect.

    python -m tritaudit.claims.page docs/claims.md

A test compares the page with what this module makes. So when an upgrade of Triton changes what a
case shows, and with it what the case expects, the page has to be made again and says so.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tritaudit.claims import Claim, Verdict, claims, mentioned
from tritaudit.model import Known
from tritaudit.report.wording import dtypes_in_short, listed
from tritaudit.targets import builtin_root

_HEAD = """\
# Claims

What an article on `tl.flip` (A) and an article on `tl.abs` (B) say, and what was seen: on Triton
3.0.0, 3.1.0, 3.2.0, 3.3.1, 3.4.0, 3.5.1, 3.6.0, 3.7.1, 3.8.0 and 3.9.0 ("every version"), in the
interpreter (torch 2.13.0 for the CPU), compiled for sm_90, and on an H200 (torch 2.11.0, Triton
3.6.0). S are things that were met besides.

Below each claim stand the cases of the catalogue that show it, with what they are known to show,
and commands to paste. `tritaudit run` tells where a case no longer does what it is known for, and
`tritaudit matrix --triton 3.4.0,3.9.0` sets versions side by side. This page is made from
`tritaudit/claims/claims.toml` and the cases, by `python -m tritaudit.claims.page docs/claims.md`.
"""
_BACKENDS = {"interpreter": "interpreter", "gpu": "GPU"}
_PARTS = {"A": "tl.flip", "B": "tl.abs", "S": "Besides"}
_WORDS = {
    Verdict.TRUE: "true",
    Verdict.FALSE: "false",
    Verdict.PARTLY: "in part",
    Verdict.VERSIONS: "by version",
    Verdict.OPINION: "an opinion",
    Verdict.NOT_FOUND: "not found there",
}


def page() -> str:
    """The page, as Markdown: counts, then a section for each part and each claim."""
    listed_claims = claims()
    counts = Counter(claim.verdict for claim in listed_claims if not claim.id.startswith("S"))
    words = listed([f"{counts[v]} {_WORDS[v]}" for v in Verdict if counts[v]])
    out = [_HEAD, f"Of {counts.total()} claims: {words}.\n"]
    for letter, title in _PARTS.items():
        part = [claim for claim in listed_claims if claim.id.startswith(letter)]
        out += [f"## {title}\n", *map(_section, part)]
    return "\n".join([*out, _changes()])


def _section(claim: Claim) -> str:
    verdict = "" if claim.id.startswith("S") else f"**{_WORDS[claim.verdict].capitalize()}.** "
    out = [f"### {claim.id}", "", f"> {claim.claim}", "", f"{verdict}{claim.found}", ""]
    out += [f"- {_link(name)}: {_expectation(name)}" for name in _cases(claim)]
    out += [f"- `{command}`" for command in claim.commands]
    out += [f"- measured: {claim.measured}"] if claim.measured else []
    return "\n".join([*out, ""])


def _link(name: str) -> str:
    return f"[`{name}`](../cases/{name}.py)"


# --------------------------------------------------------------------------- from the cases


def _cases(claim: Claim) -> list[str]:
    """The cases of a claim, and after them all others that name it."""
    naming = [name for name in _names() if claim.id in mentioned(_docstring(name))]
    return [*claim.cases, *(name for name in naming if name not in claim.cases)]


@cache
def _names() -> tuple[str, ...]:
    root = builtin_root()
    files = sorted(root.rglob("*.py"))
    return tuple(path.relative_to(root).with_suffix("").as_posix() for path in files)


@cache
def _docstring(name: str) -> str:
    text = (builtin_root() / f"{name}.py").read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(text)) or ""


@cache
def _known(name: str) -> tuple[Known, ...]:
    from tritaudit.catalogue import load_case

    root = builtin_root()
    return load_case(str(root / f"{name}.py"), "case", str(root)).expect


def _expectation(name: str) -> str:
    """What a case is known to show, in words."""
    return "; ".join(map(_words, _known(name))) or "right"


def _words(known: Known) -> str:
    conditions = [
        f"in {dtypes_in_short(known.dtypes)}" if known.dtypes else "",
        f"on the {_BACKENDS[known.backend]}" if known.backend else "",
        f"with Triton {known.triton}" if known.triton else "",
    ]
    return " ".join([f"`{known.fault}`", *(c for c in conditions if c)])


def _changes() -> str:
    """The cases that do not show the same on all versions."""
    out = [
        "## By version of Triton",
        "",
        "Cases that are known to show something on some versions only:",
        "",
    ]
    for name in _names():
        known = _known(name)
        if any(k.triton for k in known):
            out.append(f"- {_link(name)}: {'; '.join(map(_words, known))}")
    return "\n".join([*out, ""])


def main(arguments: Sequence[str]) -> int:
    """Write the page to the file that is named, or to standard output."""
    os.environ["TRITON_INTERPRET"] = "1"  # before the cases import triton
    if arguments:
        Path(arguments[0]).write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
