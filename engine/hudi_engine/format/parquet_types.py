"""What the values of a Parquet file's columns are, from the schema in its footer, as Arrow types."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

_TYPE, _LENGTH, _REPETITION, _NAME, _CHILDREN, _CONVERTED, _SCALE, _PRECISION, _LOGICAL = 1, 2, 3, 4, 5, 6, 7, 8, 10
_STRING, _ENUM, _DECIMAL, _DATE, _TIME, _TIMESTAMP, _INTEGER, _JSON, _BSON = 1, 4, 5, 6, 7, 8, 10, 12, 13
_CLOCK: Final[Mapping[int, Any]] = {1: None, 2: {1: {}, 2: {}, 3: {}}}
_KNOWN_LOGICAL: Final = (_STRING, 2, 3, _ENUM, _DATE, 11, _JSON, _BSON, 14, 15)
WANTED: Final[Mapping[int, Any]] = {
    **dict.fromkeys((_TYPE, _LENGTH, _REPETITION, _NAME, _CHILDREN, _CONVERTED, _SCALE, _PRECISION)),
    _LOGICAL: {
        **{each: {} for each in _KNOWN_LOGICAL},
        _DECIMAL: {1: None, 2: None},
        _TIME: _CLOCK,
        _TIMESTAMP: _CLOCK,
        _INTEGER: {1: None, 2: None},
    },
}
"""What to keep of each element of the schema, by field number."""

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = range(8)
"""How values are stored."""

_REQUIRED, _REPEATED = 0, 2
_MOST_DIGITS: Final = 38
_LONGEST_FIXED: Final = 1 << 31
_UNITS: Final = {1: "ms", 2: "us", 3: "ns"}
_CONVERTED_BYTES: Final = {0: pa.string(), 4: pa.binary(), 19: pa.binary(), 20: pa.binary()}
_CONVERTED_INT32: Final = {6: pa.date32(), 7: pa.time32("ms"), 15: pa.int32(), 16: pa.int32(), 17: pa.int32()}
_CONVERTED_INT64: Final = {
    8: pa.time64("us"),
    9: pa.timestamp("ms", "UTC"),
    10: pa.timestamp("us", "UTC"),
    18: pa.int64(),
}
_PLAIN: Final = {
    BOOLEAN: pa.bool_(),
    INT32: pa.int32(),
    INT64: pa.int64(),
    FLOAT: pa.float32(),
    DOUBLE: pa.float64(),
    BYTE_ARRAY: pa.binary(),
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """`kind` None: values in an order of which nothing is known here, such as that of numbers without a sign."""

    stored: int
    kind: pa.DataType | None
    is_required: bool
    is_repeated: bool


def leaves_of(schema: Sequence[Mapping[int, Any]]) -> dict[str, Leaf]:
    """By dotted path the columns that hold values. A schema that is not a tree raises what its reader expects."""
    elements = iter(schema)
    root = next(elements, None)
    if root is None:
        raise ValueError("a schema without a root")
    found = dict(_below(elements, root.get(_CHILDREN) or 0, (), (True, False)))
    if next(elements, None) is not None:
        raise ValueError("elements of a schema that belong to nothing")
    return found


def _below(
    elements: Iterator[Mapping[int, Any]], count: int, path: tuple[str, ...], above: tuple[bool, bool]
) -> Iterator[tuple[str, Leaf]]:
    for _ in range(count):
        element = next(elements, None)
        if element is None or len(path) > 100:
            raise ValueError("a schema that ends inside of a group, or never")
        inner = (*path, element[_NAME].decode())
        repetition = element.get(_REPETITION, _REQUIRED)
        is_required, is_repeated = above[0] and repetition == _REQUIRED, above[1] or repetition == _REPEATED
        if _TYPE in element:
            stored = element[_TYPE]
            yield ".".join(inner), Leaf(stored, _kind(stored, element), is_required, is_repeated)
        else:
            yield from _below(elements, element.get(_CHILDREN) or 0, inner, (is_required, is_repeated))


def _kind(stored: int, element: Mapping[int, Any]) -> pa.DataType | None:
    logical = element.get(_LOGICAL)
    if logical:
        return _by_logical(stored, *next(iter(logical.items())))
    converted = element.get(_CONVERTED)
    if converted is not None:
        return _by_converted(stored, converted, element)
    if logical is not None:  # an annotation of a kind that came later
        return None
    if stored == FIXED:
        return pa.binary(element[_LENGTH]) if 0 < element[_LENGTH] < _LONGEST_FIXED else None
    return _PLAIN.get(stored)


def _by_logical(stored: int, annotation: int, about: Any) -> pa.DataType | None:
    unit = next(iter(about.get(2) or (0,)), 0) if annotation in {_TIME, _TIMESTAMP} else 0
    kind: pa.DataType | None = None
    match stored, annotation:
        case _, _ if annotation == _DECIMAL:
            kind = _decimal(stored, about.get(2), about.get(1))
        case (6, 1):
            kind = pa.string()
        case (6, (4 | 12 | 13)):
            kind = pa.binary()
        case (1, 6):
            kind = pa.date32()
        case (1, 7) if unit == 1:
            kind = pa.time32("ms")
        case (2, 7) if unit == 2:
            kind = pa.time64("us")
        case (2, 8) if unit in _UNITS:
            kind = pa.timestamp(_UNITS[unit], "UTC" if about.get(1) else None)
        case ((1 | 2), 10) if about.get(2):
            kind = _PLAIN[stored]
    return kind


def _by_converted(stored: int, converted: int, element: Mapping[int, Any]) -> pa.DataType | None:
    if converted == 5:
        return _decimal(stored, element.get(_PRECISION), element.get(_SCALE, 0))
    by_stored: dict[int, Mapping[int, pa.DataType]] = {
        INT32: _CONVERTED_INT32,
        INT64: _CONVERTED_INT64,
        BYTE_ARRAY: _CONVERTED_BYTES,
    }
    return by_stored.get(stored, {}).get(converted)


def _decimal(stored: int, precision: object, scale: object) -> pa.DataType | None:
    if not isinstance(precision, int) or not isinstance(scale, int) or stored not in {INT32, INT64, BYTE_ARRAY, FIXED}:
        return None
    return pa.decimal128(precision, scale) if 0 <= scale <= precision <= _MOST_DIGITS and precision else None
