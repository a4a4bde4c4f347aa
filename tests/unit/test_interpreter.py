"""The modes of the interpreter. The fast one has to give the bits of the stock one, everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import interpreter as stock_interpreter

from tritaudit import (
    Case,
    Flip,
    Reference,
    Tensor,
    Tile,
    backend,
    generate,
    interpreter,
    strictness,
)
from tritaudit.backend import BackendUnavailableError
from tritaudit.catalogue import load_case
from tritaudit.inflight import InFlight
from tritaudit.interpreter import FastDiffersError, Part
from tritaudit.interpreter import fast as fast_mode
from tritaudit.interpreter.compare import same_observation
from tritaudit.model import CaseResult, Example, Finding, Severity, UnitRequest
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


def strictly(case: Case, example: Example, *parts: Part, seed: int = 0) -> Any:
    interpreter.use(strict=seed)
    with interpreter.strict_in(*parts):
        return backend.launch(case, example, 0, logical_values(case, example))


def sample(case: Case) -> list[Example]:
    """The last example of the sweep in each dtype, and the first and the last with each tile."""
    chosen: dict[object, Example] = {}
    for example in generate.sweep(case):
        if sum(size for _, size in example.sizes) > 150:
            continue
        chosen.setdefault(example.tiles, example)
        chosen[example.tiles, "last"] = chosen[example.dtypes] = example
    return list(dict.fromkeys(chosen.values()))


# --------------------------------------------------------------------------- the same bits


def is_right(case: Case) -> bool:
    return not any(k.applies(triton.__version__, "interpreter") for k in case.expect)


#: the one right kernel that relies on what the strict interpreter does not do.
NEEDS_ZEROS = "semantics/masked_load_without_other"


@pytest.mark.parametrize("name", NAMES)
def test_a_case_gives_the_bits_of_the_stock_interpreter(name: str) -> None:
    """Always when fast, and when strict where it is right."""
    case = load_case(str(ROOT / f"{name}.py"), "case", str(ROOT))
    changed = []
    for example in sample(case):
        stock, fast = (observed(case, example, fast=fast) for fast in (False, True))
        assert same_observation(stock, fast), f"{example.label()} {example.dtype()}"
        if is_right(case):
            strict = strictly(case, example, *Part, seed=1)
            changed += [] if same_observation(stock, strict) else [example]
    assert bool(changed) == (name == NEEDS_ZEROS), changed


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


def audited(name: str, *, fast: bool, strict: bool = False, examples: int = 60) -> CaseResult:
    request = UnitRequest(
        case=name,
        path=str(ROOT / f"{name}.py"),
        variable="case",
        root=str(ROOT),
        backend="interpreter",
        max_examples=examples,
        fast_interpreter=fast,
        strict_interpreter=strict,
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
    assert note.endswith(", so this case ran without the fast one")


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


# --------------------------------------------------------------------------- the strict one


@triton.jit
def load_kernel(x_ptr, out_ptr, n, HOW: tl.constexpr, B: tl.constexpr):
    offs = tl.arange(0, B)
    if HOW == 0:
        x = tl.load(x_ptr + offs, mask=offs < n)
    elif HOW == 1:
        x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    elif HOW == 2:
        x = tl.load(x_ptr + offs, offs < n, 0)
    else:
        x = tl.load(x_ptr + tl.minimum(offs, n - 1))
    tl.store(out_ptr + offs, x)


def loaded(how: int, dtype: str, n: int, tile: int) -> torch.Tensor:
    """What a tile holds of n elements that are 1."""
    x, out = torch.ones(n).to(getattr(torch, dtype)), torch.zeros(tile).to(getattr(torch, dtype))
    interpreter.use(strict=0)
    load_kernel[(1,)](x, out, n, HOW=how, B=tile)
    return out


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_undefined_lanes_of_floats_hold_a_nan_with_a_payload(dtype: str) -> None:
    out = loaded(0, dtype, 3, 8)
    assert out[:3].tolist() == [1, 1, 1]
    assert bool(out[3:].isnan().all())
    quiet = torch.tensor(float("nan"), dtype=out.dtype)
    assert not bool(interpreter.compare.same_bits(out[3:], quiet.expand(5).contiguous()).any())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_undefined_lanes_of_integers_hold_a_pattern(dtype: str) -> None:
    out = loaded(0, dtype, 3, 8)
    assert out[:3].tolist() == [1, 1, 1]
    assert set(out[3:].contiguous().view(torch.uint8).tolist()) == {0xA5}


def test_undefined_lanes_of_booleans_are_true() -> None:
    assert loaded(0, "bool", 1, 4).tolist() == [True, True, True, True]


@pytest.mark.parametrize("how", [1, 2])
@pytest.mark.parametrize(("n", "tile"), [(3, 8), (0, 1)])
def test_lanes_that_are_given_a_value_keep_it(how: int, n: int, tile: int) -> None:
    assert loaded(how, "int32", n, tile).tolist() == [1] * n + [0] * (tile - n)


def test_a_load_without_a_mask_is_as_ever() -> None:
    assert loaded(3, "int32", 3, 8).tolist() == [1] * 8


@triton.jit
def descriptor_kernel(x_ptr, out_ptr, n):
    described = tl.make_tensor_descriptor(x_ptr, [n], [1], [16])
    tl.store(out_ptr + tl.arange(0, 16), described.load([0]))


@pytest.mark.skipif(TRITON < (3, 4), reason="has no tensor descriptors in kernels")
def test_lanes_that_a_descriptor_pads_are_zero() -> None:
    x, out = torch.ones(5), torch.ones(16)
    interpreter.use(strict=0)
    descriptor_kernel[(1,)](x, out, 5)
    assert out.tolist() == [1.0] * 5 + [0.0] * 11


@pytest.mark.parametrize("grid", [(2, 1, 1), (5, 1, 1), (3, 4, 1), (2, 2, 2)])
def test_programs_run_once_each_in_an_order_of_their_own(grid: tuple[int, int, int]) -> None:
    from tritaudit.interpreter.strict import shuffled

    stock = [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]
    for seed in range(20):
        order = shuffled(grid, seed)
        assert order != stock
        assert sorted(order) == stock
        assert order == shuffled(grid, seed)
    assert len({tuple(shuffled((5, 5, 1), seed)) for seed in range(20)}) > 10


def test_one_program_has_one_order() -> None:
    from tritaudit.interpreter.strict import shuffled

    assert shuffled((1, 1, 1), 3) == [(0, 0, 0)]


@triton.jit
def number_kernel(out_ptr, order_ptr, count_ptr):
    turn = tl.load(count_ptr)
    pid = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(out_ptr + pid, pid)
    tl.store(order_ptr + pid, turn)
    tl.store(count_ptr, turn + 1)


def test_every_program_of_a_grid_runs_in_the_shuffled_order() -> None:
    from tritaudit.interpreter.strict import shuffled

    out, order, count = (torch.full((n,), 0, dtype=torch.int32) for n in (6, 6, 1))
    interpreter.use(strict=4)
    number_kernel[(2, 3)](out, order, count)
    assert out.tolist() == list(range(6))
    ran = sorted(range(6), key=lambda pid: int(order[pid]))
    assert ran == [x * 3 + y for x, y, _ in shuffled((2, 3, 1), 4)]


@triton.jit
def running_sum_kernel(x_ptr, out_ptr):
    pid = tl.program_id(0)
    before = tl.load(out_ptr + pid - 1, mask=pid > 0, other=0)
    tl.store(out_ptr + pid, tl.load(x_ptr + pid) + before)


def running_sum(x: torch.Tensor, out: torch.Tensor) -> None:
    running_sum_kernel[(x.numel(),)](x, out)


IN_ORDER = Case(
    running_sum,
    Reference(lambda x: x.cumsum(0, dtype=torch.int64)),
    Tensor("x", "N", dtypes="int64"),
    axes={"N": (1, 9)},
)


def test_a_kernel_that_needs_an_order_is_right_only_in_that_order() -> None:
    layouts, dtypes = (("x", "contiguous"),), (("x", "int64"),)
    example = Example((("N", 4),), dtypes=dtypes, layouts=layouts)
    assert observed(IN_ORDER, example, fast=False).out.tolist() == [1, 3, 6, 10]
    assert strictly(IN_ORDER, example, Part.PADDING).out.tolist() == [1, 3, 6, 10]
    assert strictly(IN_ORDER, example, Part.ORDER).out.tolist() != [1, 3, 6, 10]
    again = strictly(IN_ORDER, example, *Part)
    assert same_observation(again, strictly(IN_ORDER, example, *Part))


@pytest.mark.parametrize("part", Part)
def test_a_finding_says_which_part_of_the_strict_interpreter_found_it(part: Part) -> None:
    needs_zeros = load_case(str(ROOT / f"{NEEDS_ZEROS}.py"), "case", str(ROOT))
    case = IN_ORDER if part is Part.ORDER else needs_zeros
    sizes = (("N", 3),) if part is Part.ORDER else (("H", 1), ("W", 3))
    kind = case.inputs[0].dtypes[0]
    example = Example(sizes, dtypes=(("x", kind),), layouts=(("x", "contiguous"),))
    finding = Finding("c", "value-mismatch", Severity.ERROR, False, "", kind, example, "", "")
    interpreter.use(strict=0)
    told = strictness.named(case, finding, lambda announced: None)
    assert told.evidence == (f"found by the strict interpreter: {part.value}",)
    interpreter.use()
    assert strictness.named(case, finding, lambda announced: None) == finding


@pytest.mark.parametrize("name", ["abs/where_ge", "flip/address_remap_off_by_one"])
def test_a_fault_that_the_stock_interpreter_shows_is_not_owed_to_the_strict_one(name: str) -> None:
    found = audited(name, fast=False, strict=True)
    assert found.findings
    assert not any("strict interpreter" in s for f in found.findings for s in f.evidence)


def test_a_version_that_is_built_in_another_way_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    builder = stock_interpreter.InterpreterBuilder
    monkeypatch.setattr(builder, "create_masked_load", lambda self, pointers, mask: None)
    with pytest.raises(BackendUnavailableError, match="is built in another way"):
        interpreter.use(strict=0)


def test_the_fast_and_the_strict_interpreter_go_together() -> None:
    both, strict = (audited(NEEDS_ZEROS, fast=fast, strict=True) for fast in (True, False))
    assert strict.findings
    assert facts(both) == facts(strict)
    assert both.notes == strict.notes
