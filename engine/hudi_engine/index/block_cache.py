"""What was read of HFiles and may be wanted again."""

import threading
from collections import OrderedDict
from typing import NamedTuple


class Place(NamedTuple):
    """Where something cached was read: a file as it was at a time, and an offset of it."""

    path: str
    modified_ms: int
    offset: int


class BlockCache:
    """Values by place, the ones least recently asked for being dropped as soon as all have more bytes than the limit.

    Safe to share between threads. What has more bytes than the limit alone is not kept.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._values: OrderedDict[Place, tuple[object, int]] = OrderedDict()
        self._used_bytes = 0
        self._lock = threading.Lock()

    @property
    def used_bytes(self) -> int:
        return self._used_bytes

    def get(self, place: Place) -> object | None:
        with self._lock:
            found = self._values.get(place)
            if found is None:
                return None
            self._values.move_to_end(place)
            return found[0]

    def put(self, place: Place, value: object, size_bytes: int) -> None:
        if size_bytes > self.limit_bytes:
            return
        with self._lock:
            _, replaced_bytes = self._values.pop(place, (None, 0))
            self._values[place] = (value, size_bytes)
            self._used_bytes += size_bytes - replaced_bytes
            while self._used_bytes > self.limit_bytes:
                _, (_, dropped_bytes) = self._values.popitem(last=False)
                self._used_bytes -= dropped_bytes
