"""A real Java writer without the setting deletes an index that was ready: the operator notices, and rebuilds it."""

from collections.abc import Iterator

import pytest

from tests.cluster.kubernetes import Cluster
from tests.cluster.live import WITHOUT_THE_SETTING
from tests.cluster.manifests import INDEX, TABLE, index, table
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.runs import builds_of
from tests.cluster.user import User
from tests.java.live import Scene
from tests.java.remains import flags, require_ready_and_nothing_left
from tests.kit.builds import Builds

pytestmark = pytest.mark.usefixtures("operator")


@pytest.fixture(scope="module")
def builds(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return builds_of(cluster, tmp_path_factory.mktemp("builds") / "pauses")


@pytest.fixture(scope="module")
def operator(cluster: Cluster, builds: Builds) -> Iterator[OperatorProcess]:
    with cluster.operator(pauses=builds.folder) as running:
        yield running


def test_an_index_that_a_java_writer_deleted_is_noticed_and_told(user: User, live: Scene) -> None:
    user.apply(table(live.folder, metadataGuard="Warn"), index())
    user.wait()

    live.writer.commit(options=WITHOUT_THE_SETTING)
    assert flags(live.folder) == (set(), set())

    user.wait_for(f"metadataindex/{INDEX}", "Ready", "False", "DroppedByWriter")
    user.wait_for(f"huditable/{TABLE}", "MetadataConsistent", "False", "PartitionDropped")
    user.wait_for_event("DroppedByWriter")
    assert flags(live.folder) == (set(), set())


def test_an_index_that_a_java_writer_deleted_is_built_again_beside_the_writer(
    user: User, live: Scene, builds: Builds
) -> None:
    user.apply(table(live.folder, metadataGuard="Rebuild"), index())
    user.wait()

    builds.stop_the_next()
    live.writer.commit(options=WITHOUT_THE_SETTING)
    with builds.stopped(live.folder):
        user.wait_for(f"metadataindex/{INDEX}", "Ready", "False")
        live.commit()
    live.commit()
    user.wait()

    # The table's PartitionDropped is told only if the table is looked at before the rebuild has a plan.
    user.wait_for_event("DroppedByWriter")
    require_ready_and_nothing_left(live.folder)
    live.commit()
    live.require_found_by_java()
