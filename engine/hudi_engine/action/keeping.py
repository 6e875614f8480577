"""What RFC-45's steps ask of a kind of index: how its base is made, and what later commits change in it.

When to ask, under which lock and at which instant is the steps' own concern and the same for all kinds.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from hudi_engine.action.metadata_logs import ShardChange
from hudi_engine.action.reading import Group, Reading
from hudi_engine.action.site import Site
from hudi_engine.compute.order import ShardFile
from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table


@dataclass(frozen=True, slots=True)
class BaseOrder:
    """A base to make: of what one snapshot shows, with files of one attempt's own instant."""

    metadata: MetadataTable
    snapshot: Snapshot
    instant: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Made:
    """The HFiles of a base, and the file ids of all shards, also of those that have no entries.

    `duplicates` counts the keys that have several rows, of which the newest is in the index.
    """

    files: tuple[ShardFile, ...]
    file_ids: tuple[str, ...]
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """File groups to look at for the commit `instant`. Of those in `later` a later commit is to be looked at, too.

    What these hold because of the later commit is left to it: else a restore to this one would keep it. `written` and
    `deleted` are the files, by partition and name, that it made or, a clean, took away.
    """

    instant: str
    groups: frozenset[Group]
    later: frozenset[Group] = frozenset()
    written: frozenset[tuple[str, str]] = frozenset()
    deleted: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The base is no ground to go on from: it must be made anew."""

    why: str


class Correction(Protocol):
    """What makes an index right about some of the data, as long as that of which it was derived stays as it is.

    `looked_at` counts rows of data, or files. The file ids that `lacks_shards` gives must exist before it is written.
    """

    @property
    def count(self) -> int: ...
    @property
    def looked_at(self) -> int: ...
    def parts(self, most: int) -> Iterator["Correction"]: ...
    def still_holds(self, reading: Reading) -> bool: ...
    def lacks_shards(self, reading: Reading, conf: Mapping[str, str]) -> tuple[str, ...]: ...
    def shard_changes(self, reading: Reading) -> Mapping[str, ShardChange]: ...
    def is_in_effect(self, reading: Reading) -> bool: ...


class Keeping(Protocol):
    """How one index, of whatever kind, is made and kept.

    `refuse` raises what speaks against it, `others` being the indexes that are complete by the time it will be. Of each
    question `derive` gives what the index lacks.
    """

    def refuse(self, table: Table, others: Collection[str]) -> None: ...
    def make(self, site: Site, order: BaseOrder) -> Made: ...
    def concerns(self, commit: CommitMetadata) -> bool: ...
    def derive(self, reading: Reading, question: Question) -> "Correction | Overtaken": ...
    def definition(self, metadata: MetadataTable) -> IndexDefinition | None: ...

    @property
    def traits(self) -> "Traits": ...


@dataclass(frozen=True, slots=True)
class Traits:
    """In what kinds of index differ beyond their entries.

    `is_of_files`: compaction and clean change it, too, and are waited for. `is_logged_in_flight`: Hudi's writers keep
    it up from the moment on at which it is flagged in flight; else only from its completion on, and only once it is
    defined, so that its definition must not stand there before. `is_of_state`: an entry is about all that there is,
    whichever commits it came from, and takes the place of all that were logged at lower instants. `is_addition`: it is
    complete, and gets columns of which writers may know nothing: that they log to it proves nothing.
    """

    is_of_files: bool = False
    is_logged_in_flight: bool = True
    is_of_state: bool = False
    is_addition: bool = False

    @property
    def is_proved_by_logs(self) -> bool:
        return not (self.is_of_state or self.is_addition)


ROWS: Final = Traits()
STANDS_ON: Final = {IndexKind.PARTITION_STATS: IndexKind.COLUMN_STATS}
"""The index that must be complete before another is flagged: else every commit of Hudi's writers fails meanwhile."""
