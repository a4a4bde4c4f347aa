"""Mistakes in masks and in what stands for masked lanes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritaudit.selftest.operators.addresses import MIRRORED
from tritaudit.selftest.operators.registry import Plant, operator, plant, same
from tritaudit.selftest.source import CaseSource

#: kernels along one axis whose load and store share `mask = offs < n`.
SHARED = ("flip/address_remap", "abs/vector", "abs/offset_distance", "semantics/abs_float_bits")


def _mask(source: CaseSource) -> ast.Compare:
    """The comparison that is the mask of a kernel."""
    value = source.assigned("mask")
    assert isinstance(value, ast.Compare)
    return value


def _parts(compared: ast.Compare) -> tuple[str, str]:
    return ast.unparse(compared.left), ast.unparse(compared.comparators[0])


# --------------------------------------------------------------------------- dropped


@operator(
    "store-mask-dropped",
    "flip/address_remap",
    "flip/mirrored_tiles",
    "flip/flip_reshape",
    "flip/single_tile_shifted",
    "abs/boolean",
    "abs/widened",
    "loss/huber",
)
def store_mask_dropped(source: CaseSource) -> Iterator[Plant]:
    """The store has no mask: the last tile is written beyond the output."""
    mutant = source.keyword(source.call("tl.store"), "mask", None)
    yield plant(mutant, "out-of-bounds-write")


@operator("store-mask-dropped-rows", "flip/tiles_2d_h_remap", "flip/both_axes_remap")
def rows_not_masked(source: CaseSource) -> Iterator[Plant]:
    """The mask of a matrix has no rows in it: rows behind the last one are written."""
    mutant = source.put((source.assigned("mask"), "(rows[:, None] >= 0) & (cols[None, :] < W)"))
    yield plant(mutant, "out-of-bounds-write")


@operator("store-mask-dropped-columns", "flip/rows_remap")
def columns_not_masked(source: CaseSource) -> Iterator[Plant]:
    """The store of a row has no mask: it runs into the next row, which may be written before."""
    mutant = source.keyword(source.call("tl.store"), "mask", None)
    yield plant(
        mutant,
        "out-of-bounds-write",
        also=("nondeterministic", "value-mismatch", "padding-leak"),
        why="which of two programs writes the start of a row last is not settled on a GPU",
    )


@operator("load-mask-dropped", "flip/address_remap", "flip/mirrored_tiles", "abs/vector")
def load_mask_dropped(source: CaseSource) -> Iterator[Plant]:
    """The load has no mask, the store still has one."""
    load = source.call("tl.load")
    mutant = source.put((load, f"tl.load({ast.unparse(load.args[0])})"))
    yield same(mutant, "what is read beside x is in lanes that are not stored")


@operator("load-mask-dropped-sum", "flip/row_sum_flipped", "semantics/masked_load_without_other")
def load_mask_dropped_sum(source: CaseSource) -> Iterator[Plant]:
    """The load of a row that is summed has no mask."""
    load = source.call("tl.load")
    mutant = source.put((load, f"tl.load({ast.unparse(load.args[0])})"))
    yield plant(
        mutant,
        "out-of-bounds-read",
        also=("value-mismatch",),
        why="rows but the last add elements of the next row, and no fault is named for that",
    )


# --------------------------------------------------------------------------- inverted and shifted


@operator("mask-inverted", *SHARED)
def mask_inverted(source: CaseSource) -> Iterator[Plant]:
    """The mask selects what is not part of the data."""
    left, right = _parts(_mask(source))
    mutant = source.put((_mask(source), f"({left} >= {right})"))
    yield plant(mutant, "unwritten-output", "out-of-bounds-write")


@operator("row-mask-inverted", "flip/tiles_2d_h_remap", "flip/both_axes_remap")
def row_mask_inverted(source: CaseSource) -> Iterator[Plant]:
    """The mask of a matrix selects the rows that are not there."""
    mutant = source.swap("rows[:, None] < H", "(rows[:, None] >= H)")
    yield plant(mutant, "unwritten-output", "out-of-bounds-write")


@operator("load-mask-inverted", "flip/mirrored_tiles", "flip/single_tile_shifted")
def load_mask_inverted(source: CaseSource) -> Iterator[Plant]:
    """The load selects what is not part of the data: only masked lanes are stored."""
    load = source.call("tl.load")
    mask = next(k.value for k in load.keywords if k.arg == "mask")
    mutant = source.put((mask, f"({ast.unparse(mask)}) == 0"))
    yield plant(mutant, "padding-leak")


@operator("mask-one-too-many", *SHARED)
def mask_one_too_many(source: CaseSource) -> Iterator[Plant]:
    """The mask has <= for <: one element behind the end is written."""
    left, right = _parts(_mask(source))
    mutant = source.put((_mask(source), f"({left} <= {right})"))
    yield plant(mutant, "out-of-bounds-write")


@operator("row-mask-one-too-many", "flip/tiles_2d_h_remap", "flip/both_axes_remap")
def row_mask_one_too_many(source: CaseSource) -> Iterator[Plant]:
    """The mask of a matrix has <= for <: one row behind the last one is written."""
    mutant = source.swap("rows[:, None] < H", "(rows[:, None] <= H)")
    yield plant(mutant, "out-of-bounds-write")


@operator("mask-one-too-few", *SHARED, "flip/rows_remap")
def mask_one_too_few(source: CaseSource) -> Iterator[Plant]:
    """The mask ends one element before the end: the last one is not written."""
    left, right = _parts(_mask(source))
    mutant = source.put((_mask(source), f"({left} < {right} - 1)"))
    yield plant(mutant, "unwritten-output")


@operator("time-mask-one-too-few", "flip/kv_cache_remap")
def time_mask_one_too_few(source: CaseSource) -> Iterator[Plant]:
    """The mask ends one time step before the end: the last one is not written."""
    mutant = source.swap("times[:, None] < T", "(times[:, None] < T - 1)")
    yield plant(mutant, "unwritten-output")


@operator("load-mask-one-too-few", *MIRRORED)
def load_mask_one_too_few(source: CaseSource) -> Iterator[Plant]:
    """The mask of a mirrored load has > for >=: a masked lane comes out as the last element."""
    compared = source.comparisons(ast.GtE)[0]
    left, right = _parts(compared)
    yield plant(source.put((compared, f"({left} > {right})")), "padding-leak")


@operator("tile-load-mask-one-too-few", "flip/single_tile_shifted", "semantics/flip_floats")
def tile_load_mask_one_too_few(source: CaseSource) -> Iterator[Plant]:
    """The load of a tile ends one element early: a masked lane comes out as the first element."""
    mutant = source.swap("offs < n", "(offs < n - 1)", source.call("tl.load"))
    yield plant(mutant, "padding-leak")


@operator("tile-load-mask-one-too-many", "flip/single_tile_shifted", "semantics/flip_ints")
def tile_load_mask_one_too_many(source: CaseSource) -> Iterator[Plant]:
    """The load of a tile goes one element too far."""
    mutant = source.swap("offs < n", "(offs <= n)", source.call("tl.load"))
    yield same(mutant, "the flip moves the element behind the end to a lane that is not stored")


@operator("tile-store-mask-one-too-few", "flip/single_tile_shifted", "semantics/flip_floats")
def tile_store_mask_one_too_few(source: CaseSource) -> Iterator[Plant]:
    """The mask of a shifted store has > for >=: the first element is not written."""
    yield plant(source.swap("dst >= 0", "(dst > 0)"), "unwritten-output")


# --------------------------------------------------------------------------- the padding


@operator("padding-of-1", "flip/row_sum_flipped", "semantics/masked_load_without_other")
def padding_of_one(source: CaseSource) -> Iterator[Plant]:
    """The padding of a row that is summed is 1."""
    load = source.call("tl.load")
    mask = next(ast.unparse(k.value) for k in load.keywords if k.arg == "mask")
    text = f"tl.load({ast.unparse(load.args[0])}, mask={mask}, other=1)"
    yield plant(source.put((load, text)), "padding-leak")


@operator("padding-of-7", "flip/mirrored_tiles", "flip/symmetric_add", "flip/single_tile_shifted")
def padding_of_seven(source: CaseSource) -> Iterator[Plant]:
    """The padding of a flipped tile is 7."""
    loads = [c for c in source.calls("tl.load") if any(k.arg == "other" for k in c.keywords)]
    mutant = source.keyword(loads[-1], "other", "7")
    yield same(mutant, "no lane of the padding is stored")
