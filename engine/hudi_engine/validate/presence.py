"""Whether single records are where an index says: the data files it names are opened and searched."""

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import NotFound
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader, Snapshot
from hudi_engine.table.table import Table
from hudi_engine.validate.subject import unless_files_vanish

_Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Records:
    """The record keys of a table's data files, read as of the timeline that its indexes were judged by."""

    table: Table
    reader: RowReader

    def has(self, locations: pa.Table) -> pa.Array:
        """Of each row of `LOCATIONS` whether its key has a row in its file group; null for a key without a location.

        Each file group named is read once, its logs merged in, of its columns the record key alone.
        """
        rows = pa.array(np.arange(len(locations)))
        named = locations.select(["key", "partition", "file_id"]).append_column("row", rows)
        named = named.filter(pc.is_valid(named["file_id"]))
        places = named.group_by(["partition", "file_id"]).aggregate([("row", "list")]).to_pylist()
        slices = self._slices({place["partition"] for place in places})
        held = np.zeros(len(locations), bool)
        with unless_files_vanish(), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for place, found in zip(places, pool.map(lambda p: self._held(slices, p, locations), places), strict=True):
                held[place["row_list"]] = found
        return pc.if_else(pc.is_valid(locations["file_id"]), pa.array(held), pa.scalar(None, pa.bool_()))

    def _held(self, slices: Mapping[_Place, FileSlice], place: Mapping[str, object], locations: pa.Table) -> pa.Array:
        wanted = locations["key"].take(pa.array(place["row_list"])).combine_chunks()
        found = slices.get((str(place["partition"]), str(place["file_id"])))
        return np.zeros(len(wanted), bool) if found is None else pc.is_in(wanted, self._keys_among(wanted, found))

    def _keys_among(self, wanted: pa.Array, found: FileSlice) -> pa.Array:
        """Those of the wanted keys that the slice has; it is read only until all are met."""
        met, missing = [wanted.slice(0, 0)], pc.unique(wanted)
        for rows in self.reader.rows_of(found):
            keys = pc.cast(rows[RECORD_KEY], wanted.type)
            met.append(pc.unique(keys.filter(pc.is_in(keys, missing))))
            missing = missing.filter(pc.invert(pc.is_in(missing, met[-1])))
            if not len(missing):
                break
        return pa.concat_arrays(met)

    def _slices(self, partitions: Iterable[str]) -> Mapping[_Place, FileSlice]:
        snapshot = self.reader.snapshot
        listings = {name: self._listing(name) for name in sorted(partitions)}
        slices = self.table.slices(snapshot.view, listings, snapshot.instant)
        return {(found.partition, found.file_id): found for found in slices}

    def _listing(self, partition: str) -> tuple[FileStat, ...]:
        try:
            return self.table.partition(partition)
        except NotFound:
            return ()  # which is to say that none of its records is there


def records_of(table: Table, metadata: MetadataTable) -> Records:
    """The records of the table as the metadata table saw it."""
    snapshot = Snapshot.of_no_slices(metadata.data_timeline, table.view(metadata.data_timeline))
    return Records(table, table.rows(snapshot, [RECORD_KEY]))
