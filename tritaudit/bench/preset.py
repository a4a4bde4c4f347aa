"""The rows that show what is said of the speed of `tl.flip` and `tl.abs` (claims A10 to B40)."""

from __future__ import annotations

from tritaudit.bench.model import Entry

__all__ = ["claims"]

#: elements of the large inputs, and the sides of a square of as many.
LARGE, SIDE = 1 << 26, 1 << 13
#: width of the rows that are summed.
ROW = 4096
#: elements of the small Huber loss.
SMALL = 10_000
TILE = (("BH", 32), ("BW", 64))
SQUARE = (("H", SIDE), ("W", SIDE))


def claims() -> tuple[Entry, ...]:
    """The rows of all groups, in the order in which they are shown."""
    return (*_vectors(), *_squares(), *_sums(), *_abs(), *_huber())


def _vectors() -> list[Entry]:
    entries = []
    for block in (1024, 4096):
        group = f"reverse {LARGE:,} float32, BLOCK={block}"
        for case in ("flip/address_remap", "flip/mirrored_tiles"):
            entries.append(Entry(case, group, (("N", LARGE),), (("BLOCK", block),)))
    group = f"x + its reverse, {LARGE:,} float32"
    entries.append(Entry("flip/symmetric_add", group, (("N", LARGE),), (("BLOCK", 1024),)))
    return entries


def _squares() -> list[Entry]:
    """Flips of a tile at 1, 4 and 8 warps beside the remap at 4, along both axes (A36 to A38)."""
    entries = []
    for axis, remap, flips in (
        (0, "flip/tiles_2d_h_remap", ("flip/tiles_2d_h_mirrored", "flip/trans_flip_trans")),
        (1, "flip/tiles_2d_w_remap", ("flip/tiles_2d_w_mirrored",)),
    ):
        group = f"axis {axis} of {SIDE:,} x {SIDE:,} float32"
        entries.append(Entry(remap, group, SQUARE, TILE, 4))
        for case in flips:
            entries += [Entry(case, group, SQUARE, TILE, warps) for warps in (1, 4, 8)]
    return entries


def _sums() -> list[Entry]:
    group = f"sum of rows of {ROW:,} float32"
    sizes = (("H", LARGE // ROW), ("W", ROW))
    return [Entry(case, group, sizes) for case in ("flip/row_sum", "flip/row_sum:flipped")]


def _abs() -> list[Entry]:
    group = f"abs of {LARGE:,} float32"
    sizes, tiles = (("N", LARGE),), (("BLOCK", 1024),)
    return [
        Entry(case, group, sizes, tiles)
        for case in ("abs/vector", "abs/where_lt", "abs/maximum_neg")
    ]


def _huber() -> list[Entry]:
    entries = []
    for size in (SMALL, LARGE):
        group = f"Huber loss of {size:,} float32"
        sizes, tiles = (("N", size),), (("BLOCK", 1024),)
        entries.append(Entry("loss/huber", group, sizes, tiles))
        entries.append(Entry("loss/huber", group, sizes, tiles, expression="unfused torch"))
    return entries
