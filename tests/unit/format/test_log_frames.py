"""Frames of a log file are what reading it whole gives, for a fraction of the bytes."""

from collections.abc import Callable

import pytest

from hudi_engine.format.log.block import BlockType, HeaderKey
from hudi_engine.format.log.delete import DeletedKey
from hudi_engine.format.log.frames import read_frames
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.writer import delete_block, hfile_block, rollback_block

_HEADER = {HeaderKey.INSTANT_TIME: "20260101000000000"}
_LARGE = bytes(3_000_000)
_FILE = b"".join(
    [
        hfile_block(_LARGE, '"string"' * 2000, _HEADER, 8),
        delete_block([DeletedKey("k", "p", None)], _HEADER, 8),
        rollback_block("20260101000000001", "20260101000000000", 8),
        hfile_block(b"small", '"string"', _HEADER, 8),
    ]
)


def test_frames_are_the_blocks_of_the_file() -> None:
    blocks = list(read_blocks(_FILE, is_store_atomic=True))

    frames = read_frames(_reader(_FILE, []), len(_FILE))

    assert frames is not None
    assert [(f.block.type, f.block.header, f.block.offset) for f in frames] == [
        (b.type, b.header, b.offset) for b in blocks
    ]
    assert [_FILE[f.start : f.start + f.length] for f in frames] == [bytes(b.content) for b in blocks]
    assert [f.block.type for f in frames][:2] == [BlockType.HFILE_DATA, BlockType.DELETE]


def test_contents_are_not_read_for_frames() -> None:
    fetched: list[int] = []

    read_frames(_reader(_FILE, fetched), len(_FILE))

    assert sum(fetched) < len(_FILE) // 10
    assert len(fetched) == 5  # one for the first head, one a block


@pytest.mark.parametrize("cut", [1, 7, 20, 100, 1000, 100_000, len(_LARGE)])
def test_a_file_that_ends_inside_of_a_block_has_no_frames(cut: int) -> None:
    torn = _FILE[:-cut]

    assert read_frames(_reader(torn, []), len(torn)) is None


def test_no_flipped_byte_of_a_head_or_a_foot_changes_a_frame_unseen() -> None:
    small = delete_block([DeletedKey("k", "p", None)], _HEADER, 8) * 2
    whole = read_frames(_reader(small, []), len(small))
    assert whole is not None
    contents = {at for frame in whole for at in range(frame.start, frame.start + frame.length)}

    for at in set(range(len(small))) - contents:
        damaged = small[:at] + bytes([small[at] ^ 0x41]) + small[at + 1 :]
        frames = read_frames(_reader(damaged, []), len(damaged))
        if frames is not None:
            blocks = list(read_blocks(damaged, is_store_atomic=True))
            assert [(f.block.type, f.block.header) for f in frames] == [(b.type, b.header) for b in blocks], at


def _reader(data: bytes, fetched: list[int]) -> Callable[[int, int], bytes]:
    def read_range(start: int, length: int) -> bytes:
        assert 0 <= start <= start + length <= len(data)
        fetched.append(length)
        return data[start : start + length]

    return read_range
