"""A launch did not end."""

from __future__ import annotations

from tritaudit.faults.protocol import Fault

# Seen by the supervisor alone: the process that ran the launch is killed.
FAULT = Fault("timeout")
