"""The ranges of a base file's columns from its Parquet footer, as Hudi reads them, but for bounds that are none.

Where they differ, queries of Java that skip files by Java's own bounds lose rows:
- Of a column with NaN Java takes both bounds for 0.0 (#18754). Here the greatest is NaN, as it is in Spark's order.
- Of a column without statistics, since its texts are long, Java takes all values for nulls (#18755; #18792 would
  mend both). Here the bounds are as wide as the type, and one value at least is none.
- Of a column that came after the file was written Java says nothing, and its queries that ask for nulls in it and for
  another column drop the file. Here it is all nulls.
"""

import math
import re
import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

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
_TELLS_NAN: Final = "parquet-mr"
Ranges = tuple[ColumnRange, ...]


def ranges_of_footer(footer: Footer, partition: str, name: str, columns: Iterable[str]) -> Ranges | None:
    """Of each column its range; None if it has values in an order that Hudi's statistics do not know.

    Java makes no entries at all for such a file then. Nothing is said of columns that are lists, maps or structs.
    """
    paths = {_OLD_LIST.sub(".list.element", path): path for path in footer.leaves}
    found: list[ColumnRange] = []
    for column in columns:
        path = paths.get(column)
        if path is None:
            if not any(each.startswith(f"{column}.") for each in paths):
                found.append(ColumnRange(partition, name, column, None, None, None, footer.rows, footer.rows, 0, 0))
            continue
        leaf = footer.leaves[path]
        if leaf.kind is None or value_type_of(leaf.kind) is None:
            return None
        found.append(_range(footer, path, ColumnRange(partition, name, column, leaf.kind, None, None, 0, 0, 0, 0)))
    return tuple(found)


def _range(footer: Footer, path: str, blank: ColumnRange) -> ColumnRange:
    leaf, chunks = footer.leaves[path], [chunk for chunk in footer.chunks if chunk.path == path]
    least: Bound | None = None
    greatest: Bound | None = None
    nulls = 0
    for chunk in chunks:
        if not chunk.values:
            continue  # Java writes no row group without rows, others do: nothing is known to have no bounds there
        nulls += _nulls(chunk, leaf)
        low, high = _bounds(chunk, leaf, footer.writer)
        least, greatest = lesser(least, low), greater(greatest, high)
    return ColumnRange(
        partition=blank.partition,
        file_name=blank.file_name,
        column=blank.column,
        kind=leaf.kind,
        least=least,
        greatest=greatest,
        value_count=sum(chunk.values for chunk in chunks),
        null_count=nulls,
        total_bytes=sum(chunk.stored_bytes for chunk in chunks),
        total_raw_bytes=sum(chunk.raw_bytes for chunk in chunks),
    )


def _nulls(chunk: ColumnChunk, leaf: Leaf) -> int:
    """Where nobody knows, all but one: Java's queries then find the file whether they ask for nulls or for values."""
    if chunk.nulls is None:
        return 0 if leaf.is_required else max(0, chunk.values - 1)
    if chunk.nulls > chunk.values:
        raise CorruptFile(f"{chunk.nulls} nulls among {chunk.values} values of {chunk.path} in a Parquet footer", 0)
    return chunk.nulls


def _bounds(chunk: ColumnChunk, leaf: Leaf, writer: str) -> tuple[Bound | None, Bound | None]:
    kind = leaf.kind
    assert kind is not None
    if not chunk.values:
        return None, None
    if chunk.nulls == chunk.values:
        nought = _of_nulls(leaf)
        return nought, nought
    if chunk.bounds is None or (chunk.has_old_bounds and leaf.stored not in _NUMBERS):
        return widest_bounds(kind)
    found = tuple(_read(bound, leaf, chunk) for bound in chunk.bounds)
    least, greatest = (own if own is not None else wide for own, wide in zip(found, widest_bounds(kind), strict=True))
    if isinstance(least, float) and isinstance(greatest, float):
        return _of_floats(least, greatest, writer)
    return (least, greatest) if lesser(least, greatest) == least else widest_bounds(kind)


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
        greatest = math.nan
    low = -math.inf if math.isnan(least) else least
    return -0.0 if low == 0 else low, 0.0 if greatest == 0 else greatest


def _read(bound: bytes, leaf: Leaf, chunk: ColumnChunk) -> Bound | None:
    """The value; None for what is no value of the type, a text cut inside of a character, say."""
    kind = leaf.kind
    assert kind is not None
    if leaf.stored in _NUMBERS:
        reader = _NUMBERS[leaf.stored]
        if len(bound) != reader.size:
            raise CorruptFile(f"a bound of {len(bound)} bytes for {chunk.path}, {kind}, in a Parquet footer", 0)
        number: int | float = reader.unpack(bound)[0]
        return Decimal(f"{number}e-{kind.scale}") if types.is_decimal(kind) else number
    if types.is_decimal(kind):
        return Decimal(f"{int.from_bytes(bound, 'big', signed=True)}e-{kind.scale}") if bound else None
    if types.is_string(kind):
        return _text(bound)
    return bound


def _text(bound: bytes) -> str | None:
    try:
        return bound.decode()
    except UnicodeDecodeError:
        return None
