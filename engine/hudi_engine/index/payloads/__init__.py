"""What the records of the metadata table mean: the values of each kind of index as typed rows, and how rows merge."""

from typing import Final

from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads.bloom_filters import BloomFiltersFamily
from hudi_engine.index.payloads.column_stats import ColumnStatsFamily
from hudi_engine.index.payloads.family import Family
from hudi_engine.index.payloads.files import FilesFamily
from hudi_engine.index.payloads.record_index import RecordIndexFamily
from hudi_engine.index.payloads.secondary_index import SecondaryIndexFamily

__all__ = ["Family", "family_of"]

_FAMILIES: Final[dict[IndexKind, Family]] = {
    IndexKind.FILES: FilesFamily(),
    IndexKind.COLUMN_STATS: ColumnStatsFamily(),
    IndexKind.PARTITION_STATS: ColumnStatsFamily(),
    IndexKind.BLOOM_FILTERS: BloomFiltersFamily(),
    IndexKind.RECORD_INDEX: RecordIndexFamily(),
    IndexKind.SECONDARY_INDEX: SecondaryIndexFamily(),
    IndexKind.EXPRESSION_INDEX: ColumnStatsFamily(),
}


def family_of(kind: IndexKind, definition: IndexDefinition | None = None) -> Family:
    """The records of an index of this kind; for an expression index its definition says which it borrows."""
    if kind is IndexKind.EXPRESSION_INDEX and definition is not None and definition.index_type == "bloom_filters":
        return _FAMILIES[IndexKind.BLOOM_FILTERS]
    return _FAMILIES[kind]
