"""Which blocks count: section 5.4 of the format notes, rules 2 to 4."""

from collections.abc import Iterable

import pytest

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.writer import avro_block, rollback_block

SCHEMA = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'


class Blocks:
    """Blocks in the order in which a test names them; each gets the next offset."""

    def __init__(self) -> None:
        self.all: list[LogBlock] = []

    def add(self, kind: BlockType, **header: str) -> None:
        keys = {HeaderKey[name]: value for name, value in header.items()}
        self.all.append(LogBlock(kind, keys, memoryview(b""), len(self.all)))

    def data(self, instant: str) -> None:
        self.add(BlockType.AVRO_DATA, INSTANT_TIME=instant)

    def delete(self, instant: str) -> None:
        self.add(BlockType.DELETE, INSTANT_TIME=instant)

    def corrupt(self) -> None:
        self.add(BlockType.CORRUPT)

    def rollback(self, instant: str, of: str) -> None:
        self.add(BlockType.COMMAND, INSTANT_TIME=instant, TARGET_INSTANT_TIME=of, COMMAND_BLOCK_TYPE="0")

    def compacted(self, instant: str, *originals: str) -> None:
        self.add(BlockType.AVRO_DATA, INSTANT_TIME=instant, COMPACTED_BLOCK_TIMES=",".join(originals))


def order(blocks: Iterable[LogBlock], hidden: frozenset[str] = frozenset()) -> list[int]:
    return [block.offset for block in live_blocks(blocks, lambda instant: instant not in hidden)]


def test_blocks_of_one_instant_stay_together_at_its_first() -> None:
    made = Blocks()
    made.data("1")  # 0
    made.data("2")  # 1
    made.delete("1")  # 2

    assert order(made.all) == [0, 2, 1]


def test_a_rollback_undoes_its_target_and_no_neighbour() -> None:
    made = Blocks()
    made.data("1")
    made.data("2")
    made.data("3")
    made.rollback("4", of="2")

    assert order(made.all) == [0, 2]


def test_a_valid_block_is_not_taken_for_rolled_back_behind_a_corrupt_one() -> None:
    """A field failure: the rollback was meant for the torn block, and the block before it vanished."""
    sound = avro_block(SCHEMA, [{"a": 1}], {HeaderKey.INSTANT_TIME: "1"}, 6)
    torn = avro_block(SCHEMA, [{"a": 2}], {HeaderKey.INSTANT_TIME: "2"}, 6)[:-20]
    data = sound + torn + rollback_block("3", "2", 6)

    found = list(read_blocks(data, is_store_atomic=False))

    assert [block.type.name for block in found] == ["AVRO_DATA", "CORRUPT", "COMMAND"]
    assert order(found) == [0]


def test_a_rollback_undoes_only_what_stands_before_it() -> None:
    made = Blocks()
    made.data("1")
    made.rollback("2", of="1")
    made.data("1")

    assert order(made.all) == [2]


def test_a_rollback_without_a_match_is_passed_over() -> None:
    made = Blocks()
    made.data("1")
    made.rollback("3", of="2")
    made.rollback("3", of="2")

    assert order(made.all) == [0]


def test_blocks_of_instants_that_may_not_be_seen_are_left_out_but_their_rollbacks_count() -> None:
    made = Blocks()
    made.data("1")
    made.data("2")
    made.rollback("2", of="1")

    assert order(made.all, hidden=frozenset({"2"})) == []


def test_a_log_compaction_takes_the_place_of_the_newest_that_it_replaces() -> None:
    made = Blocks()
    made.data("1")  # 0
    made.data("2")  # 1
    made.data("3")  # 2
    made.compacted("4", "1", "2")  # 3
    made.data("5")  # 4

    assert order(made.all) == [3, 2, 4]


def test_log_compactions_of_log_compactions_are_followed_to_the_last() -> None:
    made = Blocks()
    made.data("1")  # 0
    made.data("2")  # 1
    made.compacted("3", "1", "2")  # 2
    made.data("4")  # 3
    made.compacted("5", "3", "4")  # 4
    made.data("6")  # 5

    assert order(made.all) == [4, 5]


def test_all_blocks_of_a_log_compaction_move_together() -> None:
    made = Blocks()
    made.data("1")  # 0
    made.data("2")  # 1
    made.compacted("3", "1")  # 2
    made.delete("3")  # 3

    assert order(made.all) == [2, 3, 1]


def test_a_log_compaction_that_may_not_be_seen_leaves_its_originals() -> None:
    made = Blocks()
    made.data("1")
    made.compacted("2", "1")

    assert order(made.all, hidden=frozenset({"2"})) == [0]


def test_a_log_compaction_without_its_originals_is_no_reason_to_lose_its_records() -> None:
    made = Blocks()
    made.compacted("2", "1")

    with pytest.raises(Contradiction, match="'2'"):
        order(made.all)


def test_a_command_that_nobody_knows_is_unsupported() -> None:
    made = Blocks()
    made.add(BlockType.COMMAND, INSTANT_TIME="1", TARGET_INSTANT_TIME="1", COMMAND_BLOCK_TYPE="1")

    with pytest.raises(Unsupported, match="command '1'"):
        order(made.all)


@pytest.mark.parametrize(
    "header", [{"INSTANT_TIME": "1", "COMMAND_BLOCK_TYPE": "0"}, {"INSTANT_TIME": "1", "TARGET_INSTANT_TIME": "1"}]
)
def test_a_rollback_that_does_not_say_what_it_undoes_is_corrupt(header: dict[str, str]) -> None:
    made = Blocks()
    made.data("1")
    made.add(BlockType.COMMAND, **header)

    with pytest.raises(CorruptFile) as raised:
        order(made.all)

    assert raised.value.offset == 1


def test_a_data_block_without_its_instant_is_corrupt() -> None:
    made = Blocks()
    made.add(BlockType.AVRO_DATA)

    with pytest.raises(CorruptFile, match="INSTANT_TIME"):
        order(made.all)


def test_a_change_data_block_is_not_for_merging() -> None:
    made = Blocks()
    made.add(BlockType.CDC_DATA, INSTANT_TIME="1")

    with pytest.raises(Unsupported):
        order(made.all)
