"""Finds correctness bugs in Triton kernels that reverse data or take absolute values, and says why.

This module is the API of case files; see docs/writing-cases.md. Its names are loaded when they are
first used, so that `tritaudit --help` is quick and nothing here needs torch or triton before a
contract is named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritaudit.contracts import Abs, Flip, Reference
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
        SkipFile,
        Tensor,
        Tile,
    )
    from tritaudit.testing import audit

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
    "SkipFile",
    "Tensor",
    "Tile",
    "audit",
]

_CONTRACTS = frozenset({"Abs", "Flip", "Reference"})


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tritaudit' has no attribute {name!r}")
    home = "tritaudit.contracts" if name in _CONTRACTS else "tritaudit.model"
    if name == "audit":
        home = "tritaudit.testing"
    return getattr(import_module(home), name)
