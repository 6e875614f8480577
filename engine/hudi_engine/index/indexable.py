"""Which columns a secondary index can be made of (section 8.7)."""

from typing import Final

import pyarrow as pa

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.index.definitions import IndexDefinition, IndexVersion
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.secondary_values import Column, type_at

_VERSIONS: Final = {8: IndexVersion.V1, 9: IndexVersion.V2}


def require_indexable(
    wanted: IndexDefinition, rows: pa.Schema, table_version: int, *, has_record_index: bool
) -> Column:
    """The column of this secondary index, whose values have one spelling each; raises for what Hudi refuses, too."""
    if wanted.kind is not IndexKind.SECONDARY_INDEX:
        raise Contradiction(f"{wanted.name} is an index of kind {wanted.kind}, expected {IndexKind.SECONDARY_INDEX}")
    if table_version not in _VERSIONS:
        raise Unsupported(
            f"{wanted.name}: the table has version {table_version}; secondary indexes come with version 8. Upgrade "
            "the table, or leave this index out."
        )
    if wanted.version is not _VERSIONS[table_version]:
        raise Unsupported(
            f"{wanted.name}: an index of version {wanted.version} on a table of version {table_version}, where Hudi "
            f"makes {_VERSIONS[table_version]}: how a writer spells its values there is not known. Drop the index and "
            "create it again."
        )
    if not has_record_index:
        raise Contradiction(
            f"{wanted.name}: a secondary index leads to record keys, and the table has no record index to find those "
            "by. Build record_index first."
        )
    return _column(wanted, rows)


def is_indexable(kind: pa.DataType) -> bool:
    """Whether Hudi makes secondary indexes of values of this type, and spells each of them in a way that is known."""
    if pa.types.is_timestamp(kind):
        # Spark holds any time in microseconds, writers by Avro in the unit of the schema. Without a zone Hudi refuses.
        return bool(kind.unit == "us" and kind.tz)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_signed_integer(kind)
        or pa.types.is_float32(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_date32(kind)
    )


def _column(wanted: IndexDefinition, rows: pa.Schema) -> Column:
    if not wanted.source_fields:
        raise Unsupported(f"{wanted.name}: no column is named, and a secondary index is of one. Give it with --column.")
    if len(wanted.source_fields) != 1:
        raise Unsupported(
            f"{wanted.name}: {len(wanted.source_fields)} columns ({', '.join(wanted.source_fields)}); a secondary "
            "index is of one column. Make an index of each."
        )
    (name,) = wanted.source_fields
    kind = type_at(rows, name)
    if kind is None:
        raise NotFound(f"{wanted.name}: no column {name!r}; the rows have {', '.join(rows.names)}. Name one of those.")
    if not is_indexable(kind):
        raise Unsupported(
            f"{wanted.name}: the column {name} is {kind}; secondary indexes are of texts, whole numbers, "
            "floating-point numbers, dates, and timestamps in microseconds of UTC. Choose another column."
        )
    return Column(tuple(name.split(".")), kind, wanted.version)
