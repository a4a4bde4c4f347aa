"""Tensors bit by bit: views, guard bands, layouts, and the values of an example.

Everything works on integer views of the same width, so that dtypes for which torch has no
arithmetic (uint16, uint32, uint64, float8) are treated like all others, on the CPU and on a device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch

from tritaudit.dtypes import DType, dtype_of, specials, to_signed
from tritaudit.model import Case, Edit, Example, Fill, FillKind, Layout
from tritaudit.model import Tensor as Input

#: what fills an output before the launch, by poison number: recognisable, and no likely result.
POISON = (0xA5A5A5A5A5A5A5A5, 0x5A5A5A5A5A5A5A5A)
#: what lies around an input, by poison number. The second ends in a zero byte, so that a bool that
#: is read from there is another one than with the first.
GUARD = (0xC3C3C3C3C3C3C3C3, 0x3C3C3C3C3C3C3C00)


# --------------------------------------------------------------------------- bits


def bits_of(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements as signed integers of the same width (a view)."""
    return tensor.view(dtype_of(tensor.dtype).carrier)


def from_bits(bits: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Signed integers of a dtype's width as that dtype (a view)."""
    return bits.view(dtype.torch)


def unsigned_bits(tensor: torch.Tensor) -> list[int]:
    """The bit patterns of all elements, flat and row-major, as unsigned Python integers."""
    mask = dtype_of(tensor.dtype).mask
    return [int(v) & mask for v in bits_of(tensor.contiguous()).reshape(-1).tolist()]


def same_bits(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Where two tensors of one dtype hold the same bits (bool, their shape)."""
    return bits_of(a) == bits_of(b)


def is_nan(tensor: torch.Tensor) -> torch.Tensor:
    """Where a tensor holds a NaN of any sign and payload; all False for integers."""
    d = dtype_of(tensor.dtype)
    if not d.is_float:
        return torch.zeros(tensor.shape, dtype=torch.bool, device=tensor.device)
    magnitude = bits_of(tensor) & to_signed(d.mask >> 1, d.bits)
    exponent = ((1 << d.exponent) - 1) << d.mantissa
    if d.has_inf:
        return magnitude > exponent
    return magnitude == (d.mask >> 1)


def is_negative_zero(tensor: torch.Tensor) -> torch.Tensor:
    """Where a float tensor holds -0.0; all False for integers."""
    d = dtype_of(tensor.dtype)
    if not d.is_float:
        return torch.zeros(tensor.shape, dtype=torch.bool, device=tensor.device)
    return bits_of(tensor) == to_signed(d.sign_bit, d.bits)


def has_sign(tensor: torch.Tensor) -> torch.Tensor:
    """Where the sign bit of a float or signed integer is set; all False for the others."""
    d = dtype_of(tensor.dtype)
    if not d.sign_bit:
        return torch.zeros(tensor.shape, dtype=torch.bool, device=tensor.device)
    return bits_of(tensor) < 0


def flip_bits(tensor: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """`tensor` reversed along `dims`, bit for bit, in any dtype."""
    d = dtype_of(tensor.dtype)
    return from_bits(torch.flip(bits_of(tensor.contiguous()), tuple(dims)), d)


def abs_bits(tensor: torch.Tensor) -> torch.Tensor:
    """abs in the dtype itself: sign bit cleared, two's complement negated (the minimum stays)."""
    d = dtype_of(tensor.dtype)
    if d.is_float:
        return from_bits(bits_of(tensor) & to_signed(d.mask >> 1, d.bits), d)
    if d.is_signed_int:
        return torch.where(tensor < 0, -tensor, tensor)
    return tensor.clone()


# --------------------------------------------------------------------------- values


def mix(counter: torch.Tensor, seed: int | torch.Tensor) -> torch.Tensor:
    """64 well mixed bits for each counter (the finaliser of splitmix64), the same on any device.

    A tensor of seeds is broadcast against the counters.
    """

    def shifted(z: torch.Tensor, k: int) -> torch.Tensor:
        return (z >> k) & ((1 << (64 - k)) - 1)

    seeds = torch.as_tensor(seed, dtype=torch.int64, device=counter.device)
    z = counter * to_signed(0x9E3779B97F4A7C15, 64) + (seeds + 1) * to_signed(
        0xD1342543DE82EF95, 64
    )
    z = (z ^ shifted(z, 30)) * to_signed(0xBF58476D1CE4E5B9, 64)
    z = (z ^ shifted(z, 27)) * to_signed(0x94D049BB133111EB, 64)
    return z ^ shifted(z, 31)


def narrow(bits: torch.Tensor, d: DType) -> torch.Tensor:
    """int64 bit patterns (taken modulo 2**width) as a tensor of dtype `d`."""
    if d.bits < 64:
        sign = 1 << (d.bits - 1)
        bits = (((bits & d.mask) ^ sign) - sign) if d.kind != "bool" else bits & 1
    return from_bits(bits.to(d.carrier), d)


def number_as(values: torch.Tensor, d: DType) -> torch.Tensor:
    """int64 or float64 numbers that `d` holds exactly, as dtype `d`."""
    if d.is_float:
        wide = values.to(torch.float64)
        return wide.to(torch.float32).to(d.torch) if d.bits <= 32 else wide.to(d.torch)
    return narrow(values.to(torch.int64), d)


def fill_values(
    count: int, d: DType, fill: Fill, ordinal: int = 0, device: str | torch.device = "cpu"
) -> torch.Tensor:
    """The values of one input: 1-D, `count` elements of dtype `d`.

    `ordinal` is the place of the input among the inputs, so that two inputs differ. This is
    version 1 of the algorithm; a repro token names it, so a change needs a new token version.
    """
    seeds = torch.full((1,), fill.seed, dtype=torch.int64, device=device)
    return fill_rows(count, d, fill.kind, seeds, ordinal)[0]


def fill_rows(
    count: int, d: DType, kind: FillKind, seeds: torch.Tensor, ordinal: int = 0
) -> torch.Tensor:
    """The values of one input for several seeds at once: a row of `count` elements for each.

    Made on the device of `seeds` (int64, 1-D), without copying anything to it.
    """
    i = torch.arange(count, dtype=torch.int64, device=seeds.device)
    seeds = seeds[:, None]
    match kind:
        case FillKind.ZERO:
            return narrow(i * (seeds * 0), d)
        case FillKind.INDEX:
            return _tags(i + 7 * ordinal, d, seeds)
        case FillKind.NORMAL:
            return _small(mix(i, seeds * 31 + ordinal), d)
        case FillKind.SPECIAL:
            table = special_table(d.name, str(seeds.device))
            return narrow(table[(mix(i, seeds * 31 + ordinal) & 0x7FFFFFFF) % len(table)], d)
        case FillKind.PATTERNS:
            shift = d.bits * ordinal
            return narrow((i + seeds) >> shift if shift < 64 else i * (seeds * 0), d)
        case FillKind.RANDOM:
            return narrow(mix(i, seeds * 31 + ordinal), d)


@cache
def special_table(name: str, device: str) -> torch.Tensor:
    """The bit patterns of a dtype's special values (int64) on a device, copied there once."""
    return torch.tensor([to_signed(s.bits, 64) for s in specials(name)], device=device)


def _tags(j: torch.Tensor, d: DType, planes: torch.Tensor) -> torch.Tensor:
    """Digit `plane` of every index, as the numbers 1..tags of the dtype (bool: bits)."""
    if d.kind == "bool":
        return narrow((j >> planes) & 1, d)
    # No element has an index of 2**60, so planes beyond that are all zero.
    exponents = planes.clamp(max=60 // max(1, d.tags.bit_length() - 1))
    power = torch.full_like(planes, d.tags) ** exponents
    digit = j.div(power, rounding_mode="floor") % d.tags
    return number_as(digit + 1, d)


def _small(h: torch.Tensor, d: DType) -> torch.Tensor:
    """Small numbers of both signs from random bits."""
    if d.is_float:
        wide = d.mantissa >= 7
        numbers = ((h & (0xFF if wide else 0x0F)) - (128 if wide else 8)).to(torch.float64)
        return number_as(numbers / (8 if wide else 2), d)
    return narrow((h & 0x7F) - (64 if d.is_signed_int else 0), d)


def set_bits(flat: torch.Tensor, edits: Sequence[tuple[int, int]]) -> None:
    """Write bit patterns into a flat contiguous tensor, in place. Indices past the end are left."""
    d = dtype_of(flat.dtype)
    target = bits_of(flat)
    for index, bits in edits:
        if 0 <= index < flat.numel():
            target[index] = to_signed(bits, d.bits)


def logical_values(
    case: Case, example: Example, device: str | torch.device = "cpu"
) -> dict[str, torch.Tensor]:
    """The inputs of an example as contiguous tensors of their logical shapes."""
    out: dict[str, torch.Tensor] = {}
    for ordinal, spec in enumerate(case.inputs):
        out[spec.name] = _logical(spec, ordinal, example, device)
    return out


def _logical(
    spec: Input, ordinal: int, example: Example, device: str | torch.device
) -> torch.Tensor:
    shape = tuple(example.size(axis) for axis in spec.axes)
    d = dtype_of(example.dtype(spec.name))
    flat = fill_values(math.prod(shape), d, example.fill, ordinal, device)
    edits: list[Edit] = [e for e in example.edits if e.tensor == spec.name]
    if edits:
        flat = flat.clone()
        set_bits(flat, [(e.index, e.bits) for e in edits])
    value = flat.reshape(shape)
    if example.layout(spec.name) is Layout.EXPANDED and shape and shape[0] > 1:
        first = bits_of(value)[:1].expand(shape).contiguous()
        value = from_bits(first, d)
    return value


# --------------------------------------------------------------------------- guard bands


@dataclass(slots=True)
class Buffer:
    """A tensor inside a larger allocation, so that accesses beside it are seen.

    `store` is the whole allocation as integers, `view` the tensor that a kernel gets, `inside`
    marks the elements of `store` that belong to it (None: the contiguous run from `start`). What
    lies between them, in the gaps of a strided tensor, holds `gap`.
    """

    store: torch.Tensor
    view: torch.Tensor
    start: int
    count: int
    guard: int  # the guard pattern, as a signed integer of the width
    inside: torch.Tensor | None = None
    gap: int | None = None  # None: the guard pattern

    def on(self, device: str | torch.device) -> Buffer:
        """The same allocation on another device (itself where it lies there already)."""
        store = self.store.to(device)
        if store is self.store:
            return self
        d = dtype_of(self.view.dtype)
        view = from_bits(store, d).as_strided(
            self.view.shape, self.view.stride(), self.view.storage_offset()
        )
        inside = self.inside.to(device) if self.inside is not None else None
        return Buffer(store, view, self.start, self.count, self.guard, inside, self.gap)

    def touched(self) -> torch.Tensor:
        """Positions of changed guard elements, relative to the first element of the tensor."""
        changed = self.store != self.guard
        if self.inside is not None:
            if self.gap is not None:
                span = slice(self.start, self.start + self.count)
                changed[span] = self.store[span] != self.gap
            changed = changed & ~self.inside
        else:
            changed[self.start : self.start + self.count] = False
        return changed.nonzero().reshape(-1) - self.start


def guard_elements(d: DType, reach: int) -> int:
    """How many guard elements lie on each side: at least `reach`, a multiple of 16 bytes."""
    step = max(1, 16 // d.bytes)
    return -(-max(reach, 64) // step) * step


def strides_of(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[int, ...], int]:
    """Element strides of a layout, and how many elements of storage they span."""
    gap = 1
    order = list(range(len(shape)))
    if layout is Layout.STRIDED or (layout is Layout.TRANSPOSED and len(shape) == 1):
        gap = 2
    elif layout is Layout.TRANSPOSED and len(shape) > 1:
        order[0], order[1] = order[1], order[0]
    strides = [0] * len(shape)
    step = gap
    for axis in reversed(order):
        if layout is Layout.EXPANDED and axis == 0:
            continue
        strides[axis] = step
        step *= max(shape[axis], 1)
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if all(shape) else 0
    return tuple(strides), span


def guarded(
    shape: tuple[int, ...],
    d: DType,
    pattern: int,
    reach: int,
    layout: Layout = Layout.CONTIGUOUS,
    device: str | torch.device = "cpu",
) -> Buffer:
    """An allocation of `shape` with guard bands of at least `reach` elements on either side.

    Everything, the tensor included, is filled with `pattern`.
    """
    strides, span = strides_of(shape, layout)
    band = guard_elements(d, reach)
    start = band + (1 if layout is Layout.OFFSET else 0)
    guard = to_signed(pattern & d.mask, d.bits)
    store = torch.full((start + span + band,), guard, dtype=d.carrier, device=device)
    view = from_bits(store, d).as_strided(shape, strides, start)
    inside = None
    if span != math.prod(shape):
        inside = torch.zeros_like(store, dtype=torch.bool)
        inside.as_strided(shape, strides, start).fill_(True)
    return Buffer(store, view, start, span, guard, inside)


def guarded_copy(
    value: torch.Tensor, pattern: int, reach: int, layout: Layout = Layout.CONTIGUOUS
) -> Buffer:
    """`value` laid out as `layout` inside guard bands.

    The gaps of a strided tensor always hold the first guard pattern (True for bool, of which any
    other byte would be stored as another one): what is read from there does not change with the
    guard bands, because it does not lie beside the tensor.
    """
    d = dtype_of(value.dtype)
    buffer = guarded(tuple(value.shape), d, pattern, reach, layout, value.device)
    if buffer.inside is not None:
        buffer.gap = 1 if d.name == "bool" else to_signed(GUARD[0] & d.mask, d.bits)
        span = slice(buffer.start, buffer.start + buffer.count)
        buffer.store[span] = buffer.gap
    target, source = bits_of(buffer.view), bits_of(value)
    if layout is Layout.EXPANDED and value.dim() and value.shape[0] > 1:
        target, source = target[:1], source[:1]
    target.copy_(source)
    return buffer
