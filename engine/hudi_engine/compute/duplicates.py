"""Keys that are there more than once: found where a shard's keys meet, counted all, told once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction
from hudi_engine.table.file_view import FileSlice

_EXAMPLES: Final = 10


class Duplicate(NamedTuple):
    """A key and the numbers of two slices that have it, which may be the same."""

    key: bytes
    one: int
    other: int


@dataclass(slots=True)
class Duplicates:
    """How many rows have a key that another row has already, and some of them: the first by key, whoever told them."""

    count: int = 0
    examples: tuple[Duplicate, ...] = ()

    def add(self, other: "Duplicates") -> None:
        self.count += other.count
        self.examples = tuple(sorted((*self.examples, *other.examples))[:_EXAMPLES])


def unique(run: Iterable[Any], found: Duplicates) -> Iterator[Any]:
    """The run with each key once; `found` is told of the rows that are left out."""
    before: Any = None
    for piece in run:
        is_again = _is_again(piece["key"], before)
        if not is_again.any():
            yield piece
        else:
            found.add(_told(piece, before, is_again))
            yield piece.filter(pa.array(~is_again))
        before = piece.slice(len(piece) - 1)


def _is_again(keys: Any, before: Any) -> Any:
    """For each key whether the one before is the same; `before` is the last row of the piece before."""
    is_again = np.zeros(len(keys), bool)
    is_again[1:] = pc.equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
    is_again[0] = before is not None and before["key"][0] == keys[0]
    return is_again


def _told(piece: Any, before: Any, is_again: Any) -> Duplicates:
    rows = np.flatnonzero(is_again)
    keys, slices = piece["key"], piece["slice"]
    examples = []
    for row in rows[:_EXAMPLES].tolist():
        both = (slices[row - 1] if row else before["slice"][0]).as_py(), slices[row].as_py()
        examples.append(Duplicate(keys[row].as_py(), min(both), max(both)))
    return Duplicates(len(rows), tuple(examples))


def refuse_duplicates(found: Duplicates, slices: Sequence[FileSlice], location: str) -> None:
    """Raise if there are any, with what to do about those that were found."""
    if not found.count:
        return
    pairs = [(example.key, slices[example.one], slices[example.other]) for example in found.examples]
    shown = "; ".join(f"{key.decode()!r} in {_place(one)} and {_place(other)}" for key, one, other in pairs)
    if all(one.partition != other.partition for _, one, other in pairs):
        advice = "Use a partitioned record index, in which each partition has its own keys"
    else:
        advice = "Remove the duplicates first, for instance by an upsert or a delete of these keys with a SIMPLE index"
    raise Contradiction(
        f"{location}: {found.count} rows whose record key another row has already, so that a record index cannot say "
        f"where it is: {shown}{'; and more' if found.count > len(pairs) else ''}. {advice}, then build again."
    )


def _place(found: FileSlice) -> str:
    return f"{found.partition or '.'}/{found.file_id}"
