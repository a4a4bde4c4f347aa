"""The example in flight: written before each launch, read after a process died or hung.

One small file, mapped into the memory of the process that launches and of the one that watches. A
process that is killed loses nothing that it wrote here, and a write costs some microseconds.
"""

from __future__ import annotations

import mmap
import struct
import time
import zlib
from pathlib import Path
from typing import NamedTuple

__all__ = ["DEVICE_FAILED", "DEVICE_LOST", "DEVICE_UNSURE", "MAX_TOKEN", "Flight", "InFlight"]

#: how a process ends that can launch nothing more because its device is lost, and what it prints
#: before, with the message of the device behind it.
DEVICE_LOST = 75
#: the same, where several batches were on their way, so that it is not known which one did it.
DEVICE_UNSURE = 76
DEVICE_FAILED = "tritaudit: the device failed: "

#: bytes of the longest token (UTF-8).
MAX_TOKEN = 64 * 1024

# CRC-32 of the rest of the header and of the token; length of the token (0: nothing in flight); the
# moment of the write, in seconds of time.monotonic(), which all processes of a machine share; and
# the processor time that the writer had used by then.
_HEADER = struct.Struct("<IIdd")
_REST = struct.Struct("<Idd")
_SIZE = _HEADER.size + MAX_TOKEN


class Flight(NamedTuple):
    """A launch in flight: its token, the time.monotonic() and the time.process_time() of its start.

    The latter is that of the process that launches.
    """

    token: str
    started: float
    used: float


class InFlight:
    """The record of one process, backed by a file or, for tests, by memory alone.

    A writer that is killed while it writes leaves a record whose checksum does not hold, which
    reads as "nothing in flight": the launch that it announced had not begun.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        """Map a file that `create` made; None: a record that only this process sees."""
        if path is None:
            self._map = mmap.mmap(-1, _SIZE)
            return
        with Path(path).open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)

    @classmethod
    def create(cls, path: str | Path) -> InFlight:
        """Make the file of an empty record and map it."""
        with Path(path).open("wb") as file:
            file.truncate(_SIZE)
        return cls(path)

    def write(self, token: str) -> None:
        """Say that the example of this token is about to be launched.

        Raises:
            ValueError: the token is empty or longer than MAX_TOKEN bytes.
        """
        body = token.encode()
        if not 0 < len(body) <= MAX_TOKEN:
            raise ValueError(f"a token has 1 to {MAX_TOKEN} bytes, not {len(body)}")
        rest = _REST.pack(len(body), time.monotonic(), time.process_time())
        self.clear()
        self._map[_HEADER.size : _HEADER.size + len(body)] = body
        checksum = zlib.crc32(body, zlib.crc32(rest))
        _HEADER.pack_into(self._map, 0, checksum, *_REST.unpack(rest))

    def clear(self) -> None:
        """Say that nothing is in flight."""
        _HEADER.pack_into(self._map, 0, 0, 0, 0.0, 0.0)

    def read(self) -> Flight | None:
        """The launch in flight, or None."""
        crc, length, started, used = _HEADER.unpack_from(self._map, 0)
        if not 0 < length <= MAX_TOKEN:
            return None
        body = self._map[_HEADER.size : _HEADER.size + length]
        if zlib.crc32(body, zlib.crc32(_REST.pack(length, started, used))) != crc:
            return None
        return Flight(body.decode(errors="replace"), started, used)

    def close(self) -> None:
        """Unmap the record. The file stays."""
        self._map.close()
