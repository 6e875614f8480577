"""Keys that do not fit into memory wait on disk, and come back as one run of each shard."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_engine.compute.runs import RUN, SliceKeys, run_of
from hudi_engine.compute.spill import Spill
from hudi_engine.errors import NoSpaceLeft


def keys(*some: bytes) -> pa.Array:
    return pa.array(some, pa.large_binary())


def rows(spill: Spill[SliceKeys], place: int) -> Sequence[tuple[bytes, int]]:
    return [(row["key"], row["slice"]) for piece in spill.run(place) for row in piece.to_pylist()]


@pytest.mark.parametrize("limit_bytes", [0, 2000, 1 << 30])
def test_a_shards_keys_come_back_sorted_whether_they_waited_in_memory_or_on_disk(
    limit_bytes: int, tmp_path: Path
) -> None:
    spill = Spill(tmp_path, limit_bytes, RUN, run_of)
    for number in range(10):
        spill.add([(4, SliceKeys(keys(b"b%d" % number, b"a%d" % number), number))])
        spill.add([(7, SliceKeys(keys(b"c%d" % number), number))])

    found = rows(spill, 4)

    assert found == [(b"%c%d" % (letter, number), number) for letter in b"ab" for number in range(10)]
    assert rows(spill, 7) == [(b"c%d" % number, number) for number in range(10)]
    assert rows(spill, 5) == []


@pytest.mark.parametrize(("limit_bytes", "files"), [(1 << 30, 0), (0, 10), (2500, 2)])
def test_nothing_goes_to_disk_that_fits_into_memory(limit_bytes: int, files: int, tmp_path: Path) -> None:
    spill = Spill(tmp_path, limit_bytes, RUN, run_of)

    for number in range(10):
        spill.add([(0, SliceKeys(keys(b"%d" % number), number))])

    assert len(list(tmp_path.iterdir())) == files


def test_a_full_disk_is_told_with_what_helps(tmp_path: Path) -> None:
    (tmp_path / "run-0.arrow").symlink_to("/dev/full")

    with pytest.raises(NoSpaceLeft, match=r"No space left on device.*TMPDIR"):
        Spill(tmp_path, 0, RUN, run_of).add([(0, SliceKeys(keys(*(b"%08d" % number for number in range(100_000))), 0))])
