"""Floating-point numbers as Java up to release 18 writes them, which Spark 3.5 runs on.

Releases from 19 on write the shortest text that tells a number apart; older ones may write more digits, or others:
4.3426376111081888E16 needs no last digit, and 2.0E23 becomes 1.9999999999999998E23.
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.index.java_digits import POWERS_OF_TEN, Decimals, decimals

_ROWS_AT_ONCE: Final = 1 << 15
_DIGITS: Final = 19
# A sign, a zero or two, the digits, the point and an exponent with its sign.
_WIDTH: Final = 32
_NAMES: Final = ("NaN", "Infinity", "-Infinity")


def fraction_texts(values: Any) -> Any:
    """What `Float.toString` or `Double.toString` make of an array of such numbers, by its type; null for null."""
    filled = values.fill_null(0.0).to_numpy(zero_copy_only=False)
    pieces = [_texts(filled[first : first + _ROWS_AT_ONCE]) for first in range(0, len(filled), _ROWS_AT_ONCE)]
    texts = pa.concat_arrays([pa.array([], pa.large_string()), *pieces])
    return pc.if_else(values.is_valid(), texts, None) if values.null_count else texts


def _texts(numbers: Any) -> Any:
    found = Decimals.blank(len(numbers))
    rows = np.flatnonzero(np.isfinite(numbers) & (numbers != 0))
    found.put(rows, decimals(np.abs(numbers[rows])))
    texts = _shown(found, np.signbit(numbers))
    for is_odd, name in zip((np.isnan(numbers), numbers == np.inf, numbers == -np.inf), _NAMES, strict=True):
        if is_odd.any():
            texts = pc.if_else(pa.array(is_odd), name, texts)
    return texts


def _shown(numbers: Decimals, is_negative: Any) -> Any:
    """Sign, digits with a point, and an exponent for what is not from 0.001 to below 10 million."""
    is_plain = (numbers.point > -3) & (numbers.point < 8)
    zeros = np.where(is_plain, np.maximum(0, 1 - numbers.point), 0)
    point = np.where(is_plain, np.maximum(1, numbers.point), 1)
    ends = is_negative + np.maximum(zeros + numbers.count, point + 1) + 1
    digits = _characters(numbers)
    out = np.full((len(digits), _WIDTH), ord("0"), np.uint8)
    # Texts of one shape are laid out together; there are not many shapes.
    shapes = (is_negative * 64 + zeros * 16 + point).astype(np.int64)
    for shape in np.unique(shapes).tolist():
        rows = np.flatnonzero(shapes == shape)
        sign, lead, dot = shape // 64, shape // 16 % 4, shape % 16
        laid = np.full((len(rows), _WIDTH), ord("0"), np.uint8)
        laid[:, :sign] = ord("-")
        laid[:, sign + dot] = ord(".")
        whole, behind = max(0, dot - lead), sign + dot + 1 + max(0, lead - dot)
        laid[:, sign + dot - whole : sign + dot] = digits[rows, :whole]
        laid[:, behind : behind + _DIGITS - whole] = digits[rows, whole:]
        out[rows] = laid
    _add_exponents(out, ends, np.flatnonzero(~is_plain), numbers.point - 1)
    offsets = np.concatenate([[0], np.cumsum(ends)])
    data = out[np.arange(_WIDTH) < ends[:, None]]
    return pa.Array.from_buffers(pa.large_string(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _add_exponents(out: Any, ends: Any, rows: Any, exponents: Any) -> None:
    for row, exponent in zip(rows.tolist(), exponents[rows].tolist(), strict=True):
        tail = f"E{exponent}".encode()
        out[row, ends[row] : ends[row] + len(tail)] = np.frombuffer(tail, np.uint8)
        ends[row] += len(tail)


def _characters(numbers: Decimals) -> Any:
    """The digits of each number, with zeros behind them."""
    out = np.empty((len(numbers.digits), _DIGITS), np.uint8)
    rest = numbers.digits * POWERS_OF_TEN[_DIGITS - numbers.count]
    for place in range(_DIGITS - 1, -1, -1):
        rest, digit = np.divmod(rest, np.uint64(10))
        out[:, place] = digit + np.uint64(ord("0"))
    return out
