"""Files of the metadata table's shards: the empty log that makes a shard exist, and logs that change what it says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from hudi_engine.action.metadata_commit import WrittenFile
from hudi_engine.errors import AlreadyExists, Contradiction
from hudi_engine.format.hfile.write import Recipe, write_hfile
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey
from hudi_engine.format.log.writer import delete_block, hfile_block
from hudi_engine.format.names import LogFileName
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.kinds import parse_shard_name
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.index.ranges import in_order
from hudi_engine.storage.protocol import is_remote
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.table import Table

_EMPTY_TOKEN: Final = "0-0-0"
_WRITERS: Final = 16
"""Requests at once to a store that takes its time for each."""


@dataclass(frozen=True, slots=True)
class ShardChange:
    """What one shard is to say from now on.

    `puts` has the columns `key` and `value`, ascending by the keys' bytes and none twice; `deletes` are other keys.
    """

    puts: pa.Table
    deletes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LogOrder:
    """Logs to write to an index: at which instant of the metadata table, by which attempt, made when."""

    index: str
    instant: str
    attempt: int
    created_ms: int


def write_init_logs(
    metadata: MetadataTable, index: str, file_ids: Sequence[str], instant: str
) -> tuple[WrittenFile, ...]:
    """The empty log of each shard, by which it exists even if it has no base file. Repeating it is fine."""
    table = metadata.table
    empty = delete_block([], {HeaderKey.INSTANT_TIME: instant}, table.config.version)

    def write(file_id: str) -> WrittenFile:
        name = str(LogFileName(file_id, instant, 1, _EMPTY_TOKEN))
        _create_same(table, f"{index}/{name}", empty)
        return WrittenFile(index, file_id, f"{index}/{name}", len(empty), 0, log_files=(name,))

    return _each(table, write, file_ids)


def write_logs(metadata: MetadataTable, order: LogOrder, changes: Mapping[str, ShardChange]) -> tuple[WrittenFile, ...]:
    """One log file for each shard, by file id, that has a change: its puts, then its deletes.

    The deltacommit must be begun and the metadata table read since the lock was taken: in layout 1 the log belongs to
    the shard's slice as it is now. Repeating it with the same order gives the same files.
    """
    slices = shard_slices(metadata, order.index)
    if strange := sorted(changes.keys() - slices.keys()):
        raise Contradiction(
            f"{metadata.table.storage.location}/{order.index}: no shard {strange[0]}, one of {len(strange)} that are "
            f"to be changed; there are {len(slices)}. The index was built anew meanwhile; run the same again."
        )
    changed = [file_id for file_id in sorted(changes) if len(changes[file_id].puts) or changes[file_id].deletes]
    return _each(
        metadata.table, lambda file_id: _write_log(metadata, order, slices[file_id], changes[file_id]), changed
    )


def shard_slices(metadata: MetadataTable, index: str) -> dict[str, FileSlice]:
    """The slice of each shard that the next log belongs to, by file id; complete or in flight, listed now.

    Files of a slice that is not committed are left out: nobody may add to it.
    """
    view = metadata.view
    found = {}
    for group in view.groups(index, metadata.table.storage.list(index)):
        for each in group.slices:
            if each.base_instant in view.visible_instants or each.base_instant < view.completions.border:
                found[group.file_id] = each
                break
    return found


def _write_log(metadata: MetadataTable, order: LogOrder, shard: FileSlice, change: ShardChange) -> WrittenFile:
    table = metadata.table
    data = _blocks(table, order, change)
    name, before = _place(table, order, shard, data)
    path = f"{order.index}/{name}"
    _create_same(table, path, data)
    base = shard.base_file if table.config.layout == 1 else None
    return WrittenFile(
        index=order.index,
        file_id=shard.file_id,
        path=path,
        size_bytes=len(data),
        entries=len(change.puts),
        deletes=len(change.deletes),
        base_file="" if base is None else base.stat.name,
        log_files=(*before, name),
    )


def _place(table: Table, order: LogOrder, shard: FileSlice, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The log's name, and the logs of its slice that commits name beside it.

    In layout 2 a log belongs to its instant alone. In layout 1 it is the next of its slice, which merges by number.
    """
    token = f"0-{order.attempt}-{parse_shard_name(shard.file_id).number}"
    if table.config.layout == 2:
        return str(LogFileName(shard.file_id, order.instant, 1, token)), ()
    logs = shard.log_files
    if logs and logs[-1].name.write_token == token and table.storage.read(logs[-1].stat.path) == data:
        logs = logs[:-1]  # ours, from a run before this one
    number = max((log.name.version for log in logs), default=0) + 1
    name = LogFileName(shard.file_id, shard.base_instant, number, token)
    return str(name), tuple(log.stat.name for log in logs)


def _blocks(table: Table, order: LogOrder, change: ShardChange) -> bytes:
    version = table.config.version
    schema, header = WRITTEN_SCHEMA[version], {HeaderKey.INSTANT_TIME: order.instant}
    data = b""
    if len(change.puts):
        hfile = write_hfile(change.puts, Recipe(schema, order.created_ms))
        data = hfile_block(hfile, schema, header, version)
    if change.deletes:
        data += delete_block([DeletedKey(key, order.index, COMMIT_TIME) for key in change.deletes], header, version)
    return data


def _create_same(table: Table, path: str, data: bytes) -> None:
    try:
        table.storage.create(path, data)
    except AlreadyExists:
        if table.storage.read(path) != data:
            raise Contradiction(
                f"{table.storage.location}/{path} is there with another content: somebody writes under our names, or "
                "this attempt has given them away before. Nothing was committed; run the same again as a new attempt."
            ) from None


def _each(table: Table, write: Callable[[str], WrittenFile], file_ids: Sequence[str]) -> tuple[WrittenFile, ...]:
    """One by one, but where each takes its time on the way several at once."""
    threads = min(_WRITERS, len(file_ids)) if is_remote(table.storage) else 1
    return tuple(in_order(write, file_ids, threads, _WRITERS))
