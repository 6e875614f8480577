"""The files of a shard as layers: HFiles to look into and keys that are deleted, oldest first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.hfile.find import begin_with_any, prefixes_of
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.log.delete import decode_deletes
from hudi_engine.format.log.frames import read_frames
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.index.block_cache import BlockCache, Place
from hudi_engine.index.logged_keys import LoggedKeys, Sought
from hudi_engine.index.ranges import Effort, RangeReader, Region
from hudi_engine.index.stored_hfile import StoredHFile
from hudi_engine.storage.paths import require_range
from hudi_engine.storage.protocol import FileStat, Storage, is_remote
from hudi_engine.table.file_view import BaseFile, LogFile

# One request for the whole file is quicker than several for the parts of a small one.
WHOLE_BYTES = 2 << 20
_SCHEMA = "schema"  # the name under which an HFile keeps the Avro schema of its values
_WHOLE = -2  # where the cache keeps a whole file: no block begins there, and no HFile has its head there
_KEYS = -3  # there, and before it by where each log block begins, what keys it has


@dataclass(frozen=True, slots=True)
class Written:
    """Entries that one block, or the base file, holds; the Avro schema of their values, and the file they are in.

    `known` are the keys of a log's block.
    """

    entries: StoredHFile
    schema: str
    path: str
    known: LoggedKeys | None = None

    def find(self, wanted: Sought) -> pa.Table:
        """The entries that have one of these keys."""
        return self.entries.find(wanted.left() if self.known is None else self.known.possible(wanted))

    def find_prefixes(self, prefixes: pa.Array) -> pa.Table:
        """The entries whose key begins with one of these large binaries."""
        return self.entries.find_prefixes(prefixes)


@dataclass(frozen=True, slots=True)
class Deleted:
    """Keys that one block deletes."""

    keys: pa.Array

    def find(self, wanted: Sought) -> pa.Array:
        """Those of the wanted keys that it deletes."""
        return self.keys.filter(pc.is_in(self.keys, wanted.left()))

    def find_prefixes(self, prefixes: pa.Array) -> pa.Array:
        """Those that begin with one of these large binaries."""
        return self.keys.filter(
            begin_with_any(pc.cast(self.keys, pa.large_binary()), prefixes_of(prefixes.to_pylist()))
        )


@dataclass(frozen=True, slots=True)
class Layers:
    """Opens the files of one metadata table. Of logs, blocks count whose instant is valid."""

    storage: Storage
    cache: BlockCache
    is_valid_instant: Callable[[str], bool]
    effort: Effort

    def base(self, file: BaseFile) -> Written:
        """What a base file holds."""
        path = file.stat.path
        region = Region(path, 0, file.stat.size_bytes, file.stat.modified_ms)
        entries = StoredHFile(self.storage, region, self.cache, self.effort)
        schema = entries.info().get(_SCHEMA)
        if schema is None:
            raise CorruptFile("an HFile of the metadata table without the schema of its values", 0, path)
        return Written(entries, schema.decode(errors="replace"), path)

    def logged(self, logs: tuple[LogFile, ...]) -> Iterator[Written | Deleted]:
        """What these files, in merge order, say about their shard, oldest first."""
        placed = [pair for log in logs for pair in self._blocks(log)]
        places = {id(block): place for place, block in placed}
        for block in live_blocks([block for _, block in placed], self.is_valid_instant):
            yield self._layer(places[id(block)], block)

    def _layer(self, place: "_Place", block: LogBlock) -> Written | Deleted:
        path = place.region.path
        try:
            match block.type:
                case BlockType.HFILE_DATA:
                    hfile = StoredHFile(place.storage, place.region, self.cache, self.effort)
                    kept_at = Place(path, place.region.modified_ms, _KEYS - place.region.start)
                    known = LoggedKeys(hfile, self.cache, kept_at)
                    return Written(hfile, block.require(HeaderKey.SCHEMA), path, known)
                case BlockType.DELETE:
                    return Deleted(self._deleted_keys(place, block))
                case _:
                    raise Unsupported(
                        f"{path}: a {block.type.name} block at offset {block.offset} in a log of the metadata table, "
                        "expected HFile data and deletions. Let a Hudi writer rebuild this index."
                    )
        except CorruptFile as corrupt:
            raise corrupt.in_file(path) from corrupt

    def _deleted_keys(self, place: "_Place", block: LogBlock) -> pa.Array:
        region = place.region
        content = place.storage.read_range(region.path, region.start, region.length)
        deletes = decode_deletes(replace(block, content=memoryview(content)))
        return pa.array([each.key for each in deletes], pa.large_string())

    def _blocks(self, log: LogFile) -> "list[tuple[_Place, LogBlock]]":
        stat = log.stat
        if stat.size_bytes > WHOLE_BYTES:
            frames = read_frames(partial(self.storage.read_range, stat.path), stat.size_bytes)
            if frames is not None:
                regions = [Region(stat.path, frame.start, frame.length, stat.modified_ms) for frame in frames]
                return [(_Place(self.storage, r), f.block) for r, f in zip(regions, frames, strict=True)]
        try:
            # Object stores never show half a file.
            blocks = list(read_blocks(self._whole(log), is_store_atomic=is_remote(self.storage)))
        except CorruptFile as corrupt:
            raise corrupt.in_file(stat.path) from corrupt
        return [(_held(block, stat), block) for block in blocks]

    def _whole(self, log: LogFile) -> bytes:
        place = Place(log.stat.path, log.stat.modified_ms, _WHOLE)
        data = self.cache.get(place)
        # Version 6 appends to logs, and clocks of file systems may tick but once a second.
        if not isinstance(data, bytes) or len(data) < log.stat.size_bytes:
            data = self.storage.read(log.stat.path)
            self.cache.put(place, data, len(data))
        return data


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the content of a block can be read."""

    storage: RangeReader
    region: Region


def _held(block: LogBlock, stat: FileStat) -> _Place:
    """The content of a block that is in memory. It is said to begin where its block does: no other region can."""
    region = Region(stat.path, block.offset, len(block.content), stat.modified_ms)
    return _Place(_Held(block.content, block.offset), region)


@dataclass(frozen=True, slots=True)
class _Held:
    """Bytes of a file that need not be fetched."""

    content: memoryview
    start: int

    def read_range(self, path: str, start: int, length: int) -> bytes:
        require_range(path, start - self.start, length, len(self.content))
        return bytes(self.content[start - self.start :][:length])
