"""What an index cannot be built without: a table that can have it, and the index that it stands on."""

from dataclasses import replace

from hudi_engine.contract import Action, IndexState, TableSeen
from hudi_operator.decide.case import Case
from hudi_operator.decide.need import Need
from hudi_operator.decide.verdict import Verdict, moving, stuck
from hudi_operator.resources.model import ENGINE_KINDS, IndexType, MetadataIndex
from hudi_operator.status.facts import seen_index
from hudi_operator.status.whole import condition_of
from hudi_operator.words import Condition, Reason, State

_STANDS_ON = {
    IndexType.SECONDARY_INDEX: IndexType.RECORD_INDEX,  # leads from a value to keys, which that one finds
    IndexType.PARTITION_STATS: IndexType.COLUMN_STATS,  # Hudi's writers keep both or neither
}


def lacking(index: MetadataIndex, case: Case, need: Need) -> Verdict | None:
    """Why the index cannot be built now, or ever on this table; None if it can, or something else is to be done."""
    if need.action is not Action.BUILD:
        return None
    return _too_old(index, case) or _not_ready(index, case, need)


def _too_old(index: MetadataIndex, case: Case) -> Verdict | None:
    seen, oldest = case.world.seen, index.index_type.oldest_table_version
    if not isinstance(seen, TableSeen) or seen.version >= oldest:
        return None
    why = (
        f"the table has version {seen.version}, and {index.index_type} takes {oldest} or later: upgrade the table with "
        "its writers, or delete this resource"
    )
    return stuck(State.FAILED, Reason.TABLE_UNSUPPORTED, why)


def _not_ready(index: MetadataIndex, case: Case, need: Need) -> Verdict | None:
    ground = _STANDS_ON.get(index.index_type)
    if ground is None:
        return None
    found = seen_index(case.world.seen, ENGINE_KINDS[ground])
    state = IndexState.ABSENT if found is None else found.state
    if state is IndexState.COMPLETE:
        return None
    why = f"{index.engine_name} needs {ENGINE_KINDS[ground]} to be complete, and that is {state}"
    maker = _maker(ground, index, case)
    if maker is None:
        advice = f"apply a MetadataIndex with indexType: {ground} for HudiTable {index.table}"
        return moving(need.state, Reason.DEPENDENCY_NOT_READY, f"{why}: {advice}")
    waiting = moving(need.state, Reason.DEPENDENCY_NOT_READY, f"{why}: MetadataIndex {maker.meta.ref.name} goes first")
    return replace(waiting, is_long=_is_under_way(maker, case))


def _maker(ground: IndexType, index: MetadataIndex, case: Case) -> MetadataIndex | None:
    """The resource that wishes for the other index; the first by name, if there are several."""
    found = (
        other
        for other in case.world.neighbours
        if isinstance(other, MetadataIndex)
        and (other.table, other.meta.ref.namespace) == (index.table, index.meta.ref.namespace)
        and other.index_type is ground
        and other.meta.deleting_since is None
    )
    return min(found, key=lambda other: other.meta.ref, default=None)


def _is_under_way(maker: MetadataIndex, case: Case) -> bool:
    status = case.world.statuses.get(maker.meta.ref, {})
    moves, stalls = (condition_of(status, name) or {} for name in (Condition.RECONCILING, Condition.STALLED))
    return moves.get("status") == "True" and stalls.get("status") != "True"
