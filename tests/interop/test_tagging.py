"""Tags on a real Spark are those that Hudi's own writer gives its records."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hudi_engine.open import open_table
from tests.golden.expected_indexes import expected_indexes
from tests.golden.unpack import unpack
from tests.java.jvm import JavaError, Jvm
from tests.kit.soak import and_in_soak

GOLDEN = Path(__file__).parents[1] / "golden"
WITH_RECORD_INDEX = sorted(
    path.parent.name
    for path in GOLDEN.glob("*/indexes.json.gz")
    if "record_index" in expected_indexes(path.parent.name)
)
# Java is slow with many, and each has some from the base file and all that is in the logs of the small tables.
MOST_KEYS = 3000
PARTITIONED = {"v9_cow_partitioned_record_index"}
LARGE = {"v6_mor_record_index_large", "v9_mor_record_index_large"}
# One table of each version, with odd keys, with a rollback, and with many keys; soak has all of them.
FEW = ["v6_mor_strange_keys", "v8_mor_pending_rolled_back", "v9_mor_strange_keys", "v9_mor_record_index_large"]
SHARDED = [*sorted(LARGE), *sorted(PARTITIONED)]


def _rest(few: list[str]) -> list[str]:
    return sorted({*WITH_RECORD_INDEX} - {*few})


NO_FIELDS = '{"type": "record", "name": "Nothing", "fields": []}'


def test_there_are_tables_of_each_version_to_tag_by() -> None:
    assert {name[:2] for name in FEW} == {"v6", "v8", "v9"}
    assert {*FEW, *SHARDED} <= {*WITH_RECORD_INDEX}


@pytest.fixture(scope="module")
def hudi(jvm: Callable[[str], Jvm]) -> Jvm:
    return jvm("1.2.0")


@pytest.mark.parametrize("name", and_in_soak(FEW, _rest([*FEW, *PARTITIONED])))
def test_the_tags_are_javas(name: str, hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack(name, tmp_path))
    known = _entries(name)
    keys = [*(entry["key"] for entry in known), *(f"{entry['key']}?" for entry in known)]
    partitions = [entry["partition"] for entry in known] * 2

    ours = hudi.tag_by_engine(table=table, keys=keys, partitions=partitions)
    javas = hudi.tag(table=table, keys=keys, partitions=partitions, write__schema=NO_FIELDS)

    assert [row["key"] for row in ours] == keys
    assert sorted(map(_as_java, ours), key=str) == sorted(javas, key=str)
    assert sum(row["file_id"] is not None for row in ours) == len(known)


@pytest.mark.parametrize("name", sorted(PARTITIONED))
def test_the_tags_by_an_index_of_each_partition_are_javas(name: str, hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack(name, tmp_path))
    known = _entries(name)
    keys = [*sorted({entry["key"] for entry in known}), "new"]
    partitions = [*sorted({entry["partition"] for entry in known}), "nowhere"]
    pairs = [(key, partition) for partition in partitions for key in keys]

    ours = hudi.tag_by_engine(table=table, keys=[pair[0] for pair in pairs], partitions=[pair[1] for pair in pairs])
    # One partition after the other, since Java tags a key by all places that it was looked for in.
    javas = [
        row
        for partition in partitions
        for row in hudi.tag(
            table=table,
            keys=keys,
            partitions=[partition] * len(keys),
            index__type="RECORD_LEVEL_INDEX",
            write__schema=NO_FIELDS,
        )
    ]

    assert sorted(map(_as_java, ours), key=str) == sorted(javas, key=str)
    assert sum(row["file_id"] is not None for row in ours) == len(known)


def test_a_new_key_stays_in_its_partition_where_java_moves_it_to_that_of_another(hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v9_cow_partitioned_record_index", tmp_path))
    asked = {"keys": ["id:id-30", "id:id-30"], "partitions": ["eu-west-1/new york", "eu/west-1"]}

    ours = hudi.tag_by_engine(table=table, **asked)
    javas = hudi.tag(table=table, index__type="RECORD_LEVEL_INDEX", write__schema=NO_FIELDS, **asked)

    assert [row["partition"] for row in ours] == ["eu-west-1/new york", None]
    assert [row["partition"] for row in javas] == ["eu-west-1/new york", "eu-west-1/new york"]


@pytest.mark.parametrize("name", and_in_soak(SHARDED, _rest(SHARDED)))
def test_each_shard_has_a_task_of_its_own(name: str, hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack(name, tmp_path))
    index = open_table(table).index("record_index").index
    rows = [
        (key, partition, number)
        for partition, group in index.groups.items()
        for number, shard in enumerate(group)
        for piece in shard.scan()
        for key in piece["key"].to_pylist()[:50]
    ]

    tagged = hudi.tag_by_engine(table=table, keys=[row[0] for row in rows], partitions=[row[1] for row in rows])

    tasks: dict[tuple[str | None, int], set[int]] = defaultdict(set)
    for (_, partition, number), answer in zip(rows, tagged, strict=True):
        tasks[partition, number].add(answer["task"])
    assert all(len(each) == 1 for each in tasks.values())
    assert len(set.union(*tasks.values())) == len(tasks)


def test_keys_that_are_null_or_come_twice_are_kept(hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v9_mor_indexed", tmp_path))

    tagged = hudi.tag_by_engine(table=table, keys=["s-00", None, "s-00", None, "new"], partitions=[None] * 5)

    assert [row["key"] for row in tagged] == ["s-00", None, "s-00", None, "new"]
    assert [row["file_id"] is None for row in tagged] == [False, True, False, True, True]
    assert {row["partition"] for row in tagged} == {"hall", None}


def test_other_columns_stay_as_they_are_whatever_their_names_and_types(hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v9_mor_indexed", tmp_path))

    said = hudi.tag_columns_of_every_type(table=table, keys=[f"s-{number:02}" for number in range(40)])

    assert said["after"] == said["before"]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        (["'a' as other"], "NotFound: the dataframe has 0 columns named 'key', expected one"),
        (["'a' as key", "'b' as key"], "NotFound: the dataframe has 2 columns named 'key', expected one"),
        (["1 as key"], "Unsupported: the column key of the dataframe is of type int, expected string"),
        (["'a' as key", "'b' as _Current_File_Id"], "Contradiction: the dataframe has a column _current_file_id"),
        (["'a' as key", "array(interval '1' day) as span"], "Unsupported: the column span .* hand intervals to Python"),
    ],
)
def test_what_cannot_be_tagged_is_refused_with_a_reason(
    columns: list[str], complaint: str, hudi: Jvm, tmp_path: Path
) -> None:
    table = str(unpack("v9_mor_indexed", tmp_path))

    with pytest.raises(JavaError, match=complaint):
        hudi.tag_refused(table=table, columns=columns)


def test_an_index_of_each_partition_needs_to_know_the_rows_partitions(hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v9_cow_partitioned_record_index", tmp_path))

    with pytest.raises(JavaError, match=r"Contradiction: .* its record index is kept per partition"):
        hudi.tag_refused(table=table, columns=["'a' as key"])


def _entries(name: str) -> list[dict[str, Any]]:
    """What the index has, or some of it. Releases up to 1.2.0 sort by UTF-16, search by UTF-8, and fail in between."""
    entries = [each for each in expected_indexes(name)["record_index"] if max(each["key"]) < "\ue000"]
    return entries[:: 1 + len(entries) // MOST_KEYS]


def _as_java(row: dict[str, Any]) -> dict[str, Any]:
    """Java tells the partition where the record is in the place of the one where it was to go."""
    partition = row["place"] if row["file_id"] is None else row["partition"]
    return {"key": row["key"], "partition": partition, "file_id": row["file_id"], "instant": row["instant"]}
