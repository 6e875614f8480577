"""The metadata table as a snapshot: which indexes it offers, each read as one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_engine.errors import Contradiction, NotFound
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.definitions import DEFAULT_PATH, IndexDefinition, parse_definitions, read_definitions
from hudi_engine.index.index import Index, effort_for, shard_groups
from hudi_engine.index.kinds import IndexKind, kind_of, parse_shard_name
from hudi_engine.index.layers import Layers
from hudi_engine.index.payloads import family_of
from hudi_engine.index.shard import Shard
from hudi_engine.index.valid_instants import Readings, valid_instants
from hudi_engine.storage.in_folder import InFolder
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.config import parse_config
from hudi_engine.table.file_view import FileSlice, FileView
from hudi_engine.table.properties_file import BACKUP, MAIN, read_properties
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

FOLDER = ".hoodie/metadata"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class MetadataTable:
    """What one reading of both timelines shows. `data_timeline` is the data's that entries were judged by."""

    data: Table
    table: Table
    data_timeline: Timeline
    timeline: Timeline
    view: FileView
    instants: frozenset[str]
    definitions: Mapping[str, IndexDefinition]
    cache: BlockCache

    @property
    def index_names(self) -> tuple[str, ...]:
        """The indexes that are complete: those in flight are nobody's to read."""
        return self.data.config.readable_indexes

    def index(self, name: str) -> Index:
        """One index that is complete."""
        self._require_ready(name)
        return self._opened(name, self.definitions.get(name))

    def being_built(self, name: str, definition: IndexDefinition | None = None) -> Index:
        """An index that is in flight, for whoever builds it: it may lack entries, and nobody else is to read it.

        `definition` is what it will be, of one that is not defined before it is complete.
        """
        if name not in self.data.config.inflight_indexes:
            raise Contradiction(f"{self.data.storage.location}: {self._what_became_of(name)}")
        return self._opened(name, definition or self.definitions.get(name))

    def _what_became_of(self, name: str) -> str:
        """Of an index that was in flight and is not."""
        if name in self.index_names:
            return (
                f"another program completed the index {name} while it was built, most likely a writer that enables it "
                "without hoodie.metadata.index.async=true and so made it anew. That one stays: compare it by "
                f"`hudi-engine validate --index {name}`. Set hoodie.metadata.index.async=true on every writer before "
                "the next build."
            )
        return (
            f"another program dropped the index {name} while it was built: hoodie.table.metadata.partitions.inflight "
            "does not list it any more. What was begun is undone; run the same request again, and set what "
            "docs/writers.md says on every writer if it was one of them."
        )

    def _opened(self, name: str, definition: IndexDefinition | None) -> Index:
        kind = kind_of(name)
        if definition is None and kind is IndexKind.SECONDARY_INDEX:
            raise Contradiction(
                f"{self.data.storage.location}: the index {name} is complete, and no definition says of which column "
                "it is and how its keys are spread. Drop it and create it again."
            )
        family = family_of(kind, definition)
        listing = self.table.storage.list(name)
        slices = self.table.slices(self.view, {name: listing}, max(self.view.visible_instants))
        self._require_all_seen(name, listing, slices)
        effort = effort_for(self.table.storage, kind, len(slices))
        layers = Layers(self.table.storage, self.cache, self.instants.__contains__, effort)
        shards = [Shard(found, family, layers) for found in slices]
        groups = shard_groups(f"{self.table.storage.location}/{name}", shards)
        return Index(name, kind, definition, family, groups)

    def _require_all_seen(self, name: str, listing: Iterable[FileStat], slices: Iterable[FileSlice]) -> None:
        """Refuse shards of which all files are newer than this snapshot: keys would be sought in the wrong ones."""
        seen = {found.file_id for found in slices}
        there = {group.file_id for group in self.view.groups(name, listing)}
        hidden = {each for each in there - seen if (name, each) not in self.view.replaced_at}
        # A data partition none of whose shards is seen is new: its commit is still pending.
        known = {parse_shard_name(each).partition for each in seen} | {None}
        if late := sorted(each for each in hidden if parse_shard_name(each).partition in known):
            raise Contradiction(
                f"{self.table.storage.location}/{name}: of {late[0]}, one of {len(late)} such shards, only files are "
                "left that came after the table was opened, or that were never committed. Open the table again."
            )

    def _require_ready(self, name: str) -> None:
        where = self.data.storage.location
        if name in self.data.config.inflight_indexes:
            raise Contradiction(
                f"{where}: the index {name} is in flight (hoodie.table.metadata.partitions.inflight): it is being "
                "built, or its builder died, and may lack entries. Wait until it is complete."
            )
        if name not in self.index_names:
            raise NotFound(
                f"{where}: no index {name}; complete are: {', '.join(self.index_names) or 'none'}. "
                "`hudi-engine inspect` shows what lies in the metadata table."
            )
        if not self.view.visible_instants:
            raise Contradiction(
                f"{where}: hoodie.properties lists the index {name}, but nothing was ever committed to the metadata "
                "table. Let a Hudi writer rebuild it."
            )


def open_metadata_table(table: Table, cache: BlockCache) -> MetadataTable:
    """The metadata table of this table, as it is now. `cache` may be shared by all tables of a process."""
    storage = InFolder(table.storage, FOLDER)
    if not any(file.path in (MAIN, BACKUP) for file in storage.list(".hoodie")):
        raise NotFound(
            f"{table.storage.location}: no metadata table, so no index to read. "
            "A Hudi writer with hoodie.metadata.enable=true makes one at its next commit."
        )
    config = parse_config(read_properties(storage, table.clock).properties)
    metadata = Table(storage, config, table.clock, table.zone, zone_evidence=table.zone_evidence)
    readings = _read_both(table, metadata)
    return MetadataTable(
        data=table,
        table=metadata,
        data_timeline=readings.data,
        timeline=readings.metadata,
        view=metadata.view(readings.metadata),
        instants=valid_instants(readings),
        definitions=definitions_of(table),
        cache=cache,
    )


def _read_both(data: Table, metadata: Table) -> Readings:
    """Both timelines, if possible without a commit in between.

    Beside writers that never pause the last try stands: what landed meanwhile is then left out of it.
    """
    before = data.timeline()
    for _ in range(_TRIES):
        readings = Readings(before, metadata.timeline(), data.timeline())
        if readings.is_steady:
            break
        before = readings.data_after
    return readings


def definitions_of(table: Table) -> Mapping[str, IndexDefinition]:
    """Which indexes are defined; none in an older table. The property is a path relative to the table's base path."""
    path = table.config.properties.get("hoodie.table.index.defs.path") or DEFAULT_PATH
    return parse_definitions(read_definitions(table.storage, path))
