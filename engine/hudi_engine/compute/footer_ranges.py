"""The ranges of a base file's columns from its Parquet footer, as Hudi reads them, but for bounds that are none.

Where they differ, queries of Java that skip files by Java's own bounds lose rows:
- Of a column with NaN Java takes both bounds for 0.0 (#18754). Here the greatest is infinity. It is not NaN, though
  that comes last in Spark's order: Hudi asks a cached frame of all bounds, and what Spark knows of a batch of that
  leaves NaN out. A query for what is beyond all other bounds would find no file, not even one with numbers. To NaN
  itself no query is led, be the bound what it may.
- Of a column without statistics, since its texts are long, Java takes all values for nulls (#18755; #18792 would
  mend both). Here the bounds are as wide as the type, and one value at least is none.
- Of a column that came after the file was written Java says nothing, and its queries that ask for nulls in it and for
  another column drop the file. Here it is all nulls.
"""

import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pyarrow as pa
from pyarrow import types

from hudi_engine.errors import CorruptFile
from hudi_engine.format import parquet_types
from hudi_engine.format.parquet_footer import ColumnChunk, Footer
from hudi_engine.format.parquet_types import Leaf
from hudi_engine.index.column_range import Bound, ColumnRange, greater, lesser, widest_bounds
from hudi_engine.index.stats_entries import value_type_of

# Parquet's old and new lists; Hudi names statistics by the new ones.
_OLD_LIST: Final = re.compile(r"\.array(?=\.|$)")
_NUMBERS: Final = {
    parquet_types.BOOLEAN: struct.Struct("<?"),
    parquet_types.INT32: struct.Struct("<i"),
    parquet_types.INT64: struct.Struct("<q"),
    parquet_types.FLOAT: struct.Struct("<f"),
    parquet_types.DOUBLE: struct.Struct("<d"),
}
_NOUGHT: Final[dict[int, Bound]] = {
    parquet_types.BOOLEAN: False,
    parquet_types.INT32: 0,
    parquet_types.INT64: 0,
    parquet_types.FLOAT: 0.0,
    parquet_types.DOUBLE: 0.0,
}
_NO_LEAF: Final = Leaf(parquet_types.BYTE_ARRAY, None, False, False)
_TELLS_NAN: Final = "parquet-mr"
Ranges = tuple[ColumnRange, ...]


class FooterRanges:
    """Reads the ranges of these columns from one footer after another; what a schema means for them is settled once.

    Of a file that has values in an order that Hudi's statistics do not know there are none: Java makes no entries at
    all for such a file. Nothing is said of columns that are lists, maps or structs.
    """

    def __init__(self, columns: Iterable[str]) -> None:
        self._columns = tuple(columns)
        self._last: tuple[Mapping[str, Leaf], tuple[_Column, ...] | None] | None = None

    def of(self, footer: Footer, partition: str, name: str) -> Ranges | None:
        last = self._last
        if last is None or last[0] is not footer.leaves:
            last = self._last = footer.leaves, _columns_of(footer.leaves, self._columns)
        columns = last[1]
        if columns is None:
            return None
        chunks: dict[str, list[ColumnChunk]] = {}
        for chunk in footer.chunks:
            chunks.setdefault(chunk.path, []).append(chunk)
        return tuple(
            ColumnRange(partition, name, column.name, None, None, None, footer.rows, footer.rows, 0, 0)
            if column.path is None
            else _range(footer, column, chunks.get(column.path, ()), (partition, name))
            for column in columns
        )


@dataclass(frozen=True, slots=True)
class _Column:
    """A column by its name and by where the file has it; without a path it came later than the file."""

    name: str
    path: str | None
    leaf: Leaf
    kind: pa.DataType
    read: Callable[[bytes, ColumnChunk], Bound | None]


def _columns_of(leaves: Mapping[str, Leaf], names: Iterable[str]) -> tuple[_Column, ...] | None:
    """None if one has values of an unknown order."""
    paths = {_OLD_LIST.sub(".list.element", path): path for path in leaves}
    found: list[_Column] = []
    for name in names:
        path = paths.get(name)
        if path is None:
            if not any(each.startswith(f"{name}.") for each in paths):
                found.append(_Column(name, None, _NO_LEAF, pa.null(), lambda *_: None))
            continue
        leaf = leaves[path]
        if leaf.kind is None or value_type_of(leaf.kind) is None:
            return None
        found.append(_Column(name, path, leaf, leaf.kind, _reader(leaf, leaf.kind)))
    return tuple(found)


def _range(footer: Footer, column: _Column, chunks: Sequence[ColumnChunk], file: tuple[str, str]) -> ColumnRange:
    least: Bound | None = None
    greatest: Bound | None = None
    values = nulls = stored_bytes = raw_bytes = 0
    for chunk in chunks:
        stored_bytes += chunk.stored_bytes
        raw_bytes += chunk.raw_bytes
        if not chunk.values:
            continue  # Java writes no row group without rows, others do: nothing is known to have no bounds there
        values += chunk.values
        nulls += _nulls(chunk, column.leaf)
        low, high = _bounds(chunk, column, footer.writer)
        least = low if least is None else lesser(least, low)
        greatest = high if greatest is None else greater(greatest, high)
    if values != footer.rows and not column.leaf.is_repeated:  # queries would skip the file for rows that it has
        raise CorruptFile(f"{values} values of {column.path} in a Parquet footer of {footer.rows} rows", 0)
    return ColumnRange(*file, column.name, column.kind, least, greatest, values, nulls, stored_bytes, raw_bytes)


def _nulls(chunk: ColumnChunk, leaf: Leaf) -> int:
    """Where nobody knows, all but one: Java's queries then find the file whether they ask for nulls or for values."""
    if chunk.nulls is None:
        return 0 if leaf.is_required else max(0, chunk.values - 1)
    if chunk.nulls > chunk.values:
        raise CorruptFile(f"{chunk.nulls} nulls among {chunk.values} values of {chunk.path} in a Parquet footer", 0)
    return chunk.nulls


def _bounds(chunk: ColumnChunk, column: _Column, writer: str) -> tuple[Bound | None, Bound | None]:
    leaf = column.leaf
    if chunk.nulls == chunk.values:
        nought = _of_nulls(leaf)
        return nought, nought
    if chunk.bounds is None or (chunk.has_old_bounds and leaf.stored not in _NUMBERS):
        return widest_bounds(column.kind)
    least, greatest = (column.read(bound, chunk) for bound in chunk.bounds)
    if least is None or greatest is None:
        low, high = widest_bounds(column.kind)
        least, greatest = low if least is None else least, high if greatest is None else greatest
    if isinstance(least, float) and isinstance(greatest, float):
        return _of_floats(least, greatest, writer)
    return (least, greatest) if lesser(least, greatest) == least else widest_bounds(column.kind)


def _of_nulls(leaf: Leaf) -> Bound | None:
    """Without a value Parquet's Java has a nought for a number, and nothing for what is kept as bytes."""
    nought = _NOUGHT.get(leaf.stored)
    assert leaf.kind is not None
    return Decimal(f"0e-{leaf.kind.scale}") if nought is not None and types.is_decimal(leaf.kind) else nought


def _of_floats(least: float, greatest: float, writer: str) -> tuple[Bound, Bound]:
    """Bounds with room for either nought, as Parquet's Java makes it, and for NaN.

    Parquet's Java takes NaN for the greatest number when it writes; other writers leave it out without a trace.
    """
    if not writer.startswith(_TELLS_NAN):
        greatest = math.inf
    low = -math.inf if math.isnan(least) else least
    high = math.inf if math.isnan(greatest) else greatest
    return -0.0 if low == 0 else low, 0.0 if high == 0 else high


def _reader(leaf: Leaf, kind: pa.DataType) -> Callable[[bytes, ColumnChunk], Bound | None]:
    """Reads a bound; None for what is no value of the type, a text cut inside of a character, say."""
    number, is_decimal = _NUMBERS.get(leaf.stored), types.is_decimal(kind)

    def read_number(bound: bytes, chunk: ColumnChunk) -> Bound | None:
        assert number is not None
        if len(bound) != number.size:
            raise CorruptFile(f"a bound of {len(bound)} bytes for {chunk.path}, {kind}, in a Parquet footer", 0)
        value: int | float = number.unpack(bound)[0]
        return Decimal(f"{value}e-{kind.scale}") if is_decimal else value

    def read_decimal(bound: bytes, _: ColumnChunk) -> Bound | None:
        return Decimal(f"{int.from_bytes(bound, 'big', signed=True)}e-{kind.scale}") if bound else None

    if number is not None:
        return read_number
    if is_decimal:
        return read_decimal
    return (lambda bound, _: _text(bound)) if types.is_string(kind) else (lambda bound, _: bound)


def _text(bound: bytes) -> str | None:
    try:
        return bound.decode()
    except UnicodeDecodeError:
        return None
