"""Keys of the metadata table are spelled as Hudi spells them (section 3.4)."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile
from hudi_engine.index import keys
from hudi_engine.index.name_ids import column_id, file_id, partition_id

texts = st.text(st.sampled_from("ab\\$\0é\U0001f600"), max_size=6)
pairs = st.lists(st.tuples(st.none() | texts, texts), max_size=20)


def escaped(text: str | None) -> str:
    return "\0" if text is None else "".join(f"\\{each}" if each in "\\$\0" else each for each in text)


def test_names_have_the_ids_that_hudi_gave_them() -> None:
    assert column_id("driver") == "AjpJ7N1gBZc="
    assert column_id("_hoodie_commit_time") == "JBBzUToHtLc="
    assert partition_id("city=chennai") == "qWIoUqdwX74="
    assert partition_id("") == partition_id(".") == "FXThHwelITM="
    assert len(file_id("a.parquet")) == 24


def test_keys_of_statistics_begin_with_the_column_and_then_the_partition() -> None:
    key = keys.column_stats_key("driver", "city=chennai", "a.parquet")

    assert key.startswith(keys.column_stats_prefix("driver", "city=chennai"))
    assert keys.column_stats_prefix("driver", "city=chennai").startswith(keys.column_stats_prefix("driver"))
    assert keys.partition_stats_key("driver", "city=chennai") == "AjpJ7N1gBZc=qWIoUqdwX74="
    assert keys.partition_ids_of(pa.array([key])).to_pylist() == [partition_id("city=chennai")]
    assert keys.bloom_filter_key("city=chennai", "a.parquet") == key[12:]
    assert len(keys.expression_partition_stats_key("driver", "city=chennai")) == 36


@given(pairs)
def test_secondary_keys_are_spelled_as_java_spells_them_and_come_apart_again(
    rows: list[tuple[str | None, str]],
) -> None:
    values, record_keys = (
        pa.array([row[0] for row in rows], pa.string()),
        pa.array([row[1] for row in rows], pa.string()),
    )

    made = keys.secondary_keys(values, record_keys)

    assert made.to_pylist() == [f"{escaped(value)}${escaped(key)}" for value, key in rows]
    assert [each.to_pylist() for each in keys.split_secondary_keys(made)] == [
        values.to_pylist(),
        record_keys.to_pylist(),
    ]
    assert keys.hashed_part(made) == keys.secondary_prefixes(values)


@given(texts, texts, texts)
def test_only_keys_of_a_value_begin_with_its_prefix(value: str, other: str, record_key: str) -> None:
    (prefix,) = keys.secondary_prefixes(pa.array([value])).to_pylist()
    (key,) = keys.secondary_keys(pa.array([other]), pa.array([record_key])).to_pylist()

    assert key.startswith(prefix) == (value == other)


@pytest.mark.parametrize("key", ["no dollar", "", "\\$only escaped", "ends with \\"])
def test_a_secondary_key_without_both_parts_is_corrupt(key: str) -> None:
    with pytest.raises(CorruptFile, match=r"without a \$"):
        keys.split_secondary_keys(pa.array(["a$b", key]))


def test_parts_of_a_slice_of_secondary_keys_are_its_own() -> None:
    made = keys.secondary_keys(pa.array(["a", "b", "c"]), pa.array(["x", "y", "z"]))

    assert [each.to_pylist() for each in keys.split_secondary_keys(made[1:])] == [["b", "c"], ["y", "z"]]
