"""A small table made by hand in memory, for what no golden table shows: odd, damaged and hostile ones."""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_engine.clock import HandClock
from hudi_engine.format import avro_schema, service_records
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import DeletedKey
from hudi_engine.format.log.writer import avro_block, delete_block
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.conform import META_COLUMNS, with_meta_columns
from hudi_engine.table.table import Table, open_table

COLUMNS = pa.schema([("id", pa.string()), ("seen", pa.int64()), ("note", pa.string())])
LAYOUTS = {6: 1, 8: 2, 9: 2}
# Long after every instant of these tests: files that were copied say nothing about the writers' zone.
COPIED_AT_MS = 1_900_000_000_000
FILE_ID = "f1e1d000-0000-4000-8000-000000000001-0"


def at(minute: int) -> str:
    """An instant time; greater minutes are later."""
    return f"20260201{minute // 60:02d}{minute % 60:02d}00000"


@dataclass(slots=True)
class MadeTable:
    """Files go straight to where a writer would put them. In layout 2 an instant takes 30 seconds."""

    version: int = 8
    kind: str = "MERGE_ON_READ"
    properties: dict[str, str] = field(default_factory=dict)
    storage: MemoryStorage = field(default_factory=lambda: MemoryStorage(HandClock(COPIED_AT_MS)))

    def __post_init__(self) -> None:
        lines = {
            "hoodie.table.name": "made",
            "hoodie.table.type": self.kind,
            "hoodie.table.version": str(self.version),
            "hoodie.timeline.layout.version": str(LAYOUTS[self.version]),
            "hoodie.table.precombine.field": "seen",
            "hoodie.table.recordkey.fields": "id",
            **({"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"} if self.version > 6 else {}),
            **self.properties,
        }
        text = "".join(f"{key}={value}\n" for key, value in lines.items() if value)
        self.storage.create(".hoodie/hoodie.properties", text.encode("latin-1"))

    @property
    def timeline_folder(self) -> str:
        return ".hoodie" if self.version == 6 else ".hoodie/timeline"

    def open(self) -> Table:
        return open_table(self.storage, HandClock(COPIED_AT_MS), {})

    def rows(
        self, as_of: str | None = None, columns: Sequence[str] = ("id", "seen", "note")
    ) -> list[dict[str, object]]:
        """What a reader gets, by id."""
        table = self.open()
        reader = table.rows(table.snapshot(as_of), columns)
        found: list[dict[str, object]] = [row for piece in reader.tables() for row in piece.to_pylist()]
        return sorted(found, key=lambda row: str(row["id"]))

    def instant(self, name: str, data: bytes = b"") -> str:
        path = f"{self.timeline_folder}/{name}"
        self.storage.create(path, data)
        return path

    def complete(
        self,
        instant: str,
        action: str = "deltacommit",
        replaced: Mapping[str, Sequence[str]] | None = None,
        schema: pa.Schema = COLUMNS,
        **more: object,
    ) -> str:
        """The completed file of a write."""
        name = RecordName.REPLACE_COMMIT if action == "replacecommit" else RecordName.COMMIT
        value: dict[str, object] = {
            "operationType": "UPSERT",
            "extraMetadata": {"schema": avro_schema.from_arrow(schema, "row", "made")},
            **({"partitionToReplaceFileIds": replaced or {}} if action == "replacecommit" else {}),
            **more,
        }
        if self.version == 6:
            return self.instant(f"{instant}.{action}", service_records.encode_commit_json(name, value))
        completed = f"{int(instant) + 30_000:017d}"
        return self.instant(f"{instant}_{completed}.{action}", service_records.encode(name, value, self.version))

    def schedule_compaction(self, instant: str, file_id: str = FILE_ID, partition: str = "", **more: object) -> str:
        operation = {"baseInstantTime": "", "fileId": file_id, "partitionPath": partition, **more}
        data = service_records.encode(RecordName.COMPACTION_PLAN, {"operations": [operation]}, self.version)
        return self.instant(f"{instant}.compaction.requested", data)

    def partition(self, name: str = "") -> None:
        path = f"{name}/.hoodie_partition_metadata".lstrip("/")
        self.storage.create(path, b"commitTime=0\npartitionDepth=0\n")

    def base(self, instant: str, rows: Iterable[Sequence[object]], partition: str = "", file_id: str = FILE_ID) -> str:
        """A base file; a row is id, seen, note."""
        table = stored(rows, instant, partition)
        data = io.BytesIO()
        pq.write_table(table, data)
        return self._put(f"{file_id}_0-1-1_{instant}.parquet", data.getvalue(), partition)

    def log(
        self,
        name_instant: str,
        rows: Iterable[Sequence[object]],
        *,
        block_instant: str | None = None,
        deletes: Sequence[DeletedKey] = (),
        version: int = 1,
        token: str = "0-1-1",
        partition: str = "",
    ) -> str:
        """A log file of one data block and, if there are deletions, a delete block."""
        header = {HeaderKey.INSTANT_TIME: block_instant or name_instant}
        schema = avro_schema.from_arrow(with_meta_columns(COLUMNS), "row", "made")
        records = stored(rows, block_instant or name_instant, partition).to_pylist()
        data = avro_block(schema, records, header, self.version) if records else b""
        if deletes:
            data += delete_block(deletes, header, self.version)
        return self._put(f".{FILE_ID}_{name_instant}.log.{version}_{token}", data, partition)

    def _put(self, name: str, data: bytes, partition: str) -> str:
        path = f"{partition}/{name}".lstrip("/")
        self.storage.create(path, data)
        return path


def stored(rows: Iterable[Sequence[object]], instant: str, partition: str = "") -> pa.Table:
    """Rows with their meta columns, as files hold them."""
    values = [dict(zip(COLUMNS.names, row, strict=True)) for row in rows]
    for number, value in enumerate(values):
        meta = (instant, f"{instant}_0_{number}", str(value["id"]), partition, FILE_ID)
        value.update(zip(META_COLUMNS, meta, strict=True))
    return pa.Table.from_pylist(values, schema=with_meta_columns(COLUMNS))
