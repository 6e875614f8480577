"""Java's archiver of both timelines, the data's and the metadata table's: which instants leave, and which never do.

By the source of Hudi 1.2.0, whose rules for layout 1 are those of 0.15.0: `TimelineArchiverV1` and `V2`,
`TimelineUtils#getEarliestInstantForMetadataArchival`, `ClusteringUtils#getEarliestInstantToRetainForClustering`,
`CompactionUtils#getEarliestInstantToRetainForCompaction`.
"""

from collections.abc import Sequence
from typing import Any, Final

from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant, State
from hudi_engine.format.service_records import RecordName
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import WRITES, Timeline
from tests.worlds import services
from tests.worlds.archives import move_to_archive
from tests.worlds.world import World
from tests.worlds.writer import held

_COMMITS: Final = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
_SERVICES: Final = (Action.CLEAN, Action.ROLLBACK)
_TAKEN: Final = WRITES | {*_SERVICES}
_MOST_DELTA_COMMITS: Final = 10
"""The default of `hoodie.metadata.compact.max.delta.commits`."""
_NEVER: Final = "9" * 20


def archive(world: World, until: str) -> None:
    """Move all completed instants before this one to the data's archive, whatever Java's archiver would keep."""
    table = world.table()
    gone = [each for each in table.timeline().completed() if each.requested_at < until and each.action in _TAKEN]
    move_to_archive(table, gone)


def archive_data(world: World, keep: int) -> list[str]:
    """What Java's archiver does to the data's timeline: at least the last `keep` commits stay."""
    with held(world):
        metadata = world.metadata()
        limit = min(
            _before_pending(metadata.data_timeline),
            _first_savepoint(metadata.data_timeline),
            _first_uncleaned_replacement(metadata.data, metadata.data_timeline),
            _first_since_compaction(metadata),
            _before_leftovers(metadata),
        )
        # Delta commits that wait for a compaction stay only where their number triggers one. It may be the time.
        return _archive(metadata.data, metadata.data_timeline, keep, limit, _latest_compaction(metadata))


def archive_metadata(world: World, keep: int) -> list[str]:
    """What it does to the metadata table's: `keep` is the same number as the data's, Java adds one."""
    with held(world):
        metadata = world.metadata()
        data = _first_of_data(metadata.data_timeline)
        limit = min(_before_pending(metadata.timeline), _first_to_compact(metadata.timeline), data)
        return _archive(metadata.table, metadata.timeline, keep + 1, limit, data)


def _archive(table: Table, timeline: Timeline, keep: int, limit: str, services_limit: str) -> list[str]:
    """Nothing goes unless there are more commits than the most to keep, which is one more than the least."""
    commits = [each for each in timeline.of(*_COMMITS) if each.is_completed]
    most = max(0, len(commits) - keep)
    gone = [each for each in commits if each.requested_at < limit][:most] if most > 1 else []
    if table.config.layout == 1:
        gone += _services_by_number(timeline, keep, services_limit)
    elif gone:
        gone += _services_before(timeline, gone[-1].requested_at, services_limit)
    if gone:
        move_to_archive(table, gone)
    return sorted(each.requested_at for each in gone)


def _services_by_number(timeline: Timeline, keep: int, limit: str) -> list[Instant]:
    """Layout 1 counts cleans and rollbacks for themselves."""
    found: list[Instant] = []
    for action in _SERVICES:
        done = [each for each in timeline.of(action) if each.is_completed]
        if len(done) > keep + 1:
            found += [each for each in done[:-keep] if each.requested_at < limit]
    return found


def _services_before(timeline: Timeline, newest: str, compacted_at: str) -> list[Instant]:
    """Layout 2 takes those before the newest commit that goes.

    Java takes a clean too that completed after the latest compaction of the metadata table. Its entries are then in
    logs that nobody reads any more: a fault of Hudi's own, which must not hide ours.
    """
    done = [each for each in timeline.of(*_SERVICES) if each.is_completed and each.requested_at < newest]
    return [each for each in done if (each.completed_at or each.requested_at) < compacted_at]


def _before_pending(timeline: Timeline) -> str:
    """The commit before the earliest pending write stays, too."""
    first = next((each.requested_at for each in timeline.writes() if not each.is_completed), None)
    if first is None:
        return _NEVER
    before = [each.requested_at for each in timeline.of(*_COMMITS) if each.is_completed and each.requested_at < first]
    return max(before, default=first)


def _first_savepoint(timeline: Timeline) -> str:
    return min((each.requested_at for each in timeline.of(Action.SAVEPOINT) if each.is_completed), default=_NEVER)


def _first_uncleaned_replacement(table: Table, timeline: Timeline) -> str:
    """Without a replacement on the timeline readers would see the file groups that it replaced."""
    cleans = [each for each in timeline.of(Action.CLEAN) if each.is_completed]
    cleaned = _earliest_retained(table, cleans[-1]) if cleans else ""
    replacements = timeline.of(Action.REPLACE_COMMIT, Action.CLUSTERING)
    return min((each.requested_at for each in replacements if each.requested_at >= cleaned), default=_NEVER)


def _earliest_retained(table: Table, clean: Instant) -> str:
    """By the plan of the clean; a clean that counts file versions has none, and counts by its own time."""
    path = table.path_of(clean.in_state(State.REQUESTED))
    plan: Any = service_records.decode(RecordName.CLEANER_PLAN, table.storage.read(path))
    earliest = plan["earliestInstantToRetain"]
    return str(earliest["timestamp"]) if earliest else clean.requested_at


def _before_leftovers(metadata: MetadataTable) -> str:
    """Some tables begin with a file of a commit that failed, which Java too takes for committed once that is archived.

    Java goes on nevertheless, and the commit's rows are back.
    """
    left = [instant for instant, _ in services.leftovers(metadata)]
    done = [each.requested_at for each in metadata.data_timeline.of(*_COMMITS) if each.is_completed]
    return max((each for each in done if left and each < min(left)), default=min(left, default=_NEVER))


def _latest_compaction(metadata: MetadataTable) -> str:
    """Empty if the metadata table was never compacted: then nothing at all is archived."""
    return max((each.requested_at for each in metadata.timeline.of(Action.COMMIT) if each.is_completed), default="")


def _first_since_compaction(metadata: MetadataTable) -> str:
    """What the metadata table has not compacted yet stays: layout 1 goes by requested times."""
    compacted_at = _latest_compaction(metadata)
    if metadata.table.config.layout == 1 or not compacted_at:
        return compacted_at
    commits = [each for each in metadata.data_timeline.of(*_COMMITS) if each.is_completed]
    return min((each.requested_at for each in commits if (each.completed_at or "") > compacted_at), default=_NEVER)


def _first_of_data(data: Timeline) -> str:
    """The first commit on the data's timeline, or the first pending instant of any action: older ones may go."""
    firsts = [*data.of(*_COMMITS)[:1], *data.pending()[:1]]
    return min((each.requested_at for each in firsts), default=_NEVER)


def _first_to_compact(timeline: Timeline) -> str:
    """As many delta commits stay as trigger a compaction, and the latest compaction."""
    deltas: Sequence[Instant] = timeline.of(Action.DELTA_COMMIT)
    compactions = [each.requested_at for each in timeline.of(Action.COMMIT) if each.is_completed]
    waiting = [each.requested_at for each in deltas if each.requested_at > max(compactions, default="")]
    if len(waiting) < _MOST_DELTA_COMMITS:
        return max(compactions, default=min(waiting, default=_NEVER))
    return waiting[-_MOST_DELTA_COMMITS]
