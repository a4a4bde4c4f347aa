"""The text of every fault: its form, its kernels, and that all that lists the faults agrees."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from functools import cache
from pathlib import Path

import pytest

from tritaudit.catalogue import load_case
from tritaudit.commands.explain import explain_fault
from tritaudit.commands.listing import list_faults
from tritaudit.faults import FAULT_IDS, SEVERITIES, info, module_path
from tritaudit.faults.diagnosis import registry
from tritaudit.faults.page import SECTIONS, page
from tritaudit.model import Case
from tritaudit.report import json_report
from tritaudit.targets import builtin_root

ROOT = Path(__file__).parents[2]


def sections(fault: str) -> dict[str, str]:
    """The sections of a fault's text by title; the first line under the empty title."""
    parts = re.split(r"^## (.*)$", info(fault).text, flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {"": parts[0].strip(), **{title: body.strip() for title, body in named}}


def example(fault: str, section: str) -> tuple[str, str]:
    """The words before the fenced kernel of a section, and the kernel."""
    match = re.fullmatch(r"(.*?)```python\n(.*?)\n```", sections(fault)[section], re.DOTALL)
    assert match is not None, f"{fault}: {section} is not words and one fenced kernel"
    return match[1].strip(), match[2]


def case_name(words: str) -> str:
    found = re.match(r"`([a-z]+/[a-z0-9_]+)`", words)
    return found[1] if found else ""


@cache
def case(name: str) -> Case:
    return load_case(str(builtin_root() / f"{name}.py"), "case", str(builtin_root()))


# --------------------------------------------------------------------------- form


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_a_text_has_a_sentence_and_then_every_section(fault: str) -> None:
    found = sections(fault)
    assert tuple(found) == ("", *SECTIONS)
    assert all(found.values()), "a section is empty"
    title = found[""]
    assert "\n" not in title and title.endswith(".") and title == info(fault).title


@pytest.mark.parametrize("fault", FAULT_IDS)
@pytest.mark.parametrize("section", ["Wrong", "Right"])
def test_the_kernels_are_triton_and_python(fault: str, section: str) -> None:
    _, code = example(fault, section)
    # An excerpt may end with the return of a function that it does not begin.
    tree = ast.parse(f"def launch():\n{textwrap.indent(code, '    ')}\n")
    assert any(isinstance(node, ast.Call) for node in ast.walk(tree))
    assert len(code.splitlines()) <= 12, "an excerpt is short"


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_a_wrong_kernel_and_a_right_one_differ(fault: str) -> None:
    assert example(fault, "Wrong")[1] != example(fault, "Right")[1]


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_cited_claims_have_the_form_of_a_claim(fault: str) -> None:
    for cited in re.findall(r"claims? ((?:[A-Z]?[0-9]+[a-z]?(?:, )?)+)", info(fault).text):
        for name in cited.split(", "):
            assert re.fullmatch(r"[AB][0-9]+[a-z]?", name), name


# --------------------------------------------------------------------------- kernels


def lines_of(name: str) -> list[str]:
    path = builtin_root() / f"{name}.py"
    return [row.strip() for row in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("section", ["Wrong", "Right"])
@pytest.mark.parametrize("fault", FAULT_IDS)
def test_a_kernel_of_the_catalogue_is_quoted_as_it_stands(fault: str, section: str) -> None:
    words, code = example(fault, section)
    name = case_name(words)
    if not name:
        return
    left = iter(lines_of(name))
    for row in code.splitlines():
        assert row.strip() in left, f"{row.strip()!r} is not in {name}, or not there"


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_the_wrong_kernel_is_expected_to_show_the_fault_and_the_right_one_not(fault: str) -> None:
    wrong, right = (case_name(example(fault, s)[0]) for s in ("Wrong", "Right"))
    if wrong:
        assert fault in {known.fault for known in case(wrong).expect}
    if right:
        assert fault not in {known.fault for known in case(right).expect}
        assert all(known.triton for known in case(right).expect), "right on some version"


def test_every_fault_that_the_catalogue_shows_is_told_with_one_of_its_kernels() -> None:
    shown = set()
    for path in builtin_root().rglob("*.py"):
        name = path.relative_to(builtin_root()).with_suffix("").as_posix()
        shown |= {known.fault for known in case(name).expect}
    told = {fault for fault in FAULT_IDS if case_name(example(fault, "Wrong")[0])}
    assert told == shown - {"crash"}, "crash is shown by Triton up to 3.3 alone"


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_a_case_or_fault_that_is_named_exists(fault: str) -> None:
    for name in re.findall(r"`([a-z]+/[a-z0-9_]+)`", info(fault).text):
        assert (builtin_root() / f"{name}.py").is_file(), name
    for name in re.findall(r"`([a-z]+(?:-[a-z]+)+)`", info(fault).text):
        assert name in (*FAULT_IDS, "compute-sanitizer"), name


# --------------------------------------------------------------------------- agreement


def test_every_fault_has_a_module_and_every_module_a_fault() -> None:
    assert [fault.id for fault in registry()] == list(FAULT_IDS)
    files = {path.name for path in module_path("crash").parent.glob("*.py")}
    shared = {"__init__.py", "diagnosis.py", "motions.py", "page.py", "protocol.py"}
    assert files - shared == {f"{fault.replace('-', '_')}.py" for fault in FAULT_IDS}


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    assert written == page(), "run: python -m tritaudit.faults.page docs/faults.md"


def test_the_page_lists_every_fault_in_order() -> None:
    assert re.findall(r"^## (.*)$", page(), re.MULTILINE) == list(FAULT_IDS)
    assert re.findall(r"^\| \[`(.*?)`\]", page(), re.MULTILINE) == list(FAULT_IDS)


def test_the_list_of_faults_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_faults() == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == list(FAULT_IDS)
    for row in rows:
        fault, severity = row.split()[:2]
        assert severity == SEVERITIES[fault]
        assert info(fault).title in row


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_explain_prints_the_text(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_fault(fault) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(f"{fault} {SEVERITIES[fault]} {info(fault).title}")
    for title, body in sections(fault).items():
        first = " ".join(body.split("\n\n")[0].split())
        if not first.startswith(("```", "- ")):
            assert f"{title} {first}".strip() in shown


def test_the_json_schema_names_the_same_faults() -> None:
    schema = json.loads(json_report.schema())
    assert schema["$defs"]["finding"]["properties"]["fault"]["enum"] == list(FAULT_IDS)
