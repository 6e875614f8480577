"""Heartbeats of either side as the other judges them."""

import os
import time
from pathlib import Path

from hudi_engine.clock import SystemClock
from hudi_engine.concurrency.heartbeat import Heartbeats, Lease, Pulse, own_lease, writers_lease
from hudi_engine.storage.local import LocalStorage
from tests.java.jvm import Jvm

INSTANT = "20260101000000000"


def heartbeats(table: Path, lease: Lease) -> Heartbeats:
    return Heartbeats(LocalStorage(str(table)), SystemClock(), lease)


def test_java_takes_our_heartbeats_for_its_own(real_hudi: Jvm, tmp_path: Path) -> None:
    def is_expired(interval_ms: int) -> object:
        return real_hudi.is_heartbeat_expired(table=str(tmp_path), instant=INSTANT, interval_ms=interval_ms, misses=2)

    assert is_expired(60_000), "nobody began"
    with heartbeats(tmp_path, own_lease({})).beating(INSTANT):
        assert not is_expired(60_000)

        long_ago = time.time() - 30
        os.utime(tmp_path / ".hoodie" / ".heartbeat" / INSTANT, (long_ago, long_ago))
        assert is_expired(10_000)
        assert not is_expired(60_000)

        heartbeats(tmp_path, own_lease({})).renew(INSTANT)
        assert not is_expired(10_000)
    assert is_expired(60_000), "it is gone when we end"


def test_we_take_javas_heartbeats_for_ours(real_hudi: Jvm, tmp_path: Path) -> None:
    real_hudi.beat_once(table=str(tmp_path), instant=INSTANT)
    ours = heartbeats(tmp_path, writers_lease({}))
    assert ours.pulse(INSTANT) is Pulse.LIVE
    assert ours.is_live(INSTANT)

    long_ago = time.time() - 121
    os.utime(tmp_path / ".hoodie" / ".heartbeat" / INSTANT, (long_ago, long_ago))

    assert ours.pulse(INSTANT) is Pulse.SILENT
    assert not ours.is_live(INSTANT)
