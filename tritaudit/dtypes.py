"""What tritaudit knows of a dtype: its width, its bit fields and the values that break kernels.

Source of the formats: IEEE 754-2019 for fp16, fp32 and fp64; bfloat16 is fp32 cut to 16 bits; OCP
8-bit floating point specification 1.0 for float8_e4m3fn (no infinity, NaN is S.1111.111) and
float8_e5m2 (IEEE-like).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache

import torch

from tritaudit.model import DTYPES

_TorchDType = torch.dtype  # inside DType, `torch` is a property


@dataclass(frozen=True, slots=True)
class DType:
    """Bit fields of a dtype. For integers and bool, `exponent` and `mantissa` are 0."""

    name: str
    bits: int
    kind: str  # "float", "int", "uint", "bool"
    exponent: int = 0
    mantissa: int = 0
    has_inf: bool = True

    @property
    def torch(self) -> _TorchDType:
        value = getattr(torch, self.name)
        assert isinstance(value, torch.dtype)
        return value

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_signed_int(self) -> bool:
        return self.kind == "int"

    @property
    def is_int(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def mask(self) -> int:
        """All bits set."""
        return (1 << self.bits) - 1

    @property
    def sign_bit(self) -> int:
        """The sign bit of a float or signed integer (its bit pattern), 0 for the others."""
        return 1 << (self.bits - 1) if self.kind in ("float", "int") else 0

    @property
    def carrier(self) -> _TorchDType:
        """The signed integer dtype of the same width, through which bits are moved and compared."""
        return {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[self.bits]

    @property
    def tags(self) -> int:
        """How many tags 1..tags are distinct and exact in this dtype (capped at 2**24)."""
        if self.kind == "bool":
            return 1
        if self.is_float:
            return min(1 << (self.mantissa + 1), 1 << 24)
        top = (1 << (self.bits - (1 if self.is_signed_int else 0))) - 1
        return min(top, 1 << 24)


_TABLE = {
    d.name: d
    for d in (
        DType("float16", 16, "float", 5, 10),
        DType("bfloat16", 16, "float", 8, 7),
        DType("float32", 32, "float", 8, 23),
        DType("float64", 64, "float", 11, 52),
        DType("float8_e4m3fn", 8, "float", 4, 3, has_inf=False),
        DType("float8_e5m2", 8, "float", 5, 2),
        DType("int8", 8, "int"),
        DType("int16", 16, "int"),
        DType("int32", 32, "int"),
        DType("int64", 64, "int"),
        DType("uint8", 8, "uint"),
        DType("uint16", 16, "uint"),
        DType("uint32", 32, "uint"),
        DType("uint64", 64, "uint"),
        DType("bool", 8, "bool"),
    )
}
assert set(_TABLE) == set(DTYPES)


def dtype_of(value: str | torch.dtype) -> DType:
    """The description of a dtype given by name or as a torch dtype.

    Raises:
        KeyError: the dtype is not one that a case may name.
    """
    return _TABLE[str(value).removeprefix("torch.")]


@dataclass(frozen=True, slots=True)
class Special:
    """A value that breaks kernels: a name and its bit pattern."""

    name: str
    bits: int


@cache
def specials(name: str) -> tuple[Special, ...]:
    """The special values of a dtype, most telling first. Bits are unsigned integers."""
    d = dtype_of(name)
    if d.kind == "bool":
        return (Special("True", 1), Special("False", 0))
    if d.kind == "uint":
        return (
            Special("maximum", d.mask),
            Special("2**(w-1)", 1 << (d.bits - 1)),
            Special("0", 0),
            Special("1", 1),
        )
    if d.kind == "int":
        return (
            Special("minimum", d.sign_bit),
            Special("maximum", d.sign_bit - 1),
            Special("-1", d.mask),
            Special("minimum+1", d.sign_bit + 1),
            Special("0", 0),
            Special("1", 1),
        )
    sign, exponent = d.sign_bit, ((1 << d.exponent) - 1) << d.mantissa
    out = [Special("-0.0", sign)]
    if d.has_inf:
        quiet, payload = 1 << (d.mantissa - 1), 1
        out += [
            Special("NaN", exponent | quiet),
            Special("+Inf", exponent),
            Special("-Inf", sign | exponent),
            Special("-NaN", sign | exponent | quiet),
            Special("NaN with payload", exponent | quiet | payload),
            Special("signalling NaN", exponent | payload),
            Special("largest finite", exponent - 1),
            Special("-largest finite", sign | (exponent - 1)),
        ]
    else:
        nan = exponent | ((1 << d.mantissa) - 1)
        out += [
            Special("NaN", nan),
            Special("-NaN", sign | nan),
            Special("largest finite", nan - 1),
            Special("-largest finite", sign | (nan - 1)),
        ]
    out += [
        Special("smallest denormal", 1),
        Special("-smallest denormal", sign | 1),
        Special("0.0", 0),
        Special("1.0", ((1 << (d.exponent - 1)) - 1) << d.mantissa),
        Special("-1.0", sign | ((1 << (d.exponent - 1)) - 1) << d.mantissa),
    ]
    return tuple(out)


def to_signed(bits: int, width: int) -> int:
    """An unsigned bit pattern as the two's complement number of the same width."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def to_unsigned(value: int, width: int) -> int:
    """A two's complement number as its unsigned bit pattern."""
    return value & ((1 << width) - 1)


def value_text(name: str, bits: int) -> str:
    """A bit pattern as a person writes the value, e.g. `-0.0`, `NaN(0x7fc00001)`, `-128`."""
    d = dtype_of(name)
    if d.kind == "bool":
        return {0: "False", 1: "True"}.get(bits, f"0x{bits:02x}")
    if d.kind == "uint":
        return str(bits)
    if d.kind == "int":
        return str(to_signed(bits, d.bits))
    if is_nan_bits(name, bits):
        canonical = specials(name)[1].bits
        if bits == canonical:
            return "NaN"
        if bits == canonical | d.sign_bit:
            return "-NaN"
        return f"NaN(0x{bits:0{d.bits // 4}x})"
    number = _decode(d, bits)
    if number in (float("inf"), float("-inf")):
        return "Inf" if number > 0 else "-Inf"
    if d.bits == 64:
        return repr(number)
    return _shortest(d, bits, number)


def is_nan_bits(name: str, bits: int) -> bool:
    """Whether a bit pattern is a NaN of the dtype."""
    d = dtype_of(name)
    if not d.is_float:
        return False
    magnitude = bits & ~d.sign_bit
    exponent = ((1 << d.exponent) - 1) << d.mantissa
    if d.has_inf:
        return magnitude > exponent
    return magnitude == d.mask >> 1


def _decode(d: DType, bits: int) -> float:
    if d.bits == 64:
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
    sign = -1.0 if bits & d.sign_bit else 1.0
    exponent = (bits >> d.mantissa) & ((1 << d.exponent) - 1)
    fraction = bits & ((1 << d.mantissa) - 1)
    bias = (1 << (d.exponent - 1)) - 1
    if d.has_inf and exponent == (1 << d.exponent) - 1:
        return sign * float("inf")
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - d.mantissa)
    return sign * float((1 << d.mantissa) + fraction) * 2.0 ** (exponent - bias - d.mantissa)


def _shortest(d: DType, bits: int, number: float) -> str:
    """The number itself where it is short, else the fewest digits that still name the pattern."""
    if len(repr(number)) <= 8:
        return repr(number)
    for digits in range(1, 18):
        text = f"{number:.{digits}g}"
        near = torch.tensor([float(text)], dtype=torch.float64).to(d.torch)
        if to_unsigned(int(near.view(d.carrier).item()), d.bits) == bits:
            plain = repr(float(text))
            return plain if len(plain) <= len(text) + 2 or "e" not in text else text
    return repr(number)
