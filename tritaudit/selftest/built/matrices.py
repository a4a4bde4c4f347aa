"""Matrices and larger tensors that come out wrong, written in plain torch."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tritaudit import FLOATS, SIGNED_INTS, Case, Flip, Tensor, Tile

NUMBERS = (*FLOATS, *SIGNED_INTS, "uint8")


def matrix(
    run: Callable[..., torch.Tensor | None],
    *faults: str,
    axes: str = "H W",
    flip: tuple[str, ...] = ("W",),
    tiles: tuple[Tile, ...] = (),
    layouts: tuple[str, ...] = ("contiguous",),
    dtypes: tuple[str, ...] = NUMBERS,
    also: tuple[str, ...] = (),
    why: str = "",
) -> Case:
    """A case of tensors of several axes. The faults are read from the text of this file."""
    del faults, also, why
    names = axes.split()
    # Small sides, and one that is longer than any tile.
    bounds = {name: (1, 20 if name in flip else 5) for name in names}
    return Case(
        run=run,
        contract=Flip(*flip),
        inputs=Tensor("x", axes, dtypes=dtypes, layouts=layouts),
        tiles=tiles,
        axes=bounds,
    )


COLUMNS = (Tile("BLOCK", "W", (4, 8)),)
ROWS = (Tile("BLOCK", "H", (4, 8)),)


# --------------------------------------------------------------------------- two axes


def _rows_reversed(x: torch.Tensor, out: torch.Tensor) -> None:
    """Rows change places in place of columns."""
    out.copy_(x.flip(0))


def _both_reversed(x: torch.Tensor, out: torch.Tensor) -> None:
    """Rows and columns change places."""
    out.copy_(x.flip((0, 1)))


def _one_of_both(x: torch.Tensor) -> torch.Tensor:
    """Of two axes only the second one is reversed."""
    return x.flip(1)


def _as_one_vector(x: torch.Tensor) -> torch.Tensor:
    """The elements are reversed as one long vector."""
    return x.reshape(-1).flip(0).reshape(x.shape)


def _unchanged(x: torch.Tensor) -> torch.Tensor:
    """The matrix is cloned."""
    return x.clone()


def _turned(x: torch.Tensor) -> torch.Tensor:
    """The elements are read in the order of the columns."""
    return x.t().reshape(x.shape).clone()


rows_reversed = matrix(_rows_reversed, "wrong-axis")
both_reversed = matrix(_both_reversed, "wrong-axis")
one_of_both = matrix(_one_of_both, "wrong-axis", flip=("H", "W"))
as_one_vector = matrix(_as_one_vector, "wrong-axis")
unchanged = matrix(_unchanged, "not-reversed", flip=("H",))
turned = matrix(_turned, "value-mismatch")


def _columns_in_tiles(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Each tile of columns is reversed in itself."""
    for start in range(0, x.shape[1], BLOCK):
        out[:, start : start + BLOCK] = x[:, start : start + BLOCK].flip(1)


def _rows_in_padded_tiles(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Each tile of rows is reversed in itself, with rows of zeros behind the last one."""
    for start in range(0, x.shape[0], BLOCK):
        part = x[start : start + BLOCK]
        tile = x.new_zeros((BLOCK, x.shape[1]))
        tile[: len(part)] = part
        out[start : start + BLOCK] = tile.flip(0)[: len(part)]


def _padded_columns(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Rows are padded with zeros to whole tiles and reversed as a whole."""
    height, width = x.shape
    padded = x.new_zeros((height, -(-width // BLOCK) * BLOCK))
    padded[:, :width] = x
    out.copy_(padded.flip(1)[:, :width])


def _column_tiles_exchanged(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Tiles of columns change places, counted from the right edge."""
    width = x.shape[1]
    padded = x.new_zeros((x.shape[0], BLOCK + width))
    padded[:, BLOCK:] = x
    for start in range(0, width, BLOCK):
        source = width - start  # in the padded matrix, whose first tile is zeros
        count = min(BLOCK, width - start)
        out[:, start : start + count] = padded[:, max(source, 0) :][:, :count]


columns_in_tiles = matrix(_columns_in_tiles, "block-local-flip", tiles=COLUMNS)
rows_in_padded_tiles = matrix(
    _rows_in_padded_tiles, "block-local-flip", "padding-leak", flip=("H",), tiles=ROWS
)
padded_columns = matrix(_padded_columns, "padding-leak", tiles=COLUMNS)
column_tiles_exchanged = matrix(
    _column_tiles_exchanged, "tile-order-only", "padding-leak", tiles=COLUMNS
)


def _first_column_twice(x: torch.Tensor, out: torch.Tensor) -> None:
    """The reversed rows are moved one place to the right."""
    moved = x.flip(1)
    out[:, 0] = moved[:, 0]
    out[:, 1:] = moved[:, :-1]


def _last_row_in_front(x: torch.Tensor, out: torch.Tensor) -> None:
    """The reversed rows are rotated by one."""
    out.copy_(x.flip(0).roll(1, 0))


def _runs_into_next_row(x: torch.Tensor, out: torch.Tensor) -> None:
    """The whole result is moved one place on, so that rows begin with what ends the last one."""
    moved = x.flip(1).reshape(-1)
    flat = torch.zeros_like(moved)
    flat[1:] = moved[:-1]
    out.copy_(flat.reshape(x.shape))


first_column_twice = matrix(_first_column_twice, "off-by-one")
last_row_in_front = matrix(_last_row_in_front, "off-by-one", flip=("H",))
runs_into_next_row = matrix(_runs_into_next_row, "off-by-one")


# --------------------------------------------------------------------------- memory


def _in_memory_order(x: torch.Tensor) -> torch.Tensor:
    """Rows are cut from the memory of the matrix, whatever its strides."""
    flat = torch.as_strided(x, (x.numel(),), (1,))
    return flat.reshape(x.shape).flip(1)


def _columns_in_memory_order(x: torch.Tensor) -> torch.Tensor:
    """Rows are found by their stride; within a row elements are taken one after another."""
    return torch.as_strided(x, tuple(x.shape), (x.stride(0), 1)).flip(1)


def _last_row_not_written(x: torch.Tensor, out: torch.Tensor) -> None:
    """The last row is left out."""
    out[:-1] = x.flip(1)[:-1]


def _one_column_not_written(x: torch.Tensor, out: torch.Tensor) -> None:
    """The first column is left out."""
    out[:, 1:] = x.flip(1)[:, 1:]


in_memory_order = matrix(
    _in_memory_order,
    "stride-ignored",
    layouts=("contiguous", "transposed", "strided"),
    also=("out-of-bounds-read",),
    why="what lies between the elements of a strided matrix is read",
)
columns_in_memory_order = matrix(
    _columns_in_memory_order, "stride-ignored", layouts=("contiguous", "transposed")
)
last_row_not_written = matrix(_last_row_not_written, "unwritten-output")
one_column_not_written = matrix(_one_column_not_written, "unwritten-output")


# --------------------------------------------------------------------------- three and four axes


def _last_axis(x: torch.Tensor) -> torch.Tensor:
    """The last axis is reversed."""
    return x.flip(-1)


def _all_axes(x: torch.Tensor) -> torch.Tensor:
    """All axes are reversed."""
    return x.flip(tuple(range(x.dim())))


def _first_axis(x: torch.Tensor) -> torch.Tensor:
    """The first axis is reversed."""
    return x.flip(0)


last_axis_of_three = matrix(_last_axis, "wrong-axis", axes="B H W", flip=("H",))
all_axes_of_three = matrix(_all_axes, "wrong-axis", axes="B H W", flip=("H", "W"))
first_axis_of_four = matrix(_first_axis, "wrong-axis", axes="B H T D", flip=("T",))
unchanged_of_four = matrix(_unchanged, "not-reversed", axes="B H T D", flip=("T",))


def _times_in_tiles(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """Each tile of the third axis is reversed in itself."""
    for start in range(0, x.shape[2], BLOCK):
        out[:, :, start : start + BLOCK] = x[:, :, start : start + BLOCK].flip(2)


def _times_moved(x: torch.Tensor, out: torch.Tensor) -> None:
    """The reversed third axis is moved on by one; zeros come in."""
    out.zero_()
    out[:, :, 1:] = x.flip(2)[:, :, :-1]


def _times_padded(x: torch.Tensor, out: torch.Tensor) -> None:
    """The third axis is padded with 3 to a power of two and reversed with its padding."""
    size = 1
    while size < x.shape[2]:
        size *= 2
    padded = x.new_full((*x.shape[:2], size, *x.shape[3:]), 3)
    padded[:, :, : x.shape[2]] = x
    out.copy_(padded.flip(2)[:, :, : x.shape[2]])


def _last_batch_not_written(x: torch.Tensor, out: torch.Tensor) -> None:
    """The last batch is left out."""
    out[:-1] = x.flip(1)[:-1]


def _tiles_of_both(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    """The middle axis is reversed in tiles, the last one as a whole."""
    for start in range(0, x.shape[1], BLOCK):
        out[:, start : start + BLOCK] = x[:, start : start + BLOCK].flip((1, 2))


TIMES = (Tile("BLOCK", "T", (4, 8)),)
times_in_tiles = matrix(
    _times_in_tiles, "block-local-flip", axes="B H T D", flip=("T",), tiles=TIMES
)
times_moved = matrix(_times_moved, "off-by-one", axes="B H T D", flip=("T",))
times_padded = matrix(_times_padded, "padding-leak", axes="B H T D", flip=("T",))
last_batch_not_written = matrix(
    _last_batch_not_written, "unwritten-output", axes="B H W", flip=("H",)
)
tiles_of_both = matrix(
    _tiles_of_both, "block-local-flip", axes="B H W", flip=("H", "W"), tiles=ROWS
)
