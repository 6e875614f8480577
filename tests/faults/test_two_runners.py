"""Two real processes on one plan: one of them takes effect, and the exit code of the other says what became of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tests.java.live import USUAL_LEASE
from tests.java.live_checks import run_engine
from tests.java.remains import content, require_ready_and_nothing_left
from tests.kit.engine import Ended, Engine, Pause, build
from tests.kit.heartbeats import back_date_heartbeats

_BUSY, _LOCK_LOST, _SUPERSEDED = 21, 23, 24
_LOCKED: Final = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"}
_TABLES: Final = ("v9_mor_orders", "v6_cow_orders")
_SHARD: Final = Pause("now", r"^create .*record-index-0003-.*hfile")
_TAKES_LOCK: Final = r"^create \.hoodie/lock$"
# Within the lock a runner asks first who has the plan.
_ASLEEP: Final = {
    "before it publishes": ("v6_cow_orders", Pause("now", _TAKES_LOCK, 3, "stop")),
    "before it completes": ("v9_cow_orders", Pause("now", _TAKES_LOCK, 4, "stop")),
}
# Longer than a beat may wait for a disk that others keep busy.
_REAL_LEASE: Final = {
    "hoodie.client.heartbeat.interval_in_ms": "1000",
    "hoodie.client.heartbeat.tolerable.misses": "10",
}


@pytest.mark.parametrize("name", _TABLES)
def test_who_runs_a_plan_that_another_runs_is_told_busy_and_changes_nothing(
    name: str, quiet_table: Callable[[str], Path]
) -> None:
    table = quiet_table(name)

    with Engine(table, _LOCKED, [_SHARD]) as first:
        assert first.pauses("now")
        before = _base_of(content(table))
        (plan,) = (file.name.partition(".")[0] for file in table.glob(".hoodie/**/*.indexing.requested"))
        others = [build(table, _LOCKED), _run(table, plan)]
        after = _base_of(content(table))
        first.go_on("now")
        ended = first.end()

    for other in others:
        assert (other.code, other.report["outcome"], other.report["retry"]) == (_BUSY, "busy", True), other
        assert plan in other.report["reason"]
    assert after == before
    assert (ended.code, ended.report["outcome"], ended.report["instant"]) == (0, "ready", plan), ended
    require_ready_and_nothing_left(table)


@pytest.mark.parametrize("moment", _ASLEEP)
def test_a_runner_that_was_taken_over_while_it_slept_changes_nothing_when_it_wakes(
    moment: str, quiet_table: Callable[[str], Path]
) -> None:
    name, asleep = _ASLEEP[moment]
    table, options = quiet_table(name), {**_LOCKED, **USUAL_LEASE}

    with Engine(table, options, [asleep]) as first:
        assert first.pauses("now")
        back_date_heartbeats(table)
        second = build(table, options)
        before = content(table)
        first.go_on("now")
        ended = first.end()

    _require_fenced(ended, second, _SUPERSEDED, is_worth_a_retry=False)
    assert content(table) == before
    require_ready_and_nothing_left(table)


def test_a_runner_whose_lease_really_runs_out_knows_it_when_it_wakes(quiet_table: Callable[[str], Path]) -> None:
    """The only test that waits for a lease: the second runner does. Elsewhere heartbeats are back-dated."""
    table, options = quiet_table("v9_mor_orders"), {**_LOCKED, **_REAL_LEASE}

    with Engine(table, options, [replace(_SHARD, how="stop")]) as first:
        assert first.pauses("now")
        second = build(table, options)
        before = content(table)
        first.go_on("now")
        ended = first.end()

    _require_fenced(ended, second, _LOCK_LOST, is_worth_a_retry=True)
    assert content(table) == before
    require_ready_and_nothing_left(table)


def _require_fenced(first: Ended, second: Ended, code: int, *, is_worth_a_retry: bool) -> None:
    """The second runner made the index, and the first says that it did not."""
    assert (second.code, second.report["outcome"]) == (0, "ready"), second
    assert (first.code, first.report["outcome"], first.report["retry"]) == (code, "failed", is_worth_a_retry), first


def _run(table: Path, plan: str) -> Ended:
    conf = [word for key, value in _LOCKED.items() for word in ("--conf", f"{key}={value}")]
    code, report = run_engine("index", "run", str(table), plan, *conf)
    return Ended(code, report, "")


def _base_of(found: object) -> object:
    """Without the shards, which the first of them goes on to write."""
    assert isinstance(found, dict)
    return {name: said for name, said in found.items() if "/record_index/" not in name}
