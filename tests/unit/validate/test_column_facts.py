import io
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.storage.protocol import FileStat
from hudi_engine.validate.column_facts import facts_of_base_file, leaf_of
from hudi_engine.validate.tally import Tally
from tests.golden.unpack import unpack
from tests.kit.subjects import subject_at

ROWS = pa.table(
    {
        "place": [{"city": "b", "zip": 1}, None, {"city": "a", "zip": None}],
        "tags": [["y"], None, ["x", None]],
        "amounts": pa.array([[("k", 2)], None, [("l", 1)]], pa.map_(pa.string(), pa.int32())),
        "nothing": pa.nulls(3, pa.int64()),
        "text": ["z" * 5000, "a", None],
    }
)


def tally(*columns: pa.Array) -> Tally:
    found = Tally()
    for values in columns:
        found.add(values)
    return found


@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [
        (pa.array([3, None, -1], pa.int32()), -1, 3),
        (pa.array(["b", "", "\uffff", "😀"]), "", "😀"),
        (pa.array([b"\xff", b"\x00"]), b"\x00", b"\xff"),
        (pa.array([0, 2**40], pa.timestamp("us", "UTC")), 0, 2**40),
        (pa.array([-(2**31), 2**31 - 1], pa.int32()).cast(pa.date32()), -(2**31), 2**31 - 1),
        (pa.array([True, None]), True, True),
        (pa.array([None, None], pa.string()), None, None),
    ],
)
def test_bounds_are_the_least_and_the_greatest_of_all_pieces(values: pa.Array, least: object, greatest: object) -> None:
    found = tally(values[:1], values[1:])

    assert (found.least, found.greatest) == (least, greatest)
    assert (found.values, found.nulls) == (len(values), values.null_count)


def test_nan_is_counted_and_no_bound() -> None:
    found = tally(pa.array([math.nan, 1.5, None, -2.0]), pa.array([math.nan]))

    assert (found.least, found.greatest, found.values, found.nulls, found.has_nan) == (-2.0, 1.5, 5, 1, True)


def test_lists_are_counted_and_not_compared() -> None:
    found = tally(pa.array([[1], None]))

    assert (found.least, found.greatest, found.values, found.nulls) == (None, None, 2, 1)


@pytest.mark.parametrize(
    ("path", "values", "is_repeated"),
    [
        ("place.city", ["b", None, "a"], False),
        ("tags.list.element", ["y", "x", None], True),
        ("tags.array", ["y", "x", None], True),
        ("amounts.key_value.key", ["k", "l"], True),
        ("amounts.key_value.value", [2, 1], True),
    ],
)
def test_parts_of_a_column_are_found_by_their_path(path: str, values: list[object], is_repeated: bool) -> None:
    leaf = leaf_of(ROWS, path)

    assert leaf is not None
    assert (leaf.values.to_pylist(), leaf.is_repeated) == (values, is_repeated)


@pytest.mark.parametrize("path", ["gone", "place.street", "tags.key_value.key", "amounts.key_value", "text.city"])
def test_what_is_at_no_path_is_nothing(path: str) -> None:
    assert leaf_of(ROWS, path) is None


def test_facts_of_a_file_are_those_of_its_rows_and_the_sizes_of_its_footer(tmp_path: Path) -> None:
    folder = unpack("v9_mor_indexed", tmp_path)
    file = io.BytesIO()
    pq.write_table(ROWS, file, row_group_size=2)
    (folder / "hall/a_1_2.parquet").write_bytes(file.getvalue())
    stat = FileStat("hall/a_1_2.parquet", len(file.getvalue()), 0)

    found = facts_of_base_file(subject_at(folder), stat, ["place.zip", "tags.list.element", "text", "nothing", "gone"])

    chunks = [group.column(group.num_columns - 1) for group in row_groups(file)]
    assert found.keys() == {"place.zip", "tags.list.element", "text", "nothing"}
    assert (found["place.zip"].certain.least, found["place.zip"].certain.nulls) == (1, 2)
    assert (found["tags.list.element"].certain.greatest, found["tags.list.element"].certain.values) == ("y", 4)
    assert (found["text"].certain.least, found["text"].certain.greatest) == ("a", "z" * 5000)
    assert found["text"].raw_bytes == sum(chunk.total_uncompressed_size for chunk in chunks)
    assert found["nothing"].may_lack_bounds
    assert (found["nothing"].possible.least, found["nothing"].possible.greatest) == (0, 0)


def row_groups(file: io.BytesIO) -> list[pq.RowGroupMetaData]:
    about = pq.read_metadata(file)
    return [about.row_group(number) for number in range(about.num_row_groups)]
