"""Locks as Hudi's own lock providers take them."""

from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from tests.interop import java

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
