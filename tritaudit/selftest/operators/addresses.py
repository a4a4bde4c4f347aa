"""Mistakes in what a kernel loads from where: indices, tile bases, strides, axes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritaudit.selftest.operators.registry import Plant, operator, plant, same
from tritaudit.selftest.source import CaseSource, NoMatch

#: the kernels that load from `length - 1 - index`.
REMAPS = (
    "flip/address_remap",
    "flip/rows_remap",
    "flip/both_axes_remap",
    "flip/kv_cache_remap",
    "flip/tiles_2d_h_remap",
    "flip/tiles_2d_w_remap",
    "semantics/arange_start",
)
#: the kernels that load a tile from its mirrored place and flip it.
MIRRORED = (
    "flip/mirrored_tiles",
    "flip/symmetric_add",
    "flip/tiles_2d_w_mirrored",
    "flip/trans_flip_trans",
)
#: the kernels that flip one padded tile and store it shifted by the padding.
SHIFTED = (
    "flip/single_tile_shifted",
    "flip/single_tile_default_dim",
    "semantics/flip_floats",
    "semantics/flip_ints",
    "semantics/flip_fp8",
    "semantics/flip_first_axis",
    "semantics/flip_default_dim",
)


def _axis(length: str) -> str:
    return length.lower()


# --------------------------------------------------------------------------- mirrored indices


def _indices(source: CaseSource, text: str) -> Iterator[tuple[str, CaseSource]]:
    """The case with one mirrored index after the other written in another way."""
    for mirror in source.mirrors():
        new = text.format(length=mirror.length, rest=mirror.rest)
        yield _axis(mirror.length), source.put((mirror.node, new))


@operator("index-one-beyond", *REMAPS)
def one_beyond(source: CaseSource) -> Iterator[Plant]:
    """The mirror of i is taken to be n - i: the first element comes from behind the end."""
    for label, mutant in _indices(source, "{length} - {rest}"):
        yield plant(mutant, "off-by-one", "out-of-bounds-read", label=label)


@operator("index-one-short", *REMAPS)
def one_short(source: CaseSource) -> Iterator[Plant]:
    """The mirror of i is taken to be n - 2 - i: the last element comes from before the start."""
    for label, mutant in _indices(source, "{length} - 2 - {rest}"):
        yield plant(mutant, "off-by-one", "out-of-bounds-read", label=label)


@operator("index-two-beyond", "flip/address_remap", "flip/rows_remap")
def two_beyond(source: CaseSource) -> Iterator[Plant]:
    """The mirror of i is taken to be n + 1 - i."""
    for label, mutant in _indices(source, "{length} + 1 - {rest}"):
        yield plant(mutant, "off-by-one", "out-of-bounds-read", label=label)


@operator("index-clamped", "flip/address_remap", "flip/rows_remap", "flip/kv_cache_remap")
def clamped(source: CaseSource) -> Iterator[Plant]:
    """The mirror of i is taken to be n - i, but never more than n - 1."""
    for label, mutant in _indices(source, "tl.minimum({length} - {rest}, {length} - 1)"):
        yield plant(mutant, "off-by-one", label=label)


@operator("index-wrapped", "flip/address_remap", "flip/tiles_2d_h_remap")
def wrapped(source: CaseSource) -> Iterator[Plant]:
    """The mirror of i is taken to be (n - i) % n, as for the coefficients of a spectrum."""
    for label, mutant in _indices(source, "({length} - {rest}) % {length}"):
        yield plant(mutant, "off-by-one", label=label)


@operator("mirror-dropped", *REMAPS)
def mirror_dropped(source: CaseSource) -> Iterator[Plant]:
    """The index is not mirrored at all."""
    fault = "not-reversed" if len(source.mirrors()) == 1 else "wrong-axis"
    for label, mutant in _indices(source, "({rest})"):
        yield plant(mutant, fault, label=label)


@operator("mirror-in-tile", "flip/address_remap", "semantics/arange_start")
def mirror_in_tile(source: CaseSource) -> Iterator[Plant]:
    """The index is mirrored within its tile; the last tile reads behind the end."""
    new = "({rest}) // BLOCK * BLOCK + BLOCK - 1 - ({rest}) % BLOCK"
    for label, mutant in _indices(source, new):
        yield plant(mutant, "block-local-flip", "out-of-bounds-read", label=label)


@operator("mirror-moved", "flip/tiles_2d_h_remap", "flip/kv_cache_remap")
def mirror_moved(source: CaseSource) -> Iterator[Plant]:
    """The other index of the address is mirrored."""
    texts = {
        "flip/tiles_2d_h_remap": "rows[:, None] * stride_h + (W - 1 - cols[None, :]) * stride_w",
        "flip/kv_cache_remap": "head + times[:, None] * D + (D - 1 - features[None, :])",
    }
    yield plant(source.put((source.assigned("src"), texts[source.name])), "wrong-axis")


@operator("heads-mirrored", "flip/kv_cache_remap")
def heads_mirrored(source: CaseSource) -> Iterator[Plant]:
    """Batches and heads are loaded from their mirrored places as well."""
    head = ast.unparse(source.assigned("head"))
    program = next(n for n in ast.walk(source.assigned("head")) if isinstance(n, ast.Call))
    count = ast.unparse(program).replace("program_id", "num_programs")
    mirrored = head.replace(ast.unparse(program), f"({count} - 1 - {ast.unparse(program)})")
    yield plant(source.swap("head", mirrored, source.assigned("src")), "wrong-axis")


@operator("both-mirrored", "flip/tiles_2d_h_remap", "flip/rows_remap")
def both_mirrored(source: CaseSource) -> Iterator[Plant]:
    """Both indices of the address are mirrored."""
    if source.name == "flip/rows_remap":
        mutant = source.swap("row * stride_h", "(tl.num_programs(0) // tiles - 1 - row) * stride_h")
    else:
        mutant = source.swap("cols[None, :] * stride_w", "(W - 1 - cols[None, :]) * stride_w")
    yield plant(mutant, "wrong-axis")


# --------------------------------------------------------------------------- tiles


@dataclass(frozen=True, slots=True)
class _Base:
    """The parts of `src = length - start - tile + lanes`, where a mirrored tile begins."""

    node: ast.expr
    length: str
    tile: str
    lanes: str


def _base(source: CaseSource) -> _Base:
    node = source.assigned("src")
    match = re.fullmatch(r"(\w+) - start - (\w+) \+ (.+)", ast.unparse(node))
    if match is None:
        raise NoMatch(source.name)
    return _Base(node, *match.groups())


def _loads_compared(source: CaseSource) -> ast.Compare:
    """The comparison of a mirrored load's mask."""
    found = source.comparisons(ast.GtE)
    if len(found) != 1:
        raise NoMatch(source.name)
    return found[0]


def _masked_at_end(source: CaseSource, length: str) -> CaseSource:
    """The mask of a mirrored load, `src >= 0`, becomes that of a plain one."""
    compared = _loads_compared(source)
    return source.put((compared, f"({ast.unparse(compared.left)} < {length})"))


@operator("base-not-mirrored", *MIRRORED)
def base_not_mirrored(source: CaseSource) -> Iterator[Plant]:
    """Each tile is loaded from its own place, under its own mask, and flipped there."""
    base = _base(source)
    mutant = source.put((base.node, f"start + {base.lanes}"))
    yield plant(_masked_at_end(mutant, base.length), "block-local-flip", "padding-leak")


@operator("base-not-mirrored-mask-kept", "flip/mirrored_tiles", "flip/trans_flip_trans")
def base_not_mirrored_mask_kept(source: CaseSource) -> Iterator[Plant]:
    """Each tile is loaded from its own place, under the mask of the mirrored one."""
    base = _base(source)
    mutant = source.put((base.node, f"start + {base.lanes}"))
    yield plant(mutant, "block-local-flip", "out-of-bounds-read")


@operator("flip-dropped", *MIRRORED)
def flip_dropped(source: CaseSource) -> Iterator[Plant]:
    """Tiles are loaded from their mirrored places and not flipped."""
    flip = source.call("tl.flip")
    mutant = source.put((flip, ast.unparse(flip.args[0])))
    yield plant(mutant, "tile-order-only", "padding-leak")


@operator("flip-dropped-whole", "flip/flip_reshape", "flip/row_sum_flipped")
def flip_dropped_whole(source: CaseSource) -> Iterator[Plant]:
    """A flip of whole pixels or rows is left out."""
    flip = source.call("tl.flip")
    mutant = source.put((flip, ast.unparse(flip.args[0])))
    if source.contract == "Reference":
        yield same(mutant, "a sum of integers does not depend on the order of its terms")
    else:
        yield plant(mutant, "not-reversed")


@operator("base-one-short", *MIRRORED)
def base_one_short(source: CaseSource) -> Iterator[Plant]:
    """The mirrored tile is loaded one element too early; its mask hides what lies before x."""
    base = source.assigned("src")
    yield plant(source.put((base, f"{ast.unparse(base)} - 1")), "off-by-one")


@operator("base-one-beyond", "flip/mirrored_tiles", "flip/trans_flip_trans")
def base_one_beyond(source: CaseSource) -> Iterator[Plant]:
    """The mirrored tile is loaded one element too late, and reads behind the end of x."""
    base = source.assigned("src")
    mutant = source.put((base, f"{ast.unparse(base)} + 1"))
    yield plant(mutant, "off-by-one", "out-of-bounds-read")


@operator("tiles-from-the-padded-end", "flip/mirrored_tiles", "flip/tiles_2d_w_mirrored")
def tiles_from_padded_end(source: CaseSource) -> Iterator[Plant]:
    """The mirrored tile is counted from the padded end, so that the padding comes first."""
    base = _base(source)
    last = f"(tl.cdiv({base.length}, {base.tile}) - 1) * {base.tile}"
    mutant = source.put((base.node, f"{last} - start + {base.lanes}"))
    yield plant(_masked_at_end(mutant, base.length), "padding-leak")


@operator("tile-flipped-along-the-other-axis", "flip/tiles_2d_w_mirrored")
def other_axis_of_tile(source: CaseSource) -> Iterator[Plant]:
    """The tile is flipped along its rows: columns change places by tiles, rows are reversed."""
    flip = source.call("tl.flip")
    mutant = source.put((flip, f"tl.flip({ast.unparse(flip.args[0])}, 0)"))
    yield plant(mutant, "tile-order-only", "wrong-axis", "padding-leak")


@operator("both-axes-of-tile", "flip/tiles_2d_w_mirrored", "flip/trans_flip_trans")
def both_axes_of_tile(source: CaseSource) -> Iterator[Plant]:
    """The tile is flipped along its other axis as well, padding and all."""
    flip = source.call("tl.flip")
    mutant = source.put((flip, f"tl.flip({ast.unparse(flip)}, 0)"))
    yield plant(mutant, "wrong-axis", "padding-leak")


@operator("shift-dropped", *SHIFTED)
def shift_dropped(source: CaseSource) -> Iterator[Plant]:
    """The flipped tile is stored from its start, so that its padding comes first."""
    yield plant(_unshifted(source, masked=True), "padding-leak")


@operator("shift-and-mask-dropped", "flip/single_tile_shifted")
def shift_and_mask_dropped(source: CaseSource) -> Iterator[Plant]:
    """The flipped tile is stored from its start, and all of it."""
    yield plant(_unshifted(source, masked=False), "padding-leak", "out-of-bounds-write")


@operator("shift-dropped-padding-of-7", "flip/single_tile_shifted", "semantics/flip_ints")
def shift_dropped_padding_of_7(source: CaseSource) -> Iterator[Plant]:
    """The flipped tile is stored from its start, and its padding is 7."""
    mutant = _unshifted(source, masked=True)
    yield plant(mutant.keyword(mutant.call("tl.load"), "other", "7"), "padding-leak")


def _unshifted(source: CaseSource, masked: bool) -> CaseSource:
    """`dst = lanes - (tile - length)` without the shift, under the mask of the length."""
    shifted = source.assigned("dst")
    if not isinstance(shifted, ast.BinOp):
        raise NoMatch(source.name)
    length = ast.unparse(shifted.right).split(" - ")[-1]
    mutant = source.put((shifted, ast.unparse(shifted.left)))
    compared = next(c for c in mutant.comparisons(ast.GtE) if ast.unparse(c.left) == "dst")
    return mutant.put((compared, f"(dst < {length})")) if masked else mutant


@operator("flip-dropped-tile-shifted", "flip/single_tile_shifted", "semantics/flip_floats")
def flip_dropped_tile_shifted(source: CaseSource) -> Iterator[Plant]:
    """A padded tile is not flipped, and stored shifted by its padding all the same."""
    flip = source.call("tl.flip")
    mutant = source.put((flip, ast.unparse(flip.args[0])))
    yield plant(mutant, "not-reversed", "padding-leak")


@operator("programs-reversed", "abs/vector", "flip/address_remap", "flip/kv_cache_remap")
def programs_reversed(source: CaseSource) -> Iterator[Plant]:
    """The programs take the tiles from the last one to the first."""
    mutant = source.swap("tl.program_id(0)", "(tl.num_programs(0) - 1 - tl.program_id(0))")
    yield same(mutant, "each program does the work of another one, and all of it is done")


# --------------------------------------------------------------------------- strides


STRIDED = ("flip/rows_remap", "flip/both_axes_remap", "flip/tiles_2d_h_remap")
#: what else is true of a kernel that ignores strides.
_BESIDE = ("out-of-bounds-read",)
_WHY = (
    "between the elements of a strided input and behind a short expanded one lies memory that is "
    "not its own, and it is read"
)


@operator("strides-of-a-contiguous-matrix", *STRIDED)
def contiguous_strides(source: CaseSource) -> Iterator[Plant]:
    """The launch passes the row length and 1 in place of the strides."""
    mutant = source.swap("x.stride(0)", "W", source.run)
    mutant = mutant.swap("x.stride(1)", "1", mutant.run)
    yield plant(mutant, "stride-ignored", also=_BESIDE, why=_WHY)


@operator("row-stride-ignored", *STRIDED)
def row_stride_ignored(source: CaseSource) -> Iterator[Plant]:
    """The launch passes the row length in place of the stride of rows."""
    mutant = source.swap("x.stride(0)", "W", source.run)
    yield plant(mutant, "stride-ignored", also=_BESIDE, why=_WHY)


@operator("column-stride-ignored", *STRIDED)
def column_stride_ignored(source: CaseSource) -> Iterator[Plant]:
    """The launch passes 1 in place of the stride of columns."""
    mutant = source.swap("x.stride(1)", "1", source.run)
    yield plant(mutant, "stride-ignored", also=_BESIDE, why=_WHY)


@operator("strides-exchanged", "flip/tiles_2d_h_remap", "flip/rows_remap")
def strides_exchanged(source: CaseSource) -> Iterator[Plant]:
    """The launch passes the two strides in the wrong order."""
    mutant = source.swap("x.stride(0)", "x.stride(-1)", source.run)
    mutant = mutant.swap("x.stride(1)", "x.stride(0)", mutant.run)
    # A wide matrix would be left far behind, for memory that nobody knows.
    mutant = mutant.options(axes="{'H': (1, 8), 'W': (1, 20)}")
    why = "rows and columns are of different lengths, so memory beside the matrix is read"
    yield plant(mutant, "stride-ignored", also=_BESIDE, why=why)
