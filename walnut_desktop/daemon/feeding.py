"""What is sent from files: followed streams and bulk answers. Each has a cursor, not a queue (Rule F5).

A client that stops reading costs nothing but its cursor; when it reads again it goes on from there. Credit
bounds what is on the way, so that live lines never stand behind megabytes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from walnut_desktop.protocol.codec import (
    CHUNK,
    BulkPiece,
    StreamPiece,
    encode_bulk,
    encode_stream,
)

STREAM_WINDOW = 512 * 1024
BULK_WINDOW = 128 * 1024


class FollowedStream:
    """One client's cursor in one stream file."""

    def __init__(self, number: int, sid: str, path: Path, offset: int) -> None:
        self.number = number
        self.sid = sid
        self._path = path
        self._fd: Optional[int] = None
        self._offset = offset
        self._acked = offset
        self.broken = False

    def next_frame(self) -> Optional[bytes]:
        """The next piece of the file, within the credit; None at its end."""
        room = STREAM_WINDOW - (self._offset - self._acked)
        if room <= 0 or self.broken:
            return None
        try:
            if self._fd is None:
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            data = os.pread(self._fd, min(CHUNK, room), self._offset)
        except FileNotFoundError:
            return None
        except OSError:
            self.broken = True
            return None
        if not data:
            return None
        piece = StreamPiece(self.number, self._offset, data)
        self._offset += len(data)
        return encode_stream(piece)

    def ack(self, offset: int) -> None:
        """The client has taken everything up to `offset`."""
        self._acked = max(self._acked, min(offset, self._offset))

    def close(self) -> None:
        """Give the file up."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class BulkAnswer:
    """A range of a file on its way to one client."""

    def __init__(self, transfer: int, path: Path, offset: int, length: int) -> None:
        self.transfer = transfer
        self._fd: Optional[int] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        size = os.fstat(self._fd).st_size
        self._offset = min(offset, size)
        self._end = min(size, offset + length)
        self._sent = 0
        self._acked = 0
        self.done = False

    @property
    def length(self) -> int:
        """How many bytes will come."""
        return max(0, self._end - self._offset + self._sent)

    def next_frame(self) -> Optional[bytes]:
        """The next piece, within the credit."""
        if self.done or self._fd is None or self._sent - self._acked >= BULK_WINDOW:
            return None
        data = os.pread(self._fd, min(CHUNK, self._end - self._offset), self._offset)
        self._offset += len(data)
        self._sent += len(data)
        last = not data or self._offset >= self._end
        if last:
            self.close()
        return encode_bulk(BulkPiece(self.transfer, last, data))

    def ack(self, count: int) -> None:
        """The client has taken `count` bytes in all."""
        self._acked = max(self._acked, count)

    def close(self) -> None:
        """Give the file up."""
        self.done = True
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
