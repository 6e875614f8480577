"""Which writes to the metadata table a reader may see (`hudi-format` 3.8). Pure."""

from dataclasses import dataclass

from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.table.timeline import Timeline

_UNDOING = (Action.ROLLBACK, Action.RESTORE)


@dataclass(frozen=True, slots=True)
class Readings:
    """The timelines as three listings found them, in this order: data, metadata, data again."""

    data: Timeline
    metadata: Timeline
    data_after: Timeline

    @property
    def is_steady(self) -> bool:
        """Nothing happened in between, so that both tables were seen at one moment."""
        return self.data.instants == self.data_after.instants


def valid_instants(readings: Readings) -> frozenset[str]:
    """The instants whose log blocks count, by exact match.

    The metadata table is written before the data's instant completes, so a write that is complete there and pending
    in the data does not count; nor does one that began after the data's timeline was read. What is no instant of the
    data is the work of an indexer or a first build. Instants that were rolled back are left out, where Java takes
    them in together with the blocks that undo them, to the same end.
    """
    data = readings.data
    not_yet = _times(data.pending()) | _times(readings.data_after.instants) - _times(data.instants)
    written = {
        instant.requested_at
        for instant in readings.metadata.completed()
        if instant.action is Action.DELTA_COMMIT and instant.requested_at not in not_yet
    }
    undoing = {i.requested_at for i in readings.metadata.of(*_UNDOING) if i.is_completed}
    return frozenset(_times(data.completed()) | written | undoing)


def _times(instants: tuple[Instant, ...]) -> set[str]:
    return {instant.requested_at for instant in instants}
