"""The modes of the interpreter. The fast one has to give the bits of the stock one, everywhere."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import interpreter as stock_interpreter

from tritaudit import Case, Flip, Reference, Tensor, Tile, backend, generate, interpreter
from tritaudit.backend import BackendUnavailableError
from tritaudit.catalogue import load_case
from tritaudit.inflight import InFlight
from tritaudit.interpreter import FastDiffersError
from tritaudit.interpreter import fast as fast_mode
from tritaudit.interpreter.compare import same_observation
from tritaudit.model import CaseResult, Example, UnitRequest
from tritaudit.search import audit_unit
from tritaudit.tensors import logical_values

ROOT = Path(__file__).resolve().parents[2] / "cases"
NAMES = sorted(str(p.relative_to(ROOT).with_suffix("")) for p in ROOT.rglob("*.py"))
TRITON = tuple(int(part) for part in triton.__version__.split(".")[:2])


@pytest.fixture(autouse=True)
def stock_again() -> Iterator[None]:
    """Leave the interpreter to the other tests as it was."""
    backend.prepare()
    yield
    interpreter.use(fast=False)


def observed(case: Case, example: Example, *, fast: bool) -> Any:
    interpreter.use(fast=fast)
    return backend.launch(case, example, 0, logical_values(case, example))


def sample(case: Case) -> list[Example]:
    """The first small and the last example of the sweep in each dtype and with each tile."""
    chosen: dict[object, Example] = {}
    for example in generate.sweep(case):
        if sum(size for _, size in example.sizes) > 300:
            continue
        for kind in (example.dtypes, example.tiles):
            chosen.setdefault((kind, "first"), example)
            chosen[kind, "last"] = example
    return list(dict.fromkeys(chosen.values()))


# --------------------------------------------------------------------------- the same bits


@pytest.mark.parametrize("name", NAMES)
def test_a_case_gives_the_bits_of_the_stock_interpreter(name: str) -> None:
    case = load_case(str(ROOT / f"{name}.py"), "case", str(ROOT))
    for example in sample(case):
        stock, fast = (observed(case, example, fast=fast) for fast in (False, True))
        assert same_observation(stock, fast), f"{example.label()} {example.dtype()}"


@triton.jit
def or_combine(a, b):
    return a | b


@triton.jit
def and_not_combine(a, b):
    return a & (a ^ b)


@triton.jit
def reduce_kernel(x_ptr, out_ptr, HOW: tl.constexpr):
    rows = tl.arange(0, 4)[:, None]
    cols = tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + rows * 8 + cols)
    if HOW == 0:
        y = tl.xor_sum(x, axis=0, keep_dims=True)
    elif HOW == 1:
        y = tl.xor_sum(x, axis=1, keep_dims=True)
    elif HOW == 2:
        y = tl.xor_sum(x, axis=0)[None, :]
    elif HOW == 3:
        y = tl.xor_sum(x)
    elif HOW == 4:
        y = tl.reduce(x, 0, or_combine, keep_dims=True)
    else:
        y = tl.reduce(x, 1, and_not_combine, keep_dims=True)
    tl.store(out_ptr + rows * 8 + cols, x ^ y)


@pytest.mark.parametrize("how", range(6))
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_a_reduction_gives_what_the_loop_over_elements_gives(how: int, dtype: str) -> None:
    def run(x: torch.Tensor, out: torch.Tensor) -> None:
        reduce_kernel[(1,)](x, out, HOW=how)

    case = Case(run, Reference(torch.clone), Tensor("x", "M N", dtypes=dtype))
    plain = Example((("M", 4), ("N", 8)), dtypes=(("x", dtype),), layouts=(("x", "contiguous"),))
    example = generate.replace(plain, fill=generate.Fill(generate.FillKind.RANDOM, 3))
    stock, fast = (observed(case, example, fast=fast) for fast in (False, True))
    assert stock.error is None
    assert bool(stock.out.any())
    assert same_observation(stock, fast)


@triton.jit
def float_xor_kernel(x_ptr, out_ptr):
    offs = tl.arange(0, 8)
    tl.store(out_ptr + offs, tl.reduce(tl.load(x_ptr + offs), 0, tl.standard._xor_combine))


def test_what_triton_refuses_is_refused_in_the_same_place() -> None:
    def run(x: torch.Tensor, out: torch.Tensor) -> None:
        float_xor_kernel[(1,)](x, out)

    case = Case(run, Reference(torch.clone), Tensor("x", "N"))
    example = Example((("N", 8),), dtypes=(("x", "float32"),), layouts=(("x", "contiguous"),))
    stock, fast = (observed(case, example, fast=fast) for fast in (False, True))
    assert stock.error is not None
    assert stock.error.kind == "rejected"
    assert same_observation(stock, fast)


# --------------------------------------------------------------------------- what is replaced


def test_the_stock_parts_come_back() -> None:
    def parts() -> tuple[object, ...]:
        builder = stock_interpreter.interpreter_builder
        reduce = stock_interpreter.ReduceOps.generic_reduce
        return reduce, stock_interpreter._patch_builtin, builder.options

    before = parts()
    interpreter.use(fast=True)
    assert not {id(part) for part in parts()} & {id(part) for part in before}
    interpreter.use(fast=False)
    assert parts() == before


def test_a_version_whose_xor_is_another_function_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tl.standard, "_xor_combine", or_combine)
    with pytest.raises(BackendUnavailableError, match=f"triton {triton.__version__} is not one"):
        interpreter.use(fast=True)


def test_the_gpu_has_no_such_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    with pytest.raises(BackendUnavailableError, match="only the interpreter can"):
        interpreter.use(fast=True)


def test_the_members_to_patch_are_those_that_the_interpreter_would_find() -> None:
    packages = [tl, tl.core, tl.math, tl.tensor]
    members = fast_mode._Members()
    for package in packages:
        named = set(members.of(package))
        marked = {n for n in dir(package) if tl.core.is_builtin(getattr(package, n, None))}
        assert marked <= named
        assert {"load", "store"} <= named or package not in (tl, tl.core)


def test_a_builtin_that_is_added_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    members = fast_mode._Members()
    assert "brand_new" not in members.of(tl)
    monkeypatch.setattr(tl, "brand_new", tl.core.builtin(lambda _semantic=None: None), False)
    assert "brand_new" in members.of(tl)


# --------------------------------------------------------------------------- the comparison


def audited(name: str, *, fast: bool, examples: int = 60) -> CaseResult:
    request = UnitRequest(
        case=name,
        path=str(ROOT / f"{name}.py"),
        variable="case",
        root=str(ROOT),
        backend="interpreter",
        max_examples=examples,
        fast_interpreter=fast,
    )
    return audit_unit(request, lambda event: None, InFlight())


def facts(result: CaseResult) -> object:
    return [(f.fault, f.repro, f.excerpt, f.index_map, f.proof) for f in result.findings]


NAME = "flip/single_tile" if TRITON >= (3, 4) else "flip/address_remap_off_by_one"


def test_a_search_finds_the_same() -> None:
    fast, stock = (audited(NAME, fast=fast) for fast in (True, False))
    assert facts(fast) == facts(stock)
    assert fast.coverage == stock.coverage
    assert (fast.notes, stock.notes) == ((), ())


@pytest.mark.skipif(TRITON < (3, 4), reason="tl.flip sums here")
def test_a_fast_part_that_is_wrong_is_told_and_the_stock_one_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(stock: Any, xor: Any) -> Any:
        def generic_reduce(self: Any, values: Any) -> Any:
            out = stock(self, values)
            first = out[0] if isinstance(out, (list, tuple)) else out
            first.handle.data[...] = 0
            return out

        return generic_reduce

    monkeypatch.setattr(fast_mode, "_quick_reduce", wrong)
    result, stock = audited(NAME, fast=True), audited(NAME, fast=False)
    assert facts(result) == facts(stock)
    [note] = result.notes
    assert note.startswith("the fast interpreter differs from the stock one at N=")
    assert note.endswith(", so this case ran on the stock interpreter")


def test_a_kernel_that_does_not_repeat_itself_cannot_be_compared() -> None:
    launched: list[int] = []

    def run(x: torch.Tensor, out: torch.Tensor) -> None:
        launched.append(1)
        out.fill_(len(launched))

    case = Case(run, Flip("N"), Tensor("x", "N"))
    example = Example((("N", 2),), dtypes=(("x", "float32"),), layouts=(("x", "contiguous"),))
    interpreter.use(fast=True)
    with pytest.raises(FastDiffersError, match="stock interpreter does not repeat"):
        interpreter.launch(case, example, 0, logical_values(case, example))


def test_some_launches_are_compared_and_the_rest_are_not() -> None:
    count = 0

    def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
        nonlocal count
        count += 1
        out.copy_(x)

    dtypes = tuple(f"int{w}" for w in (8, 16, 32, 64))
    tiles = Tile("BLOCK", "N", (8, 16, 32, 64))
    case = Case(run, Flip("N"), Tensor("x", "N", dtypes=dtypes), tiles)
    examples = list(generate.sweep(case))[:200]
    interpreter.use(fast=True)
    for example in examples:
        interpreter.launch(case, example, 0, logical_values(case, example))
    assert interpreter.FIRST < count - len(examples) <= interpreter.COMPARED
    count = 0
    interpreter.use(fast=False)
    for example in examples:
        interpreter.launch(case, example, 0, logical_values(case, example))
    assert count == len(examples)
