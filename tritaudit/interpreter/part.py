"""The ways in which the strict interpreter differs from the stock one."""

from __future__ import annotations

import enum

__all__ = ["Part"]


class Part(enum.Enum):
    """A way in which the strict interpreter differs, and the sentence that tells of it."""

    PADDING = "masked lanes of a load without `other` hold a pattern there, and 0 on the stock one"
    ORDER = "programs run in another order there than on the stock one"
