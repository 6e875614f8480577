"""Cases of live builds: in the gate their writers are conducted, in soak there are writers that never pause, too."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

COW: Final = "COPY_ON_WRITE"
MOR: Final = "MERGE_ON_READ"
RECORD_INDEX: Final = ("--type", "record_index")
OF_FILES: Final = ("--type", "bloom_filters", "--type", "column_stats")
# Every update changes what it is of.
OF_VALUES: Final = ("--type", "secondary_index_by_seen", "--column", "seen")
# A secondary index needs a record index; all others are built by one plan.
ALL_KINDS: Final = ((*OF_FILES, *RECORD_INDEX), OF_VALUES)


@dataclass(frozen=True, slots=True)
class Case:
    """Builds of indexes, one after the other, of a table of one release's newest version."""

    release: str
    table_type: str
    builds: tuple[tuple[str, ...], ...]

    @property
    def indexes(self) -> tuple[str, ...]:
        """In the order of their builds."""
        words = [word for build in self.builds for word in build]
        return tuple(name for option, name in pairwise(words) if option == "--type")

    def __str__(self) -> str:
        return f"{self.release}-{self.table_type}"


# Each release once, each kind with both types of tables: `test_live_cases` holds them to it.
BUILDS: Final = (Case("0.15.0", MOR, (RECORD_INDEX,)), Case("1.1.1", COW, (RECORD_INDEX,)))
KINDS: Final = (Case("1.0.2", COW, ALL_KINDS),)
IN_S3: Final = (Case("1.2.0", MOR, ALL_KINDS),)
CONDUCTED: Final = (*BUILDS, *KINDS, *IN_S3)

_RELEASES: Final = ("0.15.0", "1.0.2", "1.1.1", "1.2.0")
# What soak goes through beside that.
BUILDS_OF_ALL: Final = tuple(Case(release, kind, (RECORD_INDEX,)) for release in _RELEASES for kind in (COW, MOR))
KINDS_OF_ALL: Final = tuple(
    Case(release, kind, (OF_FILES,) if release == "0.15.0" else ALL_KINDS)
    for release in _RELEASES
    for kind in (COW, MOR)
)
