"""A record index as it is sent to tasks: what was read of it, and where the rest is to be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.index import Index, effort_for
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.layers import Layers
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.index.payloads import family_of
from hudi_engine.index.record_index import RecordIndex
from hudi_engine.index.shard import Shard
from hudi_engine.open import IndexedTable
from hudi_engine.storage.in_folder import InFolder
from hudi_engine.storage.open import open_storage
from hudi_engine.table.file_view import FileSlice

# Keys come sorted, so that a block is wanted again by the next batch at most; logs are wanted by each.
CACHE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ShippedIndex:
    """The files and the valid instants of one reading, so that all tasks see one moment and list nothing.

    `slices` has those of the shards that share one numbering, by data partition, or under None those of the table.
    A shard's place is its number among all of them, one group after the other.
    """

    location: str
    conf: Mapping[str, str]
    zone: ZoneInfo
    instants: frozenset[str]
    slices: Mapping[str | None, tuple[FileSlice, ...]]

    @property
    def is_partitioned(self) -> bool:
        return None not in self.slices

    @property
    def shard_count(self) -> int:
        return sum(map(len, self.slices.values()))

    def places(self, keys: pa.Array, partitions: pa.Array | None) -> npt.NDArray[np.int64]:
        """For each key the place of the shard that has it, if any has: one for all that are null.

        Keys of partitions that the index does not have are spread over all places, since there may be many.
        """
        texts = pc.fill_null(keys, "")
        places, sizes = self._groups_of(len(keys), partitions)
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            places[rows] += _numbers(texts.take(pa.array(rows)), size)
        return places

    def partition_at(self, place: int) -> str | None:
        """The data partition whose keys the shard at this place has; None if it has those of all."""
        partition, _ = self._at(place)
        return partition

    def open(self, place: int) -> RecordIndex:
        """The index with this one shard, for keys that belong there."""
        _, file_slice = self._at(place)
        storage = InFolder(open_storage(self.location, self.conf), FOLDER)
        kind = IndexKind.RECORD_INDEX
        family = family_of(kind)
        layers = Layers(storage, BlockCache(CACHE_BYTES), self.instants.__contains__, effort_for(storage, kind, 1))
        return RecordIndex(Index(kind, kind, None, family, {None: (Shard(file_slice, family, layers),)}), self.zone)

    def _groups_of(
        self, count: int, partitions: pa.Array | None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """For each of `count` rows the first place of its group and how many places the group has."""
        if partitions is None or not self.is_partitioned:
            return np.zeros(count, np.int64), np.full(count, self.shard_count)
        # The last pair is for partitions that are not known, at which -1 points.
        sizes = np.array([*map(len, self.slices.values()), self.shard_count])
        firsts = np.array([0, *np.cumsum(sizes[:-2]), 0])
        known = pc.index_in(partitions, value_set=pa.array(self.slices, partitions.type))
        at = pc.fill_null(known, -1).to_numpy(zero_copy_only=False)
        return firsts[at], sizes[at]

    def _at(self, place: int) -> tuple[str | None, FileSlice]:
        for partition, slices in self.slices.items():
            if place < len(slices):
                return partition, slices[place]
            place -= len(slices)
        raise IndexError(place)


def shipped(table: IndexedTable, conf: Mapping[str, str]) -> ShippedIndex:
    """The record index of a table, as it was when the table was opened with this configuration."""
    found = table.index("record_index")
    return ShippedIndex(
        location=table.table.storage.location,
        conf=dict(conf),
        zone=found.zone,
        instants=table.metadata.instants,
        slices={name: tuple(shard.file_slice for shard in group) for name, group in found.index.groups.items()},
    )


def _numbers(keys: pa.Array, shard_count: int) -> npt.NDArray[np.int64]:
    try:
        return shard_numbers(keys, shard_count)
    except CorruptFile as broken:
        raise Unsupported(
            f"a record key of the dataframe that is no text: {broken.what}. Cast keys to strings as the table's key "
            "generator does, not from binary."
        ) from broken
