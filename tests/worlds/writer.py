"""A writer that acts like one of Hudi's own: it begins, writes files, and completes under the lock, or does not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from hudi_engine.concurrency.heartbeat import Heartbeats, by_hand
from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import LockUnavailable
from hudi_engine.format import avro_schema
from hudi_engine.format.service_records import RecordName
from hudi_engine.table.conform import META_COLUMNS
from hudi_engine.table.file_view import FileSlice
from tests.worlds.instants import InstantFiles, encode_commit
from tests.worlds.java_metadata import RECORD_INDEX, Changes, JavaMetadata, Location
from tests.worlds.java_rows import GroupChange, MadeFile, Row, RowFiles, new_row
from tests.worlds.world import WRITERS_LEASE, World

_ORDERING: Final = "seen"
_NEWER_THAN_ALL: Final = 1_000_000


class OutOfTurn(AssertionError):
    """A test lets a writer take the lock while somebody holds it: the cue stands inside of a critical section."""


@dataclass(slots=True)
class Write:
    """One commit of a writer. What it knew of indexes is what stood in the properties when it began.

    `statistics` gives the entries of `partition_stats` that it makes as it ends, under the lock, if it keeps that.
    """

    world: World
    instant: str
    action: str
    token: str
    knows: frozenset[str]
    heartbeats: Heartbeats
    changes: dict[Location, GroupChange] = field(default_factory=dict)
    locations: dict[str, Location | None] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    replaced: dict[str, list[str]] = field(default_factory=dict)
    made: list[MadeFile] | None = None
    operation: str = "UPSERT"
    statistics: Callable[[], Mapping[bytes, bytes]] | None = None
    rows: dict[Location, dict[str, Row]] = field(default_factory=dict)
    slices: dict[Location, FileSlice] = field(default_factory=dict)

    @property
    def is_aware(self) -> bool:
        """Whether it logs into the record index."""
        return RECORD_INDEX in self.knows

    def upsert(self, *keys: str) -> "Write":
        """New versions of rows that are there, where they are."""
        for key in keys:
            place, row = self._find(key)
            self._change(place).puts[key] = self._newer(row)
        return self

    def insert(self, partition: str, *keys: str, into: str | None = None) -> "Write":
        """New rows, in a new file group unless one is named."""
        place = (partition, into or self._new_file_id())
        change = self.changes.setdefault(place, GroupChange(is_new=into is None))
        for key in keys:
            change.puts[key] = self._fresh(key, partition)
            self.locations[key] = place
        return self

    def delete(self, *keys: str) -> "Write":
        for key in keys:
            place, _ = self._find(key)
            self._change(place).gone.append(key)
            self.locations.setdefault(key, None)
            self.left[key] = place[0]
        return self

    def move(self, partition: str, *keys: str) -> "Write":
        """Rows that change their partition: gone from one, and a new file group in the other."""
        self.delete(*keys)
        return self.insert(partition, *keys)

    def replace(self, partition: str, *keys: str, is_overwrite: bool = True) -> "Write":
        """All file groups of a partition make way for one new one: an overwrite, or a clustering that keeps rows."""
        self.operation = "INSERT_OVERWRITE" if is_overwrite else "CLUSTER"
        groups = [place for place in self.rows if place[0] == partition]
        self.replaced[partition] = [file_id for _, file_id in groups]
        place = (partition, self._new_file_id())
        kept = {} if is_overwrite else {key: row for each in groups for key, row in self.rows[each].items()}
        fresh = {key: self._fresh(key, partition) for key in keys}
        self.changes[place] = GroupChange(puts=kept | fresh, is_new=True)
        self.locations |= {key: None for each in groups for key in self.rows[each]}
        self.left |= {key: partition for each in groups for key in self.rows[each]}
        self.locations |= dict.fromkeys(kept | fresh, place)
        return self

    def write_files(self) -> list[MadeFile]:
        """The data files, as they lie there before the commit."""
        if self.made is None:
            files = RowFiles(self.world.storage, self.world.table(), self._schema(), self.instant, self.token)
            self.made = [self._write_group(files, place, change) for place, change in self.changes.items()]
        return self.made

    def beat(self) -> None:
        self.heartbeats.write(self.instant)

    def complete(self) -> str:
        """Commit, or raise `WriterFailed`: to the metadata table first, then to the data's timeline."""
        self.write_files()
        with _Held(self.world, self.token):
            self.write_metadata()
            self.write_completed()
        self.heartbeats.remove(self.instant)
        return self.instant

    def write_metadata(self) -> None:
        """Only the commit to the metadata table: a writer that dies right after has a commit that nobody sees."""
        sizes: dict[str, dict[str, int | None]] = {}
        for made in self.write_files():
            sizes.setdefault(made.partition, {})[made.name] = made.size_bytes
        statistics = None if self.statistics is None else self.statistics()
        changes = Changes(sizes, self.locations, self.left, statistics)
        metadata = JavaMetadata(self.world.storage, self.world.clock, self.token)
        metadata.commit(self.instant, changes, self.is_aware, self.world.times())

    def write_completed(self) -> None:
        stats: dict[str, list[Mapping[str, object]]] = {}
        for made in self.write_files():
            stats.setdefault(made.partition, []).append(made.stat)
        replaced = self.replaced if self.action == "replacecommit" else None
        record = encode_commit(self.operation, stats, {"schema": self._avro_schema()}, replaced)
        name = RecordName.COMMIT if replaced is None else RecordName.REPLACE_COMMIT
        timeline_of(self.world).complete(self.instant, self.action, name, record, self.world.times())

    def _write_group(self, files: RowFiles, place: Location, change: GroupChange) -> MadeFile:
        partition, file_id = place
        files.partition(partition)
        found = self.slices.get(place)
        if self.world.table().config.is_merge_on_read and found is not None:
            return files.log(found, change)
        rows = {} if found is None else {k: r for k, r in self.rows[place].items() if k not in change.gone}
        return files.base(partition, file_id, list((rows | change.puts).values()), found)

    def _find(self, key: str) -> tuple[Location, Row]:
        return next((place, rows[key]) for place, rows in self.rows.items() if key in rows)

    def _change(self, place: Location) -> GroupChange:
        return self.changes.setdefault(place, GroupChange())

    def _fresh(self, key: str, partition: str) -> Row:
        values: dict[str, Any] = {name: None for name in self._schema().names if name not in META_COLUMNS}
        values[self.world.table().config.record_key_fields[0]] = key
        return new_row(self.instant, key, partition, values | {_ORDERING: self._ordering()})

    def _newer(self, row: Row) -> Row:
        return {**row, "_hoodie_commit_time": self.instant, _ORDERING: self._ordering()}

    def _ordering(self) -> int:
        return _NEWER_THAN_ALL + next(self.world.numbers)

    def _new_file_id(self) -> str:
        return f"{UUID(int=(0xABCD << 112) + next(self.world.numbers))}-0"

    def _schema(self) -> pa.Schema:
        table = self.world.table()
        return table.row_schema(table.snapshot())

    def _avro_schema(self) -> str:
        return schema_text(self._schema())


@dataclass(slots=True)
class Writer:
    """One Java process. Its properties are read when a commit begins; with `reads_properties` off they stay old."""

    world: World
    name: str = "writer"
    lives: list[Write] = field(default_factory=list)

    def begin(self, action: str = "") -> Write:
        """A commit that is requested and in flight, with a heartbeat. It reads the properties now, and not again."""
        table = self.world.table()
        kind = action or ("deltacommit" if table.config.is_merge_on_read else "commit")
        token = f"{next(self.world.numbers)}-{next(self.world.numbers)}"
        with _Held(self.world, token):
            instant = self.world.next_time()
            timeline_of(self.world).begin(instant, kind, b"")
        heartbeats = Heartbeats(self.world.storage, self.world.clock, WRITERS_LEASE, by_hand)
        heartbeats.write(instant)
        knows = frozenset((*table.config.readable_indexes, *table.config.inflight_indexes))
        rows, slices = self.world.rows(), self.world.slices()
        write = Write(self.world, instant, kind, token, knows, heartbeats, rows=rows, slices=slices)
        self.lives.append(write)
        return write

    def keep_alive(self) -> None:
        """Let the hearts of its pending commits beat as time passes."""
        self.world.clock.each_second(self._beat)

    def _beat(self) -> None:
        pending = {instant.requested_at for instant in self.world.table().timeline().pending()}
        for write in self.lives:
            if write.instant in pending:
                write.beat()


class _Held:
    """The table's lock, which a writer of these worlds never waits for: who waits cannot be told to go on."""

    def __init__(self, world: World, token: str) -> None:
        self._lock = world.lock(Owner("writer", "host", token))

    def __enter__(self) -> None:
        try:
            self._lock.acquire(0)
        except LockUnavailable as held:
            raise OutOfTurn(str(held)) from held

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def schema_text(rows: pa.Schema) -> str:
    """The schema that commits carry: that of the rows, without meta columns."""
    plain = pa.schema([column for column in rows if column.name not in META_COLUMNS])
    return avro_schema.from_arrow(plain, "row", "worlds")


def timeline_of(world: World) -> InstantFiles:
    """The data table's timeline as Java writes it."""
    config = world.table().config
    return InstantFiles(world.storage, config.timeline_folder, config.version)


def held(world: World) -> _Held:
    """The lock for a service of a writer."""
    return _Held(world, f"{next(world.numbers)}")


def partitions_of(world: World) -> Sequence[str]:
    return sorted({partition for partition, _ in world.rows()})
