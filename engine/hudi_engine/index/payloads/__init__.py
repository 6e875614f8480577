"""What the records of the metadata table mean: the values of each kind of index as typed rows, and how rows merge."""

from typing import Final

from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads.bloom_filters import BLOOM_FILTERS
from hudi_engine.index.payloads.column_stats import COLUMN_STATS
from hudi_engine.index.payloads.family import Family
from hudi_engine.index.payloads.files import FILES
from hudi_engine.index.payloads.record_index import RECORD_INDEX
from hudi_engine.index.payloads.secondary_index import SECONDARY_INDEX

__all__ = ["Family", "family_of"]

_FAMILIES: Final[dict[IndexKind, Family]] = {
    IndexKind.FILES: FILES,
    IndexKind.COLUMN_STATS: COLUMN_STATS,
    IndexKind.PARTITION_STATS: COLUMN_STATS,
    IndexKind.BLOOM_FILTERS: BLOOM_FILTERS,
    IndexKind.RECORD_INDEX: RECORD_INDEX,
    IndexKind.SECONDARY_INDEX: SECONDARY_INDEX,
    IndexKind.EXPRESSION_INDEX: COLUMN_STATS,
}


def family_of(kind: IndexKind, definition: IndexDefinition | None = None) -> Family:
    """The records of an index of this kind; for an expression index its definition says which it borrows."""
    if kind is IndexKind.EXPRESSION_INDEX and definition is not None and definition.index_type == "bloom_filters":
        return _FAMILIES[IndexKind.BLOOM_FILTERS]
    return _FAMILIES[kind]
