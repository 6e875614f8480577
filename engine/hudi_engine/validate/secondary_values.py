"""The values of an indexed column as fingerprints, the same for rows and for entries in any of Java's spellings."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.index.index import Index
from hudi_engine.index.indexable import is_indexable
from hudi_engine.index.secondary_values import Column, type_at
from hudi_engine.validate.fingerprints import Numbers, fingerprints, fingerprints_of_numbers
from hudi_engine.validate.subject import Subject


def prints(column: Column, stored: pa.Array) -> Numbers:
    """The fingerprints of the values of rows; of a null anything."""
    if not column.is_fraction:
        return fingerprints(column.texts(stored))
    return fingerprints_of_numbers(_as_doubles(column.values(stored)))


def prints_of_texts(column: Column, values: pa.Array) -> Numbers:
    """The fingerprints of the values of entries: those of `prints` for the same values, in any spelling."""
    if not column.is_fraction:
        return fingerprints(column.agreed(values))
    numbers = column.numbers(values)
    is_number = numbers.is_valid().to_numpy(zero_copy_only=False)
    return np.where(is_number, fingerprints_of_numbers(_as_doubles(numbers)), fingerprints(values))


def column_of(subject: Subject, index: Index) -> Column:
    """The column of a secondary index; `Unsupported` for one whose values Java may spell in more than one way."""
    definition, location = index.definition, subject.table.storage.location
    if definition is None:
        raise Contradiction(
            f"{location}: the index {index.name} is complete, and no definition says of which column it is. Drop it "
            "and create it again."
        )
    name = ".".join(definition.source_fields)
    kind = type_at(subject.table.row_schema(subject.snapshot), name)
    if kind is None:
        raise NotFound(
            f"{location}: the index {definition.name} is of the column {name!r}, which the table's rows do not have. "
            "Drop that index."
        )
    # Release 1.0 makes indexes of booleans, too.
    if not (is_indexable(kind) or pa.types.is_boolean(kind)):
        raise Unsupported(
            f"{index.name}: the column {name} is {kind}; validated are secondary indexes of texts, whole numbers, "
            "floating-point numbers, booleans, dates, and timestamps in microseconds. Leave this index out."
        )
    return Column(tuple(name.split(".")), kind, definition.version)


def _as_doubles(numbers: pa.Array) -> NDArray[np.float64]:
    doubles: NDArray[np.float64] = numbers.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    return doubles
