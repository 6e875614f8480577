"""Rows with values of every type, in the order of their numbers, and predicates about each column."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

Row = dict[str, Any]

# Numbers that are neighbours are in one file, and three such files in one partition: by statistics they differ.
FILE_ROWS: Final = 4
PARTITION_ROWS: Final = 12
ROWS: Final = 36
WORDS: Final = ("=", "<", "is null", ">", "in", "between", "is not null", "!=")
_PREFIX: Final = "shared " * 12
# The footer of a Parquet file has no bounds of texts that are together longer than 4096 bytes.
_LONG: Final = "q" * 3000
_NAMES: Final = (
    *("", " ", "!", "A", "B", "C", "D", "E", "F", "a", "b", "c"),
    *(f"{_PREFIX}{number:02}" for number in range(4)),
    *(f"{_LONG}{number:02}" for number in range(4)),
    *("v", "\uffff", "😀", ""),
    *("z", "~", "Łódź", "é", "北京", "", "北京京", "世界", "😀", "😁", "😀😀", ""),
)
_FRACTIONS: Final = {
    0: "-Infinity",
    12: -0.0,
    14: -0.0,
    15: 0.0,
    33: "Infinity",
    **dict.fromkeys((21, 28, 29, 30, 31), "NaN"),
}
_SCHEMA: Final = """
    id STRING, part STRING, seen BIGINT, flag BOOLEAN, small INT, big BIGINT, near FLOAT, far DOUBLE, name STRING,
    raw BINARY, day DATE, at TIMESTAMP, price DECIMAL(12,3), worth DECIMAL(24,10),
    inner STRUCT<number: BIGINT, word: STRING>, code STRING, never STRING
"""
# Of each column a value of row 8 and one of row 17, 20 or 22.
_LITERALS: Final = {
    "flag": ("false", "true"),
    "small": ("-4", "5"),
    "big": (f"{-4 * 2**40}", f"{5 * 2**40}"),
    "near": ("cast(-2.0 as float)", "cast(2.5 as float)"),
    "far": ("-2.0D", "2.5D"),
    "name": ("'F'", "'v'"),
    "raw": ("X'38F7'", "X'77EE'"),
    "day": ("date'1960-02-28'", "date'1969-02-28'"),
    "at": ("timestamp'1960-12-31 23:59:59.123456Z'", "timestamp'1969-12-31 23:59:59.123456Z'"),
    "price": ("-4.125", "5.125"),
    "worth": ("-42345678901.0123456789", "52345678901.0123456789"),
    "inner.number": ("-4", "5"),
    "inner.word": ("'w08'", "'w17'"),
    "code": ("'c04'", "'c14'"),
    "never": ("'a'", "'b'"),
    "local": ("timestamp_ntz'1960-12-31 23:59:59.123456'", "timestamp_ntz'1969-12-31 23:59:59.123456'"),
    "late": ("80", "220"),
}
# Where bounds are likeliest to be wrong. None asks for NaN by name, which no index finds, Java's own neither: Hudi asks
# Spark's cached frames of bounds, which leave NaN out (see `footer_ranges`); `isnan` it does not translate.
BORDERS: Final = (
    "isnan(far)",
    "far > 1e300",
    "far >= 0.0D",
    "far = double('Infinity')",
    "far = double('-Infinity')",
    "far = -0.0D",
    "near = cast(0.0 as float)",
    f"name = '{_PREFIX}01'",
    f"name = '{_LONG}02'",
    f"name > '{_LONG}'",
    "name = ''",
    "name = '😀😀'",
    "name = '\uffff'",
    "name > '\uffff'",
    "at = timestamp'1960-12-31 23:59:59.123457Z'",
    "late is null and small = -4",
    "never is null and small = 4",
)


@dataclass(frozen=True, slots=True)
class TypedRows:
    """Rows as a release of Hudi can write them."""

    release: str

    @property
    def has_local(self) -> bool:
        """Before 1.1 there are no timestamps without a zone."""
        return self.release not in {"0.15.0", "1.0.2"}

    def schema(self, *, has_late: bool) -> str:
        return _SCHEMA + (", local TIMESTAMP_NTZ" if self.has_local else "") + (", late INT" if has_late else "")

    def columns(self) -> tuple[str, ...]:
        """Those that statistics are made of.

        Queries of 1.1 and later fail where there are some of bytes (#18810), writers of logs of 1.0.2 where there are
        some of parts of a struct that may be null.
        """
        # Release 0.15.0 keeps none of Hudi's own columns unless they are listed, and then loses keys.
        own = (
            ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key") if self.release == "0.15.0" else ()
        )
        bad = ("raw", "inner.") if self.release == "1.0.2" else ("raw",)
        return (*own, "id", "part", "seen", *(name for name in self.questions(()) if not name.startswith(bad)))

    def row(self, key: int, number: int, seen: int) -> Row:
        """The row of this key with the values of this number."""
        fraction = None if number % 7 == 6 else _FRACTIONS.get(number, (number - 12) / 2)
        others = {
            "flag": number >= 16,
            "small": number - 12,
            "big": (number - 12) * 2**40,
            "raw": base64.b64encode(bytes([7 * number, 255 - number])).decode(),
            "day": f"{1952 + number}-02-28",
            "at": f"{1952 + number}-12-31T23:59:59.123456Z",
            "price": f"{number - 12}.125",
            # Release 0.15.0 stops at a decimal of more than 15 digits on either side.
            "worth": f"{number - 12}2345678901.0123456789",
            "inner": {"number": number - 12, "word": f"w{number:02}"},
            "local": f"{1952 + number}-12-31T23:59:59.123456",
            "late": 10 * number,
        }
        return {
            "id": key_of(key),
            "part": partition_of(number),
            "seen": seen * 2**40 + key,
            "near": fraction,
            "far": fraction,
            "name": None if number % 6 == 5 else _NAMES[number],
            "code": f"c{number % FILE_ROWS}{number * 5 % 9}",
            "never": None,
            **(dict.fromkeys(others) if number % 5 == 4 else others),
        }

    def questions(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Of each column its predicates with these operators."""
        names = (name for name in _LITERALS if self.has_local or name != "local")
        return {name: [f"{name} {each}" for each in _asked(words, *_LITERALS[name])] for name in names}


def key_of(key: int) -> str:
    """In no order of the numbers, so that it takes more than the least and the greatest key to find a file."""
    return f"k-{key * 17 % 101:03}"


def partition_of(number: int) -> str:
    return f"p{number // PARTITION_ROWS}"


def _asked(words: Iterable[str], low: str, high: str) -> Iterator[str]:
    for word in words:
        match word:
            case "in":
                yield f"in ({low}, {high})"
            case "between":
                yield f"between {low} and {high}"
            case "<" | "!=":
                yield f"{word} {low}"
            case "=" | ">":
                yield f"{word} {high}"
            case _:
                yield word
