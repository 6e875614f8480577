"""What the shards of an index are made of: in memory up to a limit, the rest on disk as runs."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import pyarrow as pa

from hudi_engine.compute.runs import merged
from hudi_engine.storage.scratch import room_in

# What has no room where the disk is full, and what to do then.
_FOR = (
    "the entries of an index that do not fit into memory",
    "Make room, or let TMPDIR name a folder on a larger disk, or allow more memory, and build again.",
)
# What an array costs beyond its values.
_ARRAY_BYTES: Final = 512
# Of each run one piece is in memory when runs are merged: as it was read, as it is taken, and in its new order.
_PIECE_BYTES: Final = 1 << 17
_COPIES: Final = 4
# Each is an open file, and several threads may merge.
_MOST_RUNS: Final = 128


class Part(Protocol):
    """Rows of one shard in any order."""

    @property
    def nbytes(self) -> int: ...


SomePart = TypeVar("SomePart", bound=Part)
_SomePart_contra = TypeVar("_SomePart_contra", bound=Part, contravariant=True)


class RunOf(Protocol[_SomePart_contra]):
    """Makes parts one run, in pieces of about so many bytes."""

    def __call__(self, parts: Sequence[_SomePart_contra], piece_bytes: int = ..., /) -> Iterator[Any]: ...


@dataclass(slots=True)
class _Waiting(Generic[SomePart]):
    """Parts in memory, by the place of their shard."""

    parts: dict[int, list[SomePart]] = field(default_factory=dict)
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Spilled:
    """A file with a run of each shard: by place the numbers of its pieces."""

    path: Path
    pieces: dict[int, range]

    def run(self, place: int) -> Iterator[Any]:
        with pa.OSFile(str(self.path), "rb") as file, pa.ipc.open_file(file) as reader:
            for number in self.pieces[place]:
                yield reader.get_batch(number)


class Spill(Generic[SomePart]):
    """Takes parts from any number of threads, then gives each shard's as one run, by the schema.

    Up to twice `limit_bytes` are in memory, and what it takes to sort one shard's part of them. Merging takes no more
    than that, whatever was added: of very many runs some are made one first.
    """

    def __init__(self, folder: Path, limit_bytes: int, schema: pa.Schema, run_of: RunOf[SomePart]) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._schema = schema
        self._run_of = run_of
        self._waiting: _Waiting[SomePart] = _Waiting()
        self._files: list[_Spilled] = []
        self._largest_piece = _PIECE_BYTES
        self._adding = threading.Lock()
        self._spilling = threading.Lock()

    def add(self, parts: Iterable[tuple[int, SomePart]]) -> None:
        """Parts, each with the place of its shard. Returns when there is room for more."""
        with self._adding:
            for place, part in parts:
                self._waiting.parts.setdefault(place, []).append(part)
                self._waiting.size_bytes += part.nbytes + _ARRAY_BYTES
        if self._is_full():
            with self._spilling:
                # Another thread may have made room meanwhile.
                if self._is_full():
                    with self._adding:
                        full, self._waiting = self._waiting, _Waiting()
                    runs = ((place, self._run_of(full.parts.pop(place), _PIECE_BYTES)) for place in list(full.parts))
                    self._files.append(self._written(f"run-{len(self._files)}", runs))

    def run(self, place: int) -> Iterator[Any]:
        """What was added of one shard, once, when all was added."""
        files = [file for file in self._files if place in file.pieces]
        most = max(2, min(_MOST_RUNS, self._limit_bytes // (_COPIES * self._largest_piece)))
        while (more := len(files) - most) > 0:
            first = min(most, more + 1)
            one = merged([file.run(place) for file in files[:first]], _PIECE_BYTES)
            files = [*files[first:], self._written(f"merged-{place}-{more}", [(place, one)])]
        runs = [file.run(place) for file in files]
        if place in self._waiting.parts:
            runs.append(self._run_of(self._waiting.parts.pop(place)))
        return merged(runs)

    def _is_full(self) -> bool:
        return self._waiting.size_bytes > self._limit_bytes

    def _written(self, name: str, runs: Iterable[tuple[int, Iterator[Any]]]) -> _Spilled:
        path = self._folder / f"{name}.arrow"
        pieces = {}
        first = 0
        with (
            room_in(self._folder, *_FOR),
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_file(file, self._schema) as writer,
        ):
            for place, run in runs:
                last = first
                for piece in run:
                    writer.write_batch(piece)
                    self._largest_piece = max(self._largest_piece, piece.nbytes)
                    last += 1
                pieces[place] = range(first, last)
                first = last
        return _Spilled(path, pieces)
