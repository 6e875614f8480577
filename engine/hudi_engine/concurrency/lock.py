"""The lock that Hudi's own properties say: the one that a table's writers use, or a refusal that says what to set."""

from collections.abc import Mapping
from typing import Final, Protocol

from hudi_engine.concurrency.file_system import EXPIRE_KEY, FileSystemLock, LockFile
from hudi_engine.concurrency.in_process import PROCESS
from hudi_engine.concurrency.owner import Owner
from hudi_engine.concurrency.settings import is_set, whole_number
from hudi_engine.concurrency.zookeeper import ZooKeeperLock
from hudi_engine.concurrency.zookeeper_settings import explicit_settings, implicit_settings
from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.open import open_storage
from hudi_engine.storage.protocol import Storage, is_remote
from hudi_engine.table.table import Table

PROVIDER_KEY: Final = "hoodie.write.lock.provider"
WAIT_KEY: Final = "hoodie.write.lock.wait_time_ms"
SINGLE_WRITER_KEY: Final = "hudi.engine.single.writer"

LOCK_FOLDER_KEY: Final = "hoodie.write.lock.filesystem.path"
_ATOMIC_KEY: Final = "hoodie.fs.atomic_creation.support"
_JAVA: Final = "org.apache.hudi.client.transaction.lock."
_ZOOKEEPER: Final = f"{_JAVA}ZookeeperBasedLockProvider"
_OF_ONE_PROCESS: Final = ("", "InProcessLockProvider")
_USE: Final = f"Let every writer and this engine use {PROVIDER_KEY}={_ZOOKEEPER}"
_ALONE: Final = f"or, if no writer runs while this does, set {SINGLE_WRITER_KEY}=true"


class Lock(Protocol):
    """The right to change a table's timeline and properties. One object is for one thread, and may be used again."""

    def acquire(self, wait_seconds: float) -> None:
        """Returns when the lock is held; `LockUnavailable` if that takes longer."""

    def release(self) -> None:
        """Gives it up, and whatever was opened for it. Not to hold it is fine."""

    def require_held(self) -> None:
        """Returns if it is certain that the lock is held now; `LockLost` otherwise."""


def lock_of(conf: Mapping[str, str], table: Table, owner: Owner) -> Lock:
    """The lock that this table's writers take, by `hoodie.write.lock.provider` and the properties of that provider.

    Nothing is opened yet. A provider that we cannot take part in is refused by its name, and so is a table without
    one, unless the configuration says that no writer is running.
    """
    provider = conf.get(PROVIDER_KEY, "").strip()
    match _provider(conf):
        case "ZookeeperBasedLockProvider":
            return ZooKeeperLock(explicit_settings(conf, table), table.clock, owner)
        case "ZookeeperBasedImplicitBasePathLockProvider":
            return ZooKeeperLock(implicit_settings(conf), table.clock, owner)
        case "FileSystemBasedLockProvider":
            return FileSystemLock(_lock_file(conf, table), table.clock, owner)
        case alone if alone in _OF_ONE_PROCESS:
            _require_single_writer(conf, provider)
            return PROCESS.of(table.storage.location, owner)
    raise Unsupported(f"{PROVIDER_KEY}={provider}: this engine cannot take part in that lock. {_USE}.")


def is_file_system(conf: Mapping[str, str]) -> bool:
    """Whether the lock is a file."""
    return _provider(conf) == "FileSystemBasedLockProvider"


def is_shared(conf: Mapping[str, str]) -> bool:
    """Whether the lock is one that other processes take as well."""
    return _provider(conf) not in _OF_ONE_PROCESS


def _provider(conf: Mapping[str, str]) -> str:
    return conf.get(PROVIDER_KEY, "").strip().removeprefix(_JAVA)


def wait_seconds(conf: Mapping[str, str]) -> float:
    """How long to wait for a lock, by Hudi's own property."""
    return whole_number(conf, WAIT_KEY, 60_000) / 1000


def _require_single_writer(conf: Mapping[str, str], provider: str) -> None:
    if is_set(conf, SINGLE_WRITER_KEY):
        return
    found = f"{PROVIDER_KEY}={provider}: that is a lock within one JVM" if provider else f"{PROVIDER_KEY} is not set"
    raise Contradiction(f"{found}, so that nothing keeps the table's writers and this engine apart. {_USE}, {_ALONE}.")


def _lock_file(conf: Mapping[str, str], table: Table) -> LockFile:
    expire_ms = 60_000 * whole_number(conf, EXPIRE_KEY, 0)
    folder = conf.get(LOCK_FOLDER_KEY, "").strip()
    if not folder:
        return LockFile(_atomic(conf, table.storage), ".hoodie/lock", expire_ms)
    return LockFile(_atomic(conf, _storage_of(folder, conf)), "lock", expire_ms)


def _storage_of(folder: str, conf: Mapping[str, str]) -> Storage:
    local = folder.removeprefix("file:")
    if local.startswith("/"):
        # Not opened as a table would be: like Java we make the folder when we first take the lock.
        return LocalStorage("/" + local.lstrip("/"))
    if "://" not in folder:
        raise Contradiction(f"{LOCK_FOLDER_KEY}={folder}: expected a folder that begins with /, or a URL")
    return open_storage(folder, conf)


def _atomic(conf: Mapping[str, str], storage: Storage) -> Storage:
    """Java refuses stores that it does not know to create a file but once, or to be said to."""
    scheme = storage.location.partition("://")[0]
    if is_remote(storage) and scheme not in conf.get(_ATOMIC_KEY, "").split(","):
        raise Unsupported(
            f"{PROVIDER_KEY}={_JAVA}FileSystemBasedLockProvider with {storage.location}: Hudi's own writers take no "
            f"file on {scheme} for a lock. {_USE}; if they do since {_ATOMIC_KEY} names {scheme}, set that here too."
        )
    return storage
