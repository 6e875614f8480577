"""In the middle of a build something is killed: the index becomes ready automatically."""

import os
import signal
from pathlib import Path

import pytest

from tests.cluster.kubernetes import Cluster
from tests.cluster.manifests import index, table
from tests.cluster.runs import attempts, builds_of
from tests.cluster.user import User
from tests.java.live import Scene
from tests.java.remains import require_ready_and_nothing_left
from tests.kit.builds import Builds, silence_hearts
from tests.kit.eventually import eventually


@pytest.fixture
def builds(cluster: Cluster, tmp_path: Path) -> Builds:
    """The first stops in its middle."""
    builds = builds_of(cluster, tmp_path / "pauses")
    builds.stop_the_next()
    return builds


def test_ready_after_the_operator_was_killed_in_the_middle_of_a_build_by_the_run_that_lived_on(
    cluster: Cluster, user: User, live: Scene, builds: Builds, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with cluster.operator(folder=state, pauses=builds.folder) as first:
        user.apply(table(live.folder), index())
        with builds.stopped(live.folder):
            live.commit()
            first.kill()
    cluster.expire_lease()

    with cluster.operator(folder=state):
        live.commit()
        user.wait()

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(live.folder)
    live.commit()
    live.require_found_by_java()


def test_ready_after_the_run_was_killed_in_the_middle_of_a_build_by_another_attempt(
    cluster: Cluster, user: User, live: Scene, builds: Builds, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with cluster.operator(folder=state, pauses=builds.folder):
        user.apply(table(live.folder), index())
        with builds.stopped(live.folder) as build:
            live.commit()
            os.kill(build, signal.SIGKILL)
        silence_hearts(live.folder)
        live.commit()
        user.wait()

    assert sorted(attempt for _, _, attempt in attempts(state)) == [1, 2]
    assert set(attempts(state).values()) == {1}
    require_ready_and_nothing_left(live.folder)
    live.commit()
    live.require_found_by_java()


def test_ready_after_the_api_server_was_killed_in_the_middle_of_a_build_and_came_back_within_a_lease(
    cluster: Cluster, user: User, quiet: Path, builds: Builds, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    builds.give_a_long_lease()
    with cluster.operator(folder=state, pauses=builds.folder) as operator:
        user.apply(table(quiet), index())
        with builds.stopped(quiet):
            cluster.kill_api()
        cluster.restart_api()
        user.wait()
        assert operator.is_alive

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(quiet)


def test_ready_after_the_api_server_was_away_for_longer_than_a_leader_may_be_sure_of_itself(
    cluster: Cluster, user: User, quiet: Path, builds: Builds, tmp_path: Path
) -> None:
    """The operator ends, as it must, and is started again, as a Deployment's pod is."""
    state = tmp_path / "state"
    with cluster.operator(folder=state, pauses=builds.folder) as operator:
        user.apply(table(quiet), index())
        with builds.stopped(quiet):
            cluster.kill_api()
        eventually("the operator to end", lambda: not operator.is_alive, told=lambda: operator.said[-3000:])
    cluster.restart_api()
    cluster.expire_lease()

    with cluster.operator(folder=state):
        user.wait()

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(quiet)


def test_of_two_operators_one_works_and_the_other_takes_over_when_that_is_killed(
    cluster: Cluster, user: User, quiet: Path, builds: Builds, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with (
        cluster.operator(folder=state, pauses=builds.folder) as one,
        cluster.operator(folder=state, pauses=builds.folder) as other,
    ):
        user.apply(table(quiet), index())
        with builds.stopped(quiet):
            (leader,) = (each for each in (one, other) if "act=start" in each.said)
            leader.kill()
        cluster.expire_lease()
        user.wait()

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(quiet)
