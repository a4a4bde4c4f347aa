"""The kernels of the catalogue against values worked out here, without tritaudit's own oracles.

A case without an expected fault has to be right bit for bit; one with expected faults has to go
wrong in just the ways that those faults say. The kernels run in the interpreter, which has to be
chosen before triton is imported.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import triton

from tritaudit import Abs, Case, Flip

ROOT = Path(__file__).resolve().parents[2] / "cases"
FOLDERS = ("abs", "flip", "loss", "semantics")
NAMES = [f"{folder}/{p.stem}" for folder in FOLDERS for p in sorted((ROOT / folder).glob("*.py"))]
DEVICE = "cpu"
#: elements on either side of an output that no kernel may touch.
GUARD = 192
SENTINELS = (0x5B, 0xA4)

BITS = {
    "bool": 8,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "bfloat16": 16,
    **{f"{kind}{w}": w for kind in ("int", "uint") for w in (8, 16, 32, 64)},
    **{f"float{w}": w for w in (16, 32, 64)},
}
#: sign, exponent and mantissa widths of the floats.
FIELDS = {
    "float8_e4m3fn": (4, 3),
    "float8_e5m2": (5, 2),
    "float16": (5, 10),
    "bfloat16": (8, 7),
    "float32": (8, 23),
    "float64": (11, 52),
}


# --------------------------------------------------------------------------- values as bits


def raw(dtype: str) -> np.dtype[Any]:
    """The unsigned integer type that holds the bits of a dtype."""
    return np.dtype(f"u{BITS[dtype] // 8}")


def to_bits(tensor: torch.Tensor) -> np.ndarray:
    flat = tensor.contiguous().view(torch.uint8).cpu().numpy()
    return flat.view(raw(str(tensor.dtype).removeprefix("torch."))).reshape(tensor.shape)


def to_tensor(bits: np.ndarray, dtype: str) -> torch.Tensor:
    flat = torch.from_numpy(np.ascontiguousarray(bits).reshape(-1).view(np.uint8).copy())
    return flat.to(DEVICE).view(getattr(torch, dtype)).reshape(bits.shape)


def special_bits(dtype: str) -> list[int]:
    width = BITS[dtype]
    if dtype == "bool":
        return [1, 0]
    if dtype not in FIELDS:
        top = 1 << (width - 1)
        return [top, top - 1, 2 * top - 1, top + 1, 0, 1, 100, 2 * top - 100]
    exponent, mantissa = FIELDS[dtype]
    sign, full = 1 << (width - 1), ((1 << exponent) - 1) << mantissa
    one = ((1 << (exponent - 1)) - 1) << mantissa
    nan = full | (1 << (mantissa - 1)) if dtype != "float8_e4m3fn" else full | 7
    largest = full - 1
    found = [sign, nan, sign | one, full, 0, sign | nan, sign | full, nan | 1, one, 1]
    return [*found, sign | 1, largest, sign | largest, full | 1]


def fill(kind: str, dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Positions in a form that the dtype holds, or special values and random bits in turn."""
    count = math.prod(shape)
    if kind == "index":
        i = torch.arange(seed, seed + count)
        if dtype == "bool":
            value = i % 3 == 1
        else:
            top = 15 if dtype in ("float8_e4m3fn", "float8_e5m2") else 100
            value = (i % top + 1).to(torch.float32 if dtype in FIELDS else torch.int64)
            value = value.to(getattr(torch, dtype))
        return to_bits(value).reshape(shape)
    rng = np.random.default_rng(seed)
    bits = np.frombuffer(rng.bytes(count * BITS[dtype] // 8), dtype=raw(dtype)).copy()
    table = np.array(special_bits(dtype), dtype=np.uint64).astype(raw(dtype))
    bits[::2] = np.resize(np.roll(table, seed), bits[::2].shape)
    if dtype == "bool":
        bits &= 1
    return bits.reshape(shape)


def numbers(bits: np.ndarray, dtype: str) -> np.ndarray:
    """The values that bits stand for, as float64 or as Python integers."""
    tensor = to_tensor(bits, dtype).cpu()
    if dtype in FIELDS:
        wide = tensor.to(torch.float32) if BITS[dtype] < 64 else tensor
        return wide.to(torch.float64).numpy()
    if dtype == "bool" or dtype.startswith("uint"):
        return bits.astype(object)
    return tensor.numpy().astype(object)


def is_nan(bits: np.ndarray, dtype: str) -> np.ndarray:
    return np.isnan(numbers(bits, dtype)) if dtype in FIELDS else np.zeros(bits.shape, bool)


# --------------------------------------------------------------------------- right values


def symmetric_add(x: np.ndarray) -> np.ndarray:
    return x + x[::-1]


def row_sum(x: np.ndarray) -> np.ndarray:
    return x.sum(axis=1)


def difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.abs(x - y)


def hard_threshold(x: np.ndarray, t: float) -> np.ndarray:
    return np.where(np.abs(x) > t, x, 0.0)


def window(x: np.ndarray, target: int, radius: int) -> np.ndarray:
    return np.array([v if abs(i - target) <= radius else 0 for i, v in enumerate(x)], x.dtype)


def huber(x: np.ndarray, y: np.ndarray, delta: float) -> np.ndarray:
    d = np.abs(x - y)
    return np.where(d <= delta, d * d / 2, delta * d - delta * delta / 2)


def doubled(x: np.ndarray) -> np.ndarray:
    return x + x


#: what the kernels with a Reference contract compute, and how many units in the last place a float
#: result may be off.
REFERENCES = {
    "flip/symmetric_add": (symmetric_add, 0),
    "flip/row_sum": (row_sum, 0),
    "flip/row_sum_flipped": (row_sum, 0),
    "abs/difference": (difference, 0),
    "abs/difference_int8": (difference, 0),
    "abs/difference_widened": (difference, 0),
    "abs/threshold": (hard_threshold, 0),
    "abs/offset_distance": (window, 0),
    "loss/huber": (huber, 4),
    "loss/huber_wrong_slope": (huber, 4),
    "loss/l1": (difference, 0),
    "semantics/abs_scalar": (doubled, 0),
    "semantics/masked_load_without_other": (row_sum, 0),
}


def wrong_values(
    name: str,
    case: Case,
    dtype: str,
    inputs: list[np.ndarray],
    scalars: dict[str, Any],
    got: np.ndarray,
    out_dtype: str,
) -> np.ndarray:
    """Where an output differs from the right value."""
    contract = case.contract
    if isinstance(contract, Flip):
        axes = tuple(case.inputs[0].axes.index(a) for a in contract.axes)
        return got != np.flip(inputs[0], axes)
    if isinstance(contract, Abs) and dtype in FIELDS:
        right = inputs[0] & raw(dtype).type((1 << (BITS[dtype] - 1)) - 1)
        return (got != right) & ~(is_nan(inputs[0], dtype) & is_nan(got, out_dtype))
    given = [numbers(x, dtype) for x in inputs]
    if isinstance(contract, Abs):
        want = np.array([abs(int(v)) for v in given[0].reshape(-1)], object).reshape(got.shape)
        if contract.overflow == "saturate":
            want = np.minimum(want, (1 << (BITS[out_dtype] - 1)) - 1)
        modulus = 1 << BITS[out_dtype] if contract.overflow == "wrap" else 0
        return differs(got, out_dtype, want, modulus)
    function, ulps = REFERENCES[name]
    with np.errstate(all="ignore"):
        want = function(*given, **scalars)
    if out_dtype not in FIELDS:
        modulus = 1 << BITS[out_dtype] if contract.overflow == "wrap" else 0  # type: ignore[attr-defined]
        return differs(got, out_dtype, want, modulus)
    nearest = to_bits(torch.from_numpy(np.asarray(want, np.float64)).to(getattr(torch, out_dtype)))
    both_nan = np.isnan(want) & is_nan(got, out_dtype)
    if ulps == 0:
        return (got != nearest) & ~both_nan
    apart = np.abs(ordered(got, out_dtype) - ordered(nearest, out_dtype))
    return ((apart > ulps) | (np.isnan(want) != is_nan(got, out_dtype))) & ~both_nan


def differs(got: np.ndarray, dtype: str, want: np.ndarray, modulus: int) -> np.ndarray:
    apart = numbers(got, dtype).reshape(-1) - np.asarray(want, object).reshape(-1)
    return np.array([bool(d % modulus if modulus else d) for d in apart]).reshape(got.shape)


def ordered(bits: np.ndarray, dtype: str) -> np.ndarray:
    """Float bits as integers in the order of the values, so that neighbours differ by one."""
    sign = 1 << (BITS[dtype] - 1)
    magnitude = (bits.astype(np.int64)) & (sign - 1)
    return np.where(bits.astype(np.int64) & sign, -magnitude, magnitude)


# --------------------------------------------------------------------------- one launch


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), ROOT / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def guarded(shape: tuple[int, ...], dtype: str, sentinel: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A buffer full of a byte, and the tensor in the middle of it."""
    count, step = math.prod(shape), BITS[dtype] // 8
    store = torch.full(((count + 2 * GUARD) * step,), sentinel, dtype=torch.uint8, device=DEVICE)
    inner = store[GUARD * step : (GUARD + count) * step]
    return store, inner.view(getattr(torch, dtype)).reshape(shape)


def symptoms(
    name: str,
    case: Case,
    dtype: str,
    sizes: dict[str, int],
    options: dict[str, Any],
    layout: str = "contiguous",
    kind: str = "index",
) -> tuple[set[str], list[np.ndarray], np.ndarray | None, np.ndarray | None]:
    """Launch twice over different sentinels and say what is wrong; the inputs, output, wrong ones.

    Symptoms: "error", "dtype", "beyond" (written outside), "unwritten", "input" (changed), "value".
    """
    seeds = itertools.count(3)
    shapes = [tuple(sizes[a] for a in t.axes) for t in case.inputs]
    values = [fill(kind, dtype, shape, next(seeds) + 5 * math.prod(shape)) for shape in shapes]
    out_shape = tuple(sizes[a] for a in case.out_axes())
    out_dtype = case.output_dtype(dtype)
    found: set[str] = set()
    outputs = []
    for sentinel in SENTINELS:
        stores, tensors = [], []
        for value in values:
            store, tensor = laid_out(value, dtype, layout, sentinel)
            stores.append(store)
            tensors.append(tensor)
        store, out = guarded(out_shape, out_dtype, sentinel)
        try:
            if case.in_place is not None:
                case.run(*tensors, **options)
                store, out = stores[0], tensors[0]
            elif case.takes_out:
                case.run(*tensors, out, **options)
            else:
                out = case.run(*tensors, **options)
                store = None
        except Exception as error:
            assert case.expect, error
            return {"error"}, values, None, None
        if str(out.dtype) != f"torch.{out_dtype}":
            return {"dtype"}, values, None, None
        outputs.append(to_bits(out))
        if store is not None:
            edge = GUARD * BITS[out_dtype] // 8
            outside = torch.cat([store[:edge], store[-edge:]])
            found |= {"beyond"} if (outside != sentinel).any() else set()
        if case.in_place is None:
            kept = all(np.array_equal(to_bits(t), v) for t, v in zip(tensors, values, strict=True))
            found |= set() if kept else {"input"}
    same = outputs[0] == outputs[1]
    found |= set() if same.all() else {"unwritten"}
    wrong = same & wrong_values(
        name, case, dtype, values, scalars_of(case, options), outputs[0], out_dtype
    )
    found |= {"value"} if wrong.any() else set()
    return found, values, outputs[0], wrong


def laid_out(
    value: np.ndarray, dtype: str, layout: str, sentinel: int
) -> tuple[torch.Tensor, torch.Tensor]:
    tensor = to_tensor(value, dtype)
    if layout == "transposed":
        return tensor, to_tensor(value.T, dtype).t()
    if layout == "strided":
        wide = to_tensor(np.repeat(value, 2, axis=-1), dtype)
        return wide, wide[..., ::2]
    store, inner = guarded(value.shape, dtype, sentinel)
    inner.view(torch.uint8).copy_(tensor.view(torch.uint8))
    return store, inner


def scalars_of(case: Case, options: dict[str, Any]) -> dict[str, Any]:
    return {s.name: options[s.name] for s in case.scalars}


def sizes_of(case: Case, tiles: dict[str, int]) -> list[dict[str, int]]:
    """Sizes around the edges of each tile, the other axes at rest on a small odd size."""

    def clip(axis: str, n: int) -> int:
        low, high = case.bounds(axis)
        return max(low, n if high is None else min(n, high))

    cut = {t.axis: tiles[t.name] for t in case.tiles}
    rest = {a: clip(a, 3 if a in cut else 2) for a in case.axis_names()}
    found = []
    for axis in case.axis_names():
        edge = cut.get(axis, 8)
        ladder = (1, 3, edge - 1, edge, edge + 1, 2 * edge, 3 * edge + 5)
        found += [{**rest, axis: clip(axis, n)} for n in (ladder if axis in cut else ladder[:5])]
    found.append({a: clip(a, 2 * cut.get(a, 4)) for a in case.axis_names()})
    return [dict(s) for s in dict.fromkeys(tuple(f.items()) for f in found)]


def launches(name: str, case: Case) -> list[tuple[str, dict[str, int], dict[str, Any], str, str]]:
    """What is tried: every size in one dtype, one size in each other, every scalar and layout."""
    tiles = {t.name: t.sizes[0] for t in case.tiles}
    larger = {t.name: t.sizes[min(1, len(t.sizes) - 1)] for t in case.tiles}
    scalars = [
        dict(zip([s.name for s in case.scalars], v, strict=True))
        for v in itertools.product(*(s.choices() for s in case.scalars))
    ]
    dtypes = [d for d in case.inputs[0].dtypes if name not in ROUNDED or d != "bfloat16"]
    first = "int16" if "int16" in dtypes else dtypes[0]
    sizes = sizes_of(case, tiles)
    found = [(first, s, {**tiles, **scalars[0]}, "contiguous", "index") for s in sizes]
    few = [sizes[-2], sizes[-1]]
    for k, dtype in enumerate(dtypes):
        found.append((dtype, few[k % 2], {**tiles, **scalars[0]}, "contiguous", "special"))
    for more in scalars[1:]:
        found += [(first, few[0], {**tiles, **more}, "contiguous", k) for k in ("index", "special")]
    found.append(
        (first, sizes_of(case, larger)[-2], {**larger, **scalars[0]}, "contiguous", "index")
    )
    for layout in case.inputs[0].layouts:
        if layout in ("transposed", "strided"):
            found.append((first, few[0], {**tiles, **scalars[0]}, layout, "index"))
    return found


#: the interpreter truncates float32 to bfloat16, and denormals come out as other numbers.
ROUNDED = ("loss/huber", "loss/huber_wrong_slope", "loss/l1")
#: how each fault shows itself.
SHOWS = {
    "api-rejects": "error",
    "wrong-dtype": "dtype",
    "out-of-bounds-write": "beyond",
    "out-of-bounds-read": "unwritten",  # the two runs see different guard bands
    "unwritten-output": "unwritten",
    "input-mutated": "input",
}
#: what a case shows besides: the lanes that the flipped mask keeps are written in other places.
ALSO = {"flip/flipped_mask": {"value"}}


@pytest.mark.parametrize("name", NAMES)
def test_case_behaves_as_it_says(name: str) -> None:
    case = load(name).case
    faults = {e.fault for e in case.expect if e.applies(triton.__version__, "interpreter")}
    shows = {SHOWS.get(f, "value") for f in faults} | ALSO.get(name, set())
    seen: set[str] = set()
    for dtype, sizes, options, layout, kind in launches(name, case):
        found = symptoms(name, case, dtype, sizes, options, layout, kind)[0]
        assert found <= shows, (dtype, sizes, options, layout, kind)
        seen |= found
    assert seen == shows


@pytest.mark.parametrize("name", NAMES)
def test_case_is_documented_and_has_a_right_twin(name: str) -> None:
    module = load(name)
    assert isinstance(module.case, Case)
    lines = (module.__doc__ or "").splitlines()
    assert lines[0].endswith(".")
    assert lines[1] == ""
    assert "Claim" in module.__doc__
    always = [e for e in module.case.expect if e.triton is None]
    if always or any(e.fault == "api-rejects" for e in module.case.expect):
        twin = load(module.case.twin).case
        assert not [e for e in twin.expect if e.triton is None]
        assert type(twin.contract) is type(module.case.contract)
        if isinstance(twin.contract, Flip):
            assert len(twin.contract.axes) == len(module.case.contract.axes)


# --------------------------------------------------------------------------- by hand

#: a case, its input in one dtype, tile sizes and scalars, and what really comes out.
EXAMPLES = [
    ("flip/single_tile", "int32", [1, 2, 3, 4, 5], {}, [0, 0, 0, 5, 4]),
    ("flip/single_tile_shifted", "int32", [1, 2, 3, 4, 5], {}, [5, 4, 3, 2, 1]),
    ("flip/tile_per_program", "int32", list(range(1, 19)), {"BLOCK": 8},
     [8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9, 0, 0]),
    ("flip/tiles_reordered", "int32", list(range(1, 18)), {"BLOCK": 16}, [17] + [0] * 15 + [1]),
    ("flip/rows_padded", "int32", [[1, 2, 3], [4, 5, 6]], {}, [[0, 3, 2], [0, 6, 5]]),
    ("flip/rows_flattened", "int32", [[1, 2], [3, 4]], {"BLOCK": 16}, [[4, 3], [2, 1]]),
    ("flip/tiles_2d_w", "int32", [[1, 2, 3, 4, 5, 6, 7, 8]], {"BH": 2, "BW": 4},
     [[4, 3, 2, 1, 8, 7, 6, 5]]),
    ("flip/address_remap_in_place", "int32", list(range(32)), {"BLOCK": 16},
     list(range(31, 15, -1)) + list(range(16, 32))),
    ("flip/flip_reshape", "int32", [[1, 2, 3, 4], [5, 6, 7, 8]], {"BLOCK": 2},
     [[4, 3, 2, 1], [8, 7, 6, 5]]),
    ("flip/one_hot_sum", "float32", [1.0, math.inf, 3.0, -0.0], {"BLOCK": 8},
     [math.nan, math.nan, math.inf, math.nan]),
    ("flip/symmetric_add", "float32", [1.0, 2.0, 30.0], {"BLOCK": 8}, [31.0, 4.0, 31.0]),
    ("abs/vector_int", "int8", [-128, -127, -1, 127], {"BLOCK": 16}, [-128, 127, 1, 127]),
    ("abs/saturating", "int8", [-128, -127, -1, 127], {"BLOCK": 16}, [127, 127, 1, 127]),
    ("abs/signed_view", "uint8", [1, 127, 128, 200, 255], {"BLOCK": 16}, [1, 127, 128, 56, 1]),
    ("abs/two_relus", "float32", [math.nan, -2.0, -0.0], {"BLOCK": 16}, [0.0, 2.0, 0.0]),
    ("abs/python_if", "float32", [-1.0, 2.0], {"BLOCK": 16}, [1.0, -2.0]),
    ("abs/through_float32", "int32", [2**24 + 1, -(2**31), -7], {"BLOCK": 16}, [2**24, 2**31, 7]),
    ("abs/threshold", "float32", [0.25, -0.75, 0.5], {"BLOCK": 16, "t": 0.5}, [0.0, -0.75, 0.0]),
    ("abs/offset_distance", "int32", [9, 8, 7, 6], {"BLOCK": 16, "target": 3, "radius": 1},
     [0, 0, 7, 6]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype", "given", "options", "want"), EXAMPLES)
def test_a_hand_made_example(
    name: str, dtype: str, given: list[Any], options: dict[str, Any], want: list[Any]
) -> None:
    case = load(name).case
    x = torch.tensor(given, dtype=getattr(torch, dtype))
    out = guarded(tuple(x.shape), case.output_dtype(dtype), 77)[1]
    if case.in_place is None:
        case.run(x, out, **options)
    else:
        case.run(x, **options)
        out = x
    torch.testing.assert_close(out.tolist(), want, rtol=0, atol=0, equal_nan=True)


def test_int8_differences_wrap_before_abs() -> None:
    case = load("abs/difference_int8").case
    x, y = torch.tensor([100, -128], dtype=torch.int8), torch.tensor([-100, 127], dtype=torch.int8)
    out = torch.zeros(2, dtype=torch.int16)
    case.run(x, y, out, BLOCK=16)
    assert out.tolist() == [56, 1]
    load("abs/difference_widened").case.run(x, y, out, BLOCK=16)
    assert out.tolist() == [200, 255]


def test_huber_with_the_wrong_slope_is_right_for_delta_one() -> None:
    case = load("loss/huber_wrong_slope").case
    x, y, out = torch.tensor([0.5, 3.0]), torch.zeros(2), torch.zeros(2)
    case.run(x, y, out, delta=1.0, BLOCK=16)
    assert out.tolist() == [0.125, 2.5]
    case.run(x, y, out, delta=1.5, BLOCK=16)
    assert out.tolist() == [0.125, 2.25]
    load("loss/huber").case.run(x, y, out, delta=1.5, BLOCK=16)
    assert out.tolist() == [0.125, 3.375]


def test_the_flipped_mask_writes_behind_the_end() -> None:
    case = load("flip/flipped_mask").case
    store = torch.full((16,), 77)
    case.run(torch.arange(1, 6), store[:5])
    assert store[:9].tolist() == [77, 77, 77, 5, 4, 3, 2, 1, 77]
