"""The interpreter and the GPU disagree on the same example."""

from __future__ import annotations

from tritaudit.faults.protocol import Fault

# Seen by the supervisor alone, which has the outputs of both backends.
FAULT = Fault("backend-divergence")
