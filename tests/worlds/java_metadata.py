"""The metadata table as a Java writer keeps it, in code of its own: what the engine writes is not judged by itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

import pyarrow as pa

from hudi_engine.clock import HandClock
from hudi_engine.format.avro_decode import compile_decoder
from hudi_engine.format.avro_encode import Write as Encode
from hudi_engine.format.avro_encode import compile_encoder
from hudi_engine.format.avro_types import parse
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.hfile.write import Recipe, write_hfile
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey, decode_deletes
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.writer import delete_block, hfile_block, rollback_block
from hudi_engine.format.names import BaseFileName, LogFileName, parse_base_file, parse_log_file
from hudi_engine.format.service_records import RecordName
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.files import files_of
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.kinds import parse_shard_name
from hudi_engine.index.metadata_table import FOLDER, MetadataTable, open_metadata_table
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.file_view import FileGroup, FileSlice
from hudi_engine.table.table import open_table
from hudi_engine.table.zone import to_ms
from tests.worlds.instants import InstantFiles, encode_commit

FILES: Final = "files"
RECORD_INDEX: Final = "record_index"
PARTITION_STATS: Final = "partition_stats"
_ALL_PARTITIONS: Final = "__all_partitions__"
Location = tuple[str, str]
"""Partition and file id."""


class WriterFailed(Exception):
    """A Java writer could not commit: that is what indexing must never bring about."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What one commit says to the metadata table. A size of None is a file that is gone; so is a location of None.

    `left` has the partition that each deleted or moved key was in. `statistics` are entries of
    `partition_stats`, of a commit that logs to it; None of one that does not.
    """

    files: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    locations: Mapping[str, Location | None] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[bytes, bytes] | None = None


@dataclass(slots=True)
class JavaMetadata:
    """One writer's hand on the metadata table; `token` is different for each, as stage and task numbers are."""

    storage: MemoryStorage
    clock: HandClock
    token: str

    def read(self) -> MetadataTable:
        return open_metadata_table(open_table(self.storage, self.clock, {}), BlockCache(1 << 20))

    def commit(self, instant: str, changes: Changes, with_locations: bool, times: Iterable[str]) -> None:
        """A deltacommit at the data instant's time, begun and completed; `times` gives its completion."""
        self._roll_back_failed(instant, times)
        metadata = self.read()
        stats: dict[str, list[dict[str, object]]] = {FILES: [self._log_files(metadata, instant, changes)]}
        if with_locations:
            stats[RECORD_INDEX] = self._log_locations(metadata, instant, changes)
        if changes.statistics is not None:
            stats[PARTITION_STATS] = [self._log_statistics(metadata, instant, changes.statistics)]
        self._deltacommit(metadata, instant, stats, times)

    def roll_back(self, target: str, instant: str, left: Changes, times: Iterable[str]) -> None:
        """Take back the deltacommit of a data instant: layout 2 deletes its logs, layout 1 appends to them.

        `left` has the logs that the data table keeps of it in layout 1.
        """
        metadata = self.read()
        found = metadata.timeline.find(target)
        if metadata.table.config.layout == 1:
            self._deltacommit(metadata, instant, {FILES: [self._log_files(metadata, instant, left)]}, times)
        if found is None:
            return
        self.undo(target, instant)
        files = self._timeline(metadata)
        own = f"{instant}006" if metadata.table.config.layout == 1 else instant
        files.begin(own, "rollback", b"")
        record = rollback_record(target, "deltacommit")
        files.complete(own, "rollback", RecordName.ROLLBACK, record, times)

    def _roll_back_failed(self, instant: str, times: Iterable[str]) -> None:
        """Java's writers clean the metadata table eagerly: whatever is pending there is rolled back first."""
        metadata = self.read()
        kept = {each.requested_at for each in metadata.data_timeline.pending()}
        for each in metadata.timeline.pending():
            if each.requested_at not in kept:
                self.undo(each.requested_at, next(iter(times)))

    def undo(self, target: str, instant: str) -> None:
        """The files and the instant of one deltacommit or compaction, gone."""
        metadata = self.read()
        self._undo_logs(metadata, target, instant)
        self._timeline(metadata).remove(target)

    def note_restore(self, instant: str, times: Iterable[str]) -> None:
        """The instant that says so, and a deltacommit by which the list of files is again what lies there."""
        metadata = self.read()
        changes = self._difference(metadata)
        if metadata.table.config.layout == 1:
            self._deltacommit(metadata, instant, {FILES: [self._log_files(metadata, instant, changes)]}, times)
            return
        files = self._timeline(metadata)
        files.begin(instant, "restore", b"")
        record = {
            "startRestoreTime": instant,
            "timeTakenInMillis": 1,
            "instantsToRollback": [],
            "hoodieRestoreMetadata": {},
            "restoreInstantInfo": [],
        }
        files.complete(instant, "restore", RecordName.RESTORE, record, times)
        later = next(iter(times))
        self._deltacommit(metadata, later, {FILES: [self._log_files(metadata, later, changes)]}, times)

    def _difference(self, metadata: MetadataTable) -> Changes:
        index = metadata.index(FILES)
        changes: dict[str, dict[str, int | None]] = {}
        for partition, listing in metadata.data.partitions().items():
            there: dict[str, int | None] = {f.name: f.size_bytes for f in listing if is_data_file(f.name)}
            listed = files_of(index, partition)
            gone: dict[str, int | None] = dict.fromkeys(set(listed["name"].to_pylist()) - there.keys())
            # All of them: what is undone by blocks of a restore under way is still known here.
            changes[partition] = there | gone
        return Changes(changes)

    def compact(self, times: Iterable[str]) -> str:
        """New base files of all shards that have logs, whichever index they are of; empty if Java would not."""
        metadata = self.read()
        instant = self._compaction_instant(metadata, times)
        chosen = [] if not instant else list(self._with_logs(metadata, instant))
        if not chosen:
            return ""
        files = self._timeline(metadata)
        plan = {"operations": [_operation(found) for found in chosen], "version": 2}
        files.request(instant, "compaction", RecordName.COMPACTION_PLAN, plan)
        files.inflight(instant, "compaction")
        stats: dict[str, list[dict[str, object]]] = {}
        for found in chosen:
            stats.setdefault(found.partition, []).append(self._compacted(metadata, found, instant))
        files.complete(instant, "commit", RecordName.COMMIT, encode_commit("COMPACT", stats, {}), times)
        return instant

    def _compaction_instant(self, metadata: MetadataTable, times: Iterable[str]) -> str:
        pending = [i.requested_at for i in metadata.data_timeline.pending() if i.action != "indexing"]
        done = {i.requested_at for i in metadata.timeline.completed()}
        if metadata.table.config.layout == 1:
            latest = max(i.requested_at for i in metadata.timeline.of("deltacommit") if i.is_completed)  # type: ignore[arg-type]  # an Action is its text
            instant = f"{latest}001"
            return "" if instant in done or any(each <= latest for each in pending) else instant
        held = [each for each in pending if each in done]
        return f"{int(min(held)) - 1:017d}" if held else next(iter(times))

    def _with_logs(self, metadata: MetadataTable, instant: str) -> Iterable[FileSlice]:
        for folder in metadata.table.storage.list(""):
            if folder.is_folder and folder.name != ".hoodie":
                for group in metadata.view.groups(folder.name, metadata.table.storage.list(folder.name)):
                    found = metadata.view.slice_at(group, "9")
                    every = () if found is None else found.log_files
                    logs = [log for log in every if self._is_before(metadata, log.name, instant)]
                    if found is not None and logs:
                        yield replace(found, log_files=tuple(logs))

    def _is_before(self, metadata: MetadataTable, log: LogFileName, instant: str) -> bool:
        if metadata.table.config.layout == 1:
            return True
        completed = metadata.view.completions.time_of(log.instant)
        return completed is not None and completed < instant

    def _compacted(self, metadata: MetadataTable, found: FileSlice, instant: str) -> dict[str, object]:
        schema = schema_of(metadata)
        entries = merged_entries(metadata, found, schema)
        data = write_hfile(_hfile_table(entries), Recipe(schema, self.clock.now_ms()))
        name = str(BaseFileName(found.file_id, self.token, instant, "hfile"))
        self.storage.create(f"{FOLDER}/{found.partition}/{name}", data)
        return _stat(found.partition, found.file_id, name, len(data), found.base_instant)

    def _log_files(self, metadata: MetadataTable, instant: str, changes: Changes) -> dict[str, object]:
        schema = schema_of(metadata)
        records: dict[str, dict[str, Any]] = {}
        for partition, names in changes.files.items():
            records[partition or "."] = {
                "type": 2,
                "filesystemMetadata": {n: {"size": s or 0, "isDeleted": s is None} for n, s in names.items()},
            }
        records[_ALL_PARTITIONS] = {
            "type": 1,
            "filesystemMetadata": {p or ".": {"size": 0, "isDeleted": False} for p in changes.files},
        }
        encoded = {key.encode(): encode_record(schema, value) for key, value in records.items()}
        ((group, number),) = _groups(metadata, FILES)
        return self._log(metadata, group, instant, self._blocks(metadata, instant, encoded, []), number)

    def _log_locations(self, metadata: MetadataTable, instant: str, changes: Changes) -> list[dict[str, object]]:
        """Each key to its shard of the one index or, by partition, to one where it is and to one that it has left."""
        numberings: dict[str | None, list[tuple[FileGroup, int]]] = {}
        for group, place in _groups(metadata, RECORD_INDEX):
            numberings.setdefault(parse_shard_name(group.file_id).partition, []).append((group, place))
        if not numberings:
            raise WriterFailed(f"{instant}: FileGroup count for MDT partition {RECORD_INDEX} should be > 0")
        unknown = {found[0] for found in changes.locations.values() if found} - numberings.keys()
        assert None in numberings or not unknown, f"{instant}: new partitions {unknown}, whose shards Java makes first"
        return [
            stat
            for of, groups in numberings.items()
            for stat in self._log_group(metadata, instant, of, groups, changes)
        ]

    def _log_group(
        self,
        metadata: MetadataTable,
        instant: str,
        partition: str | None,
        groups: Sequence[tuple[FileGroup, int]],
        changes: Changes,
    ) -> Iterable[dict[str, object]]:
        """To the shards of one numbering what concerns them."""
        there = {key: at for key, at in changes.locations.items() if at and partition in {None, at[0]}}
        gone = {key for key in changes.locations if partition in {None, changes.left.get(key)}} - there.keys()
        keys = sorted(there.keys() | gone, key=str.encode)
        numbers = shard_numbers(pa.array(keys, pa.large_string()), len(groups)).tolist()
        for number, (group, place) in enumerate(groups):
            mine = [key for key, shard in zip(keys, numbers, strict=True) if shard == number]
            puts = {k.encode(): self._location(metadata, instant, there[k]) for k in mine if k in there}
            if mine:
                deleted = [key for key in mine if key in gone]
                yield self._log(metadata, group, instant, self._blocks(metadata, instant, puts, deleted), place)

    def _log_statistics(
        self, metadata: MetadataTable, instant: str, entries: Mapping[bytes, bytes]
    ) -> dict[str, object]:
        config = metadata.data.config
        if "column_stats" not in config.readable_indexes:
            raise WriterFailed(f"{instant}: Column stats partition must be enabled to generate partition stats")
        ((group, number),) = _groups(metadata, PARTITION_STATS)
        return self._log(metadata, group, instant, self._blocks(metadata, instant, entries, []), number)

    def _location(self, metadata: MetadataTable, instant: str, found: Location) -> bytes:
        partition, file_id = found
        uuid, _, number = file_id.rpartition("-")
        high, low = (int.from_bytes(part, "big", signed=True) for part in (UUID(uuid).bytes[:8], UUID(uuid).bytes[8:]))
        info = {
            "partitionName": partition,
            "fileIdHighBits": high,
            "fileIdLowBits": low,
            "fileIndex": int(number),
            "fileId": "",
            "instantTime": moment_of(instant),
            "fileIdEncoding": 0,
        }
        return encode_record(schema_of(metadata), {"type": 5, "recordIndexMetadata": info})

    def _blocks(self, metadata: MetadataTable, instant: str, puts: Mapping[bytes, bytes], gone: Sequence[str]) -> bytes:
        version, schema = metadata.table.config.version, schema_of(metadata)
        header = {HeaderKey.INSTANT_TIME: instant}
        data = b""
        if puts:
            hfile = write_hfile(_hfile_table(dict(puts)), Recipe(schema, self.clock.now_ms()))
            data += hfile_block(hfile, schema, header, version)
        if gone:
            data += delete_block([DeletedKey(key, RECORD_INDEX, COMMIT_TIME) for key in gone], header, version)
        return data

    def _log(
        self, metadata: MetadataTable, group: FileGroup, instant: str, data: bytes, number: int
    ) -> dict[str, object]:
        name = self._log_name(metadata, group, instant, number)
        self.storage.create(f"{FOLDER}/{group.partition}/{name}", data)
        return _stat(group.partition, group.file_id, str(name), len(data), instant, name.version)

    def _log_name(self, metadata: MetadataTable, group: FileGroup, instant: str, number: int) -> LogFileName:
        token = f"{number}-{self.token}"
        if metadata.table.config.layout == 2:
            return LogFileName(group.file_id, instant, 1, token)
        newest = group.slices[0]
        version = max((log.name.version for log in newest.log_files), default=0) + 1
        return LogFileName(group.file_id, newest.base_instant, version, token)

    def _undo_logs(self, metadata: MetadataTable, target: str, instant: str) -> None:
        for folder in metadata.table.storage.list(""):
            if not folder.is_folder or folder.name == ".hoodie":
                continue
            if metadata.table.config.layout == 1:
                self._append_rollbacks(metadata, folder.name, target, instant)
                continue
            for file in metadata.table.storage.list(folder.name):
                name = parse_log_file(file.name) or parse_base_file(file.name)
                if name is not None and name.instant == target:
                    self.storage.delete(f"{FOLDER}/{file.path}")

    def _append_rollbacks(self, metadata: MetadataTable, index: str, target: str, instant: str) -> None:
        for group, number in _groups(metadata, index):
            logs = [log for each in group.slices for log in each.log_files]
            blocks = [
                block
                for log in logs
                for block in read_blocks(metadata.table.storage.read(log.stat.path), is_store_atomic=True)
            ]
            if any(block.instant == target for block in blocks):
                self._log(metadata, group, instant, rollback_block(instant, target, 6), number)

    def _deltacommit(
        self, metadata: MetadataTable, instant: str, stats: dict[str, list[dict[str, object]]], times: Iterable[str]
    ) -> None:
        files = self._timeline(metadata)
        files.begin(instant, "deltacommit", b"")
        record = encode_commit("UPSERT_PREPPED", stats, {"schema": schema_of(metadata)})
        files.complete(instant, "deltacommit", RecordName.COMMIT, record, times)

    def _timeline(self, metadata: MetadataTable) -> InstantFiles:
        config = metadata.table.config
        return InstantFiles(self.storage, f"{FOLDER}/{config.timeline_folder}", config.version)


def merged_entries(metadata: MetadataTable, found: FileSlice, schema: str) -> dict[bytes, bytes]:
    """What a slice says once base and logs are one, as values of `schema`; deletions are left out."""
    entries: dict[bytes, bytes | None] = {}
    for puts, deleted in _layers(metadata, found, schema):
        entries |= dict.fromkeys(deleted)
        for key, value in puts.items():
            older = entries.get(key)
            entries[key] = _with_older_files(schema, older, value) if found.partition == FILES and older else value
    return {key: value for key, value in sorted(entries.items()) if value is not None}


def _layers(metadata: MetadataTable, found: FileSlice, schema: str) -> Iterable[tuple[dict[bytes, bytes], list[bytes]]]:
    storage = metadata.table.storage
    if found.base_file is not None:
        hfile = read_hfile(storage.read(found.base_file.stat.path))
        yield _recoded(hfile.entries, hfile.info["schema"].decode(), schema), []
    blocks: list[LogBlock] = []
    for log in found.log_files:
        blocks += read_blocks(storage.read(log.stat.path), is_store_atomic=True)
    for block in live_blocks(blocks, metadata.instants.__contains__):
        if block.type is BlockType.DELETE:
            yield {}, [each.key.encode() for each in decode_deletes(block)]
        else:
            yield _recoded(read_hfile(block.content).entries, block.require(HeaderKey.SCHEMA), schema), []


def _recoded(entries: Any, written: str, wanted: str) -> dict[bytes, bytes]:
    pairs = zip(entries["key"].to_pylist(), entries["value"].to_pylist(), strict=True)
    if written == wanted:
        return dict(pairs)
    read = compile_decoder(parse(written, 0), parse(wanted, 0))
    return {key: encode_whole(wanted, read(value, 0)[0]) for key, value in pairs}


def _with_older_files(schema: str, older: bytes, newer: bytes) -> bytes:
    read = compile_decoder(parse(schema, 0))
    before: Any = read(older, 0)[0]
    after: Any = read(newer, 0)[0]
    files = dict(before["filesystemMetadata"] or {})
    for name, info in (after["filesystemMetadata"] or {}).items():
        if info["isDeleted"] and name in files:
            del files[name]
        else:
            files[name] = info
    return encode_whole(schema, {**after, "filesystemMetadata": files})


def schema_of(metadata: MetadataTable) -> str:
    """The schema that this table's own Java release writes records of the metadata table in."""
    listing = metadata.table.storage.list(FILES)
    logs = sorted(file.path for file in listing if parse_log_file(file.name) and file.size_bytes > 1000)
    if logs:
        return _schema_in_log(metadata.table.storage.read(logs[0]))
    base = next(file.path for file in listing if file.name.endswith(".hfile"))
    return read_hfile(metadata.table.storage.read(base)).info["schema"].decode()


@cache
def _schema_in_log(data: bytes) -> str:
    return next(
        block.header[HeaderKey.SCHEMA]
        for block in read_blocks(data, is_store_atomic=True)
        if block.type is BlockType.HFILE_DATA
    )


def encode_record(schema: str, value: Mapping[str, object]) -> bytes:
    """A record of the metadata table; the key is empty, as Java leaves it, and its meta columns are null."""
    return encode_whole(schema, {**_blank(schema), **value})


def encode_whole(schema: str, value: object) -> bytes:
    out = bytearray()
    _encoder(schema)(out, value)
    return bytes(out)


@cache
def _encoder(schema: str) -> Encode:
    return compile_encoder(parse(schema, 0))


@cache
def _blank(schema: str) -> dict[str, object]:
    kind: Any = parse(schema, 0)
    return {each.name: None for each in kind.fields} | {"key": ""}


def is_data_file(name: str) -> bool:
    return parse_base_file(name) is not None or parse_log_file(name) is not None


def rollback_record(target: str, action: str) -> dict[str, object]:
    return {
        "startRollbackTime": target,
        "timeTakenInMillis": 1,
        "totalFilesDeleted": 0,
        "commitsRollback": [target],
        "partitionMetadata": {},
        "instantsRollback": [{"commitTime": target, "action": action}],
    }


def moment_of(instant: str) -> int:
    """The milliseconds that an instant time names; writers run in UTC."""
    moment = to_ms(instant, ZoneInfo("UTC"))
    assert moment is not None
    return moment


def _groups(metadata: MetadataTable, index: str) -> list[tuple[FileGroup, int]]:
    groups = metadata.view.groups(index, metadata.table.storage.list(index))
    return [(group, number) for number, group in enumerate(sorted(groups, key=lambda each: each.file_id))]


def _hfile_table(entries: Mapping[bytes, bytes]) -> pa.Table:
    keys = sorted(entries)
    return pa.table(
        {"key": pa.array(keys, pa.large_binary()), "value": pa.array([entries[k] for k in keys], pa.large_binary())}
    )


def _operation(found: FileSlice) -> dict[str, object]:
    return {
        "baseInstantTime": found.base_instant,
        "deltaFilePaths": [str(log.name) for log in found.log_files],
        "dataFilePath": "" if found.base_file is None else str(found.base_file.name),
        "fileId": found.file_id,
        "partitionPath": found.partition,
    }


def _stat(
    index: str, file_id: str, name: str, size_bytes: int, previous: str, version: int | None = None
) -> dict[str, object]:
    log = {} if version is None else {"logVersion": version, "logOffset": 0, "baseFile": "", "logFiles": [name]}
    return {
        "fileId": file_id,
        "path": f"{index}/{name}",
        "prevCommit": previous,
        "numWrites": 1,
        "partitionPath": index,
        "totalWriteBytes": size_bytes,
        "fileSizeInBytes": size_bytes,
        **log,
    }
