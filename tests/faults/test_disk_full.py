"""A disk that is full in the middle of a build: what stood before is untouched, and the build goes on with space."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from tests.faults.engine import Engine, Pause, build
from tests.faults.remains import content, flags, kept, require_nothing_of_it, require_ready_and_nothing_left
from tests.golden.unpack import unpack
from tests.interop.live_checks import run_engine

_ALONE: Final = {
    "hudi.engine.single.writer": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "2",
}
_NO_SPACE_LEFT = 14
_PROPERTIES = ".hoodie/hoodie.properties"
_MOMENTS: Final = {
    "plan": r"indexing\.requested",
    "attempt": r"\.index_attempts",
    "second shard": r"record-index-0001.*hfile",
    "empty log": r"\.log\.1",
    "definition": r"index_defs",
    "commit": r"metadata/.*\d{17}_\d{17}\.deltacommit",
    "backup": r"create .*properties\.backup",
    "flag": r"replace .*hoodie\.properties",
}


@pytest.mark.parametrize("moment", _MOMENTS)
def test_a_disk_that_fills_up_ends_a_build_with_all_as_it_was_and_with_space_it_goes_on(
    moment: str, small_disk: Path
) -> None:
    table = unpack("v9_mor_orders", small_disk)
    before = content(table)

    with Engine(table, _ALONE, [Pause("now", _MOMENTS[moment])]) as engine:
        assert engine.pauses("now")
        ballast = _fill(small_disk)
        engine.go_on("now")
        ended = engine.end()

    assert (ended.code, ended.report["retry"]) == (_NO_SPACE_LEFT, True), ended
    assert "No space left" in ended.report["reason"]
    assert kept(before, content(table)) == before
    assert flags(table) == (set(), set())
    assert run_engine("validate", str(table), "--index", "files")[0] == 0
    ballast.unlink()
    assert build(table, _ALONE).code == 0
    require_ready_and_nothing_left(table)


def test_an_index_that_is_complete_but_for_the_last_byte_of_its_instant_stays_so_when_the_disk_is_full(
    small_disk: Path,
) -> None:
    table = unpack("v9_cow_orders", small_disk)

    with Engine(table, _ALONE, [Pause("now", r"\d{17}_\d{17}\.indexing")]) as engine:
        assert engine.pauses("now")
        ballast = _fill(small_disk)
        engine.go_on("now")
        ended = engine.end()

    assert ended.code == _NO_SPACE_LEFT, ended
    ballast.unlink()
    ended = build(table, _ALONE)
    assert (ended.code, ended.report["outcome"]) == (0, "ready"), ended
    require_ready_and_nothing_left(table)


def test_a_disk_that_is_full_where_keys_are_kept_is_told_and_nothing_is_left(tmp_path: Path, small_disk: Path) -> None:
    table = unpack("v9_mor_orders", tmp_path)
    before = content(table)
    _fill(small_disk)

    ended = build(table, _ALONE, "--scratch", str(small_disk), "--memory", "1")

    assert ended.code == _NO_SPACE_LEFT, ended
    assert str(small_disk) in ended.report["reason"]
    assert content(table) == before
    require_nothing_of_it(table)


def _fill(disk: Path) -> Path:
    """Not a byte more fits on this file system."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 8, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))
    assert os.statvfs(disk).f_bavail == 0
    return ballast
