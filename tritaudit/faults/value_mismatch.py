"""The output is wrong, and no other fault explains it."""

from __future__ import annotations

from tritaudit.faults.protocol import Fault

# What remains when every candidate is refuted; `tritaudit.faults.diagnosis` says so.
FAULT = Fault("value-mismatch")
