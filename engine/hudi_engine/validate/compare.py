"""Both sides of a check streamed against each other, in memory that does not grow with them.

First both are read once and summed up per bucket of keys. Where the sums agree the rows do. Only if some do not, both
are read again and the rows of those buckets are put on disk, in parts small enough to be brought together in memory.
What is suspicious beyond the room for parts is left for another reading.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hudi_engine.table.interleave import interleave
from hudi_engine.validate.fingerprints import Integers
from hudi_engine.validate.sketch import BUCKETS, Prints, Sketch, sketch_of
from hudi_engine.validate.spill import Part, Spill, Suspects
from hudi_engine.validate.watch import Watch

_NOWHERE = -1


class Piece(Protocol):
    """Some rows of one side."""

    def prints(self) -> Prints:
        """What the rows are compared by."""

    def kept(self, chosen: NDArray[np.bool_]) -> pa.Table:
        """The chosen rows, in the schema `SUSPECT`."""


Source = Callable[[], Iterator[Piece]]


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared. Each source is read on one thread, twice or more often if something is suspicious."""

    data: Sequence[Source]
    index: Sequence[Source]

    def sources(self) -> list[tuple[bool, Source]]:
        """All of them, and whether it is one of the index: one of each in turn, so that both have threads."""
        sides = [[(False, source) for source in self.data], [(True, source) for source in self.index]]
        longest = max(map(len, sides))
        return [side[number] for number in range(longest) for side in sides if number < len(side)]


@dataclass(frozen=True, slots=True)
class Room:
    """How much is brought together in memory at once, and how many such parts are on disk at once."""

    part_bytes: int = 64 << 20
    parts: int = 32


ROOM = Room()


def suspects(sides: Sides, watch: Watch, room: Room) -> Iterator[Suspects]:
    """All rows of the buckets in which the sides differ, both sides' rows of a key in the same part."""
    data, index = _sketches(sides, watch)
    differing = np.flatnonzero(data.differs(index))
    parts = _parts(differing, (data.sizes + index.sizes)[differing], room.part_bytes)
    for start in range(0, len(parts), room.parts):
        yield from _read_again(sides, watch, parts[start : start + room.parts])


def _sketches(sides: Sides, watch: Watch) -> tuple[Sketch, Sketch]:
    sketches = [Sketch(), Sketch()]
    tasks = [partial(_sketched, is_index, source) for is_index, source in sides.sources()]
    for is_index, count, sketch in interleave(tasks, os.cpu_count() or 1):
        sketches[is_index] += sketch
        watch.advance(count)
    return sketches[False], sketches[True]


def _sketched(is_index: bool, source: Source) -> Iterator[tuple[bool, int, Sketch]]:
    for piece in source():
        prints = piece.prints()
        yield is_index, len(prints.keys), sketch_of(prints)


def _parts(buckets: Integers, sizes: Integers, part_bytes: int) -> list[Integers]:
    """The buckets in groups of about `part_bytes`; one that is larger stays alone."""
    begins = np.cumsum(sizes) - sizes
    # A bucket belongs to the group that its own middle lies in.
    groups = (begins + sizes // 2) // part_bytes
    return np.split(buckets, np.flatnonzero(np.diff(groups)) + 1) if len(buckets) else []


def _read_again(sides: Sides, watch: Watch, parts: Sequence[Integers]) -> Iterator[Suspects]:
    part_of = np.full(BUCKETS, _NOWHERE)
    for number, buckets in enumerate(parts):
        part_of[buckets] = number
    tasks = [partial(_chosen, is_index, source, part_of) for is_index, source in sides.sources()]
    with TemporaryDirectory(prefix="hudi-engine-validate-") as folder:
        with Spill.into(Path(folder)) as spill:
            for count, rows in interleave(tasks, os.cpu_count() or 1):
                for part in rows:
                    spill.add(part)
                watch.advance(count)
        for number in range(len(parts)):
            yield spill.take(number)


def _chosen(is_index: bool, source: Source, part_of: Integers) -> Iterator[tuple[int, list[Part]]]:
    """The rows of each piece that go to disk, by part."""
    for piece in source():
        prints = piece.prints()
        parts = part_of[prints.buckets]
        chosen = parts != _NOWHERE
        if not chosen.any():
            yield len(parts), []
            continue
        kept, numbers = piece.kept(chosen), parts[chosen]
        order = np.argsort(numbers, kind="stable")
        kept, numbers = kept.take(pa.array(order)), numbers[order]
        borders = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        yield (
            len(parts),
            [Part(is_index, int(numbers[start]), kept.slice(start, end - start)) for start, end in pairwise(borders)],
        )
