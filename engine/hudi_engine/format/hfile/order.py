"""The two orders in which an HFile's keys may stand: that of their bytes, and that of Java's strings.

They differ only for characters beyond U+FFFF, which UTF-16 writes as two units that come before U+E000. Releases
whose writer was not HBase's sorted that way for a while.
"""

from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile

# In UTF-8 only the first byte tells of it: ee and ef for U+E000 to U+FFFF, f0 to f4 beyond. Keys translated by this
# compare in bytes as Java's strings do.
FIRST_MOVED = 0xEE
AS_JAVA = bytes(
    byte if byte < FIRST_MOVED else FIRST_MOVED + (byte - FIRST_MOVED - 2) % (256 - FIRST_MOVED) for byte in range(256)
)
AS_JAVA_ARRAY = np.frombuffer(AS_JAVA, np.uint8)


class Order(StrEnum):
    """What keys are compared by."""

    BYTES = "bytes"
    JAVA = "java"

    def of(self, keys: Any) -> Any:
        """The keys in a form whose bytes compare as the keys do in this order."""
        return keys if self is Order.BYTES else _as_java(keys)


def _as_java(keys: Any) -> Any:
    _, offsets, data = keys.buffers()
    moved = pa.py_buffer(AS_JAVA_ARRAY[np.frombuffer(data or b"", np.uint8)])
    return pa.Array.from_buffers(keys.type, len(keys), [None, offsets, moved], offset=keys.offset)


def has_moved_bytes(keys: Any) -> bool:
    """Whether there is any key among these that the two orders may see differently."""
    data = keys.buffers()[2]
    return data is not None and bool((np.frombuffer(data, np.uint8) >= FIRST_MOVED).any())


def orders_of(keys: Any, place: int) -> tuple[Order, ...]:
    """In which orders the keys ascend, the first being enough if the two agree on every key; refuses other keys."""
    if is_ascending(keys) and not has_moved_bytes(keys):
        return (Order.BYTES,)
    orders = tuple(order for order in Order if is_ascending(order.of(keys)))
    if not orders:
        raise CorruptFile("the index has keys that neither ascend in bytes nor as Java's strings", place)
    return orders


def is_ascending(keys: Any) -> bool:
    """Whether no key is smaller in bytes than the one before."""
    return not pc.any(pc.less(keys[1:], keys[:-1])).as_py()


def require_ascending(keys: Any, place: int) -> None:
    """Refuse keys of which one comes after a larger one in both orders."""
    require_not_after(keys[:-1], keys[1:], place)


def require_not_after(before: Any, after: Any, place: int) -> None:
    """Refuse pairs of which the first key is larger in both orders."""
    falls = pc.less(after, before)
    if not falls.true_count:
        return
    for at in np.flatnonzero(falls.to_numpy(zero_copy_only=False)).tolist():
        one, two = before[at].as_py(), after[at].as_py()
        if one.translate(AS_JAVA) > two.translate(AS_JAVA):
            raise CorruptFile(f"the key {two!r} comes after {one!r} in the run of blocks from here", place)
