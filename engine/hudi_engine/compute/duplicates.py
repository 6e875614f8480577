"""Record keys that several rows have: refused, or of each the row that was written last is indexed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.table.file_view import FileSlice

DUPLICATES_KEY: Final = "hudi.engine.duplicates"
"""The property by which a run knows what to do with such keys: `refuse`, unless it is `newest`."""
_EXAMPLES: Final = 10


def keeps_newest(conf: Mapping[str, str]) -> bool:
    """Whether the newest row of a key that has several is indexed, instead of a refusal."""
    match conf.get(DUPLICATES_KEY, "refuse"):
        case "newest":
            return True
        case "refuse":
            return False
        case other:
            raise Unsupported(f"{DUPLICATES_KEY}={other!r}: expected refuse or newest; set it right or leave it out")


class Duplicate(NamedTuple):
    """A key and the numbers of two slices that have it, which may be the same."""

    key: bytes
    one: int
    other: int


@dataclass(slots=True)
class Duplicates:
    """How many keys have several rows, and how many rows that are too many; the first examples by key."""

    keys: int = 0
    rows: int = 0
    examples: tuple[Duplicate, ...] = ()

    def add(self, other: "Duplicates") -> None:
        self.keys += other.keys
        self.rows += other.rows
        self.examples = tuple(sorted((*self.examples, *other.examples))[:_EXAMPLES])


def unique(run: Iterable[Any], found: Duplicates) -> Iterator[Any]:
    """The run with each key once, in any of its rows; `found` is told of the rows that are left out."""
    before: Any = None
    was_again = False
    for piece in run:
        is_again = _is_again(piece)
        is_again[0] = before is not None and before["key"][0] == piece["key"][0]
        if is_again.any():
            found.add(_told(piece, before, is_again, was_again))
            yield piece.filter(pa.array(~is_again))
        else:
            yield piece
        before, was_again = piece.slice(len(piece) - 1), bool(is_again[-1])


def newest(run: Iterable[Any], found: Duplicates, ranks: Any) -> Iterator[Any]:
    """A dated run with each key once, in the row that was written last; `found` is told of the others.

    Of rows that one commit wrote the one in the slice of the greatest rank counts; `ranks` has those by slice number.
    """
    held: Any = None
    was_again = False
    for piece in run:
        whole = piece if held is None else _together(held, piece)
        is_again = _is_again(whole)
        if is_again.any():
            found.add(_told(whole.slice(1), whole.slice(0, 1), is_again[1:], was_again))
            was_again = bool(is_again[-1]) or (was_again and len(whole) == 1)
            whole = _newest_of_each(whole, is_again, ranks)
        else:
            was_again = was_again and len(whole) == 1
        held = whole.slice(len(whole) - 1)
        if len(whole) > 1:
            yield whole.slice(0, len(whole) - 1)
    if held is not None:
        yield held


def ranks_of(slices: Sequence[FileSlice]) -> Any:
    """For each slice its place in the order of file names, and then of partitions."""
    order = sorted(range(len(slices)), key=lambda number: (slices[number].file_id, slices[number].partition))
    ranks = np.empty(len(slices), np.int64)
    ranks[order] = np.arange(len(slices))
    return ranks


def _newest_of_each(rows: Any, is_again: Any, ranks: Any) -> Any:
    groups = np.cumsum(~is_again)
    written = rows["written"].to_numpy()
    order = np.lexsort((ranks[rows["slice"].to_numpy()], written, groups))
    is_last = np.append(groups[1:] != groups[:-1], True)
    return rows.take(pa.array(order[is_last]))


def _together(one: Any, other: Any) -> Any:
    (batch,) = pa.Table.from_batches([one, other]).combine_chunks().to_batches()
    return batch


def _is_again(rows: Any) -> Any:
    """For each row whether the one before has the same key."""
    keys = rows["key"]
    is_again = np.zeros(len(keys), bool)
    is_again[1:] = pc.equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
    return is_again


def _told(piece: Any, before: Any, is_again: Any, was_again: bool) -> Duplicates:
    """`before` is the last row of the piece before; `was_again` if its key is counted already."""
    rows = np.flatnonzero(is_again)
    is_counted = np.concatenate([[was_again], is_again[:-1]])
    keys, slices = piece["key"], piece["slice"]
    examples = []
    for row in rows[:_EXAMPLES].tolist():
        both = (slices[row - 1] if row else before["slice"][0]).as_py(), slices[row].as_py()
        examples.append(Duplicate(keys[row].as_py(), min(both), max(both)))
    return Duplicates(int((is_again & ~is_counted).sum()), len(rows), tuple(examples))


def refuse_duplicates(found: Duplicates, slices: Sequence[FileSlice], location: str) -> None:
    """Raise if there are any, with what to do about those that were found."""
    if not found.rows:
        return
    pairs = [(slices[example.one], slices[example.other]) for example in found.examples]
    if all(one.partition != other.partition for one, other in pairs):
        advice = "Use a partitioned record index, in which each partition has its own keys"
    else:
        advice = "Remove the duplicates first, for instance by an upsert or a delete of these keys with a SIMPLE index"
    raise Contradiction(
        f"{location}: {told(found, slices)}. A record index has one place for each key. {advice}, then build again; or "
        "build with --duplicates newest, which indexes the row of each key that was written last."
    )


def told(found: Duplicates, slices: Sequence[FileSlice]) -> str:
    """How many keys have several rows, and examples with their places."""
    shown = "; ".join(
        f"{example.key.decode(errors='replace')!r} in {_place(slices[example.one])} and {_place(slices[example.other])}"
        for example in found.examples
    )
    more = "; and more" if found.rows > len(found.examples) else ""
    return f"{found.keys:,} record keys have several rows, {found.rows:,} rows too many: {shown}{more}"


def _place(found: FileSlice) -> str:
    return f"{found.partition or '.'}/{found.file_id}"
