"""However many tries write a file, the first one's stays, and the others know its size."""

from hudi_engine.clock import HandClock
from hudi_engine.spark.written_once import WrittenOnce
from hudi_engine.storage.memory import MemoryStorage

PATH = ".hoodie/metadata/record_index/record-index-0000-0_0-1-0_00000000000000500.hfile"


def test_of_two_tries_at_a_shard_the_first_file_stays() -> None:
    storage = MemoryStorage(HandClock())
    first, second = WrittenOnce(storage), WrittenOnce(storage.restarted())

    first.create(PATH, b"packed by one processor")
    second.create(PATH, b"packed by another")

    assert storage.read(PATH) == b"packed by one processor"
    assert [stat.path for stat in storage.list(".hoodie/metadata/record_index")] == [PATH]


def test_the_second_try_tells_the_size_of_the_file_that_stays() -> None:
    storage = MemoryStorage(HandClock())
    first, second = WrittenOnce(storage), WrittenOnce(storage.restarted())

    first.create_in_parts(PATH, [b"packed by ", b"one processor"])
    second.create_in_parts(PATH, [b"packed by another"])

    assert (first.kept_bytes, second.kept_bytes) == ({}, {PATH: 23})
