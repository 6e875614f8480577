"""The keys of all shards: in memory up to a limit, the rest on disk as runs."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from hudi_engine.compute.runs import RUN, SliceKeys, merged, run_of
from hudi_engine.compute.split import ShardKeys
from hudi_engine.storage.scratch import room_in

# What has no room where the disk is full, and what to do then.
_FOR = (
    "the record keys that do not fit into memory",
    "Make room, or let TMPDIR name a folder on a larger disk, or allow more memory, and build again.",
)
# What an array costs beyond its values.
_ARRAY_BYTES: Final = 512
# Of each run one piece is in memory when runs are merged.
_PIECE_BYTES: Final = 1 << 17


@dataclass(slots=True)
class _Waiting:
    """Keys in memory, by the place of their shard."""

    keys: dict[int, list[SliceKeys]] = field(default_factory=dict)
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Spilled:
    """A file with a run of each shard: by place the numbers of its pieces."""

    path: Path
    pieces: dict[int, range]

    def run(self, place: int) -> Iterator[Any]:
        if place in self.pieces:
            with pa.OSFile(str(self.path), "rb") as file, pa.ipc.open_file(file) as reader:
                for number in self.pieces[place]:
                    yield reader.get_batch(number)


class Spill:
    """Takes keys from any number of threads, then gives each shard's as one run.

    Up to twice `limit_bytes` are in memory, and what it takes to sort one shard's part of them.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._waiting = _Waiting()
        self._files: list[_Spilled] = []
        self._adding = threading.Lock()
        self._spilling = threading.Lock()

    @property
    def is_spilled(self) -> bool:
        return bool(self._files)

    def add(self, split: Sequence[ShardKeys], number: int) -> None:
        """Keys of the slice with this number. Returns when there is room for more."""
        with self._adding:
            for place, keys in split:
                self._waiting.keys.setdefault(place, []).append(SliceKeys(keys, number))
                self._waiting.size_bytes += keys.nbytes + _ARRAY_BYTES
        if self._is_full():
            with self._spilling:
                # Another thread may have made room meanwhile.
                if self._is_full():
                    with self._adding:
                        full, self._waiting = self._waiting, _Waiting()
                    self._files.append(self._written(full))

    def run(self, place: int) -> Iterator[Any]:
        """The keys of one shard, once, when all were added."""
        runs = [file.run(place) for file in self._files]
        if place in self._waiting.keys:
            runs.append(run_of(self._waiting.keys.pop(place)))
        return merged(runs)

    def _is_full(self) -> bool:
        return self._waiting.size_bytes > self._limit_bytes

    def _written(self, full: _Waiting) -> _Spilled:
        path = self._folder / f"run-{len(self._files)}.arrow"
        pieces = {}
        first = 0
        with room_in(self._folder, *_FOR), pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, RUN) as writer:
            for place in list(full.keys):
                last = first
                for piece in run_of(full.keys.pop(place), _PIECE_BYTES):
                    writer.write_batch(piece)
                    last += 1
                pieces[place] = range(first, last)
                first = last
        return _Spilled(path, pieces)
