"""The records with a value, as somebody asks for them at the command line."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import typer

from hudi_engine.errors import NotFound
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.index.secondary_index import record_keys

_OPTION = "--secondary"
_BATCH_KEYS = 200_000


def keys_of_value(metadata: MetadataTable, asked: str) -> Iterator[pa.Array]:
    """The record keys, ascending, of the records with the value that `COLUMN=VALUE` asks for."""
    column, separator, value = asked.partition("=")
    if not separator or not column:
        raise typer.BadParameter(f"{asked!r} is not COLUMN=VALUE", param_hint=_OPTION)
    keys = record_keys(metadata.index(_index_on(metadata, column)), [value])["key"].combine_chunks()
    keys = keys.take(pc.sort_indices(keys))
    for start in range(0, len(keys), _BATCH_KEYS):
        yield keys.slice(start, _BATCH_KEYS)


def _index_on(metadata: MetadataTable, column: str) -> str:
    """The name of the one secondary index on the column, or of the one that has this name itself."""
    config = metadata.data.config
    listed = {*config.readable_indexes, *config.inflight_indexes}
    found = {
        name: definition.source_fields
        for name, definition in metadata.definitions.items()
        if definition.kind is IndexKind.SECONDARY_INDEX and name in listed
    }
    chosen = [name for name, fields in found.items() if column == name or fields == (column,)]
    told = ", ".join(f"{name} on {' and '.join(fields)}" for name, fields in found.items())
    if not chosen:
        raise NotFound(
            f"{metadata.data.storage.location}: no secondary index on {column!r}; there are: {told or 'none'}. "
            f"CREATE INDEX … ON … ({column}) in Spark SQL makes one."
        )
    if len(chosen) > 1:
        raise typer.BadParameter(
            f"several indexes on {column!r}: {told}. Give the name of one in place of the column", param_hint=_OPTION
        )
    return chosen[0]
