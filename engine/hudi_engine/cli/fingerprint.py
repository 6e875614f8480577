"""Whether a table is as it was, at the price of some listings: names, sizes and times, and who lives."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hudi_engine.action import attempts
from hudi_engine.concurrency import heartbeat
from hudi_engine.concurrency.heartbeat import Lease, own_lease, writers_lease
from hudi_engine.storage.protocol import FileStat, Storage

_TABLE = ".hoodie"
_METADATA = f"{_TABLE}/metadata"
_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Leases:
    """How long a silent heartbeat may be old: that of a plan of ours, and that of any other writer."""

    own: Lease
    writers: Lease


@dataclass(frozen=True, slots=True)
class Glance:
    """What some listings show. `beats` are the heartbeats' times by instant; `is_there`: there is anything at all."""

    is_there: bool
    files: str
    beats: Mapping[str, int]

    def fingerprint(self, properties: str, leases: Leases, now_ms: int) -> str:
        """The same as long as nothing happens to the table and it is looked at by the same properties.

        A heart that stops is something that happens.
        """
        lives = [
            (instant, beat, now_ms - beat <= leases.own.lasts_ms, now_ms - beat <= leases.writers.lasts_ms)
            for instant, beat in self.beats.items()
        ]
        return _digest([properties, self.files, repr(lives)])


def leases_of(conf: Mapping[str, str]) -> Leases:
    return Leases(own_lease(conf), writers_lease(conf))


def glance(storage: Storage, timeline_folder: str) -> Glance:
    """The table as its folders show it now.

    Heartbeats are listed before the timeline: whoever ends between the two is seen as ended, and not as dead.
    """
    beats = {file.name: file.modified_ms for file in storage.list(heartbeat.FOLDER) if not file.is_folder}
    top = storage.list(_TABLE)
    facts = list(_facts(storage, timeline_folder, top))
    return Glance(bool(top), _digest(facts), beats)


def _facts(storage: Storage, timeline_folder: str, top: tuple[FileStat, ...]) -> Iterator[str]:
    folders = {file.path for file in top if file.is_folder}
    yield from _said(top)
    if timeline_folder != _TABLE:
        yield from _said(storage.list(timeline_folder))
    if _METADATA in folders:
        # Where the store keeps times of folders, those of the indexes tell of files that come and go.
        yield from (f"{file.path} {file.modified_ms}" for file in storage.list(_METADATA))
        yield from _said(storage.list(f"{_METADATA}/{timeline_folder}"))
    if attempts.FOLDER in folders:
        for folder in storage.list(attempts.FOLDER):
            yield from _said(storage.list(folder.path))


def _said(files: tuple[FileStat, ...]) -> Iterator[str]:
    """Folders by their names only: what happens in those that matter is listed itself."""
    return (file.path if file.is_folder else f"{file.path} {file.size_bytes} {file.modified_ms}" for file in files)


def _digest(facts: list[str]) -> str:
    return hashlib.sha256("\n".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
