"""Operators: each makes one kind of mistake in a case file, and knows what it has planted."""

from __future__ import annotations

from tritaudit.selftest.operators import addresses, launches, masks, values
from tritaudit.selftest.operators.registry import OPERATORS, Operator, Plant

__all__ = ["OPERATORS", "Operator", "Plant", "addresses", "launches", "masks", "values"]
