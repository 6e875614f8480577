"""What a reader of indexes does with each kind of file. Whatever can be read in two ways must be the same in both."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from hudi_engine.clock import HandClock
from hudi_engine.errors import CorruptFile, EngineError
from hudi_engine.format.hfile.block import DATA, Codec, parse_block
from hudi_engine.format.hfile.cells import LENGTHS, Payloads
from hudi_engine.format.hfile.find import cells_of
from hudi_engine.format.hfile.probe import TAIL, probe
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.log.frames import Frame, read_frames
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.column_stats import between, may_hold
from hudi_engine.index.definitions import DEFAULT_PATH, parse_definitions
from hudi_engine.index.hfile_head import read_head
from hudi_engine.index.index import Index
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.index.metadata_table import FOLDER, MetadataTable, open_metadata_table
from hudi_engine.index.payloads import family_of
from hudi_engine.index.ranges import Effort, Region
from hudi_engine.index.record_index import RecordIndex
from hudi_engine.index.stored_hfile import StoredHFile
from hudi_engine.index.typed_bounds import bounds_as
from hudi_engine.table.table import open_table
from tests.fuzz.readings import COPIED_AT_MS, looked_at, storage_of
from tests.unit.index.hfiles import PATH, Pair, cells_of_pairs, keys_of, pairs_of, stored

_CACHE_BYTES = 1 << 20
_PAYLOAD_START = 33
_COLUMN_TYPES = (
    *(pa.string(), pa.binary(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()),
    *(pa.decimal128(5, 2), pa.date32(), pa.time64("us"), pa.timestamp("us"), pa.timestamp("ms", "UTC")),
)
Read = Callable[[str, bytes], object]


@dataclass(frozen=True, slots=True)
class _Whole:
    """A file before it was damaged: its entries, whether they are under a checksum, and where values are if not."""

    data: bytes
    pairs: list[Pair]
    has_checksums: bool
    is_value: Any

    def differs_in_values_only(self, data: bytes) -> bool:
        if self.has_checksums or len(data) != len(self.data):
            return False
        differs = np.frombuffer(data, np.uint8) != np.frombuffer(self.data, np.uint8)
        return not (differs & ~self.is_value).any()


def read_stored_hfile(seeds: Mapping[str, bytes]) -> Read:
    """Searches for one key, which probe; for many; and for prefixes.

    A block that is compressed has a checksum: all that is found in it is what was written. In others a value may be
    another, and where more than values was damaged, what is found must at least be what a scan of the file gives.
    """
    whole_of = cache(lambda seed: _whole(seeds[seed]))

    def read(seed: str, data: bytes) -> object:
        whole = whole_of(seed)
        keys = [key for key, _ in whole.pairs]
        some = keys_of([*keys[:: max(1, len(keys) // 5)], b"", b"k", b"zzz"])
        prefixes = keys_of({key[: len(key) - 1] for key in keys[::7]} | {b"nobody"})
        scanned = _Answer.of(lambda: _pairs(_opened(data).scan()), keys)
        answers = [
            scanned,
            *(_found(data, some[at : at + 1], keys) for at in range(len(some))),
            _found(data, some, keys),
            _begun(data, prefixes, keys),
        ]
        for answer in answers:
            _require_right(answer, whole, data, scanned)
        for answer in answers:
            if answer.refusal is not None:
                raise answer.refusal
        return answers

    return read


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found, or the refusal; and the keys that were to be found."""

    found: list[Pair] | None
    wanted: list[bytes]
    refusal: EngineError | None = None

    @classmethod
    def of(cls, search: Callable[[], list[Pair]], wanted: list[bytes]) -> "_Answer":
        try:
            return cls(search(), wanted)
        except EngineError as refused:
            return cls(None, wanted, refused)


def _opened(data: bytes) -> StoredHFile:
    """Read without threads: ten searches a case would start some dozens."""
    return StoredHFile(stored(data), Region(PATH, 0, len(data), 1), BlockCache(_CACHE_BYTES), Effort(1, 1))


def _found(data: bytes, wanted: Any, keys: list[bytes]) -> _Answer:
    names = set(wanted.to_pylist())
    return _Answer.of(lambda: pairs_of(_opened(data).find(wanted)), [key for key in keys if key in names])


def _begun(data: bytes, prefixes: Any, keys: list[bytes]) -> _Answer:
    starts = tuple(prefixes.to_pylist())
    return _Answer.of(
        lambda: pairs_of(_opened(data).find_prefixes(prefixes)), [key for key in keys if key.startswith(starts)]
    )


def _require_right(answer: _Answer, whole: _Whole, data: bytes, scanned: _Answer) -> None:
    if answer.found is None:
        return
    expected = [pair for pair in whole.pairs if pair[0] in set(answer.wanted)]
    if whole.has_checksums and answer.found != expected:
        raise AssertionError(f"found {answer.found!r:.300} where {expected!r:.300} was written under checksums")
    if whole.differs_in_values_only(data) and [key for key, _ in answer.found] != [key for key, _ in expected]:
        raise AssertionError(f"found {answer.found!r:.300} where only values are not {expected!r:.300}")
    if scanned.found is not None and not set(answer.found) <= set(scanned.found):
        raise AssertionError(f"found {answer.found!r:.300}, which no scan gives")


def _whole(data: bytes) -> _Whole:
    storage, region = stored(data), Region(PATH, 0, len(data), 1)
    head = read_head(storage, region)
    is_value = np.zeros(len(data), bool)
    if head.trailer.codec is Codec.NONE:
        for offset, size in zip(head.index.offsets.tolist(), head.index.sizes.tolist(), strict=True):
            payload = parse_block(data[offset : offset + size], 0, (DATA, Codec.NONE)).stored
            for start, end in _values(bytes(payload)):
                is_value[offset + _PAYLOAD_START + start : offset + _PAYLOAD_START + end] = True
    entries = pairs_of(read_hfile(data, 1).entries)
    return _Whole(data, entries, head.trailer.codec is Codec.GZ, is_value)


def _values(payload: bytes) -> Iterator[tuple[int, int]]:
    """Where in a sound payload the values are."""
    at = 0
    while at < len(payload):
        key_bytes, value_bytes = LENGTHS.unpack_from(payload, at)
        start = at + LENGTHS.size + key_bytes
        yield start, start + value_bytes
        at = start + value_bytes + 1


def _pairs(tables: Iterable[Any]) -> list[Pair]:
    return [pair for table in tables for pair in pairs_of(table)]


def payload_of(data: bytes, most_cells: int) -> bytes:
    """The first entries of an HFile as the payload of one block."""
    return cells_of_pairs(pairs_of(read_hfile(data, 1).entries)[:most_cells])


def read_probe(seeds: Mapping[str, bytes]) -> Read:
    """A few keys probed for in a block, against all its cells decoded, where these make up the very block.

    Not where a value holds the bytes that end every key: probing may take these for one.
    """
    keys_of_seed = cache(lambda seed: [key for key, _ in _decoded(seeds[seed]) or []])

    def read(seed: str, data: bytes) -> object:
        written = keys_of_seed(seed)
        asked = [*written[::5], b"", written[3] + b"x", b"zzz"]
        try:
            cells = _decoded(data)
        except EngineError:
            cells = None
        is_sound = cells is not None and cells_of_pairs(cells) == data and not (cells and cells[0][0] < written[0])
        is_clear = cells is not None and not any(TAIL in value for _, value in cells)
        try:
            found = probe(data, asked, written[0], 0)
        except EngineError as refused:
            if is_sound and is_clear:
                raise AssertionError(f"what can be decoded cannot be probed: {refused}") from refused
            raise
        by_key = dict(cells or ())
        expected = [(key, by_key[key]) for key in asked if key in by_key]
        if is_sound and is_clear and found not in (None, expected):
            raise AssertionError(f"probed for {found!r:.300}, decoded {expected!r:.300}")
        if not {key for key, _ in found or ()} <= set(asked):
            raise AssertionError(f"found {found!r:.300}, which nobody asked for")
        return found

    return read


def _decoded(payload: bytes) -> list[Pair] | None:
    """The cells of a block; None if its keys do not ascend by their bytes, so that probing may miss one."""
    blocks = Payloads(np.frombuffer(payload + bytes(8), np.uint8), np.array([0, len(payload)]), [0])
    cells, _ = cells_of(blocks)
    return pairs_of(cells.entries(slice(None))) if cells.is_strict else None


def read_log_frames(_: str, data: bytes) -> object:
    """Blocks by their frames alone, against the blocks of the whole file."""
    frames = read_frames(lambda start, length: data[start : start + length], len(data))
    try:
        blocks = list(read_blocks(data, is_store_atomic=True))
        live_blocks(blocks, lambda _: True)
    except EngineError as refused:
        _require_refused(frames, refused)
        raise
    if frames is None:
        return blocks
    ours = [(frame.block.type, frame.block.header, frame.block.offset, _content(frame, data)) for frame in frames]
    if ours != [(block.type, block.header, block.offset, bytes(block.content)) for block in blocks]:
        raise AssertionError(f"the frames {frames!r:.500} are not those of the blocks {blocks!r:.500}")
    return frames


def _content(frame: Frame, data: bytes) -> bytes:
    return data[frame.start : frame.start + frame.length]


def _require_refused(frames: list[Frame] | None, refused: EngineError) -> None:
    """What the whole file is refused for is seen in the frames, too, at the latest when they are put in order."""
    if frames is None:
        return
    try:
        live_blocks([frame.block for frame in frames], lambda _: True)
    except EngineError:
        return
    raise AssertionError(f"the frames are fine where the file is refused: {refused}") from refused


@dataclass(frozen=True, slots=True)
class Written:
    """A value of an index, and the schema that it was written by."""

    index: str
    schema: str
    value: bytes


def read_value(values: Mapping[str, Written]) -> Read:
    """A damaged value of an index as a row, which is merged and asked about."""

    def read(seed: str, data: bytes) -> object:
        return _rows_of(values[seed].index, values[seed].schema, data)

    return read


def read_value_schema(values: Mapping[str, Written]) -> Read:
    """A sound value read by a damaged schema."""

    def read(seed: str, data: bytes) -> object:
        return _rows_of(values[seed].index, data.decode(errors="replace"), values[seed].value)

    return read


def _rows_of(index: str, schema: str, value: bytes) -> object:
    entries = pa.table({name: pa.array([part], pa.large_binary()) for name, part in (("key", b"k"), ("value", value))})
    family = family_of(kind_of(index))
    rows = family.decode(entries, schema)
    merged = family.merge([rows, rows, family.deleted(pa.array(["other"], pa.large_string())), rows])
    if "min" in merged.column_names:
        for kind in _COLUMN_TYPES:
            for bounds in bounds_as(merged, kind):
                bounds.validate(full=True)
            may_hold(merged, between(pa.field("c", kind), None, None))
    return looked_at(rows), looked_at(merged)


def read_definitions(_: str, data: bytes) -> object:
    if not data:
        raise CorruptFile("nothing, which by itself is no damage: it defines nothing", 0)
    return [(found.kind, found.is_partitioned) for found in parse_definitions(data).values()]


def read_metadata_table(files: Mapping[str, bytes], damaged: str) -> object:
    """The index that the damaged file belongs to, or all: scanned, and each key looked up in the same files."""
    table = open_table(storage_of(files), HandClock(COPIED_AT_MS), {})
    metadata = open_metadata_table(table, BlockCache(_CACHE_BYTES))
    folder = damaged.removeprefix(f"{FOLDER}/").partition("/")[0]
    names = [folder] if folder in metadata.index_names else metadata.index_names
    for name in names:
        rows = _scanned(metadata.index(name))
        looked_at(rows)
        fresh = replace(metadata, cache=BlockCache(_CACHE_BYTES))
        # A definition has no checksum, and tells which shard a key is in.
        if damaged != DEFAULT_PATH:
            _require_same_found(fresh, name, rows)
        if kind_of(name) is IndexKind.RECORD_INDEX:
            keys = [*rows["key"].to_pylist(), "nobody"]
            RecordIndex(fresh.index(name), table.zone).locate(keys).validate(full=True)
    return names


def _scanned(index: Index) -> pa.Table:
    return pa.concat_tables([index.family.schema.empty_table(), *index.scan()])


def _require_same_found(metadata: MetadataTable, name: str, rows: pa.Table) -> None:
    index = metadata.index(name)
    for some in (rows.slice(0, 1), rows):
        keys = set(some["key"].to_pylist())
        expected = [row for row in rows.to_pylist() if row["key"] in keys]
        found = index.find(pa.array([*keys, "no$body"], pa.large_string())).to_pylist()
        if sorted(map(repr, found)) != sorted(map(repr, expected)):
            raise AssertionError(f"{name}: found {found!r:.300}, scanned {expected!r:.300}")
