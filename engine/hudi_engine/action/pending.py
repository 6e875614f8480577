"""Who is still at work on the data, and must be waited for before an index can be whole (RFC-45, step 6.a.i)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hudi_engine.action.keeping import ROWS, Traits
from hudi_engine.concurrency.heartbeat import Heartbeats, Pulse
from hudi_engine.format.instant_names import Action, Instant, State
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

_WRITES = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
_OF_FILES = (Action.COMPACTION, Action.LOG_COMPACTION, Action.CLEAN)
_MOST_NAMED = 5


def awaited(table: Table, timeline: Timeline, traits: Traits = ROWS) -> tuple[Instant, ...]:
    """The pending instants that may yet change what an index of these traits must have.

    Compaction, log compaction and clean move no records, but make and delete files. Clustering that is merely asked
    for is nobody's yet: who runs it begins then. A restore is always somebody's; a rollback undoes what never counted,
    but for one of a completed commit, which is a pending write again as soon as it is under way.
    """
    named = (_named(table, timeline, instant) for instant in timeline.pending())
    return tuple(instant for instant in named if _moves_records(instant) or _moves_files(instant, traits))


def _named(table: Table, timeline: Timeline, instant: Instant) -> Instant:
    """The instant by what it does: layout 1 calls clustering a replacement."""
    if instant.action is Action.REPLACE_COMMIT and table.is_clustering(instant, timeline):
        return replace(instant, action=Action.CLUSTERING)
    return instant


def _moves_records(instant: Instant) -> bool:
    if instant.action is Action.CLUSTERING:
        return instant.state is State.INFLIGHT
    return instant.action in _WRITES or instant.action is Action.RESTORE


def _moves_files(instant: Instant, traits: Traits) -> bool:
    """What is merely asked for is nobody's yet: who runs it begins then."""
    return traits.is_of_files and instant.action in _OF_FILES and instant.state is State.INFLIGHT


@dataclass(slots=True)
class Vigil:
    """Remembers which instants show no sign of life, and since when. `heartbeats` are judged by the writers' lease.

    Nobody is dead for lack of a file: it is deleted on completion, before a listing shows that, and services have
    none at all. Whoever had a heartbeat is dead if it is older than the lease in two looks with a timeline read
    between them; a write without one if that stays so for a lease. A service without one is never taken for dead:
    nothing tells, and what it leaves out of an index that is complete by then would be lost.
    """

    heartbeats: Heartbeats
    _silent: set[str] = field(default_factory=set)
    _unknown_since: dict[str, int] = field(default_factory=dict)

    def living(self, pending: Sequence[Instant]) -> tuple[Instant, ...]:
        """Those of the pending instants, as a timeline has them that was read just now, that must be waited for."""
        times = {instant.requested_at for instant in pending}
        self._silent &= times
        self._unknown_since = {time: since for time, since in self._unknown_since.items() if time in times}
        return tuple(instant for instant in pending if not self._is_dead(instant))

    def is_undecided(self, instant: Instant) -> bool:
        """Whether a little more patience will tell if this one lives: it has missed a beat, or never had a heart."""
        if instant.requested_at in self._unknown_since:
            return not _is_service(instant)
        age_ms = self.heartbeats.age_ms(instant.requested_at)
        return age_ms is not None and age_ms > self.heartbeats.lease.interval_ms

    def _is_dead(self, instant: Instant) -> bool:
        time = instant.requested_at
        match self.heartbeats.pulse(time):
            case Pulse.LIVE:
                self._silent.discard(time)
                self._unknown_since.pop(time, None)
                return False
            case Pulse.SILENT:
                was_silent = time in self._silent
                self._silent.add(time)
                return was_silent
            case _:
                since = self._unknown_since.setdefault(time, self.heartbeats.clock.now_ms())
                silent_ms = self.heartbeats.clock.now_ms() - since
                return silent_ms > self.heartbeats.lease.lasts_ms and not _is_service(instant)

    def told(self, instant: Instant) -> str:
        """An instant as a person is told of it."""
        age_ms = self.heartbeats.age_ms(instant.requested_at)
        beat = "no heartbeat" if age_ms is None else f"heartbeat {max(age_ms, 0) / 1000:.0f} s old"
        return f"{instant.requested_at} ({instant.action}, {instant.state}, {beat})"


def sentence(vigil: Vigil, waited_for: Sequence[Instant]) -> str:
    """Who is waited for, in a line."""
    named = ", ".join(vigil.told(instant) for instant in waited_for[:_MOST_NAMED])
    more = f" and {len(waited_for) - _MOST_NAMED} more" if len(waited_for) > _MOST_NAMED else ""
    return f"waiting for {len(waited_for)} pending: {named}{more}"


def _is_service(instant: Instant) -> bool:
    return instant.action in (Action.CLUSTERING, Action.RESTORE, *_OF_FILES)
