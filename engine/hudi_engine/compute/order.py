"""What is asked of whoever builds an index, and what comes back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar
from zoneinfo import ZoneInfo

import pyarrow as pa

from hudi_engine.compute.keys import RecordKeys
from hudi_engine.storage.protocol import FileStat, Storage
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader
from hudi_engine.watch import Watch

ENTRIES: Final = pa.schema([pa.field("key", pa.large_binary()), pa.field("value", pa.large_binary())])


class RowEntries(Protocol):
    """Which entries an index has of rows, one for each; it can be sent to another process.

    Arrays of keys are large binaries. `hashed` gives for each key what tells its shard. Where `keeps_newest`, arrays of
    keys are by the type DATED, and of a key that is there more than once the row that was written last counts.
    """

    @property
    def index(self) -> str: ...
    @property
    def keeps_newest(self) -> bool: ...
    def keys_of(self, reader: RowReader, found: FileSlice) -> Iterator[Any]: ...
    def hashed(self, keys: Any) -> Any: ...
    def value_of(self, found: FileSlice, table_version: int, zone: ZoneInfo) -> bytes: ...


@dataclass(frozen=True, slots=True)
class BuildOrder:
    """An index of rows to build: which entries it has, how many shards, and what its files are called.

    `reader` reads what `entries` are made of, of `slices`. `shard_counts` has the number of shards of each data
    partition or, under None, of the one index of the whole table. `instant` and `attempt` become part of the files'
    names.
    """

    reader: RowReader
    slices: tuple[FileSlice, ...]
    shard_counts: Mapping[str | None, int]
    instant: str
    attempt: int
    table_version: int
    zone: ZoneInfo
    created_ms: int
    entries: RowEntries = field(default_factory=RecordKeys)

    @property
    def is_partitioned(self) -> bool:
        return None not in self.shard_counts


@dataclass(frozen=True, slots=True)
class DataFile:
    """A base file or log file of a data partition."""

    partition: str
    stat: FileStat


@dataclass(frozen=True, slots=True)
class DataPartition:
    """A data partition, with the files of its newest slices."""

    name: str
    files: tuple[FileStat, ...]


Source = TypeVar("Source")
_Source_contra = TypeVar("_Source_contra", contravariant=True)
_Looked = TypeVar("_Looked")


class EntriesOf(Protocol[_Source_contra, _Looked]):
    """Which entries an index has of sources, files or partitions, by the schema ENTRIES; maybe none.

    `look` reads all that must be read of one, `of` makes the entries of some: what is done for many is done once.
    `size_of` says about how many bytes one takes meanwhile.
    """

    @property
    def index(self) -> str: ...
    def look(self, source: _Source_contra, /) -> _Looked: ...
    def size_of(self, looked: _Looked, /) -> int: ...
    def of(self, looked: Sequence[_Looked], /) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class FileOrder(Generic[Source]):
    """An index to build of what files say of themselves: of which sources, and what its own files are called."""

    entries: EntriesOf[Source, Any]
    sources: tuple[Source, ...]
    shard_count: int
    instant: str
    attempt: int
    table_version: int
    created_ms: int


@dataclass(frozen=True, slots=True)
class ShardFile:
    """An HFile that was written; `path` is relative to the metadata table."""

    file_id: str
    path: str
    size_bytes: int
    entries: int


@dataclass(frozen=True, slots=True)
class Built:
    """The HFiles of a new index by file id, none for a shard without keys, and how many keys they have.

    `duplicates` counts the keys that have several rows, of which the newest is in the index.
    """

    files: tuple[ShardFile, ...]
    keys: int
    duplicates: int = 0


class Compute(Protocol):
    """Who reads all rows of a table and writes their entries as shards, by threads or by a cluster.

    `storage` is that of the data table. Files are only created, never changed; what a build that failed has created
    is its caller's to delete. A key that is there twice, where it may be once, raises `Contradiction`,
    unless the entries of the order keep the newest.
    """

    def build(self, order: BuildOrder, storage: Storage, watch: Watch) -> Built: ...
    def build_of_files(self, order: FileOrder[Any], storage: Storage, watch: Watch) -> Built: ...
