"""Numbers of the fields in a Parquet footer, and of those the ones that are kept."""

from collections.abc import Mapping
from typing import Any, Final

SCHEMA, ROWS, ROW_GROUPS, WRITER, COLUMNS, META_DATA = 2, 3, 4, 6, 1, 3
PATH, VALUES, RAW, STORED, STATISTICS = 3, 5, 6, 7, 12
OLD_MAX, OLD_MIN, NULLS, MAX, MIN = 1, 2, 3, 5, 6

CHUNKS: Final[Mapping[int, Any]] = {
    ROW_GROUPS: {
        COLUMNS: {
            META_DATA: {
                PATH: None,
                VALUES: None,
                RAW: None,
                STORED: None,
                STATISTICS: {OLD_MAX: None, OLD_MIN: None, NULLS: None, MAX: None, MIN: None},
            }
        }
    }
}
"""By field number what to keep of a struct, and of the structs in it. None: the value itself."""


def ends_of(statistics: Mapping[int, Any]) -> tuple[int, int] | None:
    """The fields with the least and the greatest value, the old ones where there are no others; None without bounds."""
    if MIN in statistics and MAX in statistics:
        return MIN, MAX
    return (OLD_MIN, OLD_MAX) if OLD_MIN in statistics and OLD_MAX in statistics else None
