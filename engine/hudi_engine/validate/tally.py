"""The sums of statistics: how many values and nulls a column has, the least and the greatest of them."""

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(slots=True)
class Tally:
    """How many values, how many of them null, and the least and greatest; NaN is neither."""

    values: int = 0
    nulls: int = 0
    least: Any = None
    greatest: Any = None
    has_nan: bool = False

    def add(self, values: Any) -> None:
        """Take in an Arrow column. Lists, maps and structs are counted and not compared, as in Hudi."""
        values = _comparable(values)
        self.values += len(values)
        self.nulls += values.null_count
        if pa.types.is_nested(values.type):
            return
        if pa.types.is_floating(values.type):
            is_number = pc.invert(pc.is_nan(values))
            self.has_nan |= pc.any(pc.invert(is_number)).as_py() or False
            values = values.filter(is_number)
        if len(values) > values.null_count:
            bounds = pc.min_max(values).as_py()
            self._widen(bounds["min"], bounds["max"])

    def absorb(self, other: "Tally") -> None:
        """Take in another file's values of the column."""
        self.values += other.values
        self.nulls += other.nulls
        self.has_nan |= other.has_nan
        if other.least is not None:
            self._widen(other.least, other.greatest)

    def _widen(self, least: Any, greatest: Any) -> None:
        self.least = least if self.least is None else min(self.least, least)
        self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)


@dataclass(slots=True)
class ColumnFacts:
    """One column of one file.

    An entry that tells of `certain` alone and one that tells of `possible` are both right, and so is all between: they
    differ by the logged rows that are deletions, and by blocks of commits that did not complete. In base files they
    are the same.
    """

    certain: Tally = field(default_factory=Tally)
    possible: Tally = field(default_factory=Tally)
    stored_bytes: int = 0
    raw_bytes: int = 0
    footer: Tally = field(default_factory=Tally)
    is_repeated: bool = False  # inside of a list or map
    lacks_nulls: bool = False
    may_lack_bounds: bool = False
    uncounted_nulls: int = 0  # values that Hudi may take for nulls
    may_be_left_out: bool = False  # no entry is safer than one
    kind: pa.DataType | None = None

    def absorb(self, other: "ColumnFacts") -> None:
        """Take in those of another file, which make them those of a partition."""
        self.certain.absorb(other.certain)
        self.possible.absorb(other.possible)
        self.stored_bytes += other.stored_bytes
        self.raw_bytes += other.raw_bytes
        self.is_repeated |= other.is_repeated
        self.may_lack_bounds |= other.may_lack_bounds
        self.uncounted_nulls += other.uncounted_nulls
        self.may_be_left_out |= other.may_be_left_out
        self.kind = self.kind if self.kind == other.kind else None


def _comparable(values: Any) -> Any:
    """Dates and times as the whole numbers that are stored: Python's own end with the year 9999."""
    kind = values.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return values.cast(pa.int32())
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return values.cast(pa.int64())
    return values
