"""The base that a plan has in effect, as the metadata table's own timeline says."""

from collections.abc import Collection

from hudi_engine.action.attempts import attempts_of
from hudi_engine.action.coverage import Base, base_of
from hudi_engine.action.plans import IndexPlan
from hudi_engine.errors import NotFound
from hudi_engine.format.instant_names import Action
from hudi_engine.index.metadata_table import MetadataTable


def published_base(metadata: MetadataTable, plan: IndexPlan, name: str) -> Base | None:
    """The last committed base of an index that this plan is building or has just built; None if there is none.

    An attempt's record names the instant of its base, and no two attempts ever get the same: what an earlier plan of
    the same time left on the timeline is not taken for it.
    """
    reserved = {attempt.base_instant for attempt in attempts_of(metadata.data.storage, plan.requested_at)}
    for instant in reversed(metadata.timeline.of(Action.DELTA_COMMIT)):
        if instant.is_completed and instant.requested_at in reserved:
            completed_at = metadata.view.completions.time_of(instant.requested_at) or ""
            try:
                commit = metadata.table.commit(instant)
            except NotFound:  # archived since the timeline was read
                break
            base = base_of(name, commit, instant.requested_at, completed_at)
            if base is not None:  # a later attempt makes only those that have none
                return base
    return _archived_base(metadata, reserved, name)


def _archived_base(metadata: MetadataTable, reserved: Collection[str], name: str) -> Base | None:
    """The archiver of the metadata table begins with the lowest times: a build may outlive its base's commit there."""
    if not reserved:
        return None
    commits = metadata.table.archived_commits(min(reserved), max(reserved))
    bases = [
        base_of(name, commit, instant.requested_at, instant.completed_at or "")
        for instant, commit in commits
        if instant.requested_at in reserved
    ]
    return next((base for base in reversed(bases) if base is not None), None)
