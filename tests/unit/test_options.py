"""Every option that `--help` lists changes something.

The options are read from the commands themselves, so a new one fails here until it has a value to
be tried with and a test, named in REGISTERED, of what it does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tritaudit.cli import app

TESTS = Path(__file__).parents[1]
GROUP: Any = typer.main.get_command(app)

#: by command: the arguments that it needs, and the functions that do its work.
WORK: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "run": ((), ("run.run",)),
    "explain": (("flip/x",), ("explain.explain_case",)),
    "compare": (("a.json", "b.json"), ("compare.compare_reports",)),
    "merge": (("a.json",), ("merge.merge_reports",)),
    "selftest": ((), ("selftest.selftest",)),
    "new": (("a:b",), ("new.new",)),
    "list": ((), ("listing.list_cases", "listing.list_faults")),
    "ir": (("flip/x",), ("ir.ir",)),
    "bench": ((), ("bench.bench",)),
    "matrix": (("--triton", "3.9.0"), ("matrix.run_matrix",)),
    "doctor": ((), ("doctor.doctor",)),
}
#: a value for each option that takes one, other than its default.
VALUES = {
    "--abs-overflow": "wrap",
    "--arg": "k=1",
    "--atol": "0.5",
    "--backend": "gpu",
    "--baseline": "x.json",
    "--compare": "flip/y",
    "--config": "x.toml",
    "--dim": "1",
    "--dtype": "int8",
    "--durations": "x.json",
    "--fail-on": "error",
    "--fault": "crash",
    "--flip": "0",
    "--html": "x.html",
    "--jobs": "2",
    "--json": "x.json",
    "--layout": "strided",
    "--markdown": "x.md",
    "--max-examples": "3",
    "--ndim": "2",
    "--num-warps": "2",
    "--only": "flip/*",
    "--out": "x.py",
    "--output-index": "1",
    "--profile": "deep",
    "--reference": "torch.neg",
    "--report": "json=x",
    "--repro": "v1/x",
    "--resume": "x.jsonl",
    "--rtol": "0.5",
    "--seed": "9",
    "--select": "x*",
    "--shard": "1/2",
    "--size": "N=8",
    "--sizes": "1..4",
    "--stage": "ptx",
    "--target": "cuda:80",
    "--tile": "BLOCK=8",
    "--time-budget": "5",
    "--timeout": "5",
    "--triton": "3.2.0",
    "--ulp": "2",
}

CI, CLI = "e2e/test_ci.py::test_", "e2e/test_cli.py::test_"
CALL = "unit/test_function_options.py::test_every_option_reaches_the_call_and_can_be_typed_again"
#: for what another command does in the same way, and has a test of there.
PASSED_ON = "unit/test_options.py::test_an_option_reaches_the_work"
MODES, SELF = "e2e/test_modes.py::test_", "e2e/test_selftest.py::test_"
QUICK_SELF = f"{SELF}the_quick_self_test_finds_and_names_all_and_flags_nothing"
IR, BENCH = "e2e/test_ir.py::test_", "e2e/test_bench_command.py::test_"
IR_COSTS = f"{IR}the_axis_and_the_number_of_warps_decide_what_a_flip_costs"
VERSION = "e2e/test_versions.py::test_"
VERSIONS = f"{VERSION}a_kernel_that_breaks_is_told_with_the_version"
PLAN = "unit/test_settings.py::test_options_go_before_the_configuration"
SEARCH = f"{CI}profile_examples_and_seed_change_the_search"
MERGE = f"{CI}merge_follows_options_and_configuration"
#: the options of functions, which several commands share.
FUNCTION = (
    *("--flip", "--abs", "--abs-overflow", "--reference", "--exact", "--ulp", "--rtol", "--atol"),
    *("--dtype", "--ndim", "--sizes", "--layout", "--arg", "--output-index", "--in-place"),
)
#: by command and option: a test of what the option changes.
REGISTERED: dict[str, dict[str, str]] = {
    "": {
        "--version": f"{CLI}version",
        "--show-completion": "unit/test_options.py::test_completion_is_shown_and_installed",
        "--install-completion": "unit/test_options.py::test_completion_is_shown_and_installed",
    },
    "run": {
        "--select": f"{CLI}select_and_targets_by_variable",
        "--fault": f"{CI}one_fault_and_one_dtype_can_be_asked_for",
        "--last-failed": f"{CI}a_failure_is_kept_run_again_explained_and_dropped",
        "--shard": f"{CI}two_shards_merged_are_one_run",
        "--durations": f"{CI}durations_decide_on_the_split",
        "--backend": f"{CI}a_backend_that_is_not_there_is_told",
        "--profile": SEARCH,
        "--max-examples": SEARCH,
        "--seed": SEARCH,
        "--timeout": f"{CLI}a_kernel_that_kills_the_process_and_one_that_never_ends_are_findings",
        "--time-budget": f"{CI}a_time_budget_says_what_was_not_reached",
        "--jobs": f"{CI}jobs_run_side_by_side",
        "--exit-first": f"{CI}the_first_failure_may_end_the_run",
        "--exhaustive": "gpu/test_gpu.py::test_every_pattern_of_32_bits",
        "--fast-interpreter": f"{MODES}the_fast_interpreter_finds_what_the_stock_one_finds",
        "--strict-interpreter": (
            f"{MODES}a_kernel_that_needs_zeros_fails_on_the_strict_interpreter_and_only_there"
        ),
        "--report": f"{CI}a_report_on_standard_output_is_alone_there",
        "--baseline": f"{CI}only_what_is_new_against_a_baseline_fails",
        "--fail-on": f"{CI}a_severity_decides_what_fails",
        "--exit-zero": f"{CI}a_severity_decides_what_fails",
        "--config": f"{CI}a_configuration_says_what_the_command_line_does_not",
        "--verbose": f"{CI}only_what_is_new_against_a_baseline_fails",
        **dict.fromkeys(FUNCTION, CALL),
        "--dtype": f"{CI}one_fault_and_one_dtype_can_be_asked_for",
    },
    "explain": {
        "--repro": f"{CLI}explain_says_when_nothing_shows",
        "--backend": f"{CI}explain_follows_options_and_configuration",
        "--seed": PLAN,
        "--max-examples": f"{CI}explain_follows_options_and_configuration",
        "--timeout": PLAN,
        "--fast-interpreter": f"{MODES}the_fast_interpreter_finds_what_the_stock_one_finds",
        "--strict-interpreter": (
            f"{MODES}a_kernel_that_needs_zeros_fails_on_the_strict_interpreter_and_only_there"
        ),
        "--html": f"{CI}a_failure_is_kept_run_again_explained_and_dropped",
        "--config": f"{CI}explain_follows_options_and_configuration",
        **dict.fromkeys(FUNCTION, CALL),
    },
    "selftest": {
        "--quick": QUICK_SELF,
        "--backend": f"{SELF}wrong_usage_is_told_in_a_sentence",
        "--resume": QUICK_SELF,
        "--json": QUICK_SELF,
        "--only": f"{SELF}wrong_usage_is_told_in_a_sentence",
        **dict.fromkeys(("--jobs", "--seed", "--fast-interpreter"), PASSED_ON),
    },
    "new": {
        "--out": "e2e/test_functions.py::test_a_new_case_file_runs_at_once_and_is_not_overwritten",
        **dict.fromkeys(FUNCTION, CALL),
    },
    "list": {
        "--select": f"{CLI}select_and_targets_by_variable",
        "--faults": f"{CLI}the_faults_are_listed_and_explained_without_triton",
        "--config": f"{CI}a_configuration_says_what_the_command_line_does_not",
    },
    "ir": {
        **dict.fromkeys(FUNCTION, CALL),
        "--compare": f"{IR}a_flip_exchanges_lanes_and_a_remap_does_not",
        "--target": f"{IR}amd_code_needs_neither_gpu_nor_rocm",
        "--stage": f"{IR}amd_code_needs_neither_gpu_nor_rocm",
        "--dtype": f"{IR}abs_is_an_instruction_or_two",
        "--tile": f"{IR}abs_is_an_instruction_or_two",
        **dict.fromkeys(("--num-warps", "--dim", "--size"), IR_COSTS),
        "--json": f"{IR}only_the_json_goes_to_standard_output",
    },
    "bench": {
        **dict.fromkeys(FUNCTION, CALL),
        "--json": f"{BENCH}a_flip_is_slower_than_a_remap",
        "--tile": f"{BENCH}a_flip_is_slower_than_a_remap",
        "--size": f"{BENCH}the_fixed_rows_take_no_options",
        "--num-warps": PASSED_ON,
    },
    "matrix": {
        "--triton": VERSIONS,
        "--json": VERSIONS,
        "--markdown": VERSIONS,
        "--backend": VERSIONS,
        "--max-examples": VERSIONS,
        "--offline": f"{VERSION}the_installed_version_alone_is_there_offline",
        **dict.fromkeys(("--seed", "--timeout", "--jobs", "--fast-interpreter"), PASSED_ON),
    },
    "doctor": {"--json": "e2e/test_doctor_command.py::test_this_installation_is_sound"},
    "compare": dict.fromkeys(("--all", "--markdown", "--json"), MERGE),
    "merge": {
        "--report": f"{CI}two_shards_merged_are_one_run",
        "--fail-on": MERGE,
        "--config": MERGE,
        "--verbose": f"{CI}two_shards_merged_are_one_run",
    },
}


def options() -> Iterator[tuple[str, Any]]:
    """Every option, with its command ("" for those of the program)."""
    for command, declared in [("", GROUP), *GROUP.commands.items()]:
        for parameter in declared.params:
            if parameter.param_type_name == "option":
                yield command, parameter


def name_of(option: Any) -> str:
    return str(max(option.opts, key=len))


EACH = [pytest.param(c, o, id=f"{c or 'tritaudit'}{name_of(o)}") for c, o in options()]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the commands hand to the functions that do their work, which do nothing."""
    calls: list[object] = []

    def recorder(name: str) -> Callable[..., int]:
        def record(*values: object, **named: object) -> int:
            calls.append((name, values, named))
            return 0

        return record

    for _, functions in WORK.values():
        for function in functions:
            monkeypatch.setattr(f"tritaudit.commands.{function}", recorder(function))
    return calls


@pytest.mark.parametrize(("command", "option"), [p for p in EACH if p.values[0]])
def test_an_option_reaches_the_work(called: list[object], command: str, option: Any) -> None:
    arguments, _ = WORK[command]
    name = name_of(option)
    value = [] if option.is_flag else [VALUES[name]]
    for words in ([], [name, *value]):
        told = CliRunner().invoke(app, [command, *arguments, *words])
        assert told.exit_code == 0, told.output
    without, given = called
    assert without != given


@cache
def functions_of(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    return {
        node.name: text
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize(("command", "option"), EACH)
def test_an_option_has_a_test_of_what_it_does(command: str, option: Any) -> None:
    registered = REGISTERED[command].get(name_of(option))
    assert registered is not None, f"name a test of {name_of(option)} in REGISTERED"
    file, _, function = registered.partition("::")
    text = functions_of(TESTS / file).get(function)
    assert text is not None, f"there is no {registered}"
    plain = name_of(option).removeprefix("--").replace("-", "_")
    assert any(word in text for word in (*option.opts, plain))


def test_nothing_is_registered_that_is_gone() -> None:
    there = {(command, name_of(option)) for command, option in options()}
    listed = {(command, name) for command, names in REGISTERED.items() for name in names}
    assert listed == there
    assert set(WORK) | {"", "schema"} == set(REGISTERED) | {"schema"}
    assert set(VALUES) <= {name for _, name in there}


def test_completion_is_shown_and_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="tritaudit")
    assert "complete -o default -F _tritaudit_completion tritaudit" in shown.stdout
    installed = CliRunner().invoke(app, ["--install-completion", "bash"], prog_name="tritaudit")
    assert installed.exit_code == 0
    [script] = tmp_path.rglob("*tritaudit*")
    assert "_tritaudit_completion" in script.read_text()
    completed = CliRunner().invoke(
        app,
        [],
        prog_name="tritaudit",
        env={
            "_TRITAUDIT_COMPLETE": "complete_bash",
            "COMP_WORDS": "tritaudit run --fault padd",
            "COMP_CWORD": "3",
        },
    )
    assert completed.stdout.strip() == "padding-leak"
