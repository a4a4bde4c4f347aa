"""Ctrl-C and SIGTERM before the first case runs: while the backend starts and case files load.

From then on the supervisor takes these signals itself, so that what was found is not lost.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Loading", "StoppedError"]


class StoppedError(Exception):
    """The run was stopped before a case ran. `word` is "interrupted" or "terminated"."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


class _Terminated(KeyboardInterrupt):
    """SIGTERM."""


class Loading:
    """Inside, until `over`, Ctrl-C and SIGTERM are raised as a StoppedError."""

    def __init__(self) -> None:
        self._before: Any = None
        self._on = False

    def __enter__(self) -> Loading:
        self._before = signal.signal(signal.SIGTERM, _terminate)
        self._on = True
        return self

    def over(self) -> None:
        """Everything is loaded: from here on the signals are as they were."""
        if self._on:
            self._on = False
            signal.signal(signal.SIGTERM, self._before)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        loading = self._on
        self.over()
        if loading and isinstance(error, KeyboardInterrupt):
            word = "terminated" if isinstance(error, _Terminated) else "interrupted"
            raise StoppedError(word) from None


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated
