"""Entries that an index lacks or has too much, of an index in which every entry stands for itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.action.metadata_logs import ShardChange
from hudi_engine.action.reading import Reading, ShardState
from hudi_engine.compute.order import ENTRIES
from hudi_engine.index.hashing import shard_numbers

_PART_BYTES: Final = 32 << 20
"""What one critical section writes at most, unless a single entry has more."""
NO_KEYS: Final = pa.array([], pa.large_binary())


class Grounds(Protocol):
    """That of the data of which changes were derived."""

    def stand(self, reading: Reading) -> bool: ...


@dataclass(frozen=True, slots=True)
class EntryChanges:
    """`Correction` by whole entries: `puts` by the schema ENTRIES, `deletes` are keys; no key is in both.

    They are right as long as the grounds stand and the index has `present`, and none other, of all their keys; that is
    for sure as long as its files are what they were, as `shards` has them.
    """

    puts: pa.Table
    deletes: pa.Array
    present: pa.Array
    grounds: Grounds
    shards: Mapping[str, ShardState]
    looked_at: int

    @property
    def count(self) -> int:
        return len(self.puts) + len(self.deletes)

    def parts(self, most: int) -> Iterator["EntryChanges"]:
        at = 0
        while at < len(self.puts):
            some = self.puts.slice(at, most)
            some = some.slice(0, max(1, most * _PART_BYTES // max(some.nbytes, _PART_BYTES)))
            yield self._part(some, NO_KEYS)
            at += len(some)
        for at in range(0, len(self.deletes), most):
            yield self._part(ENTRIES.empty_table(), self.deletes.slice(at, most))

    def still_holds(self, reading: Reading) -> bool:
        if not self.grounds.stand(reading):
            return False
        if self.shards == reading.shard_states():
            return True
        return bool(present_of(reading, self._keys()).equals(self.present))

    def lacks_shards(self, reading: Reading, conf: Mapping[str, str]) -> tuple[str, ...]:
        return ()

    def shard_changes(self, reading: Reading) -> Mapping[str, ShardChange]:
        puts = self.puts.take(pc.sort_indices(self.puts["key"]))
        (shards,) = reading.index.groups.values()
        places = [shard_numbers(reading.index.hashed(keys), len(shards)) for keys in (puts["key"], self.deletes)]
        return {
            shards[place].file_slice.file_id: ShardChange(
                puts.filter(pa.array(places[0] == place)),
                [key.decode() for key in self.deletes.filter(pa.array(places[1] == place)).to_pylist()],
            )
            for place in np.unique(np.concatenate(places)).tolist()
        }

    def is_in_effect(self, reading: Reading) -> bool:
        return bool(present_of(reading, self._keys()).equals(_ascending(one(self.puts["key"]))))

    def _part(self, puts: pa.Table, deletes: pa.Array) -> "EntryChanges":
        part = replace(self, puts=puts, deletes=deletes)
        return replace(part, present=self.present.filter(pc.is_in(self.present, part._keys())))

    def _keys(self) -> pa.Array:
        return pa.concat_arrays([one(self.puts["key"]), self.deletes])


def present_of(reading: Reading, keys: pa.Array) -> pa.Array:
    """Those of the keys that the index has, ascending."""
    return _ascending(one(pc.cast(reading.index.find(keys)["key"], pa.large_binary())))


def one(keys: pa.ChunkedArray | pa.Array) -> pa.Array:
    return pa.concat_arrays([NO_KEYS, *keys.chunks]) if isinstance(keys, pa.ChunkedArray) else keys


def _ascending(keys: pa.Array) -> pa.Array:
    return keys.take(pc.sort_indices(keys))
