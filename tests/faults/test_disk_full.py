"""A disk that is full in the middle of a build: what stood before is untouched, and the build goes on with space."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from hudi_engine.cli.jobs import carry_out
from hudi_engine.contract import Action, JobRequest, Outcome
from tests.golden.unpack import unpack
from tests.java.live_checks import run_engine
from tests.java.remains import content, flags, require_left, require_nothing_of_it, require_ready_and_nothing_left
from tests.kit.engine import Engine, Pause, build

_ALONE: Final = {
    "hudi.engine.single.writer": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "2",
}
_NO_SPACE_LEFT = 14
_PROPERTIES = ".hoodie/hoodie.properties"
_MOMENTS: Final = {
    "plan": r"indexing\.requested",
    "attempt": r"\.index_attempts",
    "shard": r"metadata/{}/.*\.hfile",
    "empty log": r"\.log\.1",
    "definition": r"index_defs",
    "commit": r"metadata/.*\d{{17}}_\d{{17}}\.deltacommit",
    "backup": r"create .*properties\.backup",
    "flag": r"replace .*hoodie\.properties",
}
_IS_SOAK: Final = bool(os.environ.get("HUDI_SOAK"))
_SECONDARY: Final = "secondary_index_by_note"
# What is asked for, of a table of which all other statistics were dropped, and what was built first.
_KINDS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "record_index": (("--type", "record_index"), ""),
    "column_stats": (("--type", "column_stats"), ""),
    "partition_stats": (("--type", "partition_stats"), "column_stats"),
    "bloom_filters": (("--type", "bloom_filters"), ""),
    _SECONDARY: (("--type", _SECONDARY, "--column", "note"), "record_index"),
}
_UNDEFINED: Final = ("partition_stats", "bloom_filters")
_DEFINED_FIRST: Final = ("record_index", "column_stats")
_EVERY: Final = [
    (kind, moment) for kind in _KINDS for moment in _MOMENTS if moment != "definition" or kind not in _UNDEFINED
]
_FEW: Final = [case for case in _EVERY if case[0] == "record_index"]
# One kind of which entries are of files, one that is written in full only when it is complete.
_FEW_OF_OTHERS: Final = [("column_stats", "commit"), (_SECONDARY, "definition")]


@pytest.mark.parametrize(("kind", "moment"), _EVERY if _IS_SOAK else [*_FEW, *_FEW_OF_OTHERS])
def test_a_disk_that_fills_up_ends_a_build_with_all_as_it_was_and_with_space_it_goes_on(
    kind: str, moment: str, small_disk: Path
) -> None:
    table, asked = _ready_for(kind, small_disk), _KINDS[kind][0]
    before, complete = content(table), flags(table, *_KINDS)[0]

    with Engine(table, _ALONE, [Pause("now", _MOMENTS[moment].format(kind))], asked=asked) as engine:
        assert engine.pauses("now")
        ballast = _fill(small_disk)
        engine.go_on("now")
        ended = engine.end()

    assert (ended.code, ended.report["retry"]) == (_NO_SPACE_LEFT, True), ended
    assert "No space left" in ended.report["reason"]
    require_left(before, table, *_may_be_left(kind, moment))
    assert flags(table, *_KINDS)[0] == complete
    assert run_engine("validate", str(table), "--index", "files")[0] == 0
    ballast.unlink()
    assert build(table, _ALONE, asked=asked).code == 0
    require_ready_and_nothing_left(table, kind)


def _may_be_left(kind: str, moment: str) -> tuple[str, ...]:
    """What takes no room to undo is undone; a definition takes some, and what is undone after it stays with it."""
    match moment:
        case "attempt":
            return ("plan",)
        case "commit" | "backup" | "flag" if kind in _DEFINED_FIRST:
            return ("plan", "file of the index", "definition", "commit of the base")
        case "backup" | "flag" if kind not in _DEFINED_FIRST:
            return ("commit of the base",)
        case "definition" if kind not in _DEFINED_FIRST:  # it is in flight by then, and flags take some room as well
            return ("plan", "file of the index", "definition", "commit of the base", "flag in flight")
    return ()


def _ready_for(kind: str, folder: Path) -> Path:
    """A table that does not have this index, and has what that stands on."""
    table, first = unpack("v9_mor_orders", folder), _KINDS[kind][1]
    for dropped in ("partition_stats", "column_stats"):
        _carry_out(table, Action.DROP, dropped)
    if first:
        _carry_out(table, Action.BUILD, first)
    return table


def _carry_out(table: Path, action: Action, kind: str) -> None:
    assert carry_out(JobRequest(str(table), action, (kind,), conf=_ALONE)).outcome in {Outcome.READY, Outcome.DROPPED}


@pytest.mark.parametrize(
    ("name", "last"), [("v6_cow_orders", r"\d{17}\.indexing$"), ("v9_cow_orders", r"built/record_index\.json")]
)
def test_an_index_that_is_complete_but_for_the_last_byte_that_says_so_stays_so_when_the_disk_is_full(
    name: str, last: str, small_disk: Path
) -> None:
    table = unpack(name, small_disk)

    with Engine(table, _ALONE, [Pause("now", last)]) as engine:
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
