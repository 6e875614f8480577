"""A real Java writer without the setting deletes an index that was ready: that is noticed, and made good."""

import time
from collections.abc import Callable

import pytest

from tests.cluster.live import WITHOUT_THE_SETTING
from tests.cluster.manifests import INDEX, TABLE, index, table
from tests.cluster.user import User
from tests.faults.live import Scene
from tests.faults.remains import flags, require_ready_and_nothing_left

pytestmark = pytest.mark.usefixtures("operator")


def test_an_index_that_a_java_writer_deleted_is_noticed_and_told(
    user: User, live: Scene, say: Callable[[str], None]
) -> None:
    user.apply(table(live.folder, metadataGuard="Warn"), index())
    user.wait()

    live.writer.commit(options=WITHOUT_THE_SETTING)
    assert flags(live.folder) == (set(), set())
    deleted = time.monotonic()

    user.wait_for(f"metadataindex/{INDEX}", "Ready", ("False", "DroppedByWriter"), 30)
    say(f"deleted by a Java writer: told after {time.monotonic() - deleted:.1f} s")
    user.wait_for(f"huditable/{TABLE}", "MetadataConsistent", ("False", "PartitionDropped"), 30)
    assert "DroppedByWriter" in user.events()
    assert flags(live.folder) == (set(), set())


def test_an_index_that_a_java_writer_deleted_is_built_again_beside_the_writers(
    user: User, live: Scene, say: Callable[[str], None]
) -> None:
    user.apply(table(live.folder, metadataGuard="Rebuild"), index())
    user.wait()

    live.writer.commit(options=WITHOUT_THE_SETTING)
    deleted = time.monotonic()
    with live.written_to():
        user.kubectl("wait", "--for=condition=Ready=False", f"metadataindex/{INDEX}", "--timeout=60s")
        user.wait()
        say(f"deleted by a Java writer: built again after {time.monotonic() - deleted:.1f} s")

    assert "PartitionDropped" in user.events()
    require_ready_and_nothing_left(live.folder)
    live.require_found_by_java()
