"""Finds correctness bugs in Triton kernels that reverse data or take absolute values, and says why.

This module is the API of case files; see docs/writing-cases.md. Importing it imports neither torch
nor triton: the contracts, which need torch, are loaded when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritaudit.model import (
    BOOL,
    FLOATS,
    FP8,
    INTS,
    SIGNED_INTS,
    UNSIGNED_INTS,
    Case,
    CaseError,
    Known,
    Scalar,
    Tensor,
    Tile,
)

if TYPE_CHECKING:
    from tritaudit.contracts import Abs, Flip, Reference

__version__ = "0.1.0"

__all__ = [
    "BOOL",
    "FLOATS",
    "FP8",
    "INTS",
    "SIGNED_INTS",
    "UNSIGNED_INTS",
    "Abs",
    "Case",
    "CaseError",
    "Flip",
    "Known",
    "Reference",
    "Scalar",
    "Tensor",
    "Tile",
]

_CONTRACTS = frozenset({"Abs", "Flip", "Reference"})


def __getattr__(name: str) -> Any:
    if name in _CONTRACTS:
        from tritaudit import contracts

        return getattr(contracts, name)
    raise AttributeError(f"module 'tritaudit' has no attribute {name!r}")
