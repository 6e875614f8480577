"""Which instant times the engine writes to the metadata table at (`hudi-format` 3.7)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hudi_engine.concurrency.instant_times import just_above, just_below
from hudi_engine.errors import Contradiction
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant, InstantTime
from hudi_engine.format.names import parse_base_file, parse_log_file
from hudi_engine.format.service_records import RecordName
from hudi_engine.index.metadata_table import MetadataTable

SOLO: Final = "00000000000000"
"""How the times begin at which Hudi itself makes indexes: as if before every commit of the data."""
_OURS: Final = range(500, 1000)
"""Hudi counts up from zero, ten in version 6, and looks at its active timeline only: it would take ours again."""
OURS: Final = (f"{SOLO}{_OURS.start}", f"{SOLO}{_OURS.stop - 1}")
"""The first and the last of the times at which only the engine makes indexes."""
INSTANT_DIGITS: Final = 17
"""Of a time to the millisecond; in version 6 times of the metadata table may have three more."""
LAST: Final = InstantTime("9" * INSTANT_DIGITS)
"""Above every time that there will be."""
INDEXER: Final = "004"
"""By this ending, one of six, Hudi 0.15.0 knows a commit of the metadata table that is no commit of the data."""


def solo_instant(metadata: MetadataTable, taken: Sequence[str]) -> InstantTime:
    """The time at which the next index is made: reserved for the engine, used by nobody, above all used before it.

    `taken` are times that were given away and may stand nowhere yet, the last one last. Once the highest is among them
    the count goes on from the lowest that is free.
    """
    used = _numbers((*_on_timeline(metadata), *_in_names(metadata, "record_index"), *taken))
    last = max(used, default=_OURS.start - 1)
    if last == _OURS[-1]:
        last = (_numbers(taken) or [last])[-1]
    free = (each for each in (*_OURS[last + 1 - _OURS.start :], *_OURS) if each not in used)
    number = next(free, None)
    if number is None:
        raise Contradiction(
            f"{metadata.table.storage.location}: all of the {len(_OURS)} times at which the engine makes an index are "
            "used up, which takes as many failed attempts. Drop the index, and with it their files."
        )
    return InstantTime(f"{SOLO}{number:03d}")


def _numbers(times: Sequence[str]) -> list[int]:
    """Which of the engine's times are among these."""
    numbers = (int(each[len(SOLO) :]) for each in times if each.startswith(SOLO) and len(each) == INSTANT_DIGITS)
    return [number for number in numbers if number in _OURS]


@dataclass(frozen=True, slots=True)
class Archive:
    """The instants that the metadata table has archived, as long as its timeline begins where it did: with `first`."""

    first: str
    instants: tuple[str, ...]


def archive_of(metadata: MetadataTable) -> Archive:
    """To be read before the lock is taken, since it grows with the table's age."""
    first = metadata.timeline.first_write_still_active()
    return Archive(first, tuple(instant.requested_at for instant in metadata.table.history()))


def base_instant(metadata: MetadataTable, index: str, taken: Sequence[str], archive: Archive) -> InstantTime:
    """The time at which the base of an index is committed: reserved for the engine and used by nobody.

    Whatever is older than a timeline's first write and not on it counts as completed. So once the metadata table has
    archived commits, nothing may be committed before all that is left: files of archived commits would not count any
    more. Before that, as in Hudi, an index is made as if before every commit of the data.
    """
    first = metadata.timeline.first_write_still_active()
    archived = (archive if archive.first == first else archive_of(metadata)).instants
    if first.startswith(SOLO) or not archived:
        return solo_instant(metadata, (*archived, *taken))
    return log_instant(metadata, index, first, taken)


def log_instant(metadata: MetadataTable, index: str, instant: str, reserved: Collection[str] = ()) -> InstantTime:
    """A free time just below `instant`, for logs that add to an index what that commit of the data left out.

    `reserved` are times that were given away and may stand nowhere yet.
    """
    taken = _taken(metadata, index) | {time[:INSTANT_DIGITS] for time in reserved}
    below = just_below(InstantTime(instant), taken, metadata.data.zone)
    return _by_version(metadata, below)


def lasting_instant(metadata: MetadataTable, index: str, instant: str, reserved: Collection[str]) -> InstantTime:
    """A free time just below `instant` or, where logs might be archived before they are compacted, higher up.

    Of the metadata table Hudi archives all that is older than the data's active timeline, compacted or not, and then
    its readers pass over what stands in logs. Of the data's it archives nothing that completed after the last
    compaction of the metadata table. So whatever stands above such a commit lasts until the next compaction. It stays
    below all that is pending, whose own entries are to win.
    """
    done = [write for write in metadata.data_timeline.writes() if write.is_completed]
    kept = _after_compaction(metadata, done)
    below = log_instant(metadata, index, instant, reserved)
    if any(each < below for each in kept):
        return below
    pending = (each for each in metadata.data_timeline.pending() if each.action is not Action.INDEXING)
    limit = min((each.requested_at for each in pending if each.requested_at >= instant), default=LAST)
    floors = [each for each in kept if instant <= each < limit]
    # Where no commit is kept the highest will do: it takes many more to have it archived, and as many to compact.
    highest = [write.requested_at for write in done if instant <= write.requested_at < limit][-1:]
    taken = _taken(metadata, index) | {time[:INSTANT_DIGITS] for time in reserved}
    above = next((just_above(floor, taken, metadata.data.zone) for floor in (*floors, *highest)), LAST)
    if above >= limit:
        return log_instant(metadata, index, max(instant, first_write(metadata)), reserved)
    return _by_version(metadata, above)


def _after_compaction(metadata: MetadataTable, writes: Sequence[Instant]) -> list[str]:
    """Those that came after the last one of the metadata table; in version 6 Hudi goes by requested times."""
    compactions = (each.requested_at for each in metadata.timeline.of(Action.COMMIT) if each.is_completed)
    last = max(compactions, default="")
    by_request = metadata.table.config.layout == 1
    return [
        write.requested_at
        for write in writes
        if (write.requested_at if by_request else write.completed_at or write.requested_at) > last
    ]


def first_write(metadata: MetadataTable) -> str:
    """Where the metadata table's active timeline begins, but for the times at which indexes are made."""
    writes = metadata.timeline.writes()
    return next((write.requested_at for write in writes if not write.requested_at.startswith(SOLO)), "")


def _by_version(metadata: MetadataTable, instant: InstantTime) -> InstantTime:
    return InstantTime(instant + INDEXER) if metadata.table.config.version == 6 else instant


def overriding_instant(metadata: MetadataTable, index: str, instant: str, reserved: Collection[str]) -> InstantTime:
    """A free time just below `instant` or, as logs of higher times would win, just above the highest that counts."""
    below = lasting_instant(metadata, index, instant, reserved)
    newest = max(filter(metadata.view.completions.is_completed, log_times(metadata, index)), default="")
    if newest < below:
        return below
    return just_above(newest, {*_taken(metadata, index), *reserved}, metadata.data.zone)


def log_times(metadata: MetadataTable, index: str) -> frozenset[str]:
    """The times of all logs of an index, whatever became of their commits."""
    logs = (parse_log_file(file.name) for file in metadata.table.storage.list(index))
    return frozenset(log.instant for log in logs if log is not None)


def _taken(metadata: MetadataTable, index: str) -> frozenset[str]:
    data = metadata.data_timeline.instants
    times = {*(each.requested_at for each in data), *_on_timeline(metadata), *_in_names(metadata, index)}
    return frozenset(each[:INSTANT_DIGITS] for each in (*times, *_rolled_back(metadata)))


def _on_timeline(metadata: MetadataTable) -> Iterator[str]:
    return (instant.requested_at for instant in metadata.timeline.instants)


def _in_names(metadata: MetadataTable, index: str) -> Iterator[str]:
    for file in metadata.table.storage.list(index):
        name = parse_base_file(file.name) or parse_log_file(file.name)
        if name is not None:
            yield name.instant


def _rolled_back(metadata: MetadataTable) -> Iterator[str]:
    """In layout 1 the logs of a time that was rolled back stay, and would count again if it were used again."""
    if metadata.table.config.layout == 1:
        for instant in metadata.timeline.of(Action.ROLLBACK):
            if instant.is_completed:
                yield from _targets(metadata, instant)


def _targets(metadata: MetadataTable, rollback: Instant) -> list[str]:
    decode = partial(service_records.decode, RecordName.ROLLBACK)
    record: Any = metadata.table.record(metadata.table.path_of(rollback), decode)
    return list(record["commitsRollback"] or ())
