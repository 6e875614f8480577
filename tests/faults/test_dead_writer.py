"""A Java writer that is killed with its commit pending, before an index is built and after."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from hudi_engine.clock import SystemClock
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import open_table
from tests.java.jvm import Jvm
from tests.java.live import RECOMMENDED, USUAL_LEASE, Scene
from tests.java.live_checks import require_skipped_right
from tests.java.live_writers import KEEPS_OTHER_KINDS, zookeeper_lock
from tests.java.remains import require_ready_and_nothing_left
from tests.kit.engine import build
from tests.kit.heartbeats import back_date_heartbeats
from tests.kit.zookeeper_server import ZooKeeperServer

_ROWS: Final = [{"id": f"dead-{number}", "part": "north", "seen": 1} for number in range(10)]
_KINDS: Final = ("record_index", "column_stats")
_ASKED: Final = [word for kind in _KINDS for word in ("--type", kind)]


@pytest.fixture
def doomed_jvm() -> Iterator[Jvm]:
    """A process of its own, to be killed."""
    with suppress(BrokenPipeError), Jvm("1.2.0") as own:
        yield own


def test_a_build_goes_on_without_a_writer_that_died_and_the_next_one_rolls_it_back(
    jvm: Jvm, doomed_jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    lock = zookeeper_lock(zookeeper.address, "dead")
    scene = Scene(jvm, tmp_path / "table", lock, USUAL_LEASE, {**RECOMMENDED, **KEEPS_OTHER_KINDS, **USUAL_LEASE})
    doomed_jvm.begin_commit(table=scene.writer.table.described(scene.writer.options), rows=_ROWS)
    doomed_jvm.kill()
    (dead,) = _pending(scene.folder)
    back_date_heartbeats(scene.folder)

    ended = build(scene.folder, scene.options, asked=_ASKED)

    assert ended.code == 0, ended
    assert _pending(scene.folder) == [dead]
    require_ready_and_nothing_left(scene.folder, *_KINDS)
    for _ in range(2):
        scene.commit()
    assert _pending(scene.folder) == []
    require_ready_and_nothing_left(scene.folder, *_KINDS)
    scene.require_found_by_java()
    require_skipped_right(scene.writer.jvm, str(scene.folder), scene.rows())


def _pending(table: Path) -> list[str]:
    timeline = open_table(open_storage(str(table), {}), SystemClock(), {}).timeline()
    return [instant.requested_at for instant in timeline.pending()]
