"""The batches of a GPU search: compiled ahead, queued one behind the other, waited for together.

Waiting is what costs on a GPU that several processes share: whoever waits gives up its turn. So the
flags of many batches are read at once. A device that fails in between leaves open which batch did
it; then the unit is run again, carefully, one batch at a time.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tritaudit.backend import (
    DeviceLostError,
    compile_ahead,
    device,
    device_lives,
    explain_error,
)
from tritaudit.batch import NotBatchableError, Pending, launch_batch, suspicious
from tritaudit.model import Case, CaseError, Example

#: batches that are on their way before their flags are read.
QUEUED = 16
#: examples of a batch that are kept as right ones.
KEPT_RIGHT = 4


@dataclass(slots=True)
class Fleet:
    """Batches of one case.

    Attributes:
        announce: called with the first example of a batch before it is launched.
        queued: how many batches may be on their way; 1 is careful.
        examples, seconds: checked in batches so far, and how long that took.
        structures: the first example of every batch and how many examples it checked.
        right: some examples of every batch in which nothing was wrong.
    """

    case: Case
    announce: Callable[[Example], None]
    queued: int = QUEUED
    examples: int = 0
    seconds: float = 0.0
    structures: list[tuple[Example, int]] = field(default_factory=list)
    right: list[Example] = field(default_factory=list)
    _waiting: list[Pending] = field(default_factory=list)

    @property
    def unsure(self) -> bool:
        """Whether a device that fails now may have failed for an earlier batch."""
        return len(self._waiting) > 0 and self.queued > 1

    def send(self, group: list[Example]) -> Iterator[Sequence[Example]]:
        """Queue a batch. Yields groups of examples that have to be looked at one by one.

        Raises:
            DeviceLostError: the device cannot be used any more.
        """
        self.announce(group[0])
        start = time.monotonic()
        try:
            self._waiting.append(launch_batch(self.case, group, device()))
        except NotBatchableError:
            yield group
        except Exception as error:
            if not device_lives():
                raise DeviceLostError(explain_error(error).message) from error
            # A reference that refuses a batch may take each example of it.
            yield group if isinstance(error, CaseError) else group[:1]
        self.seconds += time.monotonic() - start
        if len(self._waiting) >= self.queued:
            yield from self.settle()

    def settle(self) -> Iterator[Sequence[Example]]:
        """Wait for all batches on their way. Yields the examples that each of them flags.

        Raises:
            DeviceLostError: the device cannot be used any more.
        """
        start = time.monotonic()
        try:
            flagged = suspicious(self._waiting)
        except RuntimeError as error:
            raise DeviceLostError(explain_error(error).message) from error
        done, self._waiting = self._waiting, []
        self.seconds += time.monotonic() - start
        for pending, examples in zip(done, flagged, strict=True):
            checked = len(pending.examples) - len(examples)
            self.examples += checked
            self.structures.append((pending.examples[0], checked))
            wrong = set(examples)
            unflagged = (e for e in pending.examples if e not in wrong)
            self.right += itertools.islice(unflagged, KEPT_RIGHT)
            if examples:
                yield examples


def compile_kinds(case: Case, examples: Iterable[Example]) -> None:
    """Compile what the structures of these examples need; Triton tells sizes apart by three marks.

    It specialises a kernel where an integer is 1 or a multiple of 16, and by dtype and constexpr.
    """
    kinds: dict[tuple[object, ...], Example] = {}
    for example in examples:
        sizes = tuple((n == 1, n % 16 == 0) for _, n in example.sizes)
        key = (sizes, example.tiles, example.dtypes, example.layouts, example.launch)
        kinds.setdefault(key, replace(example, edits=()))
    compile_ahead(case, kinds.values())
