"""Memory that `run` allocates itself: put inside guard bands, filled so that writes are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tritaudit.dtypes import dtype_of
from tritaudit.tensors import POISON, Buffer, bits_of, guarded

__all__ = ["Allocated", "Allocations"]

_EMPTY = {"aten::empty", "aten::empty_like", "aten::new_empty", "aten::empty_strided"}
_FILLED = {
    f"aten::{name}"
    for value in ("zeros", "ones", "full")
    for name in (value, f"{value}_like", f"new_{value}")
}
_REFILLED = {"aten::zero_", "aten::fill_"}


@dataclass(slots=True)
class Allocated:
    """A buffer, and the bits that `run` filled it with; None: it left it as it was."""

    buffer: Buffer
    fill: int | None = None

    @property
    def memory(self) -> int:
        return self.buffer.store.untyped_storage().data_ptr()


class Allocations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Guards what `run` allocates with torch.empty, zeros, ones and full, and poisons the first.

    Args:
        poison: the pattern of the guard bands and of memory that is left as it was.
        reach: elements of a guard band.
        refill: the place in `made` of a tensor that is poisoned although `run` fills it.
    """

    def __init__(self, poison: int, reach: int, refill: int | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.poison, self.reach, self.refill = poison, reach, refill
        self.made: list[Allocated] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        value = func(*args, **(kwargs or {}))
        schema = getattr(func, "_schema", None)
        name = schema.name if schema is not None else ""
        if not isinstance(value, torch.Tensor):
            return value
        if name in _REFILLED:
            self._note_fill(value)
        if name not in _EMPTY | _FILLED or not _can_be_guarded(value):
            return value
        shape, d = tuple(value.shape), dtype_of(value.dtype)
        buffer = guarded(shape, d, POISON[self.poison], self.reach, device=value.device)
        self.made.append(Allocated(buffer))
        if name in _FILLED:
            bits_of(buffer.view).copy_(bits_of(value))
            self._note_fill(buffer.view)
        return buffer.view

    def _note_fill(self, value: torch.Tensor) -> None:
        """Remember that a whole buffer was just filled with one value; poison it where asked to."""
        memory = value.untyped_storage().data_ptr()
        for place, made in enumerate(self.made):
            if made.memory != memory or value.numel() != made.buffer.view.numel():
                continue
            bits = bits_of(made.buffer.view)
            made.fill = int(bits.reshape(-1)[0].item())
            if place == self.refill:
                bits.fill_(made.buffer.guard)


def _can_be_guarded(value: torch.Tensor) -> bool:
    if not value.numel() or not value.is_contiguous() or value.device.type == "meta":
        return False
    try:
        dtype_of(value.dtype)
    except KeyError:
        return False
    return True
