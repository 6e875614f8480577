"""One position per record, and Avro's few kinds of bytes read at all of them at once."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hudi_engine.errors import CorruptFile

Longs = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

MARGIN: Final = 16
"""Bytes of nothing before and after the content, so that whole words can be read around any position in it."""

_U = np.uint64
_CONTINUED: Final = _U(0x8080_8080_8080_8080)


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of some records between two margins, seen as bytes, as octets and as the word that begins at each."""

    data: bytes
    octets: Octets
    words: Words
    buffer: Any  # pyarrow has no types

    @classmethod
    def around(cls, part: memoryview) -> "Content":
        data = b"".join((bytes(MARGIN), part, bytes(MARGIN)))
        octets = np.frombuffer(data, dtype=np.uint8)
        words = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
        return cls(data, octets, words, pa.py_buffer(data))


@dataclass(slots=True)
class Cursor:
    """Where each record is being read. No position is ever beyond its end; all reads advance the positions.

    Positions are ascending and what lies between each and its end is disjoint from the others, so that values
    read in one step stand in the content in the order of the records.
    """

    content: Content
    position: Longs
    end: Longs

    @property
    def size(self) -> int:
        return int(self.position.size)

    def at(self, rows: npt.NDArray[Any]) -> "Cursor":
        """A cursor of these records alone; `put_back` brings its positions home."""
        return Cursor(self.content, self.position[rows], self.end[rows])

    def put_back(self, rows: npt.NDArray[Any], part: "Cursor") -> None:
        self.position[rows] = part.position

    def fixed(self, size: int) -> Longs:
        """Where each record's next `size` bytes are."""
        self.require(self.end - self.position >= size, f"a record ends within a value of {size} bytes")
        starts = self.position
        self.position = starts + size
        return starts

    def octet(self) -> Octets:
        return self.content.octets[self.fixed(1)]

    def pieces(self) -> tuple[Longs, Longs]:
        """Where each record's next bytes or string starts, and how long it is."""
        lengths = self.varints()
        # Seen without a sign a negative length is larger than any room.
        has_room = lengths.view(np.uint64) <= (self.end - self.position).view(np.uint64)
        self.require(has_room, "a length larger than what is left of the record")
        starts = self.position
        self.position = starts + lengths
        return starts, lengths

    def branches(self, count: int) -> npt.NDArray[Any]:
        """Which of `count` branches of a union each record takes."""
        self.require(self.position < self.end, "a record ends where a union should begin")
        if count > 64:
            found: npt.NDArray[Any] = self.varints().view(np.uint64)
        else:
            # One byte is enough, so anything longer is refused; an odd byte is a negative number.
            octets = self.content.octets[self.position]
            found = (octets >> np.uint8(1)) | (octets << np.uint8(7))
            self.position = self.position + 1
        self.require(found < count, f"a branch that a union of {count} types does not have")
        return found

    def varints(self) -> Longs:
        """The next int or long of each record, as 64 bits."""
        octets = self.content.octets[self.position]
        if octets.max() < 0x80:
            raw, after = octets.astype(np.uint64), self.position + 1
        else:
            raw, lengths = self._long_varints()
            after = self.position + lengths
        self.require(after <= self.end, "a record ends within an integer")
        self.position = after
        return ((raw >> _U(1)) ^ (_U(0) - (raw & _U(1)))).view(np.int64)

    def _long_varints(self) -> tuple[Words, Longs]:
        # The seven-bit groups of a word are pushed together by halves: eight bytes in three steps, however many count.
        word = self.content.words[self.position]
        last = ~word & _CONTINUED
        used = last ^ (last - _U(1))
        word &= used & ~_CONTINUED
        word = (word & _U(0x007F007F007F007F)) | ((word & _U(0x7F007F007F007F00)) >> _U(1))
        word = (word & _U(0x00003FFF00003FFF)) | ((word & _U(0x3FFF00003FFF0000)) >> _U(2))
        word = (word & _U(0x000000000FFFFFFF)) | ((word & _U(0x0FFFFFFF00000000)) >> _U(4))
        lengths = (np.bitwise_count(used) >> np.uint8(3)).astype(np.int64)
        rows = np.flatnonzero(last == 0)
        if rows.size:
            self._add_last_bytes(rows, word, lengths)
        return word, lengths

    def _add_last_bytes(self, rows: Longs, word: Words, lengths: Longs) -> None:
        ninth = self.content.octets[self.position[rows] + 8].astype(np.uint64)
        tenth = self.content.octets[self.position[rows] + 9].astype(np.uint64)
        tenth[ninth < 0x80] = 0
        if (tenth > 1).any():
            raise CorruptFile("an integer of more than 64 bits", self._first_of(rows[tenth > 1]))
        word[rows] |= ((ninth & _U(0x7F)) << _U(56)) | (tenth << _U(63))
        lengths[rows] = 9 + (ninth >> _U(7)).astype(np.int64)

    def _first_of(self, rows: Longs) -> int:
        return int(self.position[rows[0]])

    def require(self, holds: npt.NDArray[np.bool_], what: str) -> None:
        """Refuse the first record for which the claim does not hold."""
        if not holds.all():
            raise CorruptFile(what, self._first_of(np.flatnonzero(~holds)))
