"""In the middle of a build beside a live Java writer something is killed: the index is ready without a hand."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.cluster.kubernetes import Cluster
from tests.cluster.manifests import index, table
from tests.cluster.runs import attempts, stopped_in_a_build
from tests.cluster.user import User
from tests.faults.live import Scene
from tests.faults.remains import require_ready_and_nothing_left
from tests.kit.wait import wait_until

Say = Callable[[str], None]


def test_ready_after_the_operator_was_killed_in_the_middle_of_a_build_by_the_run_that_lived_on(
    cluster: Cluster, user: User, live: Scene, say: Say, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with live.written_to():
        with cluster.operator(folder=state) as first:
            user.apply(table(live.folder), index())
            with stopped_in_a_build(cluster, live.folder):
                first.kill()
        killed = time.monotonic()
        with cluster.operator(folder=state):
            user.wait()
            say(f"operator killed in the middle of a build: ready after {time.monotonic() - killed:.1f} s")
            live.await_commits(2)

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(live.folder)
    live.require_found_by_java()


def test_ready_after_the_run_was_killed_in_the_middle_of_a_build_by_another_attempt(
    cluster: Cluster, user: User, live: Scene, say: Say, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with live.written_to(), cluster.operator(folder=state):
        user.apply(table(live.folder), index())
        with stopped_in_a_build(cluster, live.folder) as build:
            os.kill(build.pid, signal.SIGKILL)
        killed = time.monotonic()
        user.wait()
        say(f"run killed in the middle of a build: ready after {time.monotonic() - killed:.1f} s")
        live.await_commits(2)

    assert sorted(attempt for _, _, attempt in attempts(state)) == [1, 2]
    assert set(attempts(state).values()) == {1}
    require_ready_and_nothing_left(live.folder)
    live.require_found_by_java()


def test_ready_after_the_api_server_was_killed_in_the_middle_of_a_build_and_came_back_soon(
    cluster: Cluster, user: User, live: Scene, say: Say, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with live.written_to(), cluster.operator(folder=state) as operator:
        user.apply(table(live.folder), index())
        with stopped_in_a_build(cluster, live.folder):
            cluster.kill_api()
        cluster.restart_api()
        back = time.monotonic()
        user.wait()
        say(f"API server killed in the middle of a build: ready {time.monotonic() - back:.1f} s after it was back")
        assert operator.is_alive

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(live.folder)


def test_ready_after_the_api_server_was_away_for_longer_than_a_leader_may_be_sure_of_itself(
    cluster: Cluster, user: User, live: Scene, say: Say, tmp_path: Path
) -> None:
    """The operator ends, as it must, and is started again, as a Deployment's pod is."""
    state = tmp_path / "state"
    with live.written_to():
        with cluster.operator(folder=state) as operator:
            user.apply(table(live.folder), index())
            with stopped_in_a_build(cluster, live.folder):
                cluster.kill_api()
            wait_until(lambda: not operator.is_alive, 60)
        cluster.restart_api()
        back = time.monotonic()
        with cluster.operator(folder=state):
            user.wait()
            say(f"API server away until the operator ended: ready {time.monotonic() - back:.1f} s after it was back")
            live.await_commits(2)

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(live.folder)
    live.require_found_by_java()


def test_of_two_operators_one_works_and_the_other_takes_over_when_that_is_killed(
    cluster: Cluster, user: User, live: Scene, say: Say, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with (
        live.written_to(),
        cluster.operator(folder=state) as one,
        cluster.operator(folder=state) as other,
    ):
        user.apply(table(live.folder), index())
        wait_until(lambda: bool(attempts(state)), 60)
        leader = next(each for each in (one, other) if "act=start" in each.said)
        with stopped_in_a_build(cluster, live.folder):
            leader.kill()
        killed = time.monotonic()
        user.wait()
        say(f"leader killed in the middle of a build: ready after {time.monotonic() - killed:.1f} s")

    assert list(attempts(state).values()) == [1]
    require_ready_and_nothing_left(live.folder)
