"""Quantisation of conch: blocks scaled by their largest magnitude, and int8 with a given scale.

Blocks are of 64 elements, one block a row here. The round trip through 4 bits may be off by half
the widest gap between two levels: 0.152 of the largest magnitude for nf4, 0.167 for fp4. It is
tried with finite values; what NaN does is shown by the magnitudes.
"""

import torch
from conch.ops.quantization.bitsandbytes.functional import dequantize_4bit, quantize_4bit
from conch.ops.quantization.int8 import scaled_int8_quant

from tritaudit import Case, Known, Reference, Tensor

BLOCK = 64
SCALE = 0.5
DTYPES = ("float32", "float16")


def finite(x: torch.Tensor) -> torch.Tensor:
    """Values from -1000 to 1000; NaN becomes 0."""
    return torch.nan_to_num(x).clamp(-1000, 1000)


def run_absmax(x: torch.Tensor) -> torch.Tensor:
    return quantize_4bit(x.reshape(-1), blocksize=BLOCK, quant_type="nf4")[1].absmax


def absmax(x: torch.Tensor) -> torch.Tensor:
    return x.abs().amax(1)


def round_trip_case(quant_type: str, gap: float) -> Case:
    def run(x: torch.Tensor) -> torch.Tensor:
        flat = finite(x).reshape(-1)
        codes, state = quantize_4bit(flat, blocksize=BLOCK, quant_type=quant_type)
        out = torch.empty_like(flat)
        dequantize_4bit(codes, state, out=out, blocksize=BLOCK, quant_type=quant_type)
        return out.reshape(x.shape)

    def largest(x: torch.Tensor) -> torch.Tensor:
        return finite(x).abs().amax(1, keepdim=True).expand(x.shape)

    return Case(
        run=run,
        # A unit in the last place of the largest magnitude is at least 2**-24 of it.
        contract=Reference(finite, tolerance=gap * 2**24, scale=largest),
        inputs=Tensor("x", "B K"),
        axes={"B": (1, 3), "K": (BLOCK, BLOCK)},
    )


def run_int8(x: torch.Tensor) -> torch.Tensor:
    return scaled_int8_quant(finite(x), torch.tensor([SCALE], device=x.device))[0]


def truncated(x: torch.Tensor) -> torch.Tensor:
    """What the library's own reference does: it cuts toward zero."""
    return (finite(x) / SCALE).clamp(-128, 127).trunc().to(torch.int64)


def rounded(x: torch.Tensor) -> torch.Tensor:
    """What quantisation to the nearest level would give, halves to even."""
    return torch.round(finite(x) / SCALE).clamp(-128, 127).to(torch.int64)


int8 = {
    "run": run_int8,
    "inputs": Tensor("x", "M N", dtypes=DTYPES),
    "axes": {"M": (1, 4), "N": (1, 140)},
    "out_dtype": "int8",
}
cases = {
    "absmax": Case(
        run=run_absmax,
        contract=Reference(absmax, tolerance="exact"),
        inputs=Tensor("x", "B K", dtypes=DTYPES),
        axes={"B": (1, 3), "K": (BLOCK, BLOCK)},
        out_shape="B",
        out_dtype="float32",
        # A signalling NaN in the interpreter takes along the elements before it.
        expect=("nan-lost", Known("value-mismatch", backend="interpreter")),
    ),
    "nf4": round_trip_case("nf4", 0.153),
    "fp4": round_trip_case("fp4", 0.168),
    "int8_truncated": Case(contract=Reference(truncated), **int8),
    "int8_rounded": Case(contract=Reference(rounded), expect="value-mismatch", **int8),
}
