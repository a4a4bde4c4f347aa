"""Mistakes in how a kernel is launched: grids, outputs, arguments, and kernels that never end."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritaudit.selftest.operators.registry import Plant, operator, plant, same
from tritaudit.selftest.source import CaseSource, NoMatch

# --------------------------------------------------------------------------- grids


def _cdivs(source: CaseSource) -> Iterator[tuple[str, ast.Call, str, str]]:
    """Each division of the grid: a label, the call, dividend and divisor."""
    for call in source.calls("triton.cdiv", source.run):
        above, below = (ast.unparse(a) for a in call.args)
        yield above.lower(), call, above, below


@operator(
    "grid-rounded-down",
    "flip/address_remap",
    "flip/both_axes_remap",
    "flip/kv_cache_remap",
    "flip/mirrored_tiles",
    "flip/tiles_2d_w_mirrored",
    "abs/threshold",
    "abs/widened",
)
def grid_rounded_down(source: CaseSource) -> Iterator[Plant]:
    """The number of programs is rounded down: the tail is not written."""
    for label, call, above, below in _cdivs(source):
        mutant = source.put((call, f"{above} // {below}"))
        yield plant(mutant, "unwritten-output", label=label)


@operator("grid-one-short", "flip/address_remap", "flip/kv_cache_remap", "abs/fp8", "loss/l1")
def grid_one_short(source: CaseSource) -> Iterator[Plant]:
    """There is one program too few: the last tile is not written."""
    for label, call, _, _ in _cdivs(source):
        mutant = source.put((call, f"{ast.unparse(call)} - 1"))
        yield plant(mutant, "unwritten-output", label=label)


@operator("grid-one-too-many", "flip/mirrored_tiles", "abs/vector")
def grid_one_too_many(source: CaseSource) -> Iterator[Plant]:
    """There is one program too many."""
    for label, call, _, _ in _cdivs(source):
        mutant = source.put((call, f"{ast.unparse(call)} + 1"))
        yield same(mutant, "every lane of the additional program is masked", label)


@operator("program-index-exchanged", "flip/both_axes_remap", "flip/tiles_2d_h_remap")
def program_index_exchanged(source: CaseSource) -> Iterator[Plant]:
    """The index of a program is divided by the tiles of a column and not of a row."""
    mutant = source.swap("tl.program_id(0) // across", "tl.program_id(0) % across")
    mutant = mutant.swap("tl.program_id(0) % across * BW", "tl.program_id(0) // across * BW")
    yield plant(mutant, "unwritten-output")


@operator("grid-rounded-down-in-place", "abs/in_place")
def grid_rounded_down_in_place(source: CaseSource) -> Iterator[Plant]:
    """The number of programs is rounded down, in place: the tail stays as it was."""
    for _, call, above, below in _cdivs(source):
        yield plant(source.put((call, f"{above} // {below}")), "unwritten-output")


# --------------------------------------------------------------------------- arguments


@operator(
    "in-place",
    "flip/address_remap",
    "flip/rows_remap",
    "flip/both_axes_remap",
    "flip/kv_cache_remap",
    "flip/mirrored_tiles",
)
def in_place(source: CaseSource) -> Iterator[Plant]:
    """The input is the output as well, and programs read what others have overwritten."""
    name = source.run.args.args[0].arg
    mutant = source.put((source.launch, _launched(source, out=name)))
    mutant = _without_out(mutant).layouts("contiguous").options(in_place=repr(name))
    yield plant(
        mutant,
        "alias-race",
        also=("nondeterministic",),
        why="on a GPU the programs race, and the race ends differently each time",
    )


@operator("stored-to-input", "flip/address_remap", "flip/rows_remap", "abs/vector", "abs/fp8")
def stored_to_input(source: CaseSource) -> Iterator[Plant]:
    """The kernel stores to the pointer of its input."""
    store = source.call("tl.store")
    mutant = source.swap("out_ptr", "x_ptr", store).layouts("contiguous")
    yield plant(mutant, "unwritten-output", "input-mutated")


@operator("arguments-exchanged", "abs/vector", "loss/l1", "flip/mirrored_tiles")
def arguments_exchanged(source: CaseSource) -> Iterator[Plant]:
    """Input and output are exchanged in the launch."""
    text = _launched(source, x="out", out="x")
    yield plant(source.put((source.launch, text)), "unwritten-output", "input-mutated")


def _launched(source: CaseSource, **other: str) -> str:
    """The launch with other names for some of its arguments."""
    call = source.launch
    arguments = [ast.unparse(a) for a in call.args]
    if not set(other) <= set(arguments):
        raise NoMatch(source.name)
    parts = [other.get(a, a) for a in arguments]
    parts += [f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords]
    return f"{ast.unparse(call.func)}({', '.join(parts)})"


def _without_out(source: CaseSource) -> CaseSource:
    """`run` without its parameter `out`."""
    return source.edited(lambda text: text.replace(", out: torch.Tensor", "", 1))


# --------------------------------------------------------------------------- outputs


#: kernels to make return their output: a vector, a matrix, a cache, absolute values.
RETURNED = ("flip/address_remap", "flip/rows_remap", "flip/kv_cache_remap", "abs/vector")


def _returning(source: CaseSource, allocated: str, returned: str = "out") -> CaseSource:
    """`run` allocates its output and returns it."""
    launch = source.launch
    first = source.run.args.args[0].arg
    text = f"out = {allocated.format(x=first)}\n    {ast.unparse(launch)}\n    return {returned}"
    mutant = _without_out(source.put((launch, text.format(x=first))))
    return mutant.edited(lambda t: t.replace(") -> None:", ") -> torch.Tensor:", 1))


@operator("returned", *RETURNED)
def returned(source: CaseSource) -> Iterator[Plant]:
    """The launch function allocates its output and returns it."""
    mutant = _returning(source, "torch.empty({x}.shape, dtype={x}.dtype, device={x}.device)")
    yield same(mutant, "who allocates the output makes no difference")


@operator("returned-float32", "flip/rows_remap", "abs/vector", "abs/fp8")
def returned_float32(source: CaseSource) -> Iterator[Plant]:
    """The output is allocated without a dtype, which makes it float32."""
    mutant = _returning(source, "torch.empty({x}.shape, device={x}.device)")
    yield plant(_convertible(mutant), "wrong-dtype")


def _convertible(source: CaseSource) -> CaseSource:
    """Dtypes that every backend converts to float32."""
    return source.dtypes("float16", "float32", "float64")


@operator("returned-wider", "abs/unsigned", "flip/address_remap")
def returned_wider(source: CaseSource) -> Iterator[Plant]:
    """The output is allocated as int64 whatever the input is."""
    mutant = _returning(source, "torch.empty({x}.shape, dtype=torch.int64, device={x}.device)")
    yield plant(mutant.dtypes("uint8", "int16", "int32"), "wrong-dtype")


@operator("returned-one-too-long", "flip/address_remap", "abs/vector", "abs/boolean")
def returned_one_too_long(source: CaseSource) -> Iterator[Plant]:
    """The output is allocated with one element too many."""
    mutant = _returning(source, "torch.empty(n + 1, dtype={x}.dtype, device={x}.device)")
    yield plant(mutant, "wrong-shape")


@operator("returned-one-too-short", "flip/address_remap", "abs/vector")
def returned_one_too_short(source: CaseSource) -> Iterator[Plant]:
    """The output is allocated with one element too few, and written beyond its end."""
    mutant = _returning(source, "torch.empty(n - 1, dtype={x}.dtype, device={x}.device)")
    yield plant(
        mutant.options(axes="{'N': (2, 512)}"),
        "wrong-shape",
        "out-of-bounds-write",
    )


@operator("returned-transposed", "flip/rows_remap", "flip/both_axes_remap")
def returned_transposed(source: CaseSource) -> Iterator[Plant]:
    """The output is allocated with its two sides exchanged."""
    mutant = _returning(source, "torch.empty((W, H), dtype={x}.dtype, device={x}.device)")
    yield plant(mutant, "wrong-shape")


@operator("returned-flat", "flip/rows_remap", "flip/kv_cache_remap")
def returned_flat(source: CaseSource) -> Iterator[Plant]:
    """The output is returned without its shape."""
    mutant = _returning(source, "torch.empty_like({x}).contiguous()", "out.reshape(-1)")
    yield plant(mutant.layouts("contiguous"), "wrong-shape")


@operator("returned-the-input", *RETURNED)
def returned_the_input(source: CaseSource) -> Iterator[Plant]:
    """The kernel writes an output, and the input is returned."""
    mutant = _returning(source, "torch.empty_like({x})", "{x}")
    fault = "sign-kept" if source.contract == "Abs" else "not-reversed"
    yield plant(mutant.layouts("contiguous"), fault)


@operator("returned-tail-uninitialised", "flip/address_remap", "abs/fp8")
def returned_tail_uninitialised(source: CaseSource) -> Iterator[Plant]:
    """The output is allocated without values, and its tail is never written."""
    cdiv = source.call("triton.cdiv", source.run)
    mutant = source.put((cdiv, " // ".join(ast.unparse(a) for a in cdiv.args)))
    yield plant(_returning(mutant, "torch.empty_like({x})"), "unwritten-output")


# --------------------------------------------------------------------------- refused, dead, endless


@operator("tile-no-power-of-two", "flip/address_remap", "abs/fp8", "flip/tiles_2d_h_remap")
def tile_no_power_of_two(source: CaseSource) -> Iterator[Plant]:
    """A tile is one element shorter than a power of two."""
    call = source.calls("tl.arange")[-1]
    start, end = (ast.unparse(a) for a in call.args)
    yield plant(source.put((call, f"tl.arange({start}, {end} - 1)")), "api-rejects")


@operator("flip-of-several-axes", "flip/mirrored_tiles", "flip/tiles_2d_w_mirrored")
def flip_of_several_axes(source: CaseSource) -> Iterator[Plant]:
    """The axis of a flip is written as a tuple."""
    flip = source.call("tl.flip")
    text = f"tl.flip({ast.unparse(flip.args[0])}, ({ast.unparse(flip.args[1])},))"
    yield plant(source.put((flip, text)), "api-rejects")


@operator("flip-of-no-axis", "flip/single_tile_shifted")
def flip_of_no_axis(source: CaseSource) -> Iterator[Plant]:
    """The axis of a flip is one that the tile does not have."""
    flip = source.call("tl.flip")
    text = f"tl.flip({ast.unparse(flip.args[0])}, 1)"
    yield plant(source.put((flip, text)), "api-rejects")


@operator("tile-of-one", "flip/single_tile_shifted", "semantics/flip_ints")
def tile_of_one(source: CaseSource) -> Iterator[Plant]:
    """The smallest tile is one element, which no flip accepts."""
    mutant = source.edited(lambda text: text.replace("max(2, ", "max(1, ", 1))
    yield plant(mutant, "api-rejects")


@operator("whole-tiles-asserted", "flip/address_remap", "abs/difference", "flip/flip_reshape")
def whole_tiles_asserted(source: CaseSource) -> Iterator[Plant]:
    """The launch function asserts that there is no tail."""
    length = "pixels" if source.name == "flip/flip_reshape" else "n"
    text = f"assert {length} % BLOCK == 0\n    {ast.unparse(source.launch)}"
    yield plant(source.put((source.launch, text)), "crash")


@operator("far-address", "flip/address_remap", "abs/vector")
def far_address(source: CaseSource) -> Iterator[Plant]:
    """Addresses are multiplied by 2**40: the process does not survive that."""
    load = source.call("tl.load")
    address = load.args[0]
    assert isinstance(address, ast.BinOp)
    text = f"x_ptr + ({ast.unparse(address.right)}).to(tl.int64) * {2**40} + {2**40}"
    yield plant(source.put((address, text)), "crash")


@operator("endless-kernel", "abs/vector")
def endless_kernel(source: CaseSource) -> Iterator[Plant]:
    """The kernel waits until another one writes the first element of its output."""
    store = source.call("tl.store")
    # Volatile, or a compiler would leave out a loop without an effect.
    first = "tl.load(out_ptr, volatile=True)"
    loop = f"first = {first}\n    while first == {first}:\n        first = {first}\n"
    text = f"{loop}    {ast.unparse(store)}"
    yield plant(source.put((store, text)), "timeout")


@operator("endless-launch", "flip/address_remap")
def endless_launch(source: CaseSource) -> Iterator[Plant]:
    """The launch function counts down past zero for lengths that are no multiple of the tile."""
    text = (
        f"left = n\n    while left != 0:\n        left -= BLOCK\n    {ast.unparse(source.launch)}"
    )
    yield plant(source.put((source.launch, text)), "timeout")
