"""Changes of a record index as what is written to its shards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.action.derive import Changes, flat, rows_of
from hudi_engine.action.metadata_logs import ShardChange
from hudi_engine.action.reading import Reading
from hudi_engine.compute.shard_names import shard_file_ids
from hudi_engine.compute.shard_rule import ShardRule
from hudi_engine.index.entries import value_of
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.name_ids import partition_identifier


@dataclass(frozen=True, slots=True)
class RecordCorrection:
    """Changes of a record index as a `Correction`."""

    changes: Changes

    @property
    def count(self) -> int:
        return self.changes.count

    @property
    def looked_at(self) -> int:
        return self.changes.looked_at

    def parts(self, most: int) -> Iterator["RecordCorrection"]:
        return map(RecordCorrection, in_parts(self.changes, most))

    def still_holds(self, reading: Reading) -> bool:
        return still_holds(reading, self.changes)

    def lacks_shards(self, reading: Reading, conf: Mapping[str, str]) -> tuple[str, ...]:
        return lacks_shards(reading, self.changes, conf)

    def shard_changes(self, reading: Reading) -> Mapping[str, ShardChange]:
        return shard_changes(reading, self.changes)

    def is_in_effect(self, reading: Reading) -> bool:
        return is_in_effect(reading, self.changes)


def in_parts(changes: Changes, most: int) -> Iterator[Changes]:
    """The same changes in parts of at most so many keys; each as good as the whole for the keys that it has."""
    for at in range(0, len(changes.puts), most):
        yield _part(changes, changes.puts.slice(at, most), changes.deletes.slice(0, 0))
    for at in range(0, len(changes.deletes), most):
        yield _part(changes, changes.puts.slice(0, 0), changes.deletes.slice(at, most))


def shard_changes(reading: Reading, changes: Changes) -> dict[str, ShardChange]:
    """What each shard, by its file id, is to say."""
    puts, deletes = _by_shard(reading, _with_values(reading, changes.puts)), _by_shard(reading, changes.deletes)
    return {
        file_id: ShardChange(
            puts.get(file_id, _NO_PUTS).select(["key", "value"]),
            [key.decode() for key in deletes[file_id]["key"].to_pylist()] if file_id in deletes else (),
        )
        for file_id in sorted(puts.keys() | deletes.keys())
    }


_NO_PUTS = pa.table({"key": pa.array([], pa.large_binary()), "value": pa.array([], pa.large_binary())})


def _part(changes: Changes, puts: pa.Table, deletes: pa.Table) -> Changes:
    keys = pa.chunked_array([*puts["key"].chunks, *deletes["key"].chunks], pa.large_binary())
    seen = changes.seen.filter(pc.is_in(changes.seen["key"], keys.combine_chunks()))
    return replace(changes, puts=puts, deletes=deletes, seen=seen)


def _with_values(reading: Reading, puts: pa.Table) -> pa.Table:
    """Keys with the value that the index stores: one for all keys of a file slice."""
    version = reading.metadata.data.config.version
    names = ["partition", "file_id", "instant_ms"]
    places = puts.select(names).group_by(names).aggregate([])
    values = [value_of(each["partition"], each["file_id"], each["instant_ms"], version) for each in places.to_pylist()]
    places = places.append_column("value", pa.array(values, pa.large_binary()))
    numbers = pa.array(np.arange(len(puts)), pa.int64())
    joined = puts.append_column("number", numbers).join(places, names).sort_by("number")
    return joined.select(["key", "partition", "value"])


def _by_shard(reading: Reading, rows: pa.Table) -> Mapping[str, pa.Table]:
    """The rows of each shard that has any, ascending by the bytes of their keys."""
    found: dict[str, pa.Table] = {}
    for partition in pc.unique(rows["partition"]).to_pylist() if reading.is_partitioned else [None]:
        group = None if partition is None else partition_identifier(partition)
        shards = reading.index.groups[group]
        mine = rows if partition is None else rows.filter(pc.equal(rows["partition"], partition))
        mine = mine.take(pc.sort_indices(mine["key"]))
        numbers = shard_numbers(mine["key"], len(shards)) if len(mine) else np.empty(0, np.int64)
        for number in np.unique(numbers):
            found[shards[number].file_slice.file_id] = mine.filter(pa.array(numbers == number))
    return found


def still_holds(reading: Reading, changes: Changes) -> bool:
    """Whether that of which the changes were derived is as it was. Of an index with the same files nothing is read."""
    if any(reading.slice_of(group) != found for group, found in changes.slices.items()):
        return False
    return changes.shards == reading.shard_states() or _same(_rows_of(reading, changes), changes.seen)


def is_in_effect(reading: Reading, changes: Changes) -> bool:
    """Whether the index says what the changes say."""
    return _same(_rows_of(reading, changes), changes.puts)


def lacks_shards(reading: Reading, changes: Changes, conf: Mapping[str, str]) -> tuple[str, ...]:
    """File ids of the shards that these changes need and that are not there: of partitions newer than the index."""
    if not reading.is_partitioned:
        return ()
    partitions = pc.unique(changes.puts["partition"]).to_pylist()
    new = [each for each in partitions if partition_identifier(each) not in reading.index.groups]
    count = ShardRule.of(conf, is_partitioned=True).fewest
    return shard_file_ids({partition_identifier(each): count for each in new})


def _rows_of(reading: Reading, changes: Changes) -> pa.Table:
    """What the index has for the keys of these changes."""
    keys = pa.concat_tables([changes.puts.select(["key", "partition"]), changes.deletes])
    partitions = pc.unique(keys["partition"]).to_pylist() if reading.is_partitioned else []
    asked = {each: keys.filter(pc.equal(keys["partition"], each))["key"] for each in partitions} or {"": keys["key"]}
    return pa.concat_tables(rows_of(reading, partition, flat(some.chunks)) for partition, some in asked.items())


def _same(one: pa.Table, other: pa.Table) -> bool:
    return bool(_ordered(one).equals(_ordered(other)))


def _ordered(rows: pa.Table) -> pa.Table:
    """Each row once, in an order of their own."""
    once = rows.group_by(rows.column_names).aggregate([]).select(rows.column_names)
    return once.sort_by([(name, "ascending") for name in rows.column_names]).combine_chunks()
