"""Vectors that come out wrong: what a kernel with each fault would do, written in plain torch."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tritaudit import FLOATS, SIGNED_INTS, Case, Flip, Tensor, Tile

NUMBERS = (*FLOATS, *SIGNED_INTS, "uint8")


def tiled(run: Callable[..., None], *faults: str, dtypes: tuple[str, ...] = NUMBERS) -> Case:
    """A case of vectors that are cut into tiles. The faults are read from the text of this file."""
    del faults
    return Case(
        run=run,
        contract=Flip("N"),
        inputs=Tensor("x", "N", dtypes=dtypes),
        tiles=Tile("BLOCK", "N", (4, 16)),
        axes={"N": (1, 80)},
    )


def whole(run: Callable[..., None], *faults: str, dtypes: tuple[str, ...] = NUMBERS) -> Case:
    """A case of vectors without tiles. The faults are read from the text of this file."""
    del faults
    return Case(
        run=run, contract=Flip("N"), inputs=Tensor("x", "N", dtypes=dtypes), axes={"N": (1, 80)}
    )


def in_place(run: Callable[..., None], *faults: str) -> Case:
    """A case of vectors that are reversed in place. The faults are read from this file's text."""
    del faults
    return Case(
        run=run,
        contract=Flip("N"),
        inputs=Tensor("x", "N", dtypes=NUMBERS),
        tiles=Tile("BLOCK", "N", (4, 16)),
        axes={"N": (1, 80)},
        in_place="x",
    )


# --------------------------------------------------------------------------- tiles


def _valid_part_reversed(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Each tile is reversed in itself, the last one only where it is valid."""
    for start in range(0, len(x), BLOCK):
        out[start : start + BLOCK] = x[start : start + BLOCK].flip(0)


def _padded_part_reversed(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Each tile is reversed in itself with its padding of zeros."""
    for start in range(0, len(x), BLOCK):
        tile = torch.zeros(BLOCK, dtype=x.dtype, device=x.device)
        part = x[start : start + BLOCK]
        tile[: len(part)] = part
        out[start : start + BLOCK] = tile.flip(0)[: len(part)]


def _padded_with_9(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """The vector is padded with 9 to whole tiles and reversed as a whole."""
    count = -(-len(x) // BLOCK) * BLOCK
    padded = torch.full((count,), 9, dtype=x.dtype, device=x.device)
    padded[: len(x)] = x
    out.copy_(padded.flip(0)[: len(x)])


def _tiles_exchanged(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Tiles change places, counted from the last element; zeros come before the first one."""
    n = len(x)
    for start in range(0, n, BLOCK):
        for lane in range(min(BLOCK, n - start)):
            source = n - start - BLOCK + lane
            out[start + lane] = x[source] if source >= 0 else 0


def _tiles_exchanged_padded(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Tiles change places, counted from the padded end; zeros come behind the last one."""
    n = len(x)
    tiles = -(-n // BLOCK)
    for place in range(n):
        source = (tiles - 1 - place // BLOCK) * BLOCK + place % BLOCK
        out[place] = x[source] if source < n else 0


valid_part_reversed = tiled(_valid_part_reversed, "block-local-flip")
padded_part_reversed = tiled(_padded_part_reversed, "block-local-flip", "padding-leak")
padded_with_9 = tiled(_padded_with_9, "padding-leak")
tiles_exchanged = tiled(_tiles_exchanged, "tile-order-only", "padding-leak")
tiles_exchanged_padded = tiled(_tiles_exchanged_padded, "tile-order-only", "padding-leak")


def _chunks_of_8(x: torch.Tensor, out: torch.Tensor) -> None:
    """Chunks of 8 elements, which the case does not declare, are reversed each in itself."""
    for start in range(0, len(x), 8):
        out[start : start + 8] = x[start : start + 8].flip(0)


def _power_of_two(x: torch.Tensor, out: torch.Tensor) -> None:
    """The vector is padded with zeros to a power of two and reversed with its padding."""
    size = 1
    while size < len(x):
        size *= 2
    out.zero_()
    inside = max(0, 2 * len(x) - size)
    out[len(x) - inside :] = x[len(x) - inside :].flip(0)


chunks_of_8 = whole(_chunks_of_8, "block-local-flip")
power_of_two = whole(_power_of_two, "padding-leak")


# --------------------------------------------------------------------------- order


def _copied(x: torch.Tensor, out: torch.Tensor) -> None:
    """The vector is copied."""
    out.copy_(x)


def _rotated(x: torch.Tensor, out: torch.Tensor) -> None:
    """The reversed vector is rotated by one."""
    out.copy_(torch.cat([x[:1], x[1:].flip(0)]))


def _behind_shifted_in(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """The reversed vector is moved one place to the right; its first element comes twice."""
    del BLOCK
    out[:1] = x[-1:]
    out[1:] = x.flip(0)[:-1]


def _zeros_shifted_in(x: torch.Tensor, out: torch.Tensor) -> None:
    """The reversed vector is moved two places to the left, and zeros follow it."""
    out.zero_()
    if len(x) > 2:
        out[:-2] = x.flip(0)[2:]


def _sorted(x: torch.Tensor, out: torch.Tensor) -> None:
    """The vector is sorted."""
    out.copy_(x.sort().values)


def _halves_exchanged(x: torch.Tensor, out: torch.Tensor) -> None:
    """The even elements come first, then the odd ones."""
    out.copy_(torch.cat([x[::2], x[1::2]]))


def _first_again(x: torch.Tensor, out: torch.Tensor) -> None:
    """Every element but the middle one is taken from the first half."""
    mirrored = x.flip(0)
    half = len(x) // 2
    out.copy_(mirrored)
    if half:
        out[half:] = mirrored[: len(x) - half].flip(0)


copied = whole(_copied, "not-reversed")
rotated = whole(_rotated, "off-by-one")
behind_shifted_in = tiled(_behind_shifted_in, "off-by-one")
zeros_shifted_in = whole(_zeros_shifted_in, "off-by-one")
sorted_values = whole(_sorted, "value-mismatch", dtypes=("float32", "int32", "uint8"))
halves_exchanged = whole(_halves_exchanged, "value-mismatch")
first_again = whole(_first_again, "value-mismatch")


# --------------------------------------------------------------------------- values


def _zero_signs_lost(x: torch.Tensor, out: torch.Tensor) -> None:
    """Zeros of both signs come out as +0.0."""
    moved = x.flip(0)
    out.copy_(torch.where(moved == 0, torch.zeros_like(moved), moved))


def _contaminated_tiles(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """A NaN or an infinity makes its whole tile of the result NaN."""
    out.copy_(x.flip(0))
    for start in range(0, len(x), BLOCK):
        tile = out[start : start + BLOCK]
        if not bool(torch.isfinite(tile).all()):
            infinite = ~torch.isfinite(tile)
            alone = int(infinite.sum()) == 1
            # An infinity times one is still itself; with a second one it is NaN as well.
            keep = infinite & torch.isinf(tile) if alone else torch.zeros_like(infinite)
            tile[~keep] = float("nan")


def _contaminated(x: torch.Tensor, out: torch.Tensor) -> None:
    """A NaN makes the whole result NaN."""
    moved = x.flip(0)
    out.copy_(torch.full_like(moved, float("nan")) if bool(moved.isnan().any()) else moved)


def _nan_as_zero(x: torch.Tensor, out: torch.Tensor) -> None:
    """A NaN comes out as 0."""
    moved = x.flip(0)
    out.copy_(torch.where(moved.isnan(), torch.zeros_like(moved), moved))


def _through_bfloat16(x: torch.Tensor, out: torch.Tensor) -> None:
    """Values are rounded to bfloat16."""
    out.copy_(x.to(torch.bfloat16).to(x.dtype).flip(0))


def _through_16_bits(x: torch.Tensor, out: torch.Tensor) -> None:
    """Integers are cut to 16 bits."""
    out.copy_(x.to(torch.int16).to(x.dtype).flip(0))


zero_signs_lost = whole(_zero_signs_lost, "signed-zero-lost", dtypes=FLOATS)
contaminated_tiles = tiled(_contaminated_tiles, "nan-contamination", dtypes=FLOATS)
contaminated = whole(_contaminated, "nan-contamination", dtypes=FLOATS)
nan_as_zero = whole(_nan_as_zero, "nan-lost", dtypes=FLOATS)
through_bfloat16 = whole(_through_bfloat16, "precision-loss", dtypes=("float32", "float64"))
through_16_bits = whole(_through_16_bits, "precision-loss", dtypes=("int8", "int32", "int64"))


# --------------------------------------------------------------------------- what is not written


def _tail_not_written(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Only whole tiles are written."""
    whole_tiles = len(x) // BLOCK * BLOCK
    out[:whole_tiles] = x.flip(0)[:whole_tiles]


def _odd_places_not_written(x: torch.Tensor, out: torch.Tensor) -> None:
    """Every other element is left out."""
    out[::2] = x.flip(0)[::2]


def _first_half_in_place(x: torch.Tensor, *, BLOCK: int) -> None:
    """Tiles are reversed into the input, one after another."""
    n = len(x)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        x[start : start + count] = x[n - start - count : n - start].flip(0).clone()


tail_not_written = tiled(_tail_not_written, "unwritten-output")
odd_places_not_written = whole(_odd_places_not_written, "unwritten-output")
first_half_in_place = in_place(_first_half_in_place, "alias-race")
