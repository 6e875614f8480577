"""What the tasks of a cluster need can be sent to them."""

import pickle
from pathlib import Path

import pyarrow as pa

from hudi_engine.compute.runs import RUN, sorted_run
from hudi_engine.compute.shard import ShardWriter, recipe_of, values_of
from hudi_engine.compute.shard_names import Group, ShardAttempt
from tests.unit.compute.tables import SOLO, KeyTable, file_id


def test_a_shard_is_written_by_another_process_as_by_this_one(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(1)): ["a", "b"]})
    writer = ShardWriter(values_of(table.order({None: 1})), recipe_of(9, 1))
    target = ShardAttempt("record-index-0000-0", 0, 1, 0, SOLO)
    rows = pa.record_batch([pa.array([b"b", b"a"], pa.large_binary()), pa.array([0, 0], pa.int32())], schema=RUN)

    here = writer.write(sorted_run(rows), target, table.storage, tmp_path)
    there_writer, there_target = pickle.loads(pickle.dumps((writer, target)))
    elsewhere = KeyTable.of({}).storage
    there = there_writer.write(sorted_run(rows), there_target, elsewhere, tmp_path)

    path = f".hoodie/metadata/{target.path}"
    assert (there.file, there.duplicates) == (here.file, here.duplicates)
    assert elsewhere.read(path) == table.storage.read(path)


def test_what_came_of_a_shard_and_where_its_keys_belong_can_be_sent_back() -> None:
    group = Group("p", 3, 2)

    assert pickle.loads(pickle.dumps(group)) == group
