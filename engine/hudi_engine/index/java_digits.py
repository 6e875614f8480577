"""The decimal digits that Java up to release 18 finds for a floating-point number: not always the fewest, nor the best.

The steps are those of its `FloatingDecimal`, down to the width of its words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]

_FRACTION_BITS: Final = 52
_FRACTION: Final = (1 << _FRACTION_BITS) - 1
_LARGEST_WHOLE: Final = 62
# About the binary digits of a power of five; beyond the table Java takes three for each.
_BITS_OF_FIVES: Final = np.array([0, *(int(5**power).bit_length() for power in range(1, 27))])
_FIVES: Final = np.array([5**power for power in range(27)])
POWERS_OF_TEN: Final = np.array([10**power for power in range(20)], np.uint64)


@dataclass(frozen=True, slots=True)
class _Floats:
    """How numbers of a type are stored in their bits."""

    bits: type
    fraction_bits: int
    bias: int


_KINDS: Final = {np.dtype(np.float32): _Floats(np.uint32, 23, 127), np.dtype(np.float64): _Floats(np.uint64, 52, 1023)}


@dataclass(frozen=True, slots=True)
class _Binary:
    """Positive numbers: `fraction`, with 53 binary digits of which the first is 1, says what follows 2 to the power
    `exponent`; `significant` of its digits were stored."""

    fraction: Longs
    exponent: Longs
    significant: Longs

    def take(self, rows: Any) -> "_Binary":
        return _Binary(self.fraction[rows], self.exponent[rows], self.significant[rows])


@dataclass(frozen=True, slots=True)
class Decimals:
    """Positive numbers: as many digits as `count` says, and where the point is, from the first of them on."""

    digits: npt.NDArray[np.uint64]
    count: Longs
    point: Longs

    @staticmethod
    def blank(rows: int) -> "Decimals":
        return Decimals(np.zeros(rows, np.uint64), np.ones(rows, np.int64), np.ones(rows, np.int64))

    def put(self, rows: Any, some: "Decimals") -> None:
        self.digits[rows], self.count[rows], self.point[rows] = some.digits, some.count, some.point


@dataclass(frozen=True, slots=True)
class _Scaled:
    """The powers of 2 and 5 in dividend (beside the fraction), divisor and half the distance to the next number."""

    fraction: Longs
    b2: Longs
    b5: Longs
    s2: Longs
    s5: Longs
    m2: Longs
    exponent: Longs

    def take(self, rows: Any) -> "_Scaled":
        parts = (self.fraction, self.b2, self.b5, self.s2, self.s5, self.m2, self.exponent)
        return _Scaled(*(part[rows] for part in parts))


def decimals(numbers: Any) -> Decimals:
    """The digits of positive, finite numbers of either size."""
    return _digits(_parts(numbers, _KINDS[numbers.dtype]))


def _parts(numbers: Any, kind: _Floats) -> _Binary:
    bits = numbers.view(kind.bits).astype(np.int64)
    fraction = (bits & ((1 << kind.fraction_bits) - 1)) << (_FRACTION_BITS - kind.fraction_bits)
    exponent = bits >> kind.fraction_bits
    # Below the least normal number the first binary digit is not implied, and fewer are stored.
    lengths = np.frexp(fraction.astype(np.float64))[1].astype(np.int64)
    missing = np.where(exponent == 0, _FRACTION_BITS + 1 - lengths, 0)
    fraction = np.where(exponent == 0, fraction << missing, fraction | (1 << _FRACTION_BITS))
    exponent = np.where(exponent == 0, 1 - missing, exponent) - kind.bias
    return _Binary(fraction, exponent, kind.fraction_bits + 1 - missing)


def _digits(numbers: _Binary) -> Decimals:
    found = Decimals.blank(len(numbers.fraction))
    used = _FRACTION_BITS + 1 - _zeros_behind(numbers.fraction)
    behind_point = np.maximum(0, used - numbers.exponent - 1)
    is_whole = (behind_point == 0) & (numbers.exponent <= _LARGEST_WHOLE)
    found.put(is_whole, _whole(numbers.take(is_whole)))
    rows = np.flatnonzero(~is_whole)
    scaled, bits = _scaled(numbers.take(rows), used[rows], behind_point[rows])
    for most, least, divide in ((32, 0, _in_ints), (64, 32, _in_longs), (1 << 62, 64, _in_any_size)):
        some = (bits < most) & (bits >= least)
        found.put(rows[some], divide(scaled.take(some)))
    return found


def _zeros_behind(fraction: Longs) -> Longs:
    return np.frexp((fraction & -fraction).astype(np.float64))[1].astype(np.int64) - 1


def _whole(numbers: _Binary) -> Decimals:
    """Whole numbers: their digits, but for those that say less than the distance to the next number."""
    shift = numbers.exponent - _FRACTION_BITS
    value = np.where(shift > 0, numbers.fraction << np.maximum(shift, 0), numbers.fraction >> np.maximum(-shift, 0))
    beyond = numbers.exponent - numbers.significant - 1
    idle = np.where(beyond > 1, np.floor(np.maximum(beyond, 0) * np.log10(2)), 0).astype(np.int64)
    ten = POWERS_OF_TEN[idle].astype(np.int64)
    value, rest = np.divmod(value, ten)
    value += (idle > 0) & (rest >= ten >> 1)
    length = np.searchsorted(POWERS_OF_TEN, value.astype(np.uint64), side="right").astype(np.int64)
    point = length + idle
    while (ends := value % 10 == 0).any():
        value, length = np.where(ends, value // 10, value), length - ends
    return Decimals(value.astype(np.uint64), length, point)


def _scaled(numbers: _Binary, used: Longs, behind_point: Longs) -> tuple[_Scaled, Longs]:
    """And how many bits the larger of dividend and tenfold divisor has at most."""
    mantissa = ((1023 << _FRACTION_BITS) | (numbers.fraction & _FRACTION)).view(np.float64)
    guess = (mantissa - 1.5) * 0.289529654 + 0.176091259 + numbers.exponent * 0.301029995663981
    exponent = np.floor(guess).astype(np.int64)
    b5, s5 = np.maximum(0, -exponent), np.maximum(0, exponent)
    b2, s2 = b5 + behind_point + numbers.exponent, s5 + behind_point
    m2 = b2 - numbers.significant
    b2 = b2 - (used - 1)
    common = np.minimum(b2, s2)
    # The number before a power of two is only half as far away.
    b2, s2, m2 = b2 - common, s2 - common, m2 - common - (used == 1)
    more = np.maximum(0, -m2)
    b2, s2, m2 = b2 + more, s2 + more, m2 + more
    bits = np.maximum(used + b2 + _bits_of_fives(b5), s2 + 1 + _bits_of_fives(s5 + 1))
    fraction = numbers.fraction >> (_FRACTION_BITS + 1 - used)
    return _Scaled(fraction, b2, b5, s2, s5, m2, exponent), bits


def _bits_of_fives(power: Longs) -> Longs:
    is_known = power < len(_BITS_OF_FIVES)
    return np.where(is_known, _BITS_OF_FIVES[np.where(is_known, power, 0)], power * 3)


def _in_ints(scaled: _Scaled) -> Decimals:
    return _in_words(scaled, np.int32)


def _in_longs(scaled: _Scaled) -> Decimals:
    return _in_words(scaled, np.int64)


def _in_words(scaled: _Scaled, word: type) -> Decimals:
    """All numbers at once, a digit a round, in words that overflow as Java's do."""
    b: Any = (scaled.fraction * _FIVES[scaled.b5] << scaled.b2).astype(word)
    s: Any = (_FIVES[scaled.s5] << scaled.s2).astype(word)
    m: Any = (_FIVES[scaled.b5] << scaled.m2).astype(word)
    tens, ten = s * word(10), word(10)
    exponent = scaled.exponent.copy()
    digit, b, m = b // s, b % s * ten, m * ten
    low, high = b < m, b + m > tens
    is_zero = (digit == 0) & ~high
    exponent -= is_zero
    digits, count = digit.astype(np.uint64), np.where(is_zero, 0, 1)
    # With an exponent there are at least two digits.
    is_open = ((exponent < -3) | (exponent >= 8)) | ~(low | high)
    while len(rows := np.flatnonzero(is_open)):
        digit, rest = np.divmod(b[rows], s[rows])
        b[rows], m[rows] = rest * ten, m[rows] * ten
        has_overflowed = m[rows] <= 0
        low[rows] = (b[rows] < m[rows]) | has_overflowed
        high[rows] = (b[rows] + m[rows] > tens[rows]) | has_overflowed
        digits[rows] = digits[rows] * np.uint64(10) + digit.astype(np.uint64)
        count[rows] += 1
        is_open[rows] = ~(low[rows] | high[rows])
    twice = (b << word(1)) - tens
    is_odd = digits % np.uint64(10) % np.uint64(2) == 1
    return _rounded(digits, count, exponent, high & (~low | (twice > 0) | ((twice == 0) & is_odd)))


def _rounded(digits: npt.NDArray[np.uint64], count: Longs, exponent: Longs, is_up: Any) -> Decimals:
    """The last digit is one more where `is_up`. Nines become zeros, which Java writes, too."""
    digits = digits + is_up.astype(np.uint64)
    is_full = digits == POWERS_OF_TEN[count]
    return Decimals(np.where(is_full, digits // np.uint64(10), digits), count, exponent + 1 + is_full)


def _in_any_size(scaled: _Scaled) -> Decimals:
    """One number after the other: the very large and the very small."""
    found = Decimals.blank(len(scaled.fraction))
    parts = (scaled.fraction, scaled.b2, scaled.b5, scaled.s2, scaled.s5, scaled.m2, scaled.exponent)
    for row, number in enumerate(zip(*(part.tolist() for part in parts), strict=True)):
        digits, found.count[row], found.point[row] = _divided(number)
        found.digits[row] = digits
    return found


def _divided(number: Sequence[int]) -> tuple[int, int, int]:
    fraction, b2, b5, s2, s5, m2, exponent = number
    s = 5**s5 << s2
    tens, m = 10 * s, 10 * (5**b5 << m2)
    digits, b = divmod(fraction * 5**b5 << b2, s)
    b *= 10
    low, high = b < m, b + m >= tens
    count = 1
    if digits == 0 and not high:
        exponent, count = exponent - 1, 0
    is_open = exponent < -3 or exponent >= 8 or not (low or high)
    while is_open:
        digit, b = divmod(b, s)
        b, m, digits, count = 10 * b, 10 * m, 10 * digits + digit, count + 1
        low, high = b < m, b + m >= tens
        is_open = not (low or high)
    if high and (not low or 2 * b > tens or (2 * b == tens and digits % 2)):
        digits += 1
        if digits == 10**count:
            return digits // 10, count, exponent + 2
    return digits, count, exponent + 1
