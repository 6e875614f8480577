"""The values of an indexed column as the texts that Java makes of them (`hudi-format` 3.4)."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hudi_engine.errors import Unsupported
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.java_fractions import fraction_texts

# What Java's `LocalDate.toString` and `Double.toString` write.
_ISO_DATE: Final = r"\A[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])\z"
_NUMBER: Final = r"\A-?(?:Infinity|NaN|[0-9]+\.[0-9]+(?:E-?[0-9]+)?)\z"
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an index of this version: its path from the top, and its type."""

    path: tuple[str, ...]
    type: pa.DataType
    version: IndexVersion

    @property
    def top(self) -> str:
        return self.path[0]

    @property
    def has_nulls(self) -> bool:
        """Whether nulls have entries. In the first version they may: releases since 1.1 write them there, too."""
        return self.version is not IndexVersion.V1

    @property
    def is_fraction(self) -> bool:
        return bool(pa.types.is_floating(self.type))

    @property
    def has_two_spellings(self) -> bool:
        """Fractions are spelled by the release of Java, dates in the first version by that of Hudi."""
        return self.is_fraction or self._may_be_iso_date

    @property
    def _may_be_iso_date(self) -> bool:
        """Releases before 1.1 write 2026-01-31, later ones the days since 1970."""
        return bool(pa.types.is_date32(self.type)) and self.version is IndexVersion.V1

    def texts(self, stored: pa.Array) -> pa.Array:
        """The values of rows, of which `stored` is the column at the top; null where there is none.

        One spelling of each, to compare by; see `texts_as_java` for Hudi's.
        """
        values = self.values(stored)
        if pa.types.is_date32(values.type):
            values = values.cast(pa.int32())
        elif pa.types.is_timestamp(values.type):
            values = values.cast(pa.int64())
        return values.cast(pa.large_string())

    def texts_as_java(self, stored: pa.Array) -> pa.Array:
        """The values of rows as Hudi spells them: 1.0.2 in the first version, releases since 1.1 in the second."""
        values = self.values(stored)
        if self.is_fraction:
            return fraction_texts(values)
        return _iso_dates(values) if self._may_be_iso_date else self.texts(stored)

    def is_null(self, stored: pa.Array) -> NDArray[np.bool_]:
        """Which rows have no value."""
        found: NDArray[np.bool_] = self.values(stored).is_null(nan_is_null=False).to_numpy(zero_copy_only=False)
        return found

    def agreed(self, values: pa.Array) -> pa.Array:
        """The values of entries, spelled as `texts` does."""
        if self._may_be_iso_date:
            is_date = pc.fill_null(pc.match_substring_regex(values, _ISO_DATE), False)
            days = pc.if_else(is_date, values, None).cast(pa.date32()).cast(pa.int32())
            return pc.coalesce(days.cast(pa.large_string()), values)
        if self.is_fraction:
            return pc.coalesce(self.numbers(values).cast(pa.large_string()), values)
        return values

    def spelled(self, value: str | None) -> str | None:
        """A value as `texts` gives it, spelled as Java does: for people. A text that is no value stays as it is."""
        if self.is_fraction:
            with suppress(pa.ArrowInvalid):
                told: str | None = fraction_texts(pa.array([value], pa.string()).cast(self.type))[0].as_py()
                return told
        return value

    def values(self, stored: pa.Array) -> pa.Array:
        """The values of rows as they are."""
        return stored if len(self.path) == 1 else pc.struct_field(stored, list(self.path[1:]))

    def numbers(self, values: pa.Array) -> pa.Array:
        """The fractions that texts name in Java's way, null for other texts."""
        # Cheaper to look for than the whole pattern, and nearly always there.
        if pc.all(pc.match_substring(values, "."), skip_nulls=False).as_py():
            with suppress(pa.ArrowInvalid):
                return values.cast(self.type)
        is_number = pc.fill_null(pc.match_substring_regex(values, _NUMBER), False)
        return pc.if_else(is_number, values, None).cast(self.type)


def type_at(rows: pa.Schema, name: str) -> pa.DataType | None:
    """The type of a column by its dotted name; None if rows have no such column."""
    kind = pa.struct(list(rows))
    for step in name.split("."):
        if not pa.types.is_struct(kind) or kind.get_field_index(step) < 0:
            return None
        kind = kind.field(step).type
    return kind


def _iso_dates(dates: pa.Array) -> pa.Array:
    """The first day is 0001-01-01, the last 9999-12-31: Java gives other years a sign, or more digits."""
    found = pc.min_max(dates.cast(pa.int32())).as_py()
    for day in found.values():
        if day is not None and not _FIRST_DAY <= day <= _LAST_DAY:
            raise Unsupported(
                f"a date {day} days from 1970, outside of the years 1 to 9999, in a column with a secondary index of "
                "version V1, which holds dates as texts. Correct the row, or leave this index out."
            )
    return dates.cast(pa.large_string())
