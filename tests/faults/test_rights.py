"""Rights that are taken away in the middle of a build: one clear error, nothing in effect, and it goes on later."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.java.remains import content, flags, require_left, require_ready_and_nothing_left
from tests.kit.engine import Engine, Pause

_ALONE: Final = {
    "hudi.engine.single.writer": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "2",
}
_ACCESS_DENIED = 12
# Which folder is closed to us, right before which step.
_MOMENTS: Final = {
    "read": ("region=*", r"indexing\.inflight"),
    "shard": (".hoodie/metadata/record_index", r"record-index-0001.*hfile"),
    "commit": (".hoodie/metadata/.hoodie/timeline", r"metadata/.*\.deltacommit\.inflight"),
    "flag": (".hoodie", r"properties\.backup"),
    "completion": (".hoodie/.index_attempts/built", r"built/record_index\.json"),
}
# Where the data cannot be read all is undone; what is in a folder that is closed stays, and what leads to it.
_LEFT: Final = {
    "read": (),
    "shard": ("file of the index",),
    "commit": ("plan", "file of the index", "commit of the base"),
    "flag": ("commit of the base",),
}


@pytest.mark.parametrize("moment", _MOMENTS)
def test_a_folder_that_is_closed_in_the_middle_ends_the_build_which_goes_on_when_it_is_open(
    moment: str, quiet_table: Callable[[str], Path]
) -> None:
    table = quiet_table("v9_mor_orders")
    before = content(table)
    folder, step = _MOMENTS[moment]

    with Engine(table, _ALONE, [Pause("now", step)], root=False) as engine:
        assert engine.pauses("now")
        # Of several shards at once the first to be written makes their folder: it may not be there yet.
        closed = next(table.glob(folder), (table / folder).parent)
        mode = closed.stat().st_mode
        closed.chmod(0o000 if moment == "read" else 0o555)
        engine.go_on("now")
        ended = engine.end()
        closed.chmod(mode)

    assert (ended.code, ended.report["retry"]) == (_ACCESS_DENIED, False), ended
    assert str(closed) in ended.report["reason"]
    assert "Traceback" not in ended.said
    if moment != "completion":
        assert flags(table)[0] == set()
        require_left(before, table, *_LEFT[moment])
    with Engine(table, _ALONE, root=False) as engine:
        again = engine.end()
    assert (again.code, again.report["outcome"]) == (0, "ready"), again
    require_ready_and_nothing_left(table)
