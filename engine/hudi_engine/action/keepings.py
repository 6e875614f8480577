"""Which kinds of index can be built, and how each is kept."""

from collections.abc import Mapping

from hudi_engine.action.keep_files import FileIndexKeeping
from hudi_engine.action.keep_partition_stats import PartitionStatsKeeping
from hudi_engine.action.keep_record_index import RecordIndexKeeping
from hudi_engine.action.keep_secondary_index import SecondaryIndexKeeping
from hudi_engine.action.keeping import STANDS_ON, Keeping
from hudi_engine.action.plans import IS_PARTITIONED, IndexPlan, PlannedIndex
from hudi_engine.errors import Unsupported
from hudi_engine.index.kinds import IndexKind, kind_of

BUILDABLE = (
    IndexKind.RECORD_INDEX,
    IndexKind.COLUMN_STATS,
    IndexKind.PARTITION_STATS,
    IndexKind.BLOOM_FILTERS,
    IndexKind.SECONDARY_INDEX,
)


def can_be_built(plan: IndexPlan) -> bool:
    """Whether a plan says all that it takes, whoever wrote it, and no index that must be complete before another."""
    if any(plan.of(later) and plan.of(first) for later, first in STANDS_ON.items()):
        return False
    return all(map(_can_be_built, plan.indexes))


def _can_be_built(index: PlannedIndex) -> bool:
    kind = kind_of(index.name)
    return kind in BUILDABLE and (kind is not IndexKind.SECONDARY_INDEX or bool(index.columns))


def keeping_of(index: PlannedIndex, conf: Mapping[str, str]) -> Keeping:
    """How this index is made and kept with these properties; `Unsupported` for one of a kind that cannot be built."""
    match kind_of(index.name):
        case IndexKind.RECORD_INDEX:
            return RecordIndexKeeping(conf, index.options.get(IS_PARTITIONED) == "true")
        case IndexKind.BLOOM_FILTERS | IndexKind.COLUMN_STATS as kind:
            return FileIndexKeeping(kind, conf, index.columns, index.is_addition)
        case IndexKind.PARTITION_STATS:
            return PartitionStatsKeeping(conf)
        case IndexKind.SECONDARY_INDEX:
            return SecondaryIndexKeeping(index.name, index.columns, conf)
        case kind:
            known = ", ".join(BUILDABLE)
            raise Unsupported(f"no index of the kind {kind} can be built yet; those that can: {known}")
