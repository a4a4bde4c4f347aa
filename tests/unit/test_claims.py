"""Every claim has something that shows it, and what it names is there and says so."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer

from tritaudit.claims import Claim, ClaimError, Verdict, claims, mentioned, parse
from tritaudit.claims.page import page
from tritaudit.cli import app
from tritaudit.faults import FAULT_IDS, info

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "cases"
CLAIMS = {claim.id: claim for claim in claims()}
NAMES = sorted(str(p.relative_to(CASES).with_suffix("")) for p in CASES.rglob("*.py"))


def docstring(name: str) -> str:
    return ast.get_docstring(ast.parse((CASES / f"{name}.py").read_text(encoding="utf-8"))) or ""


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.id)
def test_the_cases_of_a_claim_are_there_and_name_it(claim: Claim) -> None:
    for name in claim.cases:
        assert name in NAMES
        assert claim.id in mentioned(docstring(name)), f"{name} does not name {claim.id}"


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_that_a_case_names_is_there_and_shows_the_case(name: str) -> None:
    for number in mentioned(docstring(name)):
        assert number in CLAIMS
        [section] = re.findall(rf"^### {number}\n(.*?)(?=^##)", page(), re.MULTILINE | re.DOTALL)
        assert f"[`{name}`]" in section


def test_a_claim_that_a_fault_names_is_there() -> None:
    for fault in FAULT_IDS:
        assert mentioned(info(fault).text) <= set(CLAIMS), fault


def test_a_claim_that_another_one_refers_to_is_there() -> None:
    for claim in CLAIMS.values():
        for number in re.findall(r"\b[ABS]\d+[a-z]?\b", claim.found):
            assert number in CLAIMS, f"{claim.id} refers to {number}"


def test_the_commands_of_claims_are_commands_with_these_options() -> None:
    group = typer.main.get_command(app)
    for claim in CLAIMS.values():
        for line in claim.commands:
            words = shlex.split(line)
            assert words[0] in ("tritaudit", "python", "pip"), line
            if words[0] == "tritaudit":
                command = group.commands[words[1]]  # type: ignore[attr-defined]
                context = command.make_context(words[1], words[2:], resilient_parsing=False)
                context.close()
                cases = [w for w in words[2:] if w.count("/") == 1 and "=" not in w]
                assert set(cases) <= set(NAMES), line


def test_claims_are_in_order_and_of_each_kind_all_are_told_in_a_line_or_two() -> None:
    order = [(c.id[0], int(re.sub(r"\D", "", c.id)), c.id) for c in CLAIMS.values()]
    assert order == sorted(order)
    assert {c.verdict for c in CLAIMS.values()} == set(Verdict)
    for claim in CLAIMS.values():
        assert claim.claim[-1] == claim.found[-1] == "."
        assert len(claim.claim) <= 160


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert written == page(), "run: python -m tritaudit.claims.page docs/claims.md"


def test_every_number_is_a_heading_that_can_be_linked() -> None:
    headings = re.findall(r"^### (.*)$", page(), re.MULTILINE)
    assert headings == list(CLAIMS)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Claim A4: x", {"A4"}),
        ("Claims A14, B30 and B31: x", {"A14", "B30", "B31"}),
        ("Claims B5, B14 to\nB17 and B26 say", {"B5", "B14", "B15", "B16", "B17", "B26"}),
        ("(claim A27b), and the 3 claims", {"A27b"}),
        ("A100 tensors and claims of A4", set()),
    ],
)
def test_the_claims_of_a_text_are_found(text: str, numbers: set[str]) -> None:
    assert mentioned(text) == numbers


RIGHT = '[A1]\nclaim = "x."\nverdict = "true"\nfound = "y."\ncases = ["a/b"]\n'


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[A1]", "[X1]", "'X1' is no number of a claim"),
        ('"true"', '"maybe"', "claim A1 has the unknown verdict 'maybe'"),
        ('found = "y."\n', "", "claim A1 needs 'found'"),
        ('["a/b"]', '"a/b"', "claim A1 needs 'cases' to be a list"),
        ('cases = ["a/b"]\n', "", "claim A1 needs a case, a command or a measurement"),
        ("cases", "kases", "claim A1 has the unknown entry 'kases'"),
        ("[A1]", "[A1", "claims.toml: "),
    ],
)
def test_what_cannot_be_used_is_refused(old: str, new: str, problem: str) -> None:
    assert parse(RIGHT)[0].cases == ("a/b",)
    with pytest.raises(ClaimError, match=re.escape(problem)):
        parse(RIGHT.replace(old, new))
