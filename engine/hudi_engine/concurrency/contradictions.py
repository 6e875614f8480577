"""What lies in a table and contradicts the lock that we were told of: then nothing keeps its writers and us apart.

Only what is there by itself counts. What a writer left that died is taken for a sign of life as long as the lease of
Hudi's writers lasts, and no longer.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from hudi_engine.concurrency.heartbeat import Heartbeats, Pulse, writers_lease
from hudi_engine.concurrency.lock import PROVIDER_KEY, SINGLE_WRITER_KEY, is_file_system, is_shared
from hudi_engine.errors import Contradiction, LockUnavailable, NotFound
from hudi_engine.format.instant_names import Action
from hudi_engine.table.table import Table

_FILE: Final = ".hoodie/lock"
_OF_STORAGE: Final = ".hoodie/.locks/table_lock.json"
_STORAGE_PROVIDER: Final = "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"
_FILE_PROVIDER: Final = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"


def refuse_contradicted(conf: Mapping[str, str], table: Table) -> None:
    """`Contradiction` if somebody holds another lock of this table.

    If somebody writes, though we were told that nobody does, `LockUnavailable`: that may be over the next time.
    """
    ours = conf.get(PROVIDER_KEY, "").strip() or f"{SINGLE_WRITER_KEY}=true"
    if not is_file_system(conf) and (age_ms := _age_of_file(conf, table)) is not None:
        raise Contradiction(
            f"{table.storage.location}/{_FILE}: a lock that {_FILE_PROVIDER} made {age_ms / 1000:.0f} seconds ago, and "
            f"we were told {ours}. {_set(_FILE_PROVIDER)} If nobody has it, delete that file."
        )
    if (owner := _owner_of_storage_lock(table)) is not None:
        raise Contradiction(
            f"{table.storage.location}/{_OF_STORAGE}: a lock of {_STORAGE_PROVIDER}, held by {owner}, and we were told "
            f"{ours}. This engine cannot take part in that lock: let every writer and this engine use ZooKeeper's."
        )
    if not is_shared(conf):
        _refuse_company(conf, table)


def _refuse_company(conf: Mapping[str, str], table: Table) -> None:
    """An index plan is a run of ours, which has a guard of its own."""
    hearts = Heartbeats(table.storage, table.clock, writers_lease(conf))
    for instant in table.timeline().pending():
        if instant.action is not Action.INDEXING and hearts.pulse(instant.requested_at) is Pulse.LIVE:
            age_ms = hearts.age_ms(instant.requested_at) or 0
            raise LockUnavailable(
                f"{table.storage.location}: {instant.requested_at} ({instant.action}, {instant.state}) has a heartbeat "
                f"{max(age_ms, 0) / 1000:.0f} seconds old, so that somebody writes, and we were told "
                f"{SINGLE_WRITER_KEY}=true. Set {PROVIDER_KEY} and its properties as that writer has them; if it is "
                f"dead, run this again when its last beat is {hearts.lease.lasts_ms / 1000:.0f} seconds old."
            )


def _set(provider: str) -> str:
    return f"Set {PROVIDER_KEY}={provider} as that writer has it, or give all of them the same other one."


def _age_of_file(conf: Mapping[str, str], table: Table) -> int | None:
    """None if there is none, or if it is so old that whoever made it is dead, or has gone over to another lock."""
    found = next((file for file in table.storage.list(".hoodie") if file.path == _FILE), None)
    age_ms = 0 if found is None else max(0, table.clock.now_ms() - found.modified_ms)
    return None if found is None or age_ms > writers_lease(conf).lasts_ms else age_ms


def _owner_of_storage_lock(table: Table) -> str | None:
    """It stays when it is let go, and then says so."""
    try:
        said: Any = json.loads(table.storage.read(_OF_STORAGE))
        is_held = not said["expired"] and int(said["validUntil"]) > table.clock.now_ms()
        return str(said["owner"]) if is_held else None
    except (NotFound, ValueError, KeyError, TypeError):
        return None
