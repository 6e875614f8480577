"""Indexes as lists of entries that compare with what Java says of them (`tests/golden/expected_indexes.py`)."""

import base64
import struct
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from hudi_engine.index.index import Index
from hudi_engine.index.kinds import IndexKind
from hudi_engine.table.zone import at_time

# By the name of Java's wrapper: our field of the bound, and how its text is read.
_WRAPPERS: Mapping[str, tuple[str, Any]] = {
    "BooleanWrapper": ("boolean", lambda text: text == "true"),
    "IntWrapper": ("int", int),
    "LongWrapper": ("long", int),
    "FloatWrapper": ("float", lambda text: _bits("f", float(text))),
    "DoubleWrapper": ("double", lambda text: _bits("d", float(text))),
    "BytesWrapper": ("bytes", bytes.fromhex),
    "StringWrapper": ("string", str),
    # 0.15.0 wraps dates as numbers and decimals as bytes when it reads and rewrites them.
    "DateWrapper": ("int", int),
    "DecimalWrapper": ("bytes", lambda text: _unscaled(Decimal(text))),
    "TimeMicrosWrapper": ("time_micros", int),
    "TimestampMicrosWrapper": ("timestamp_micros", int),
    "LocalDateWrapper": ("local_date", int),
}
_NUMBERS = {"date": pa.int32(), "local_date": pa.int32(), "time_micros": pa.int64(), "timestamp_micros": pa.int64()}
_UTC = ZoneInfo("UTC")
Entry = dict[str, Any]


def entries_of(index: Index) -> list[Entry]:
    """Every entry of an index as we read it, in an order of its own that both sides have; writers ran in UTC."""
    rows = pa.concat_tables([index.family.schema.empty_table(), *index.scan()])
    return ordered(_entries(rows.drop_columns("is_deleted"), index.kind))


def expected_entries(found: Iterable[Entry]) -> list[Entry]:
    """The entries that Java found, in the same words."""
    return ordered([{name: _plain(name, value) for name, value in each.items()} for each in found])


def ordered(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda each: (each["key"], str(each.get("name")), str(each.get("partition"))))


def _entries(rows: pa.Table, kind: IndexKind) -> list[Entry]:
    if "min" in rows.column_names:
        for name in ("min", "max"):
            rows = rows.set_column(rows.schema.get_field_index(name), name, pa.chunked_array([_raw(rows[name])]))
    found: list[Entry] = rows.to_pylist()
    for each in found:
        if kind is IndexKind.RECORD_INDEX:
            each["instant"] = at_time(each["instant_ms"], _UTC)
        if "bloom_filter" in each:
            each["bloom_filter"] = base64.b64encode(each["bloom_filter"]).decode()
        for name in ("min", "max"):
            if name in each:
                each[name] = _bound(each[name])
    return found


def _raw(bounds: pa.ChunkedArray) -> pa.StructArray:
    """Bounds whose days and microseconds are numbers, as Java's wrappers have them."""
    flat = pa.concat_arrays([pa.array([], bounds.type), *bounds.chunks])
    children = [
        child.cast(_NUMBERS[field.name]) if field.name in _NUMBERS else child
        for field, child in zip(bounds.type, flat.flatten(), strict=True)
    ]
    return pa.StructArray.from_arrays(children, names=[field.name for field in bounds.type], mask=flat.is_null())


def _bound(wrappers: Entry | None) -> tuple[str, Any] | None:
    held = [(name, value) for name, value in (wrappers or {}).items() if value is not None]
    if not held:
        return None
    ((name, value),) = held
    if name == "decimal":
        return "bytes", _unscaled(value)
    if name == "date":
        return "int", value
    return name, _bits("f" if name == "float" else "d", value) if name in {"float", "double"} else value


def _plain(name: str, value: Any) -> Any:
    if name not in {"min", "max"} or value is None:
        return value
    field, read = _WRAPPERS[value["kind"]]
    return field, read(value["value"])


def _unscaled(value: Decimal) -> bytes:
    """The bytes of a decimal of scale 15, as few as hold its sign."""
    number = int(value.scaleb(15))
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def _bits(kind: str, number: float) -> bytes:
    """A number by its bits, so that NaN is itself and zeros of both signs differ."""
    return struct.pack(f">{kind}", number)
