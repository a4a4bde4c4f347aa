"""What the commands do, one module each; `tritaudit.cli` only declares them.

Each command is a function that prints and returns an exit code. What ends it early is an exception:
`Usage` (code 2), `BackendError`, `CatalogueError` or `ReportWriteError` (code 3).
"""

from __future__ import annotations

__all__ = [
    "FINDINGS",
    "INTERRUPTED",
    "NOTHING_UNEXPECTED",
    "TERMINATED",
    "UNABLE",
    "USAGE",
    "Usage",
]

#: exit codes. An error weighs more than a finding: a run that could not do all of its work has no
#: complete verdict.
NOTHING_UNEXPECTED, FINDINGS, USAGE, UNABLE, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


class Usage(Exception):  # noqa: N818 - what a user did, not what went wrong here
    """Wrong usage, or a case file that does not load: each line is one sentence."""
