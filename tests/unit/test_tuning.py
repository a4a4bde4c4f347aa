"""Autotuned kernels on the interpreter: the example chooses, nothing is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, tuning
from tritaudit.backend import launch, prepare
from tritaudit.blocks import edges_of_kernels
from tritaudit.generate import plain_example, structures, sweep
from tritaudit.repro import decode, encode

prepare()  # Triton 3.2 asks for a driver as soon as a kernel is decorated


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    tuning.forget()
    yield
    tuning.forget()


@triton.jit
def block_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + BLOCK, mask=offs < n)


def config(block: int, **options: Any) -> triton.Config:
    return triton.Config({"BLOCK": block}, **options)


def tuned(*configs: triton.Config, wrap: Any = None, **options: Any) -> Case:
    """A kernel that adds its block to every element, so that the output tells which one it had."""
    kernel = triton.autotune(configs=list(configs), key=["n"], **options)(block_kernel)
    kernel = kernel if wrap is None else wrap(kernel)

    def run(x: torch.Tensor) -> torch.Tensor:
        out, n = torch.zeros_like(x), x.numel()
        kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
        return out

    return Case(run=run, contract=Flip("N"), inputs=Tensor("x", "N", dtypes="int32"))


def block_of(case: Case, number: int | None = None, n: int = 3) -> int:
    """The block that an example with a configuration, or with none named, was run in."""
    options = () if number is None else (("config", number),)
    example = replace(plain_example(case, {"N": n}), launch=options)
    seen = launch(case, example)
    assert seen.error is None, seen.error
    assert seen.out is not None
    return int(seen.out[0]) - 1


def test_the_example_names_the_configuration_and_the_first_is_run_where_it_names_none() -> None:
    case = tuned(config(16), config(32), config(64))
    assert [block_of(case, k) for k in (None, 0, 1, 2, 3)] == [16, 16, 32, 64, 16]
    assert tuning.choices() == [(), (("config", 1),), (("config", 2),)]


def test_the_observation_says_what_was_run() -> None:
    case = tuned(config(16), config(32))
    example = replace(plain_example(case, {"N": 3}), launch=(("config", 1),))
    assert launch(case, example).tuned == ("block_kernel with BLOCK=32",)
    (note,) = tuning.notes()
    assert note.endswith(
        "1 of 2 different configurations were run (BLOCK=32), the others were not judged"
    )
    assert decode(encode(example, "interpreter")) == example


def test_configurations_that_differ_in_launch_alone_are_one() -> None:
    case = tuned(config(16, num_warps=1), config(16, num_warps=8), config(32))
    assert [block_of(case, k) for k in (0, 1, 2)] == [16, 32, 16]
    assert tuning.choices() == [(), (("config", 1),)]


def test_one_configuration_is_no_choice_and_is_not_noted() -> None:
    assert block_of(tuned(config(16))) == 16
    assert (tuning.choices(), tuning.notes()) == ([()], [])


def test_zeroing_and_restoring_belong_to_measuring() -> None:
    case = tuned(config(16), config(32), reset_to_zero=["x_ptr"], restore_value=["out_ptr"])
    assert [block_of(case, k) for k in (0, 1)] == [16, 32]


def test_the_hook_of_the_chosen_configuration_is_called() -> None:
    called: list[int] = []
    hooked = [config(b, pre_hook=lambda args: called.append(args["BLOCK"])) for b in (16, 32)]
    assert block_of(tuned(*hooked), 1) == 32
    assert called == [32]


def early(configs: list[triton.Config], named: dict[str, Any], **rest: Any) -> list[triton.Config]:
    return [c for c in configs if c.kwargs["BLOCK"] >= named["n"]]


def test_pruning_comes_first() -> None:
    pruned = tuned(
        config(16), config(32), config(64), prune_configs_by={"early_config_prune": early}
    )
    assert [block_of(pruned, k, n=20) for k in (0, 1, 2)] == [32, 64, 32]
    model = {"perf_model": lambda BLOCK, **rest: -BLOCK, "top_k": 2}
    modelled = tuned(config(16), config(32), config(64), prune_configs_by=model)
    assert [block_of(modelled, k) for k in (0, 1, 2)] == [64, 32, 64]


def test_a_pruning_that_needs_a_device_leaves_the_example_unjudged() -> None:
    def ask(configs: list[triton.Config], named: Any, **rest: Any) -> list[triton.Config]:
        return configs if torch.cuda.get_device_properties(0) else []

    case = tuned(config(16), config(32), prune_configs_by={"early_config_prune": ask})
    error = launch(case, plain_example(case, {"N": 3})).error
    assert error is not None
    assert error.kind == "limit"
    wanted = "the configurations of block_kernel cannot be pruned on the interpreter: the pruning "
    assert error.message.startswith(f"{wanted}raised ")
    none = tuned(config(16), config(32), prune_configs_by={"early_config_prune": early})
    error = launch(none, plain_example(none, {"N": 33})).error
    assert error is not None
    assert error.kind == "limit"


def test_a_launch_that_asks_the_driver_is_not_judged() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        from triton.runtime import driver

        return x + driver.active.get_current_device()

    case = Case(run=run, contract=Flip("N"), inputs=Tensor("x", "N"))
    error = launch(case, plain_example(case, {"N": 3})).error
    assert error is not None
    assert (error.kind, error.message) == (
        "limit",
        "the driver of a GPU was asked for, and there is none",
    )


@triton.jit
def even_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + offs, mask=offs < n) + BLOCK + 1000 * EVEN
    tl.store(out_ptr + offs, value, mask=offs < n)


def test_heuristics_below_the_tuner_see_the_configuration() -> None:
    below = triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})(even_kernel)
    kernel = triton.autotune(configs=[config(16), config(32)], key=["n"])(below)

    def run(x: torch.Tensor) -> torch.Tensor:
        out, n = torch.zeros_like(x), x.numel()
        kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
        return out

    case = Case(run=run, contract=Flip("N"), inputs=Tensor("x", "N", dtypes="int32"))
    assert [block_of(case, k, n=16) for k in (0, 1)] == [1016, 32]


def test_the_blocks_of_all_configurations_are_edges_of_the_sweep() -> None:
    case = tuned(config(16), config(64))
    assert edges_of_kernels(case, lambda example: launch(case, example)) == (16, 64)
    launches = tuning.choices()
    both = structures(case, launches)
    assert len(both) == 2 * len(structures(case))
    assert {e.launch for e in sweep(case, launches)} == set(launches)
