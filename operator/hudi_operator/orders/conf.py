"""The properties of a table: what reaches it and what locks it. Secrets are named only."""

from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    Execution,
    FileSystemLock,
    HudiTable,
    ZooKeeperLock,
)

LOCK_PROVIDER = "hoodie.write.lock.provider"
_PROVIDERS = "org.apache.hudi.client.transaction.lock."
_ZOOKEEPER = "hoodie.write.lock.zookeeper."


def conf_of(table: HudiTable, execution: Execution | None = None) -> dict[str, str]:
    """What any look at the table or run on it is configured with; nothing overrides the table's own lock.

    `execution` is that of a run, merged already.
    """
    given = table.execution if execution is None else execution
    return {
        **table.storage.hadoop_conf,
        **given.hadoop_conf,
        **given.hudi_conf,
        **lock_properties(table.concurrency),
        **_heartbeat_properties(table.concurrency),
    }


def secrets_of(table: HudiTable) -> tuple[str, ...]:
    """The secrets whose keys are properties of the table."""
    lock = table.concurrency.lock
    named = (table.storage.credentials_secret, lock.credentials_secret if isinstance(lock, ZooKeeperLock) else None)
    return tuple(dict.fromkeys(name for name in named if name))


def lock_properties(concurrency: Concurrency) -> dict[str, str]:
    """As Hudi's writers name them; of a table with a single writer the word that there is no other."""
    match concurrency.lock:
        case ZooKeeperLock() as lock:
            return {LOCK_PROVIDER: f"{_PROVIDERS}ZookeeperBasedLockProvider", **_zookeeper_properties(lock)}
        case FileSystemLock(path):
            folder = {"hoodie.write.lock.filesystem.path": path} if path else {}
            return {LOCK_PROVIDER: f"{_PROVIDERS}FileSystemBasedLockProvider", **folder}
    return {"hudi.engine.single.writer": "true"} if concurrency.mode is ConcurrencyMode.SINGLE_WRITER else {}


def _zookeeper_properties(lock: ZooKeeperLock) -> dict[str, str]:
    seconds = {
        "session_timeout_ms": lock.session_timeout_seconds,
        "connection_timeout_ms": lock.connection_timeout_seconds,
    }
    return {
        f"{_ZOOKEEPER}url": lock.connect_string,
        f"{_ZOOKEEPER}base_path": lock.base_path,
        f"{_ZOOKEEPER}lock_key": lock.lock_key,
        **{f"{_ZOOKEEPER}{key}": str(1000 * given) for key, given in seconds.items() if given is not None},
    }


def _heartbeat_properties(concurrency: Concurrency) -> dict[str, str]:
    interval, misses = concurrency.heartbeat_interval_seconds, concurrency.heartbeat_tolerable_misses
    given = {
        "hoodie.client.heartbeat.interval_in_ms": None if interval is None else 1000 * interval,
        "hoodie.client.heartbeat.tolerable.misses": misses,
    }
    return {key: str(value) for key, value in given.items() if value is not None}
