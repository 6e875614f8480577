"""A table that is upgraded while an index is built of what it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.java.live_commits import change_properties
from tests.java.remains import content, flags, require_left, require_nothing_of_it, require_ready_and_nothing_left
from tests.kit.engine import Engine, Pause, build

_ALONE: Final = {
    "hudi.engine.single.writer": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "2",
}
_UNSUPPORTED, _CONTRADICTION = 18, 20
_VERSION = "hoodie.table.version"


def test_an_upgrade_between_base_and_publication_is_refused_and_nothing_is_left(
    quiet_table: Callable[[str], Path],
) -> None:
    table = quiet_table("v8_mor_orders")
    before = content(table)

    with Engine(table, _ALONE, [Pause("now", "^create .*record-index-0001.*hfile", how="stop")]) as engine:
        assert engine.pauses("now")
        change_properties(table, {_VERSION: "9"})
        engine.go_on("now")
        ended = engine.end()

    assert (ended.code, ended.report["retry"]) == (_CONTRADICTION, False), ended
    assert "table version 9, and 8 when the base" in ended.report["reason"]
    change_properties(table, {_VERSION: "8"})
    assert content(table) == before
    require_nothing_of_it(table)
    assert build(table, _ALONE).code == 0
    require_ready_and_nothing_left(table)


@pytest.mark.parametrize("moment", ["record-index-0001.*hfile", r"\.log\.1"])
def test_a_version_that_nobody_knows_yet_is_refused_and_nothing_of_the_table_is_touched_any_more(
    moment: str, quiet_table: Callable[[str], Path]
) -> None:
    """Not even to tidy up: nobody can say what such a table makes of it. With a version that we know it goes on."""
    table = quiet_table("v9_mor_orders")
    before = content(table)

    with Engine(table, _ALONE, [Pause("now", moment, how="stop")]) as engine:
        assert engine.pauses("now")
        change_properties(table, {_VERSION: "10"})
        engine.go_on("now")
        ended = engine.end()

    assert (ended.code, ended.report["retry"]) == (_UNSUPPORTED, False), ended
    assert "10" in ended.report["reason"]
    assert "Traceback" not in ended.said
    assert flags(table) == (set(), set())
    change_properties(table, {_VERSION: "9"})
    require_left(before, table, "plan", "file of the index")
    again = build(table, _ALONE)
    assert (again.code, again.report["outcome"]) == (0, "ready"), again
    require_ready_and_nothing_left(table)
