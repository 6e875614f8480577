"""Data files as a Java writer makes them: base files of Parquet, and logs of Avro blocks on merge-on-read tables."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_engine.format import avro_schema
from hudi_engine.format.bloom import Sizing, build_bloom_filter
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey
from hudi_engine.format.log.writer import avro_block, delete_block
from hudi_engine.format.names import PARTITION_METAFILE, BaseFileName, LogFileName
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.conform import META_COLUMNS, RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.table import Table

Row = dict[str, Any]
_SMALL = Sizing(keys=20, most_keys=None)


@dataclass(slots=True)
class GroupChange:
    """What one commit does to one file group: rows to have from now on, and keys to have no more."""

    puts: dict[str, Row] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class MadeFile:
    """One data file that a commit wrote."""

    partition: str
    file_id: str
    name: str
    size_bytes: int
    stat: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RowFiles:
    """Writes the files of one instant. `token` is different for each writer."""

    storage: MemoryStorage
    table: Table
    schema: pa.Schema
    instant: str
    token: str

    def partition(self, name: str) -> None:
        path = f"{name}/{PARTITION_METAFILE}".lstrip("/")
        if not any(file.name == PARTITION_METAFILE for file in self.storage.list(name)):
            self.storage.create(path, f"commitTime={self.instant}\npartitionDepth=1\n".encode())

    def base(self, partition: str, file_id: str, rows: Sequence[Row], previous: FileSlice | None) -> MadeFile:
        """A base file with these rows; `previous` is the slice that it replaces."""
        name = str(BaseFileName(file_id, f"0-{self.token}", self.instant, "parquet"))
        stored = [self._with_file(row, name) for row in rows]
        data = io.BytesIO()
        about = _filter_of([key_of(row) for row in rows])
        pq.write_table(pa.Table.from_pylist(stored, schema=self.schema.with_metadata(about)), data)
        before = None if previous is None or previous.base_file is None else previous.base_file.stat.name
        stat = {
            "prevCommit": "null" if previous is None else previous.base_instant,
            "numWrites": len(rows),
            "numInserts": len(rows) if previous is None else 0,
            **({} if self.table.config.version == 6 else {"prevBaseFile": before}),
        }
        return self._put(partition, file_id, name, data.getvalue(), stat)

    def log(self, found: FileSlice, change: GroupChange) -> MadeFile:
        """A log of new versions of rows and of deletions."""
        version = self.table.config.version
        header = {HeaderKey.INSTANT_TIME: self.instant}
        data = b""
        if change.puts:
            rows = [self._with_file(row, found.file_id) for row in change.puts.values()]
            data += avro_block(avro_schema.from_arrow(self.schema, "row", "worlds"), self._plain(rows), header, version)
        if change.gone:
            deleted = [DeletedKey(key, found.partition, COMMIT_TIME) for key in change.gone]
            data += delete_block(deleted, header, version)
        name = self.log_name(found)
        stat = {
            "prevCommit": found.base_instant,
            "numWrites": len(change.puts),
            "numUpdateWrites": len(change.puts),
            "numDeletes": len(change.gone),
            "logVersion": name.version,
            "logOffset": 0,
            "baseFile": "" if found.base_file is None else found.base_file.stat.name,
            "logFiles": [str(name)],
        }
        return self._put(found.partition, found.file_id, str(name), data, stat)

    def log_name(self, found: FileSlice) -> LogFileName:
        token = f"0-{self.token}"
        if self.table.config.layout == 2:
            return LogFileName(found.file_id, self.instant, 1, token)
        # While a compaction is pending, new logs belong to the slice that it will make.
        compactions = self.table.view(self.table.timeline()).compactions
        base = compactions.get((found.partition, found.file_id), found.base_instant)
        version = max((log.name.version for log in found.log_files if log.name.instant == base), default=0) + 1
        return LogFileName(found.file_id, base, version, token)

    def _plain(self, rows: Sequence[Row]) -> list[Row]:
        """Rows as Avro has them: dates as days."""
        table = pa.Table.from_pylist(list(rows), schema=self.schema)
        for number, column in enumerate(self.schema):
            if pa.types.is_date32(column.type):
                table = table.set_column(number, column.name, table[column.name].cast(pa.int32()))
        found: list[Row] = table.to_pylist()
        return found

    def _with_file(self, row: Row, name: str) -> Row:
        return {**row, "_hoodie_file_name": name}

    def _put(self, partition: str, file_id: str, name: str, data: bytes, stat: Mapping[str, object]) -> MadeFile:
        path = f"{partition}/{name}".lstrip("/")
        self.storage.create(path, data)
        whole = {
            "fileId": file_id,
            "path": path,
            "partitionPath": partition,
            "totalWriteBytes": len(data),
            "fileSizeInBytes": len(data),
            **stat,
        }
        return MadeFile(partition, file_id, name, len(data), whole)


def new_row(instant: str, key: str, partition: str, values: Mapping[str, Any]) -> Row:
    """A row with its meta columns; what is not given is null."""
    meta = (instant, f"{instant}_0_0", key, partition, "")
    return {**values, **dict(zip(META_COLUMNS, meta, strict=True))}


def _filter_of(keys: Sequence[str]) -> dict[str, str]:
    """A bloom filter of these keys as it stands in a footer."""
    found = build_bloom_filter(pa.array(keys, pa.string()), _SMALL)
    return {"org.apache.hudi.bloomfilter": found.to_text(), "hoodie_bloom_filter_type_code": found.type_code}


def key_of(row: Row) -> str:
    return str(row[RECORD_KEY])
