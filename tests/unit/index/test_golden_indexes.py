"""Every index of every golden table reads as Java's own reader read it when the table was made."""

from pathlib import Path

import pyarrow as pa
import pytest

from hudi_engine.errors import NotFound
from hudi_engine.open import IndexedTable, open_table
from tests.golden.expected_indexes import expected_indexes
from tests.golden.names import EXPECTED_NAMES
from tests.golden.unpack import unpack
from tests.kit.indexed import entries_of, expected_entries

GOLDEN = Path(__file__).parents[2] / "golden"
WITH_INDEXES = sorted(path.parent.name for path in GOLDEN.glob("*/indexes.json.gz"))
each_table = pytest.mark.parametrize("name", WITH_INDEXES)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, IndexedTable]:
    folder = tmp_path_factory.mktemp("golden")
    return {name: open_table(str(unpack(name, folder / name))) for name in WITH_INDEXES}


def test_every_golden_table_with_a_metadata_table_says_what_is_in_it(tmp_path: Path) -> None:
    for name in sorted(EXPECTED_NAMES - set(WITH_INDEXES)):
        with pytest.raises(NotFound, match="no metadata table"):
            open_table(str(unpack(name, tmp_path / name)))


@each_table
def test_every_index_has_the_entries_that_java_finds(name: str, opened: dict[str, IndexedTable]) -> None:
    metadata = opened[name].metadata
    expected = expected_indexes(name)

    assert set(metadata.index_names) == set(expected)
    for index, entries in expected.items():
        assert entries_of(metadata.index(index)) == expected_entries(entries), index


@each_table
def test_a_search_finds_what_a_scan_shows_and_nothing_that_was_deleted(
    name: str, opened: dict[str, IndexedTable]
) -> None:
    for index in map(opened[name].metadata.index, opened[name].metadata.index_names):
        there = sorted({key for rows in index.scan() for key in rows["key"].to_pylist()})
        some = there[:: max(1, len(there) // 50)]
        prefixes = {key[:length] for key in some for length in (1, 12, len(key))}

        assert _keys(index.find(pa.array([*some, *(f"{key}~" for key in some)], pa.large_string()))) == set(some)
        assert _keys(index.find_prefixes(pa.array(sorted(prefixes), pa.large_string()))) == {
            key for key in there if key.startswith(tuple(prefixes))
        }


def _keys(rows: pa.Table) -> set[str]:
    return set(rows["key"].to_pylist())
