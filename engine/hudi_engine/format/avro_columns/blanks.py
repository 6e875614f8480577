"""Rows for values that are not there.

Arrow's own nulls of a struct are null in its required fields too, and then no cast to that very type lets them pass.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hudi_engine.errors import Unsupported

_WIDEST: Final = 16
"""Bytes of the widest number, a decimal."""
_CELLS_PER_BYTE: Final = 16
_CELLS_OF_LITTLE: Final = 1 << 25


def require_room(kinds: Iterable[pa.DataType], rows: int, size: int) -> None:
    """Refuse to make far more values than there are bytes, as a null of one byte may stand for a very wide record."""
    cells = rows * sum(map(_cells, kinds))
    if cells > max(_CELLS_OF_LITTLE, _CELLS_PER_BYTE * size):
        raise Unsupported(f"{rows} Avro values in {size} bytes that would become {cells} values in columns")


def _cells(kind: pa.DataType) -> int:
    return 1 + sum(_cells(field.type) for field in kind) if pa.types.is_struct(kind) else 1


def nulls(kind: pa.DataType, count: int) -> pa.Array:
    """Nulls, beneath which the required fields of a struct still have values."""
    if not pa.types.is_struct(kind):
        return pa.nulls(count, kind)
    return _zeros(kind, count, pa.py_buffer(bytes(_WIDEST * (count + 1))), is_null=True)


def spread(dense: pa.Array, is_there: npt.NDArray[np.bool_]) -> pa.Array:
    """The values of `dense` in the rows where one is there, and null in the others."""
    places = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
    if not pa.types.is_struct(dense.type):
        return dense.take(pa.array(places, mask=~is_there))
    places[~is_there] = len(dense)
    return pa.concat_arrays([dense, nulls(dense.type, 1)]).take(pa.array(places))


def _zeros(kind: pa.DataType, count: int, zeros: pa.Buffer, *, is_null: bool) -> pa.Array:
    # No bits, no numbers and no lengths: the same zeros serve all arrays, so that a wide struct costs little memory.
    bitmap = zeros if is_null else None
    if pa.types.is_struct(kind):
        children = [_zeros(field.type, count, zeros, is_null=field.nullable) for field in kind]
        return pa.Array.from_buffers(kind, count, [bitmap], children=children)
    if pa.types.is_list(kind):
        return pa.Array.from_buffers(kind, count, [bitmap, zeros], children=[pa.nulls(0, kind.value_type)])
    if pa.types.is_map(kind):
        entries = pa.nulls(0, pa.struct([kind.key_field, kind.item_field]))
        return pa.Array.from_buffers(kind, count, [bitmap, zeros], children=[entries])
    if pa.types.is_null(kind):
        return pa.nulls(count, kind)
    if pa.types.is_fixed_size_binary(kind) and kind.byte_width > _WIDEST:
        return pa.Array.from_buffers(kind, count, [bitmap, pa.nulls(count, kind).buffers()[1]])
    return pa.Array.from_buffers(kind, count, [bitmap, zeros, zeros][: kind.num_buffers])
