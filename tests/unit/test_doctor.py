"""From facts to problems with remedies, and what the doctor prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tritaudit.commands.doctor import probe_of
from tritaudit.doctor import facts as facts_script
from tritaudit.doctor.checks import is_set, pins, problems
from tritaudit.doctor.look import cache_folder, look_at_cache
from tritaudit.doctor.model import Cache, Examination, Facts, Module, Probe, Problem, Trial
from tritaudit.doctor.render import render_examination
from tritaudit.model import CaseInfo, CaseResult, Finding, Outcome, Severity
from tritaudit.plain import from_plain, to_plain
from tritaudit.report.terminal import plain

MODULES = tuple(
    Module(name, version, f"/site/{name}/__init__.py")
    for name, version in (
        ("numpy", "2.4.6"),
        ("torch", "2.11.0"),
        ("triton", "3.6.0"),
        ("hypothesis", "6.170.0"),
    )
)
WELL = Facts(
    python="3.12.1",
    executable="/usr/bin/python",
    modules=MODULES,
    interpreted=False,
    requires=('triton==3.6.0; platform_system == "Linux"',),
    gpus=("NVIDIA H200",),
    torch_build="cuda 13.0",
    driver="580.1",
)
CACHE = Cache("/home/u/.triton/cache", 213, 8_900_000)
RAN = (Trial("interpreter", True), Trial("gpu", True))


def with_module(name: str, **changes: object) -> Facts:
    modules = tuple(
        replace(m, **changes) if m.name == name else m  # type: ignore[arg-type]
        for m in MODULES
    )
    return replace(WELL, modules=modules)


def ids(facts: Facts, cache: Cache = CACHE, trials: tuple[Trial, ...] = RAN) -> list[str]:
    return [problem.id for problem in problems(facts, cache, trials)]


def test_a_sound_installation_has_no_problem() -> None:
    assert problems(WELL, CACHE, RAN, [Probe("semantics/x", "whether", "holds")]) == ()


@pytest.mark.parametrize("name", ["numpy", "torch", "triton", "hypothesis"])
def test_a_missing_module_is_named_with_the_command_that_installs_it(name: str) -> None:
    facts = with_module(name, version="", error="ModuleNotFoundError: No module", installed=False)
    failing = (Trial("interpreter", False, f"{name} is not installed"),)
    (found,) = problems(facts, CACHE, failing)
    assert (found.id, found.severity) == (f"{name}-missing", Severity.ERROR)
    assert found.remedy.startswith(f"pip install {name}")


def test_a_broken_module_is_told_from_a_missing_one() -> None:
    facts = with_module("numpy", version="", error="ImportError: libopenblas.so")
    (found,) = problems(facts, CACHE)
    assert found.id == "numpy-broken"
    assert "libopenblas.so" in found.message


@pytest.mark.parametrize(
    ("triton", "numpy", "found"),
    [
        ("3.0.0", "2.0.0", True),
        ("3.1.0", "2.4.6", True),
        ("3.1.0", "1.26.4", False),
        ("3.2.0", "2.4.6", False),
        ("3.10.0", "2.4.6", False),
    ],
)
def test_the_pair_that_writes_nothing_is_found(triton: str, numpy: str, found: bool) -> None:
    facts = with_module("triton", version=triton)
    modules = tuple(replace(m, version=numpy) if m.name == "numpy" else m for m in facts.modules)
    facts = replace(facts, modules=modules, requires=())
    assert ("silent-interpreter" in ids(facts)) is found
    if found:
        assert problems(facts, CACHE)[0].remedy == 'pip install "numpy<2"'


def test_torch_wants_another_triton() -> None:
    (found,) = problems(with_module("triton", version="3.9.0"), CACHE)
    assert (found.id, found.severity) == ("triton-pin", Severity.WARNING)
    assert found.message == "torch 2.11.0 wants triton==3.6.0, and Triton 3.9.0 is installed"
    assert found.remedy == 'pip install "triton==3.6.0"'
    assert ids(with_module("triton", version="3.6.0+git1")) == []  # a local version fits


def test_only_pins_of_this_platform_and_without_extras_count() -> None:
    listed = (
        'triton==3.6.0; platform_system == "Nowhere"',
        'triton==3.5.0; extra == "old"',
        "triton>=3.2",
        "not a requirement ==",
    )
    assert [str(pin) for pin in pins(listed)] == ["triton>=3.2"]


@pytest.mark.parametrize(
    ("interpret", "interpreted", "early", "severity"),
    [
        ("1", False, (), Severity.ERROR),
        ("true", False, ("triton",), Severity.ERROR),
        ("", True, (), Severity.ERROR),
        ("", False, ("triton",), Severity.WARNING),
        ("1", True, (), None),
        ("0", False, (), None),
        ("", None, (), None),
    ],
)
def test_a_variable_that_is_set_too_late_is_found(
    interpret: str, interpreted: bool | None, early: tuple[str, ...], severity: Severity | None
) -> None:
    facts = replace(WELL, interpret=interpret, interpreted=interpreted, early=early)
    found = [p.severity for p in problems(facts, CACHE) if p.id == "interpret-late"]
    assert found == ([] if severity is None else [severity])


def test_a_variable_that_is_left_on_beside_a_gpu_is_found() -> None:
    facts = replace(WELL, shell="1", interpret="1", interpreted=True)
    assert ids(facts) == ["interpret-left-on"]
    assert ids(replace(facts, gpus=(), driver="")) == []


def test_a_gpu_that_torch_does_not_see_is_found() -> None:
    unseen = replace(WELL, gpus=())
    (found,) = problems(replace(unseen, torch_build="cpu"), CACHE)
    assert found.id == "gpu-unseen"
    assert "built for the CPU only" in found.message
    (found,) = problems(replace(unseen, warnings=("driver too old",)), CACHE)
    assert "torch sees none (driver too old)" in found.message
    assert ids(replace(unseen, driver="")) == []


def test_a_kernel_that_fails_is_a_problem_unless_its_cause_is_known() -> None:
    failing = (Trial("interpreter", True, "nothing was written"), Trial("gpu", False))
    (found,) = problems(WELL, CACHE, failing)
    assert found.id == "kernel-fails"
    assert "on the interpreter: nothing was written" in found.message
    late = replace(WELL, interpret="1")
    assert ids(late, trials=failing) == ["interpret-late"]
    unwritable = replace(CACHE, problem="Permission denied")
    on_gpu = (Trial("interpreter", True), Trial("gpu", True, "PermissionError"))
    assert ids(WELL, unwritable, on_gpu) == ["cache-unwritable"]
    assert ids(WELL, unwritable, failing) == ["cache-unwritable", "kernel-fails"]


def test_a_probe_that_departs_from_what_is_known_is_found() -> None:
    known = Probe("semantics/a", "whether", "fails", ("api-rejects",))
    odd = Probe("semantics/b", "whether", "unexpected", ("padding-leak",))
    stale = Probe("semantics/c", "whether", "stale", (), "gone")
    found = problems(WELL, CACHE, RAN, [known, odd, stale])
    assert [p.id for p in found] == ["semantics-unknown"] * 2
    assert found[0].message.endswith("is known to: padding-leak")
    assert found[0].remedy == "tritaudit explain semantics/b"


def test_every_problem_has_one_remedy_in_one_line() -> None:
    facts = replace(
        WELL, interpret="1", shell="1", modules=(*MODULES[1:], replace(MODULES[0], error="x"))
    )
    found = problems(facts, replace(CACHE, problem="full"), (Trial("gpu", True, "boom"),))
    assert len(found) > 3
    assert all(p.remedy and "\n" not in p.remedy + p.message for p in found)


def test_what_triton_takes_for_true() -> None:
    assert [is_set(v) for v in ("1", "TRUE", "on", "yes", "0", "", "false")] == [
        *[True] * 4,
        *[False] * 3,
    ]


# --------------------------------------------------------------------------- probes


@pytest.mark.parametrize(
    ("outcome", "expected", "told"),
    [
        (Outcome.PASS, (), ("holds", ())),
        (Outcome.KNOWN, (True,), ("fails", ("f0",))),
        (Outcome.FAIL, (True, False), ("unexpected", ("f1",))),
        (Outcome.STALE, (), ("stale", ("gone",))),
        (Outcome.ERROR, (), ("error", ())),
    ],
)
def test_a_verdict_becomes_an_answer(
    outcome: Outcome, expected: tuple[bool, ...], told: tuple[str, tuple[str, ...]]
) -> None:
    info = CaseInfo("semantics/x", "", 1, "case", "", "Probe: whether it does.", "", (), (), (), ())
    findings = tuple(
        Finding("c", f"f{n}", Severity.ERROR, e, "interpreter", "int8", None, "", "")  # type: ignore[arg-type]
        for n, e in enumerate(expected)
    )
    missing = ("gone",) if outcome is Outcome.STALE else ()
    result = CaseResult("semantics/x", "interpreter", outcome, findings=findings, missing=missing)
    probe = probe_of(info, result)
    assert (probe.outcome, probe.faults) == told
    assert probe.question == "whether it does"


# --------------------------------------------------------------------------- looking


def test_a_fresh_python_tells_what_it_finds() -> None:
    told = subprocess.run(
        [sys.executable, "-P", str(Path(facts_script.__file__))],
        env={k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(told.stdout.strip().splitlines()[-1])
    assert {*found["modules"]} == {"numpy", "torch", "triton", "hypothesis"}
    assert all(m["version"] for m in found["modules"].values())
    assert found["interpreted"] is False
    assert found["early"] == []


def test_the_cache_is_where_triton_puts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "")
    monkeypatch.setenv("TRITON_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".triton" / "cache"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "c"))
    assert cache_folder() == tmp_path / "c"


def test_looking_at_the_cache_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "a" / "b"))
    assert look_at_cache() == Cache(str(tmp_path / "a" / "b"))
    assert list(tmp_path.iterdir()) == []
    kernel = tmp_path / "a" / "b" / "HASH"
    kernel.mkdir(parents=True)
    (kernel / "k.cubin").write_bytes(b"x" * 10)
    (kernel / "k.json").write_bytes(b"y" * 5)
    assert look_at_cache() == Cache(str(tmp_path / "a" / "b"), 1, 15)
    assert sorted(p.name for p in (tmp_path / "a" / "b").iterdir()) == ["HASH"]


def test_a_cache_below_a_file_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert look_at_cache().problem == "Not a directory"


# --------------------------------------------------------------------------- what is shown

PROBES = (
    Probe("semantics/flip_floats", "whether `tl.flip` moves the bits of floats unchanged", "holds"),
    Probe("semantics/flip_size_one", "whether it takes one element", "fails", ("api-rejects",)),
    Probe("semantics/odd", "whether", "unexpected", ("padding-leak",)),
)
SICK = Examination(
    with_module("numpy", version="", error="ModuleNotFoundError", installed=False),
    CACHE,
    (Trial("interpreter", False, "numpy is not installed"), Trial("gpu", False)),
    PROBES,
    (
        Problem("numpy-missing", Severity.ERROR, f"numpy is {'not ' * 20}there", "pip install it"),
        Problem("triton-pin", Severity.WARNING, "torch wants another", "pip install that"),
    ),
)


@pytest.mark.parametrize("width", [80, 140])
def test_an_examination_fits_the_width_and_ends_its_lines_clean(width: int) -> None:
    rows = plain(render_examination(SICK, width), width).splitlines()
    assert max(len(row) for row in rows) <= width
    text = "\n".join(rows)
    assert "numpy       not installed" in text
    assert "torch       2.11.0, built for cuda 13.0, asks for triton==3.6.0" in text
    assert "cache       /home/u/.triton/cache (213 kernels, 8.9 MB)" in text
    assert "on the gpu          not tried: torch sees none" in text
    assert "flip_size_one  api-rejects" in text
    assert "✗ error: numpy is not" in text
    assert "[numpy-missing]\n  → pip install it" in text
    assert "! warning: torch wants another [triton-pin]" in text


def test_a_sound_examination_says_so() -> None:
    text = plain(render_examination(Examination(WELL, CACHE, RAN, PROBES[:1]), 80), 80)
    assert text.endswith("no problem found")
    assert "a trivial kernel runs and writes what it should" in text
    assert "what Triton 3.6.0 does\nflip_floats  holds  whether" in text


def test_an_examination_survives_json() -> None:
    assert from_plain(Examination, json.loads(json.dumps(to_plain(SICK)))) == SICK
