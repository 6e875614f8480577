"""Which keys a log has, in four bytes each: for keys that it lacks it need not be unpacked again.

Whoever catches up with commits looks for thousands of new keys in every log that is not compacted yet, each time.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.index.block_cache import BlockCache, Place
from hudi_engine.index.hashing import octet_hash
from hudi_engine.index.stored_hfile import StoredHFile

# Fewer are found in less time than it takes to rule them out.
_FEW_KEYS: Final = 64
# The part of the cache that one log may take: a sixty-fourth of 64 MiB holds a quarter of a million keys.
_SHARE: Final = 64
_SEARCHED_ONCE: Final = "searched once"
_SEARCHED_ONCE_BYTES: Final = 64

Hashes = npt.NDArray[np.uint32]


class Sought:
    """Keys that are looked for, large binaries that ascend and differ, until they are found."""

    def __init__(self, keys: pa.Array) -> None:
        self._keys = keys
        self._is_left = np.ones(len(keys), np.bool_)

    def __len__(self) -> int:
        return int(np.count_nonzero(self._is_left))

    def left(self) -> pa.Array:
        return self._keys if self._is_left.all() else self._keys.filter(pa.array(self._is_left))

    def left_among(self, known: Hashes) -> pa.Array:
        """The keys whose hash is among these, which ascend: no other key can be."""
        hashes, places = self._by_hash
        if not len(known):
            return self._keys[:0]
        is_known = known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes
        return self._keys.take(pa.array(np.sort(places[is_known & self._is_left[places]])))

    def drop(self, found: pa.Array) -> None:
        """Look for these no more."""
        if len(found):
            is_found = pc.is_in(self._keys, pc.cast(found, pa.large_binary()))
            self._is_left &= ~is_found.to_numpy(zero_copy_only=False)

    @cached_property
    def _by_hash(self) -> tuple[Hashes, npt.NDArray[np.int64]]:
        """The hashes of all keys, ascending, since these are found in a third of the time; and the key of each."""
        hashes = octet_hash(self._keys)
        order = np.argsort(hashes)
        return hashes[order], order


@dataclass(frozen=True, slots=True)
class LoggedKeys:
    """The keys of one log's HFile. Nothing is kept of what is searched but once."""

    entries: StoredHFile
    cache: BlockCache
    place: Place

    def possible(self, wanted: Sought) -> pa.Array:
        """Those of the keys that the log may have."""
        known = self._known() if len(wanted) > _FEW_KEYS else None
        return wanted.left() if known is None else wanted.left_among(known)

    def _known(self) -> Hashes | None:
        found = self.cache.get(self.place)
        if isinstance(found, np.ndarray):
            return found
        if self.entries.entry_count() * np.uint32().nbytes > self.cache.limit_bytes // _SHARE:
            return None
        if found is None:
            self.cache.put(self.place, _SEARCHED_ONCE, _SEARCHED_ONCE_BYTES)
            return None
        of_pieces = (octet_hash(chunk) for rows in self.entries.scan() for chunk in rows["key"].chunks)
        hashes = np.unique(np.concatenate([np.empty(0, np.uint32), *of_pieces]))
        self.cache.put(self.place, hashes, hashes.nbytes)
        return hashes
