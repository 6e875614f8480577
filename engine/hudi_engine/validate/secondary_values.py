"""The values of an indexed column as the texts that Java makes of them (`hudi-format` 3.4)."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.index.definitions import IndexDefinition, IndexVersion
from hudi_engine.index.index import Index
from hudi_engine.validate.fingerprints import Numbers, fingerprints, fingerprints_of_numbers
from hudi_engine.validate.subject import Subject

# Between these Java writes no exponent.
_LEAST_PLAIN, _MOST_PLAIN = Decimal("0.001"), Decimal(10**7)
# What Java's `LocalDate.toString` and `Double.toString` write.
_ISO_DATE = r"\A[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])\z"
_NUMBER = r"\A-?(?:Infinity|NaN|[0-9]+\.[0-9]+(?:E-?[0-9]+)?)\z"


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
        """The values of rows, of which `stored` is the column at the top; null where there is none."""
        values = self._values(stored)
        if pa.types.is_date32(values.type):
            values = values.cast(pa.int32())
        elif pa.types.is_timestamp(values.type):
            values = values.cast(pa.int64())
        return values.cast(pa.large_string())

    def is_null(self, stored: pa.Array) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return ~_is_there(self._values(stored))

    def prints(self, stored: pa.Array) -> Numbers:
        """The fingerprints of the values of rows; of a null anything."""
        if not self.is_fraction:
            return fingerprints(self.texts(stored))
        return fingerprints_of_numbers(_as_doubles(self._values(stored)))

    def prints_of_texts(self, values: pa.Array) -> Numbers:
        """The fingerprints of the values of entries: those of `prints` for the same values, in any spelling."""
        if not self.is_fraction:
            return fingerprints(self.agreed(values))
        numbers = self._numbers(values)
        return np.where(_is_there(numbers), fingerprints_of_numbers(_as_doubles(numbers)), fingerprints(values))

    def agreed(self, values: pa.Array) -> pa.Array:
        """The values of entries, spelled as `texts` does."""
        if self._may_be_iso_date:
            is_date = pc.fill_null(pc.match_substring_regex(values, _ISO_DATE), False)
            days = pc.if_else(is_date, values, None).cast(pa.date32()).cast(pa.int32())
            return pc.coalesce(days.cast(pa.large_string()), values)
        if self.is_fraction:
            return pc.coalesce(self._numbers(values).cast(pa.large_string()), values)
        return values

    def spelled(self, value: str | None) -> str | None:
        """A value as `texts` gives it, spelled as the newest release of Java does: for people."""
        return _java_text(value) if self.is_fraction and value is not None else value

    def _values(self, stored: pa.Array) -> pa.Array:
        return stored if len(self.path) == 1 else pc.struct_field(stored, list(self.path[1:]))

    def _numbers(self, values: pa.Array) -> pa.Array:
        """The fractions that texts name in Java's way, null for other texts."""
        # Cheaper to look for than the whole pattern, and nearly always there.
        if pc.all(pc.match_substring(values, "."), skip_nulls=False).as_py():
            with suppress(pa.ArrowInvalid):
                return values.cast(self.type)
        is_number = pc.fill_null(pc.match_substring_regex(values, _NUMBER), False)
        return pc.if_else(is_number, values, None).cast(self.type)


def column_of(subject: Subject, index: Index) -> Column:
    """The column of a secondary index; `Unsupported` for one whose values Java may spell in more than one way."""
    definition = index.definition
    if definition is None:
        raise Contradiction(
            f"{subject.table.storage.location}: the index {index.name} is complete, and no definition says of which "
            "column it is. Drop it and create it again."
        )
    name = ".".join(definition.source_fields)
    kind = _type_of(subject, definition, name)
    if not _is_known(kind, definition.version):
        raise Unsupported(
            f"{index.name}: the column {name} is {kind}; validated are secondary indexes of texts, whole numbers, "
            "floating-point numbers, booleans, dates, and in version V2 timestamps in microseconds. "
            "Leave this index out."
        )
    return Column(tuple(name.split(".")), kind, definition.version)


def _type_of(subject: Subject, definition: IndexDefinition, name: str) -> pa.DataType:
    kind = pa.struct(list(subject.table.row_schema(subject.snapshot)))
    for step in name.split("."):
        if not pa.types.is_struct(kind) or kind.get_field_index(step) < 0:
            raise NotFound(
                f"{subject.table.storage.location}: the index {definition.name} is of the column {name!r}, which the "
                "table's rows do not have. Drop that index."
            )
        kind = kind.field(step).type
    return kind


def _is_known(kind: pa.DataType, version: IndexVersion) -> bool:
    """Whether Java's texts of such values are known."""
    if pa.types.is_timestamp(kind):
        # Spark holds any time in microseconds, its writers by Avro in the unit of the schema.
        return bool(kind.unit == "us" and kind.tz and version is not IndexVersion.V1)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_signed_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date32(kind)
    )


def _as_doubles(numbers: pa.Array) -> NDArray[np.float64]:
    doubles: NDArray[np.float64] = numbers.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    return doubles


def _is_there(values: pa.Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = values.is_valid().to_numpy(zero_copy_only=False)
    return found


def _java_text(value: str) -> str:
    """What Java's `toString` makes of this fraction; a text that is none stays as it is."""
    try:
        number = Decimal(value)
    except InvalidOperation:
        return value
    sign, digits, exponent = number.normalize().as_tuple()
    minus = "-" if sign else ""
    if not isinstance(exponent, int):
        return "NaN" if number.is_nan() else f"{minus}Infinity"
    if not number or _LEAST_PLAIN <= abs(number) < _MOST_PLAIN:
        plain = f"{number:f}"
        return plain if "." in plain else f"{plain}.0"
    shown = "".join(map(str, digits))
    return f"{minus}{shown[0]}.{shown[1:] or '0'}E{exponent + len(digits) - 1}"
