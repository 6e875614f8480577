"""What lies in memory behind an Arrow array of texts or binaries."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def bytes_of(values: Any) -> tuple[memoryview, npt.NDArray[np.int64]]:
    """The bytes that the values are slices of, and where in them each begins and, at the end, where the last one ends.

    Nothing is copied but the borders of types with 32-bit ones. Bytes before the first border are of no concern.
    """
    if not len(values):
        return memoryview(b""), np.zeros(1, np.int64)  # an empty array need not have buffers
    _, offsets, data = values.buffers()
    is_large = pa.types.is_large_string(values.type) or pa.types.is_large_binary(values.type)
    borders = np.frombuffer(offsets, np.int64 if is_large else np.int32)[values.offset :][: len(values) + 1]
    return memoryview(data or b""), borders.astype(np.int64, copy=False)
