"""Records that say where a key's row is."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Unsupported
from hudi_engine.index.payloads.family import Family
from hudi_engine.index.payloads.newest import last_places, newest_wins
from hudi_engine.index.payloads.records import (
    IS_DELETED,
    KEY,
    LIVES,
    Wanted,
    as_type,
    child,
    child_or,
    records,
    require_values,
)

_WANTED: Final = Wanted("recordIndexMetadata", (5,))
_SCHEMA: Final = pa.schema(
    [
        KEY,
        ("partition", pa.string()),
        ("file_id", pa.string()),
        ("instant_ms", pa.int64()),
        ("position", pa.int64()),
        IS_DELETED,
    ]
)
_AS_UUID, _VERBATIM = 0, 1
_NO_FILE_INDEX: Final = pa.scalar(-1, pa.int32())
_DASH: Final = pa.scalar("-", pa.string())
_NO_POSITION: Final = pa.scalar(None, pa.int64())
_UUID_CHARACTERS: Final = 36
_DASHES: Final = (8, 13, 18, 23)
_DIGITS: Final = np.array([number for number in range(_UUID_CHARACTERS) if number not in _DASHES])
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)


def _columns(entries: pa.Table, written: str) -> Iterator[list[Any]]:
    for keys, found in records(entries, written, _WANTED):
        yield [
            keys,
            require_values(child(found, "partitionName"), "the partition of a location"),
            _file_ids(found),
            require_values(child(found, "instantTime"), "the instant of a location"),
            child_or(found, "position", _NO_POSITION),
            pa.repeat(LIVES, len(keys)),
        ]


def _file_ids(found: Any) -> Any:
    """File ids, by the encoding that each record names."""
    encoding = _numbers(child(found, "fileIdEncoding"), np.int32, "an encoding of its file id")
    strange = encoding[(encoding != _AS_UUID) & (encoding != _VERBATIM)]
    if strange.size:
        raise Unsupported(
            f"a record index with file ids in encoding {int(strange[0])}, expected {_AS_UUID} or {_VERBATIM}. "
            "Use a newer engine; nothing was changed."
        )
    is_verbatim = encoding == _VERBATIM
    if is_verbatim.all():
        return require_values(child(found, "fileId"), "the file id of a location")
    made = _assembled(found.filter(pa.array(~is_verbatim)) if is_verbatim.any() else found)
    if not is_verbatim.any():
        return made
    places = np.where(is_verbatim, np.arange(len(found)), len(found) + np.cumsum(~is_verbatim) - 1)
    verbatim = as_type(child(found, "fileId"), pa.string())
    return require_values(pa.concat_arrays([verbatim, made]).take(pa.array(places)), "the file id of a location")


def _assembled(found: Any) -> Any:
    """File ids of a UUID, given as two numbers, and of the file's number in its task, which older ones lack."""
    halves = [_numbers(child(found, name), np.int64, name) for name in ("fileIdHighBits", "fileIdLowBits")]
    # Millions of keys are in few file groups, so that texts are made once for each.
    places, rows = _distinct([*halves, _numbers(child(found, "fileIndex"), np.int32, "fileIndex").astype(np.int64)])
    numbers = child(found, "fileIndex").take(pa.array(rows))
    uuids = _uuids(np.stack([half[rows] for half in halves], axis=1))
    texts = pc.binary_join_element_wise(uuids, pc.cast(numbers, pa.string()), _DASH)
    return pc.if_else(pc.equal(numbers, _NO_FILE_INDEX), uuids, texts).take(places)


def _distinct(columns: list[npt.NDArray[np.int64]]) -> tuple[Any, npt.NDArray[np.int64]]:
    """For each row the number of its combination of values, and a row for each such number."""
    numbers = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        encoded = pa.array(column).dictionary_encode()
        numbers = numbers * len(encoded.dictionary) + encoded.indices.to_numpy()
        numbers = pa.array(numbers).dictionary_encode().indices.to_numpy().astype(np.int64)
    return pa.array(numbers), last_places(numbers)


def _uuids(halves: npt.NDArray[np.int64]) -> Any:
    octets = halves.astype(">i8").view(np.uint8)
    nibbles = np.empty((len(octets), 32), np.uint8)
    nibbles[:, 0::2], nibbles[:, 1::2] = octets >> 4, octets & 15
    text = np.full((len(octets), _UUID_CHARACTERS), ord("-"), np.uint8)
    text[:, _DIGITS] = _HEX[nibbles]
    borders = np.arange(len(octets) + 1, dtype=np.int32) * np.int32(_UUID_CHARACTERS)
    return pa.Array.from_buffers(pa.string(), len(octets), [None, pa.py_buffer(borders), pa.py_buffer(text)])


def _numbers(values: Any, kind: type[np.generic], what: str) -> npt.NDArray[Any]:
    wanted = as_type(require_values(values, what), pa.from_numpy_dtype(kind))
    return np.asarray(wanted.to_numpy(zero_copy_only=False), dtype=kind)


RECORD_INDEX: Final = Family(_SCHEMA, _columns, newest_wins)
"""`instant_ms` is the location's instant as milliseconds since 1970, taken by its writer in its own time zone."""
