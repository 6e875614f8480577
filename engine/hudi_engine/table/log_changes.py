"""The log files of a slice as one list of changes, in the order in which Hudi applies them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_types, parquet_file
from hudi_engine.format.avro_columns import decode_columns, framed_records
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey, OrderingKind, OrderingValue, decode_deletes
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.records import records_head
from hudi_engine.storage.protocol import Storage, is_remote
from hudi_engine.table.conform import RECORD_KEY, conform
from hudi_engine.table.file_view import LogFile
from hudi_engine.table.merge import Changes

IS_DELETED = "_hoodie_is_deleted"
OPERATION = "_hoodie_operation"
_DELETING_OPERATIONS = ["D", "-U"]


@dataclass(frozen=True, slots=True)
class DeleteMarker:
    """A column whose value says that a row is a deletion (`hoodie.payload.delete.field` and `.marker`)."""

    column: str
    value: str


@dataclass(frozen=True, slots=True)
class LogReader:
    """Reads logs of one table: `schema` is that of the rows wanted, key and ordering columns among them."""

    storage: Storage
    schema: pa.Schema
    ordering: tuple[str, ...]
    marker: DeleteMarker | None
    is_valid_instant: Callable[[str], bool]

    def changes(self, logs: Sequence[LogFile]) -> Changes:
        """What these log files, in merge order, say about their slice."""
        nothing = self._deletes(())  # so that the types are there when the logs are empty
        return _concatenated([nothing, *(self._piece(block, path) for block, path in self._live(logs))])

    def _live(self, logs: Sequence[LogFile]) -> list[tuple[LogBlock, str]]:
        """Blocks that count, each with the path of its file. Object stores never show half a file."""
        is_store_atomic = is_remote(self.storage)
        paths: dict[int, str] = {}
        blocks: list[LogBlock] = []
        for log in logs:
            try:
                found = list(read_blocks(self.storage.read(log.stat.path), is_store_atomic=is_store_atomic))
            except CorruptFile as corrupt:
                raise corrupt.in_file(log.stat.path) from corrupt
            blocks += found
            paths |= {id(block): log.stat.path for block in found}
        return [(block, paths[id(block)]) for block in live_blocks(blocks, self.is_valid_instant)]

    def _piece(self, block: LogBlock, path: str) -> Changes:
        try:
            match block.type:
                case BlockType.DELETE:
                    return self._deletes(decode_deletes(block))
                case BlockType.AVRO_DATA | BlockType.PARQUET_DATA:
                    return self._rows(block, path)
                case _:
                    raise Unsupported(
                        f"{path}: a {block.type.name} block at offset {block.offset} in a data table's log"
                    )
        except CorruptFile as corrupt:
            raise corrupt.in_file(path) from corrupt

    def _rows(self, block: LogBlock, path: str) -> Changes:
        stored = stored_rows(block)
        try:
            is_delete = deleted_rows(stored, self.marker)
        except pa.ArrowException as broken:
            raise Unsupported(f"{path}: a column that marks deletions is of a type that cannot ({broken})") from broken
        rows = conform(stored, self.schema, path)
        keys = _flat(rows.column(RECORD_KEY))
        if keys.null_count:
            raise CorruptFile("a logged row without a record key", block.offset)
        ordering = tuple(_flat(rows.column(name)) for name in self.ordering)
        return Changes(
            keys=keys,
            rows=rows,
            row=np.where(is_delete, -1, np.arange(rows.num_rows)),
            ordering=ordering,
            is_commit_time_delete=is_delete & _has_default_ordering(ordering, rows.num_rows),
            is_from_delete_block=np.zeros(rows.num_rows, dtype=bool),
            carried=np.full(rows.num_rows, 0 if block.is_partial else -1),
            column_sets=(frozenset(stored.schema.names),) if block.is_partial else (),
        )

    def _deletes(self, deletes: Sequence[DeletedKey]) -> Changes:
        values = [self._ordering_of(delete.ordering) for delete in deletes]
        return Changes(
            keys=pa.array([delete.key for delete in deletes], pa.string()),
            rows=self.schema.empty_table(),
            row=np.full(len(deletes), -1, dtype=np.int64),
            ordering=tuple(
                _typed([None if value is None else value[i] for value in values], self._type(name))
                for i, name in enumerate(self.ordering)
            ),
            is_commit_time_delete=np.array([value is None for value in values], dtype=bool),
            is_from_delete_block=np.ones(len(deletes), dtype=bool),
            carried=np.full(len(deletes), -1),
            column_sets=(),
        )

    def _ordering_of(self, found: OrderingValue | None) -> tuple[object, ...] | None:
        """The value in the columns' types; None, a commit-time delete, where it has none or is of another class."""
        if found is None or found == COMMIT_TIME or not self.ordering:
            return None
        parts = found.value if found.kind is OrderingKind.ARRAY else (found,)
        assert isinstance(parts, tuple)
        if len(parts) != len(self.ordering):
            return None
        values = tuple(_in_type(part, self._type(name)) for part, name in zip(parts, self.ordering, strict=True))
        return None if any(value is None for value in values) else values

    def _type(self, name: str) -> pa.DataType:
        return self.schema.field(name).type


def stored_rows(block: LogBlock) -> pa.Table:
    """The rows of a data block in the columns that its writer knew."""
    if block.type is BlockType.PARQUET_DATA:
        return parquet_file.read_rows(bytes(block.content))
    starts, ends = framed_records(block.content, *records_head(block))
    schema = avro_types.parse(block.require(HeaderKey.SCHEMA), block.offset)
    return decode_columns(schema, block.content, starts, ends)


def deleted_rows(rows: pa.Table, marker: DeleteMarker | None) -> np.ndarray:
    """Rows that are deletions in the shape of a row."""
    is_delete = np.zeros(rows.num_rows, dtype=bool)
    if IS_DELETED in rows.schema.names:
        is_delete |= rows.column(IS_DELETED).cast(pa.bool_()).fill_null(False).to_numpy()
    if OPERATION in rows.schema.names:
        is_delete |= pc.is_in(rows.column(OPERATION), value_set=pa.array(_DELETING_OPERATIONS)).to_numpy()
    if marker is not None and marker.column in rows.schema.names:
        is_delete |= pc.equal(rows.column(marker.column).cast(pa.string()), marker.value).fill_null(False).to_numpy()
    return is_delete


def _has_default_ordering(ordering: Sequence[pa.Array], count: int) -> np.ndarray:
    """Java takes a missing value, and an int of nought, for 'no ordering'."""
    if len(ordering) != 1:
        return np.full(count, not ordering)
    values = ordering[0]
    missing = values.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_int32(values.type):
        missing |= pc.equal(values, 0).fill_null(True).to_numpy(zero_copy_only=False)
    return np.asarray(missing, dtype=bool)


_CLASSES: Mapping[OrderingKind, Callable[[pa.DataType], bool]] = {
    OrderingKind.BOOLEAN: pa.types.is_boolean,
    OrderingKind.INT: lambda kind: pa.types.is_int32(kind) or pa.types.is_date32(kind),
    OrderingKind.LONG: lambda kind: pa.types.is_int64(kind) or pa.types.is_timestamp(kind),
    OrderingKind.FLOAT: pa.types.is_float32,
    OrderingKind.DOUBLE: pa.types.is_float64,
    OrderingKind.BYTES: pa.types.is_binary,
    OrderingKind.STRING: pa.types.is_string,
    OrderingKind.DATE: pa.types.is_date32,
    OrderingKind.LOCAL_DATE: pa.types.is_date32,
    OrderingKind.DECIMAL: pa.types.is_decimal,
    OrderingKind.TIMESTAMP_MICROS: pa.types.is_timestamp,
}


def _in_type(found: OrderingValue, wanted: pa.DataType) -> object:
    """A delete's ordering value as one of the column; None if Java would find it of another class."""
    if found.kind not in _CLASSES or not _CLASSES[found.kind](wanted):
        return None
    return found.value


def _typed(values: list[object], wanted: pa.DataType) -> pa.Array:
    """Ordering values of deletions, microseconds and days still numbers, as an array of the column's type."""
    try:
        if pa.types.is_timestamp(wanted):
            return pa.array(values, pa.int64()).cast(pa.timestamp("us")).cast(wanted, safe=False)
        if pa.types.is_date32(wanted):
            return pa.array(values, pa.int32()).cast(wanted)
        return pa.array(values, wanted)
    except (pa.ArrowException, OverflowError) as broken:
        raise CorruptFile(f"a deletion with an ordering value that is no {wanted} ({broken})", 0) from broken


def _flat(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _concatenated(pieces: Sequence[Changes]) -> Changes:
    """The changes of several blocks as one list; indexes into rows and column sets are moved along."""
    rows_before = np.cumsum([0, *(piece.rows.num_rows for piece in pieces)])
    sets_before = np.cumsum([0, *(len(piece.column_sets) for piece in pieces)])
    return Changes(
        keys=pa.concat_arrays([piece.keys for piece in pieces]),
        rows=pa.concat_tables([piece.rows for piece in pieces]),
        row=np.concatenate([_moved(p.row, start) for p, start in zip(pieces, rows_before, strict=False)]),
        ordering=tuple(map(pa.concat_arrays, zip(*(piece.ordering for piece in pieces), strict=True))),
        is_commit_time_delete=np.concatenate([piece.is_commit_time_delete for piece in pieces]),
        is_from_delete_block=np.concatenate([piece.is_from_delete_block for piece in pieces]),
        carried=np.concatenate([_moved(p.carried, start) for p, start in zip(pieces, sets_before, strict=False)]),
        column_sets=tuple(columns for piece in pieces for columns in piece.column_sets),
    )


def _moved(index: np.ndarray, start: int) -> np.ndarray:
    return np.where(index < 0, -1, index + start)
