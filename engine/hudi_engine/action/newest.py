"""Which rows of the data have a key, and which of them was written last: what an index of the newest rows asks."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.action.reading import Group, Reading
from hudi_engine.compute.keys import dated_keys_of
from hudi_engine.table.conform import COMMIT_TIME, RECORD_KEY
from hudi_engine.table.file_view import FileSlice

ROWS: Final = pa.schema(
    [("key", pa.large_binary()), ("partition", pa.string()), ("file_id", pa.string()), ("written", pa.int64())]
)


def rows_with(reading: Reading, groups: Iterable[Group], keys: Any) -> pa.Table:
    """The rows that current slices of these file groups have of these keys, by the schema ROWS, each key once a group.

    One group's keys are in memory at a time.
    """
    slices = (reading.slice_of(group) for group in sorted(groups))
    return _of_slices(reading, (found for found in slices if found is not None), keys)


def rows_elsewhere(reading: Reading, groups: Iterable[Group], keys: pa.Table) -> pa.Table:
    """The rows of these keys in all other file groups; of an index by partition, in those of each key's partition.

    Nothing tells which file group has a key that the index leads elsewhere: all record keys are read.
    """
    if not len(keys):
        return ROWS.empty_table()
    known = frozenset(groups)
    asked = _by_partition(reading, keys)
    found = [
        _of_slices(reading, (each for each in reading.slices_of(name) if (name, each.file_id) not in known), some)
        for name, some in asked.items()
    ]
    return pa.concat_tables(found)


def newest_of_each(rows: pa.Table, *, is_partitioned: bool) -> pa.Table:
    """The newest row of each key, or of each key in each partition. Rows of one commit are ordered by file name."""
    by = ["key", "partition"] if is_partitioned else ["key"]
    order = [("written", "descending"), ("file_id", "descending"), ("partition", "descending")]
    ordered = rows.sort_by([*((name, "ascending") for name in by), *order])
    first = ordered.append_column("number", pa.array(range(len(ordered)), pa.int64()))
    numbers = first.group_by(by).aggregate([("number", "min")])["number_min"]
    return ordered.take(pc.sort_indices(numbers) if not len(numbers) else numbers.combine_chunks())


def _by_partition(reading: Reading, keys: pa.Table) -> Mapping[str, Any]:
    if not reading.is_partitioned:
        return dict.fromkeys(reading.partitions(), keys["key"])
    names = pc.unique(keys["partition"]).to_pylist()
    return {name: keys.filter(pc.equal(keys["partition"], name))["key"] for name in names}


def _of_slices(reading: Reading, slices: Iterable[FileSlice], keys: Any) -> pa.Table:
    wanted = pa.chunked_array([keys] if isinstance(keys, pa.Array) else keys.chunks, pa.large_binary())
    reader = reading.reader(columns=(RECORD_KEY, COMMIT_TIME))
    return pa.concat_tables([ROWS.empty_table(), *(_of_slice(reader, found, wanted) for found in slices)])


def _of_slice(reader: Any, found: FileSlice, keys: Any) -> pa.Table:
    value_set = keys.combine_chunks()
    dated = [piece.filter(pc.is_in(piece.field("key"), value_set)) for piece in dated_keys_of(reader, found)]
    columns = {name: pa.chunked_array([each.field(name) for each in dated], ROWS.field(name).type) for name in _DATED}
    once = pa.table(columns).group_by("key").aggregate([("written", "max")])
    place = [pa.repeat(pa.scalar(each, pa.string()), len(once)) for each in (found.partition, found.file_id)]
    return pa.table([once["key"], *place, once["written_max"]], schema=ROWS)


_DATED: Final = ("key", "written")
