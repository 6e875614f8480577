"""`hoodie.properties` and its backup: read while others change it, changed so that no crash loses it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from hudi_engine.clock import Clock
from hudi_engine.errors import AlreadyExists, Contradiction, CorruptFile, NotFound, OutcomeUnknown
from hudi_engine.format.properties import TABLE_CHECKSUM, TABLE_NAME, expected_checksum, parse, render
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.saved_at import SavedAt, parse_saved_at, saved_at_lines

FOLDER = ".hoodie"
MAIN = f"{FOLDER}/hoodie.properties"
BACKUP = f"{FOLDER}/hoodie.properties.backup"

_ROUNDS = 5
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class PropertiesFile:
    """A table's properties, which of the two files held them, and when that file was written by whose clock."""

    properties: Mapping[str, str]
    path: str
    saved_at: SavedAt | None = field(default=None, compare=False)

    @property
    def is_sealed(self) -> bool:
        """Whether the checksum is there: tables older than Hudi 0.11 have none, and neither has a file cut short."""
        return TABLE_CHECKSUM in self.properties


def read_properties(storage: Storage, clock: Clock) -> PropertiesFile:
    """The properties as Hudi's own readers find them (hudi-format 1.4): the file, else its backup, else a second later.

    An update in progress, or one that died, leaves only the backup for a while. More careful than Java in one thing:
    if the file has no checksum and a sealed backup is there, the file was cut short and the backup counts. `NotFound`
    if neither is there, `CorruptFile` if what is there cannot be used.
    """
    for _ in range(_ROUNDS - 1):
        found = _read_either(storage)
        if isinstance(found, PropertiesFile):
            return found
        if not storage.list(FOLDER):
            raise found  # nobody is in the middle of anything: there is no table
        clock.sleep(_PAUSE_SECONDS)
    found = _read_either(storage)
    if isinstance(found, PropertiesFile):
        return found
    raise found


def update_properties(
    storage: Storage, changes: Mapping[str, str | None], clock: Clock, zone: ZoneInfo | None = None
) -> PropertiesFile:
    """The properties after `changes` (None removes a key), written so that every reader sees all of it or nothing.

    Call it under the table's lock and with your own keys only: all others keep the value that stands in the file at
    this moment. Whatever an earlier update left half done is put right first. A crash at any point leaves the old
    properties or the new ones, and the next update goes on from there (hudi-format 1.5).

    Unlike Java this never deletes the file before writing it: `Storage.replace` is whole, and a reader that knows
    nothing of backups, as hudi-rs, then always finds a file.

    Java's writers state their time zone above the properties. So does this one, with the table's `zone`, because the
    lines that it replaces may be all that tells the zone of a LOCAL timeline. None states no zone.
    """
    _recover(storage)
    current = read_properties(storage, clock)
    wanted = _sealed({key: value for key, value in {**current.properties, **changes}.items() if value is not None})
    if wanted == current.properties:
        return current
    comments = saved_at_lines(clock.now_ms(), zone)
    try:
        storage.create(BACKUP, render(_sealed(current.properties), comments))
    except AlreadyExists as other:
        raise Contradiction(
            f"{BACKUP} appeared while {MAIN} was being changed: somebody else changes it at the same time; "
            "let every writer of this table use the same lock, then repeat"
        ) from other
    storage.replace(MAIN, render(wanted, comments))
    _require_written(storage, wanted)
    storage.delete(BACKUP)
    return PropertiesFile(wanted, MAIN)


def _read_either(storage: Storage) -> PropertiesFile | NotFound | CorruptFile:
    main = _read_one(storage, MAIN)
    if isinstance(main, PropertiesFile) and main.is_sealed:
        return main
    backup = _read_one(storage, BACKUP)
    if isinstance(backup, PropertiesFile):
        return backup
    if isinstance(main, PropertiesFile):
        # Without a checksum: an old table's, or what a writer had finished when we looked. By now it has gone on.
        return _read_one(storage, MAIN)
    if isinstance(main, CorruptFile):
        return _hopeless(main, backup)
    return backup if isinstance(backup, CorruptFile) else main


def _read_one(storage: Storage, path: str) -> PropertiesFile | NotFound | CorruptFile:
    try:
        data = storage.read(path)
        properties = parse(data)
    except NotFound as nothing:
        return nothing
    except CorruptFile as damaged:
        return damaged.in_file(path)
    expected, found = expected_checksum(properties), properties.get(TABLE_CHECKSUM)
    if expected is None:
        return CorruptFile(f"no {TABLE_NAME}: the file is empty or cut short", len(data), path)
    if found is None and path == BACKUP:
        return CorruptFile(f"no {TABLE_CHECKSUM}: the backup is cut short", len(data), path)
    if found not in {None, expected}:
        return CorruptFile(f"{TABLE_CHECKSUM} is {found!r}; its names make {expected}", len(data), path)
    return PropertiesFile(properties, path, parse_saved_at(data))


def _hopeless(main: CorruptFile, backup: NotFound | CorruptFile) -> CorruptFile:
    state = "is damaged too" if isinstance(backup, CorruptFile) else "is not there"
    advice = f"and {BACKUP} {state}; put back a good copy of {MAIN} by hand"
    return CorruptFile(f"{main.what}, {advice}", main.offset, main.path)


def _recover(storage: Storage) -> None:
    """Put right what an update that died left: the backup back if the file is bad, and in any case no backup."""
    backup = _read_one(storage, BACKUP)
    if isinstance(backup, NotFound):
        return
    main = _read_one(storage, MAIN)
    main_is_whole = isinstance(main, PropertiesFile) and main.is_sealed
    if isinstance(backup, PropertiesFile) and not main_is_whole:
        storage.replace(MAIN, storage.read(BACKUP))
    elif isinstance(backup, CorruptFile) and not isinstance(main, PropertiesFile):
        raise _hopeless(main, backup) if isinstance(main, CorruptFile) else backup
    storage.delete(BACKUP)


def _sealed(properties: Mapping[str, str]) -> dict[str, str]:
    expected = expected_checksum(properties)
    if expected is None:
        raise Contradiction(f"the table's properties cannot be without {TABLE_NAME}")
    return {**properties, TABLE_CHECKSUM: expected}


def _require_written(storage: Storage, wanted: Mapping[str, str]) -> None:
    written = _read_one(storage, MAIN)
    if not isinstance(written, PropertiesFile) or written.properties != wanted:
        # The backup stays: whoever reads a damaged file gets it, and the next update puts it back.
        raise OutcomeUnknown(
            f"{MAIN} was written, but does not read back as written: somebody else changes it at the same time, or "
            "the store loses data; let every writer of this table use the same lock, read again and repeat"
        )
