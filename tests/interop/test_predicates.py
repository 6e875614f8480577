"""Of a table with values of every type Java finds by each index that we built what it finds without one."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop.readable import newest_table
from tests.interop.typed_rows import BORDERS, FILE_ROWS, ROWS, WORDS, TypedRows, key_of, partition_of
from tests.java.jvm import Jvm
from tests.java.live_checks import READING_ALL, require_rows, require_valid, run_engine
from tests.java.live_commits import COMPLETE, change_properties
from tests.kit.soak import and_in_soak, is_soak

Operators = tuple[Sequence[str], Sequence[str], Sequence[str]]

_COW, _MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_FEW: Final = [("1.2.0", _COW), ("1.0.2", _MOR)]
_REST: Final = [("0.15.0", _COW), ("0.15.0", _MOR), ("1.0.2", _COW), ("1.1.1", _COW), ("1.1.1", _MOR), ("1.2.0", _MOR)]
_CODES: Final = "secondary_index_by_code"
_STATISTICS: Final = "hoodie.metadata.index.column.stats"
_LIST: Final = f"{_STATISTICS}.column.list"
_BEFORE: Final = {
    f"{_STATISTICS}.enable": "false",
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.parquet.small.file.limit": "0",
}
_SKIPPING: Final = {
    "hoodie.metadata.enable": "true",
    "hoodie.enable.data.skipping": "true",
    f"{_STATISTICS}.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
# What Hudi leaves out no file by: parts of structs, though there may be statistics of them, and bytes without any.
_NEVER_SKIPPED: Final = {"raw", "inner.number", "inner.word"}
# The operators by which an index is asked, if it is: of rows, of partitions, of codes. By those of partitions each
# column but one leaves out a partition: all of them have all sorts of codes.
_AT_FIRST: Final[Operators] = (("in", "is null"), (), ("in",))
_LATER: Final[Operators] = (("<",), ("=", "<"), ("=",))
_IN_SOAK: Final[Operators] = (WORDS, ("=", "<"), ("=", "in"))
# Keys, each with the number of its new values. Of files with NaN or long texts Java writes entries by which its queries
# lose rows (#18754, #18755), here as where all is its own: those of the numbers 16 to 23 and 28 to 31 stay as they are.
# Nor is there a partition where one file has the last text by UTF-8 and another one by UTF-16, of which Java, when it
# makes statistics of the partition from those of its files, takes the second.
_COMMITS: Final[Sequence[tuple[str, Mapping[int, int]]]] = (
    ("insert", {36: 2, 37: 33}),
    ("upsert", {0: 1, 12: 13, 38: 27}),
    ("delete", {5: 5, 32: 32}),
    ("insert", {39: 5, 40: 14}),
    ("upsert", {2: 8, 34: 25, 13: 15}),
    ("upsert", {36: 6, 6: 0}),
    ("insert", {41: 3, 42: 24}),
    ("delete", {37: 33, 7: 7, 14: 14}),
    ("upsert", {33: 33, 27: 35, 43: 11}),
    ("insert", {44: 34}),
)
# With the five that lay the table and those of our builds the metadata table is compacted among them.
_FEW_COMMITS: Final = 5


@dataclass(slots=True)
class Scene:
    """A table that a release writes to, and the partition of each of its keys."""

    java: Jvm
    folder: Path
    table_type: str
    book: dict[str, str] = field(default_factory=dict)
    seen: int = 0

    @property
    def typed(self) -> TypedRows:
        return TypedRows(self.java.version)

    @property
    def listed(self) -> str:
        """The columns of statistics, which 0.15.0 has to be told whenever it writes and reads."""
        return ",".join(self.typed.columns())

    @property
    def is_old(self) -> bool:
        """Whether the release knows neither statistics of partitions nor indexes of values."""
        return self.java.version == "0.15.0"

    def lay(self) -> None:
        """A file for each four numbers, of which the last in each partition has a column that the others lack."""
        for turn in range(3):
            numbers = [number for number in range(ROWS) if number // FILE_ROWS % 3 == turn]
            self.write("insert", {number: number for number in numbers}, _BEFORE, has_late=turn == 2)
        self.write("upsert", {1: 2, 25: 33}, _BEFORE)
        self.write("delete", {3: 3, 26: 26}, _BEFORE)

    def write(self, how: str, numbers: Mapping[int, int], options: Mapping[str, str], *, has_late: bool = True) -> None:
        self.seen += 1
        schema = self.typed.schema(has_late=has_late)
        rows = [self.typed.row(key, number, self.seen) for key, number in numbers.items()]
        table = newest_table(self.java.version, self.folder, self.table_type, schema, options)
        self.java.commit(table=table, rows=rows, how=how)
        for key, number in numbers.items():
            if how == "delete":
                del self.book[key_of(key)]
            else:
                self.book[key_of(key)] = partition_of(number)

    def build(self, *words: str) -> None:
        code, report = run_engine("index", "build", str(self.folder), *words, "--single-writer")
        assert (code, report["outcome"]) == (0, "ready"), report

    def require_all_skipped_right(self, operators: Operators) -> None:
        of_rows, of_partitions, of_codes = operators
        self._require_skipped_right("column_stats", of_rows, _NEVER_SKIPPED)
        if of_partitions and not self.is_old:
            self._require_skipped_right("partition_stats", of_partitions, _NEVER_SKIPPED | {"code"})
        if not self.is_old:
            self._require_skipped_right(_CODES, of_codes, set())

    def _require_skipped_right(self, index: str, words: Sequence[str], never: set[str]) -> None:
        """By each predicate the same rows as without an index; of each column but these some left out a file."""
        by_column = self.typed.questions(words)
        by_column = {"code": by_column["code"]} if index == _CODES else {**by_column, "of borders": [*BORDERS]}
        predicates = [each for some in by_column.values() for each in some]
        alone = self._with_only(index)
        expected = self.java.rows_that_are(table=str(self.folder), predicates=predicates, options=READING_ALL)
        found = self.java.rows_where(table=alone, predicates=predicates, options={**_SKIPPING, _LIST: self.listed})
        (whole,) = self.java.rows_where(table=alone, predicates=["seen > 0"], options=READING_ALL)
        differing = [each for each, keys, one in zip(predicates, expected, found, strict=True) if keys != one["keys"]]
        # Without any index, too, Parquet drops rows: of 0.0 for a query for -0.0, by its dictionary.
        without = self.java.rows_where(table=alone, predicates=differing, options=READING_ALL)
        by_index = {each: found[predicates.index(each)]["keys"] for each in differing}
        lost = {
            each: (one["keys"], by_index[each])
            for each, one in zip(differing, without, strict=True)
            if one["keys"] != by_index[each]
        }
        assert not lost, f"by {index}: {lost}"
        assert any(expected)
        files = dict(zip(predicates, (one["files"] for one in found), strict=True))
        if whole["files"]:  # release 0.15.0 reads merge-on-read by a plan that tells of none
            read_all = {name for name, some in by_column.items() if all(files[each] == whole["files"] for each in some)}
            assert read_all == never, f"by {index}: {files}, of {whole['files']}"

    def _with_only(self, index: str) -> str:
        """A copy of the table that has no other index for a query, which takes all that there are, whatever it is told.

        One of values leads to keys, and the record index from these to files.
        """
        copy = self.folder.with_name("copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder, copy)
        change_properties(copy, {COMPLETE: ",".join(["files", index, *(["record_index"] if index == _CODES else [])])})
        return str(copy)

    def groups(self) -> dict[str, str]:
        """The file group of each key; and each is there once."""
        rows: list[dict[str, Any]] = require_rows(self.java, self.folder, self.book)
        return {row["id"]: row["_hoodie_file_name"].partition("_")[0] for row in rows}


@pytest.mark.parametrize(("version", "table_type"), and_in_soak(_FEW, _REST))
def test_by_an_index_of_ours_java_finds_what_it_finds_without_also_some_commits_later(
    version: str, table_type: str, jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    here = Scene(jvm(version), tmp_path / "table", table_type)
    here.lay()
    here.build("--type", "column_stats", "--conf", f"{_LIST}={here.listed}")
    if not here.is_old:
        here.build("--type", "partition_stats", "--type", "record_index")
        here.build("--type", _CODES, "--column", "code")
    here.build("--type", "bloom_filters")
    here.require_all_skipped_right(_IN_SOAK if is_soak() else _AT_FIRST)
    groups = here.groups()

    for how, numbers in _COMMITS if is_soak() else _COMMITS[:_FEW_COMMITS]:
        here.write(how, numbers, _kept(version, here.listed))

    # Keys were looked up by the bloom filters: whatever is there still is where it was.
    later = here.groups()
    assert {key: later[key] for key in groups if key in later} == {key: groups[key] for key in groups if key in later}
    here.require_all_skipped_right(_IN_SOAK if is_soak() else _LATER)
    require_valid(here.folder, "bloom_filters")


def _kept(version: str, listed: str) -> Mapping[str, str]:
    """What docs/writers.md recommends for afterwards, and a look-up by the bloom filters."""
    kept = {
        f"{_STATISTICS}.enable": "true",
        _LIST: listed,
        "hoodie.metadata.index.bloom.filter.enable": "true",
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.index.type": "BLOOM",
        "hoodie.bloom.index.use.metadata": "true",
    }
    if version != "0.15.0":
        kept |= {
            "hoodie.metadata.index.partition.stats.enable": "true",
            "hoodie.metadata.record.index.enable": "true",
            "hoodie.embed.timeline.server": "true",
        }
    keep = {"hoodie.metadata.auto.delete.partitions": "false"}
    return {**kept, **(keep if version == "1.2.0" else {"hoodie.metadata.index.async": "true"})}
