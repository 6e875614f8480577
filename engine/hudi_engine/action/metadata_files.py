"""The metadata table where a table has none: its folder, its properties, and the `files` index, of which all else is.

Hudi's own writers take a metadata table that the properties do not list for something to throw away. So nothing here
needs to be undone: whoever finds the half of it removes it and begins anew, as we do ourselves.
"""

from typing import Final

from hudi_engine.action.deletion import delete_now
from hudi_engine.action.flags import flag_complete
from hudi_engine.action.listed_files import Listed, committed_files, list_again, list_files
from hudi_engine.action.metadata_commit import (
    INITIAL,
    MetadataCommit,
    WrittenFile,
    ensure_partition_metafile,
    run_metadata_commit,
)
from hudi_engine.action.metadata_disable import delete_metadata_files, metadata_paths
from hudi_engine.action.metadata_instants import solo_instant
from hudi_engine.action.metadata_logs import write_init_logs
from hudi_engine.action.site import Site, Transaction
from hudi_engine.errors import Busy, Contradiction, NotFound
from hudi_engine.format.hfile.write import Recipe, write_hfile
from hudi_engine.format.instant_names import Action, Instant, State, instant_file
from hudi_engine.format.names import BaseFileName
from hudi_engine.format.properties import TABLE_CHECKSUM, TABLE_NAME, expected_checksum, render
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.files_entries import files_entries
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER, MetadataTable
from hudi_engine.storage.in_folder import InFolder
from hudi_engine.table.config import READABLE_VERSIONS
from hudi_engine.table.properties_file import MAIN
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

_INDEX: Final = IndexKind.FILES.value
_SHARD: Final = "files-0000-0"
_BASE_TOKEN: Final = "0-1-0"


def ensure_files(site: Site) -> None:
    """The `files` index, which every other is made of, complete: built if the table has no metadata table at all.

    One that is there and not listed may be in use by somebody, and is refused.
    """
    if _INDEX in site.table().config.readable_indexes:
        return
    try:
        is_begun = bool(site.metadata().timeline.completed())
    except NotFound:
        is_begun = False
    if is_begun:
        raise Contradiction(
            f"{site.storage.location}: there is a metadata table with commits, and hoodie.properties does not list its "
            "`files`: an upgrade left it so, or a writer has it disabled. `hudi-engine metadata repair` lists it if it "
            "is whole; `hudi-engine metadata disable` removes it, and the next build makes a new one."
        )
    site.watch.say("no metadata table: its `files` index is built first")
    build_metadata_table(site)


def build_metadata_table(site: Site) -> bool:
    """A metadata table with the `files` index, complete; False if the table has one already.

    Folders are listed before the lock is taken, and under it only those that somebody changed meanwhile. `Busy` while
    a write runs: its writer does not know of the metadata table and would leave its files out.
    """
    table = site.table()
    if _INDEX in table.config.readable_indexes:
        return False
    _require_calm(table, table.timeline())
    if halves := metadata_paths(site.storage):
        delete_metadata_files(site, halves)
    site.watch.begin("list")
    listed = list_files(table)
    with site.locked():
        return _build(site, listed)


def _build(site: Site, listed: Listed) -> bool:
    table = site.table()
    if _INDEX in table.config.readable_indexes:
        return False
    listed = list_again(table, listed)
    _require_calm(table, listed.timeline)
    site.lock.require_held()
    delete_now(site.storage, metadata_paths(site.storage))  # what somebody has begun since
    site.lock.require_held()
    create_metadata_table(table)
    transaction = Transaction(site, site.metadata())
    _publish(transaction, listed)
    return True


def _publish(transaction: Transaction, listed: Listed) -> None:
    metadata, table = transaction.metadata, transaction.table
    instant = solo_instant(metadata, ())
    files = (*write_init_logs(metadata, _INDEX, [_SHARD], instant), _base_file(metadata, listed, instant))
    ensure_partition_metafile(metadata, _INDEX, instant)
    completed_at = transaction.next_time()
    transaction.require_held()
    run_metadata_commit(metadata, MetadataCommit(instant, INITIAL, files), completed_at)
    transaction.require_held()
    flag_complete(table, [_INDEX])


def _base_file(metadata: MetadataTable, listed: Listed, instant: str) -> WrittenFile:
    table, version = metadata.data, metadata.table.config.version
    entries = files_entries(committed_files(table, listed), version)
    data = write_hfile(entries, Recipe(WRITTEN_SCHEMA[version], table.clock.now_ms()))
    path = f"{_INDEX}/{BaseFileName(_SHARD, _BASE_TOKEN, instant, 'hfile')}"
    metadata.table.storage.create(path, data)
    return WrittenFile(_INDEX, _SHARD, path, len(data), len(entries))


def create_metadata_table(table: Table) -> None:
    """The properties of a metadata table for this table, by which its folder is one."""
    properties = metadata_properties(table)
    InFolder(table.storage, FOLDER).replace(MAIN, render(properties, ["Properties of a metadata table"]))


def metadata_properties(table: Table) -> dict[str, str]:
    """What Hudi writes for a metadata table beside a table of this version (`hudi-format` 3.1)."""
    version = table.config.version
    properties = {
        TABLE_NAME: f"{table.config.name}_metadata",
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.version": str(version),
        "hoodie.timeline.layout.version": str(READABLE_VERSIONS[version]),
        "hoodie.table.base.file.format": "HFILE",
        "hoodie.table.recordkey.fields": "key",
        "hoodie.populate.meta.fields": "false",
        "hoodie.datasource.write.drop.partition.columns": "false",
        "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
        **(_OF_VERSION_6 if version == 6 else _SINCE_VERSION_8 | {"hoodie.table.initial.version": str(version)}),
    }
    return properties | {TABLE_CHECKSUM: str(expected_checksum(properties))}


_OF_VERSION_6: Final = {
    "hoodie.archivelog.folder": "archived",
    "hoodie.table.keygenerator.class": "org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator",
    "hoodie.compaction.record.merger.strategy": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
}
_SINCE_VERSION_8: Final = {
    "hoodie.archivelog.folder": "history",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA",
    "hoodie.record.merge.mode": "CUSTOM",
    "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
}


def _require_calm(table: Table, timeline: Timeline) -> None:
    running = [instant_file(each) for each in timeline.pending() if _is_running(table, each, timeline)]
    if running:
        raise Busy(
            f"{table.storage.location}: the table has no metadata table, and the writers of {', '.join(running)} would "
            "leave their files out of one that is made now. Let them finish, or the next writer roll back what is "
            "dead; set hoodie.metadata.enable=true for all writers, and run this again."
        )


def _is_running(table: Table, instant: Instant, timeline: Timeline) -> bool:
    """A service that is only planned is run by a writer that begins later, and knows of the metadata table."""
    if instant.action in _NOT_WRITERS or (instant.state is State.REQUESTED and instant.action in _PLANNED):
        return False
    if instant.state is State.REQUESTED and instant.action is Action.REPLACE_COMMIT:
        return not table.is_clustering(instant, timeline)
    return True


_NOT_WRITERS: Final = frozenset({Action.INDEXING, Action.SAVEPOINT})
_PLANNED: Final = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.CLEAN})
