"""Locks as Hudi's own lock providers take them, and heartbeats as its client beats and judges them."""

from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from tests.java import objects as java

_held: dict[str, Any] = {}


def take_lock(spark: SparkSession, version: str, provider: str, conf: dict[str, str], seconds: int) -> bool:
    """Whether that provider got the lock; it is kept under the provider's name until `give_lock`."""
    made = _provider(spark, provider, conf)
    if _try(spark, made, seconds):
        _held[provider] = made
        return True
    made.close()
    return False


def give_lock(spark: SparkSession, version: str, provider: str) -> None:
    made = _held.pop(provider)
    made.unlock()
    made.close()


def count_under_lock(
    spark: SparkSession, version: str, provider: str, conf: dict[str, str], file: str, rounds: int
) -> None:
    """Makes the number in a file one more so many times, each time under a lock of its own provider object."""
    for _ in range(rounds):
        made = _provider(spark, provider, conf)
        while not _try(spark, made, 60):
            pass
        count = int(Path(file).read_text())
        Path(file).write_text(str(count + 1))
        made.unlock()
        made.close()


def implicit_lock_path(spark: SparkSession, version: str, location: str) -> str:
    locks = java.package(spark).client.transaction.lock
    provider = locks.ZookeeperBasedImplicitBasePathLockProvider
    path: str = provider.getLockBasePath(location)
    return f"{path}/{provider.LOCK_KEY}"


def beat_once(spark: SparkSession, version: str, table: str, instant: str) -> None:
    """A heartbeat of Java's; its client is closed without a stop, as if the writer had died."""
    client = _heartbeats(spark, table, 60_000, 2)
    client.start(instant)
    client.close()


def is_heartbeat_expired(
    spark: SparkSession, version: str, table: str, instant: str, interval_ms: int, misses: int
) -> bool:
    return bool(_heartbeats(spark, table, interval_ms, misses).isHeartbeatExpired(instant))


def _heartbeats(spark: SparkSession, table: str, interval_ms: int, misses: int) -> Any:
    made = java.package(spark).client.heartbeat.HoodieHeartbeatClient
    return made(java.storage(spark, table), table, java.virtual_machine(spark).Long.valueOf(interval_ms), misses)


def _provider(spark: SparkSession, name: str, conf: dict[str, str]) -> Any:
    hudi = java.package(spark)
    properties = java.virtual_machine(spark).java.util.Properties()
    for key, value in conf.items():
        properties.setProperty(key, value)
    made = getattr(hudi.client.transaction.lock, name.rpartition(".")[2])
    return made(hudi.common.config.LockConfiguration(properties), java.configuration(spark))


def _try(spark: SparkSession, provider: Any, seconds: int) -> bool:
    try:
        return bool(provider.tryLock(seconds, java.virtual_machine(spark).java.util.concurrent.TimeUnit.SECONDS))
    except Py4JError as failed:
        if "FAILED_TO_ACQUIRE" in str(failed):
            return False
        raise
