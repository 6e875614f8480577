"""Which kinds of index can be built, and how each is kept."""

from hudi_engine.action.keep_record_index import RecordIndexKeeping
from hudi_engine.action.keeping import Keeping
from hudi_engine.action.plans import IS_PARTITIONED, PlannedIndex
from hudi_engine.errors import Unsupported
from hudi_engine.index.kinds import IndexKind, kind_of

BUILDABLE = (IndexKind.RECORD_INDEX,)


def can_be_built(index: PlannedIndex) -> bool:
    """Whether a plan says all that it takes, whoever wrote it."""
    return kind_of(index.name) in BUILDABLE


def keeping_of(index: PlannedIndex) -> Keeping:
    """How this index is made and kept; `Unsupported` for one of a kind that cannot be built."""
    match kind_of(index.name):
        case IndexKind.RECORD_INDEX:
            return RecordIndexKeeping(index.options.get(IS_PARTITIONED) == "true")
        case kind:
            known = ", ".join(BUILDABLE)
            raise Unsupported(f"no index of the kind {kind} can be built yet; those that can: {known}")
