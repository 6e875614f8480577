"""HFiles that every Hudi release since 0.15.0 reads in full, with its native reader and with HBase's."""

import io
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hudi_engine.format.bloom import BloomFilter
from hudi_engine.format.hfile.assemble import PackedRun, Run, pack_run, require_ascending, runs_of
from hudi_engine.format.hfile.block import DATA, FILE_INFO, META, ROOT_INDEX, Codec, encode_block, pack
from hudi_engine.format.hfile.index import Entry, encode_file_info, encode_meta_index, encode_root_index
from hudi_engine.format.hfile.trailer import NO_OFFSET, Trailer, encode_trailer
from hudi_engine.format.hfile.wire import Bytes

BLOOM_BLOCK = b"bloomFilter"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an HFile says beside its entries: the values' Avro schema as JSON, and when it was made."""

    schema: str
    created_ms: int
    codec: Codec = Codec.GZ
    bloom: BloomFilter | None = None
    threads: int = 2


def write_hfile(entries: Any, recipe: Recipe) -> bytes:
    """A whole file of a table's columns `key` and `value`; keys must be unique and ascend in unsigned bytes."""
    file = io.BytesIO()
    for chunk in hfile_chunks(entries.to_batches(), recipe):
        file.write(chunk)
    return file.getvalue()


def hfile_chunks(batches: Iterable[Any], recipe: Recipe) -> Iterator[bytes]:
    """The file of the batches' columns `key` and `value`, piece by piece as blocks fill up.

    Holds a few megabytes beyond the batch at hand and the index.
    """
    file = _Growing(recipe)
    for packed in _packed(runs_of(batches), recipe):
        yield file.data_blocks(packed)
    yield file.rest()


def _packed(runs: Iterator[Run], recipe: Recipe) -> Iterator[PackedRun]:
    """The runs in order, while others are being packed; the next is only taken when one is handed over."""
    waiting: deque[Future[PackedRun]] = deque()
    with ThreadPoolExecutor(recipe.threads) as pool:
        for run in runs:
            waiting.append(pool.submit(pack_run, run, recipe.codec))
            if len(waiting) > 2 * recipe.threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass(slots=True)
class _Growing:
    """The part of a file that is written, as far as the rest needs to know of it."""

    recipe: Recipe
    offset: int = 0
    index: list[Entry] = field(default_factory=list)
    last_row: bytes | None = None
    raw_bytes: int = 0
    entries: int = 0
    row_bytes: int = 0
    value_bytes: int = 0

    def data_blocks(self, run: PackedRun) -> bytes:
        if self.last_row is not None:
            require_ascending(pa.array([self.last_row, run.blocks[0].first_row], pa.large_binary()))
        out: list[Bytes] = []
        for block in run.blocks:
            previous = self.index[-1][1] if self.index else -1
            parts = encode_block(DATA, block.raw_bytes, block.stored, previous)
            size = sum(map(len, parts))
            self.index.append((block.first_row, self.offset, size))
            self.offset += size
            self.raw_bytes += block.raw_bytes
            out += parts
        self.last_row = run.last_row
        self.entries += run.entries
        self.row_bytes += run.row_bytes
        self.value_bytes += run.value_bytes
        return b"".join(out)

    def rest(self) -> bytes:
        meta = self._meta_block()
        meta_entries = [(BLOOM_BLOCK, self.offset, len(meta))] if meta else []
        index = encode_root_index(self.index)
        load_on_open = self.offset + len(meta)
        indexes = self._block(ROOT_INDEX, index) + self._block(ROOT_INDEX, encode_meta_index(meta_entries))
        trailer = Trailer(
            file_info_offset=load_on_open + len(indexes),
            load_on_open_offset=load_on_open,
            index_bytes=len(index),
            uncompressed_bytes=self.raw_bytes,
            data_index_count=len(self.index),
            meta_index_count=len(meta_entries),
            entry_count=self.entries,
            index_levels=1,
            first_data_offset=self.index[0][1] if self.index else NO_OFFSET,
            last_data_offset=self.index[-1][1] if self.index else NO_OFFSET,
            codec=self.recipe.codec,
        )
        info = self._block(FILE_INFO, encode_file_info(self._info(), self.last_row))
        return meta + indexes + info + encode_trailer(trailer)

    def _block(self, kind: bytes, raw: Bytes) -> bytes:
        return b"".join(encode_block(kind, len(raw), pack(raw, self.recipe.codec)))

    def _meta_block(self) -> bytes:
        bloom = self.recipe.bloom
        return b"" if bloom is None else self._block(META, bloom.to_text().encode())

    def _info(self) -> dict[str, bytes]:
        bloom = self.recipe.bloom
        count = max(self.entries, 1)
        info = {
            "KEY_VALUE_VERSION": (1).to_bytes(4, "big"),
            "MAX_MEMSTORE_TS_KEY": bytes(8),
            "hfile.AVG_KEY_LEN": (self.row_bytes // count).to_bytes(4, "big"),
            "hfile.AVG_VALUE_LEN": (self.value_bytes // count).to_bytes(4, "big"),
            "hfile.CREATE_TIME_TS": self.recipe.created_ms.to_bytes(8, "big"),
            "schema": self.recipe.schema.encode(),
            "minRecordKey": self.index[0][0] if self.index else b"",
            "maxRecordKey": self.last_row or b"",
        }
        return info if bloom is None else info | {"bloomFilterTypeCode": bloom.type_code.encode()}
