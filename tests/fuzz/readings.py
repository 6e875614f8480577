"""What a reader does with each kind of file, followed all the way: the values are looked at, too."""

import io
import json
from collections.abc import Mapping

import pyarrow as pa

from hudi_engine.clock import HandClock
from hudi_engine.errors import CorruptFile, EngineError, NotFound
from hudi_engine.format import avro_schema, avro_types, parquet_file, properties, service_records
from hudi_engine.format.avro_columns import decode_columns, framed_records
from hudi_engine.format.avro_columns.schema import compile_column
from hudi_engine.format.avro_decode import compile_decoder
from hudi_engine.format.bloom import parse_bloom_filter
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.instant_names import Action, instant_file, parse_instant
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.log.delete import decode_deletes
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.records import decode_avro_records, records_head
from hudi_engine.format.names import parse_base_file, parse_history_file, parse_log_file
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table import contents, properties_file
from hudi_engine.table.config import TableConfig, parse_config
from hudi_engine.table.conform import conform
from hudi_engine.table.history import read_history
from hudi_engine.table.properties_file import BACKUP, MAIN
from hudi_engine.table.table import open_table

# Long after every instant of the tables: files that were copied say nothing about the writers' zone.
COPIED_AT_MS = 1_900_000_000_000
BLOOM = b"org.apache.hudi.bloomfilter"
_BLOOM_TYPE = b"hoodie_bloom_filter_type_code"
RECORDS = {
    "indexing.requested": RecordName.INDEX_PLAN,
    "indexing": RecordName.INDEX_COMMIT,
    "compaction.requested": RecordName.COMPACTION_PLAN,
    "clustering.requested": RecordName.REQUESTED_REPLACE,
    "replacecommit.requested": RecordName.REQUESTED_REPLACE,
    "clean.requested": RecordName.CLEANER_PLAN,
    "clean": RecordName.CLEAN,
    "rollback.requested": RecordName.ROLLBACK_PLAN,
    "rollback": RecordName.ROLLBACK,
    "restore.requested": RecordName.RESTORE_PLAN,
    "restore": RecordName.RESTORE,
    "savepoint": RecordName.SAVEPOINT,
}


def storage_of(files: Mapping[str, bytes]) -> MemoryStorage:
    storage = MemoryStorage(HandClock(COPIED_AT_MS))
    for path, data in files.items():
        storage.create(path, data)
    return storage


def _config(layout: int) -> TableConfig:
    version = {1: "6", 2: "8"}[layout]
    return parse_config({"hoodie.table.name": "t", "hoodie.table.version": version})


def read_properties(_: str, data: bytes) -> object:
    found = properties_file.read_properties(storage_of({MAIN: data}), HandClock(COPIED_AT_MS)).properties
    again = properties.parse(properties.render(found))
    if again != found:
        raise AssertionError(f"written and read again {found} becomes {again}")
    properties_file.read_properties(storage_of({BACKUP: data}), HandClock(COPIED_AT_MS))
    return parse_config(found)


def read_names(_: str, data: bytes) -> object:
    refused: EngineError | None = None
    for name in data.decode(errors="surrogateescape").split("\n"):
        for parse in (parse_base_file, parse_log_file, parse_history_file):
            found = parse(name)
            if found is not None and str(found) != name and not isinstance(found, type(None)):
                _require_same_numbers(str(found), name)
        try:
            instant = parse_instant(name)
        except EngineError as unknown:
            refused = unknown
        else:
            if instant is not None and instant_file(instant) != name:
                raise AssertionError(f"{name!r} is spelled {instant_file(instant)!r}")
    if refused is not None:
        raise refused
    return None


def _require_same_numbers(ours: str, name: str) -> None:
    """A version with noughts before it is the one thing that may be spelled otherwise."""
    if ours.replace("0", "") != name.replace("0", ""):
        raise AssertionError(f"{name!r} is spelled {ours!r}")


def read_bloom(_: str, data: bytes) -> object:
    return parse_bloom_filter(data, "DYNAMIC_V0").might_contain(pa.array(["v0", "v1", "a longer key"]))


def read_schema(_: str, data: bytes) -> object:
    kind = avro_types.parse(data, 0)
    compile_decoder(kind)
    compile_column(kind)
    return avro_schema.to_arrow(data.decode())


def read_plan(name: str, data: bytes) -> object:
    found = service_records.decode(RECORDS[name], data)
    match name:
        case "compaction.requested":
            return contents.parse_compaction_plan(data)
        case "replacecommit.requested" | "clustering.requested":
            return contents.is_clustering(data)
        case "clean":
            return contents.parse_earliest_kept(data)
        case _:
            return found


def read_avro_commit(name: str, data: bytes) -> object:
    return _columns_of(contents.parse_commit(data, Action(name), layout=2))


def read_json_commit(name: str, data: bytes) -> object:
    return _columns_of(contents.parse_commit(data, Action(name), layout=1))


def _columns_of(commit: contents.CommitMetadata) -> object:
    return avro_schema.to_arrow(commit.schema) if commit.schema else commit


def read_log(_: str, data: bytes) -> object:
    found = list(read_blocks(data, is_store_atomic=False))
    whole = [_content(block) for block in live_blocks(found, lambda _: True)]
    list(read_blocks(data, is_store_atomic=True))
    return whole


def _content(block: LogBlock) -> object:
    match block.type:
        case BlockType.AVRO_DATA:
            return _both_ways(block)
        case BlockType.DELETE:
            return decode_deletes(block)
        case BlockType.PARQUET_DATA:
            return looked_at(parquet_file.read_rows(bytes(block.content)))
        case BlockType.HFILE_DATA:
            return read_hfile(block.content, 1).entries.to_pylist()
        case _:
            return None


def _both_ways(block: LogBlock) -> object:
    """Records one by one and as columns: what is damage to one must be to the other, and the plain values are equal."""
    records, damage = None, None
    try:
        records = list(decode_avro_records(block))
    except CorruptFile as corrupt:
        damage = corrupt
    try:
        starts, ends = framed_records(block.content, *records_head(block))
        columns = decode_columns(block.require(HeaderKey.SCHEMA), block.content, starts, ends)
    except CorruptFile as corrupt:
        if damage is None:
            raise AssertionError("what is damage to the columns is none to the records") from corrupt
        raise
    if records is None:
        raise AssertionError("what is damage to the records is none to the columns") from damage
    for name in columns.schema.names:
        if columns.schema.field(name).type in (pa.string(), pa.bool_(), pa.int32(), pa.int64()):
            ours = [record[name] for record in records]
            if ours != columns[name].to_pylist():
                raise AssertionError(f"{name} is {ours} in the records and {columns[name]} in the columns")
    return looked_at(columns)


def looked_at(rows: pa.Table) -> object:
    """The rows checked and spelled out by Arrow: a year beyond 9999 is right, and more than Python's dates can say."""
    rows.validate(full=True)
    return [str(column) for column in rows.columns]


def read_archive_log(_: str, data: bytes) -> object:
    return read_history(storage_of({".hoodie/archived/.commits_.archive.1_1-0-1": data}), _config(1))


def read_lsm_history(_: str, data: bytes) -> object:
    folder, name = ".hoodie/timeline/history", "20260101000000000_20260102000000000_0.parquet"
    manifest = json.dumps({"files": [{"fileName": name, "fileLen": len(data)}]}).encode()
    files = {f"{folder}/_version_": b"1", f"{folder}/manifest_1": manifest, f"{folder}/{name}": data}
    return read_history(storage_of(files), _config(2))


def read_base_file(_: str, data: bytes) -> object:
    file = parquet_file.open_parquet(io.BytesIO(data))
    about: Mapping[bytes, bytes] = file.metadata.metadata or {}
    if BLOOM in about:
        parse_bloom_filter(about[BLOOM], about.get(_BLOOM_TYPE, b"SIMPLE").decode(errors="replace"))
    rows = parquet_file.read_rows(data)
    pieces = list(parquet_file.batches(file, file.schema_arrow.names))
    if pieces and not pa.concat_tables(pieces).equals(rows):
        raise AssertionError("read in pieces the rows are others")
    return looked_at(conform(rows, rows.schema.append(pa.field("came_later", pa.int64())), "base.parquet"))


def read_table(files: Mapping[str, bytes]) -> object:
    table = open_table(storage_of(files), HandClock(COPIED_AT_MS), {})
    table.history()
    snapshot = table.snapshot()
    try:
        reader = table.rows(snapshot)
    except NotFound:
        return snapshot
    return [looked_at(piece) for piece in reader.tables()]
