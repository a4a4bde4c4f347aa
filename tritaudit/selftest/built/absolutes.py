"""Absolute values, differences and sums that come out wrong, written in plain torch."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tritaudit import FLOATS, SIGNED_INTS, Abs, Case, Reference, Tensor

WIDER = {"int8": "int16", "int16": "int32", "int32": "int64"}
NARROW = tuple(WIDER)


def absolute(
    run: Callable[..., torch.Tensor | None],
    *faults: str,
    dtypes: tuple[str, ...] = FLOATS,
    wider: bool = False,
    out: str | None = None,
    axes: str = "N",
    also: tuple[str, ...] = (),
    why: str = "",
) -> Case:
    """A case of absolute values. The faults are read from the text of this file."""
    del faults, also, why
    return Case(
        run=run,
        contract=Abs(),
        inputs=Tensor("x", axes, dtypes=dtypes),
        out_dtype=WIDER.__getitem__ if wider else out,
    )


# --------------------------------------------------------------------------- signs


def _copied(x: torch.Tensor, out: torch.Tensor) -> None:
    """Values keep their signs."""
    out.copy_(x)


def _negative(x: torch.Tensor) -> torch.Tensor:
    """Every value comes out negative."""
    return -x.abs()


def _negated(x: torch.Tensor) -> torch.Tensor:
    """Every value is negated."""
    return -x


def _square_root_of_square(x: torch.Tensor) -> torch.Tensor:
    """Values below zero are negated; -0.0 is not below zero."""
    return torch.where(x < 0, -x, x)


def _only_large(x: torch.Tensor) -> torch.Tensor:
    """Values between -1 and 0 keep their signs."""
    return torch.where(x <= -1, -x, x)


copied = absolute(_copied, "sign-kept")
copied_widened = absolute(_copied, "sign-kept", dtypes=NARROW, wider=True)
copied_volume = absolute(_copied, "sign-kept", axes="B H W")
negative = absolute(_negative, "sign-kept")
negated = absolute(_negated, "sign-kept")
below_zero_negated = absolute(_square_root_of_square, "signed-zero-kept")
below_zero_negated_matrix = absolute(_square_root_of_square, "signed-zero-kept", axes="H W")
only_large = absolute(
    _only_large,
    "value-mismatch",
    also=("signed-zero-kept",),
    why="-0.0 keeps its sign as well",
)


# --------------------------------------------------------------------------- NaN


def _nan_as_zero(x: torch.Tensor) -> torch.Tensor:
    """A NaN comes out as 0."""
    return torch.where(x.isnan(), torch.zeros_like(x), x.abs())


def _nan_as_infinity(x: torch.Tensor, out: torch.Tensor) -> None:
    """A NaN comes out as infinity."""
    out.copy_(torch.where(x.isnan(), torch.full_like(x, float("inf")), x.abs()))


def _nan_as_minus_one(x: torch.Tensor) -> torch.Tensor:
    """A NaN comes out as -1."""
    return torch.where(x.isnan(), torch.full_like(x, -1.0), x.abs())


nan_as_zero = absolute(_nan_as_zero, "nan-lost")
nan_as_infinity = absolute(_nan_as_infinity, "nan-lost", axes="H W")
nan_as_minus_one = absolute(_nan_as_minus_one, "nan-lost")


# --------------------------------------------------------------------------- integers


def _same_type(x: torch.Tensor, out: torch.Tensor) -> None:
    """The smallest integer stays negative."""
    out.copy_(torch.where(x < 0, -x, x))


def _saturated(x: torch.Tensor) -> torch.Tensor:
    """The smallest integer comes out as the largest one."""
    top = torch.iinfo(x.dtype).max
    return torch.where(x == -top - 1, torch.full_like(x, top), x.abs())


def _widened_too_late(x: torch.Tensor, out: torch.Tensor) -> None:
    """The absolute value is taken in the narrow type and widened."""
    out.copy_(torch.where(x < 0, -x, x))


def _in_float32(x: torch.Tensor) -> torch.Tensor:
    """Integers are converted to float32 for the absolute value."""
    return x.to(torch.float32).abs().to(torch.int64)


def _in_float16(x: torch.Tensor) -> torch.Tensor:
    """Values are rounded to float16."""
    return x.to(torch.float16).abs().to(x.dtype)


def _of_signed_bits(x: torch.Tensor) -> torch.Tensor:
    """Bytes are read as signed numbers."""
    signed = x.view(torch.int8)
    return torch.where(signed < 0, -signed, signed).view(torch.uint8)


same_type = absolute(_same_type, "int-abs-overflow", dtypes=SIGNED_INTS)
saturated = absolute(_saturated, "int-abs-overflow", dtypes=SIGNED_INTS, axes="H W")
widened_too_late = absolute(_widened_too_late, "int-abs-overflow", dtypes=NARROW, wider=True)
in_float16 = absolute(_in_float16, "precision-loss", dtypes=("float32", "float64"))
of_signed_bits = absolute(_of_signed_bits, "unsigned-as-signed", dtypes=("uint8",))
in_float32 = absolute(_in_float32, "precision-loss", dtypes=("int32",), out="int64")


# --------------------------------------------------------------------------- differences and sums


def difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x - y).abs()


def row_sum(x: torch.Tensor) -> torch.Tensor:
    return x.sum(1)


def dot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * y).sum(1)


def of_two(
    run: Callable[..., torch.Tensor | None], *faults: str, dtypes: tuple[str, ...], out: str | None
) -> Case:
    """A case of absolute differences. The faults are read from the text of this file."""
    del faults
    return Case(
        run=run,
        contract=Reference(difference, tolerance="exact"),
        inputs=[Tensor("x", "N", dtypes=dtypes), Tensor("y", "N", dtypes=dtypes)],
        out_dtype=out,
    )


def of_rows(
    run: Callable[..., torch.Tensor | None],
    *faults: str,
    dtypes: tuple[str, ...],
    out: str | None = "int64",
) -> Case:
    """A case of sums of rows. The faults are read from the text of this file."""
    del faults
    return Case(
        run=run,
        contract=Reference(row_sum),
        inputs=Tensor("x", "H W", dtypes=dtypes),
        axes={"H": (1, 4), "W": (1, 40)},
        out_dtype=out,
        out_shape="H",
    )


def _narrow_difference(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
    """The difference is taken in 8 bits."""
    out.copy_((x - y).abs())


def _unsigned_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Bytes are subtracted as bytes, which leaves nothing to take the absolute value of."""
    return x - y


def _sign_of_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The difference keeps its sign."""
    return x - y


def _rounded_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The values are rounded to float16 before they are subtracted."""
    return (x.to(torch.float16).to(x.dtype) - y.to(torch.float16).to(y.dtype)).abs()


def _byte_sum(x: torch.Tensor) -> torch.Tensor:
    """Rows are summed in 8 bits."""
    return x.sum(1, dtype=torch.int8).to(torch.int64)


def _sum_of_16_bits(x: torch.Tensor) -> torch.Tensor:
    """Sums are cut to 16 bits."""
    return x.sum(1, dtype=torch.int64).to(torch.int16).to(torch.int64)


def _sum_of_all_but_last(x: torch.Tensor) -> torch.Tensor:
    """The last column is left out of the sums."""
    return x[:, :-1].sum(1, dtype=torch.int64)


def _sum_of_bytes_as_signed(x: torch.Tensor) -> torch.Tensor:
    """Bytes are summed as signed numbers."""
    return x.view(torch.int8).sum(1, dtype=torch.int64)


narrow_difference = of_two(_narrow_difference, "int-overflow", dtypes=("int8",), out="int16")
unsigned_difference = of_two(_unsigned_difference, "int-overflow", dtypes=("uint8",), out=None)
sign_of_difference = of_two(_sign_of_difference, "sign-kept", dtypes=("float32",), out=None)
rounded_difference = of_two(_rounded_difference, "precision-loss", dtypes=("float32",), out=None)
byte_sum = of_rows(_byte_sum, "int-overflow", dtypes=("int8",))
sum_of_16_bits = of_rows(_sum_of_16_bits, "int-overflow", dtypes=("int8", "int16", "int32"))
sum_of_all_but_last = of_rows(_sum_of_all_but_last, "value-mismatch", dtypes=("int8", "int16"))
sum_of_bytes_as_signed = of_rows(_sum_of_bytes_as_signed, "unsigned-as-signed", dtypes=("uint8",))
