from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.secondary_values import Column
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.secondary_index import check_secondary_index
from hudi_engine.validate.secondary_values import column_of
from hudi_engine.validate.subject import Sample, Subject
from tests.golden.unpack import unpack
from tests.kit import damaged
from tests.kit.damaged import Entry
from tests.kit.subjects import subject_at

pytestmark = pytest.mark.thorough

INDEX = "secondary_index_by_celsius"
GOLDEN = ("v8_mor_indexed", "v9_mor_indexed")
each_table = pytest.mark.parametrize("folder", GOLDEN, indirect=True)
KEYS = 18
KEY, VALUE = "7.1$s-07", "7.1$"


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(getattr(request, "param", "v9_mor_indexed"), tmp_path)


def check(folder: Path, sample: Sample | None = None) -> list[Discrepancy]:
    return list(check_secondary_index(subject_at(folder, sample), INDEX))


def in_short(found: Sequence[Discrepancy]) -> list[tuple[Fault, str]]:
    return [(each.fault, each.key) for each in found]


def add(folder: Path, key: str, hashed: str | None = None) -> None:
    """One more entry; in the first version of the index the whole key chooses the shard."""
    entry: Entry = {**damaged.entries(folder, INDEX)[0], "key": key}
    is_second = folder.name.startswith("v9")
    damaged.add_entry(folder, INDEX, entry, hashed or (key.partition("$")[0] + "$" if is_second else key))


@each_table
def test_an_entry_that_was_lost_is_missing(folder: Path) -> None:
    damaged.remove_entry(folder, INDEX, KEY)

    (found,) = check(folder)

    assert (found.index, found.fault, found.key, found.found) == (INDEX, Fault.MISSING, KEY, "no entry")
    assert found.place.startswith("hall/")


def test_an_entry_with_no_row_is_a_ghost(folder: Path) -> None:
    add(folder, "7.1$nobody")

    assert check(folder) == [
        Discrepancy(INDEX, Fault.GHOST, "7.1$nobody", "", "an entry", "no row with this record key")
    ]


def test_an_entry_left_from_an_older_value_is_a_ghost(folder: Path) -> None:
    add(folder, "6.1$s-07")

    (found,) = check(folder)

    assert (found.fault, found.key, found.expected) == (Fault.GHOST, "6.1$s-07", "the value '7.1'")


def test_an_entry_under_an_older_value_instead_of_the_new_one_is_wrong(folder: Path) -> None:
    damaged.remove_entry(folder, INDEX, KEY)
    add(folder, "6.1$s-07")

    (found,) = check(folder)

    assert (found.fault, found.key, found.found) == (Fault.WRONG, KEY, "an entry '6.1$s-07'")


@each_table
def test_an_entry_in_the_wrong_shard_is_wrong(folder: Path) -> None:
    damaged.remove_entry(folder, INDEX, KEY)
    add(folder, KEY, hashed="4.1$" if folder.name.startswith("v9") else "4.1$s-04")

    (found,) = check(folder)

    assert (found.fault, found.key) == (Fault.WRONG, KEY)
    assert "where no look-up searches" in found.found


def test_an_entry_in_two_shards_is_a_duplicate(folder: Path) -> None:
    add(folder, KEY, hashed="4.1$")

    assert in_short(check(folder)) == [(Fault.DUPLICATE, KEY)]


@each_table
def test_an_index_that_was_wiped_out_misses_every_key(folder: Path) -> None:
    damaged.rewrite_index(folder, INDEX, lambda stored: [])

    assert [each.fault for each in check(folder)] == [Fault.MISSING] * KEYS


def test_an_entry_that_has_no_value_is_damage_with_its_place(folder: Path) -> None:
    add(folder, "nothing", hashed=VALUE)

    with pytest.raises(Exception, match=rf"{INDEX}/secondary-index-by-celsius-000.-0: .*without a \$"):
        check(folder)


def test_a_sample_is_told_of_its_own_keys_alone(folder: Path) -> None:
    damaged.remove_entry(folder, INDEX, "31.1$s-31")
    damaged.remove_entry(folder, INDEX, KEY)
    add(folder, "1.1$s-32")
    add(folder, "1.1$s-06")

    told = {
        subject.slices[0].partition: in_short(list(check_secondary_index(subject, INDEX)))
        for seed in range(12)
        for subject in [subject_at(folder, Sample(1, seed))]
    }

    assert told["attic"] == [(Fault.MISSING, "31.1$s-31"), (Fault.GHOST, "1.1$s-32")]


def test_an_index_of_a_column_that_is_gone_is_not_found(folder: Path) -> None:
    with pytest.raises(NotFound, match="of the column 'kelvin', which the table's rows do not have"):
        column_of(*of_column(subject_at(folder), "kelvin"))


def test_an_index_without_a_definition_is_a_contradiction(folder: Path) -> None:
    subject = subject_at(folder)
    index = replace(subject.metadata.index(INDEX), definition=None)

    with pytest.raises(Contradiction, match="no definition says of which column"):
        column_of(subject, index)


def test_a_type_that_java_spells_in_two_ways_is_refused_by_name(tmp_path: Path) -> None:
    subject = subject_at(unpack("v9_mor_orders", tmp_path))
    index = subject_at(unpack("v9_mor_indexed", tmp_path)).metadata.index(INDEX)
    assert index.definition is not None

    for column, kind in (("price", "decimal128"), ("tags", "list"), ("buyer.address", "struct"), ("blob", "binary")):
        definition = replace(index.definition, source_fields=(column,))
        with pytest.raises(Unsupported, match=rf"the column {column} is {kind}"):
            column_of(subject, replace(index, definition=definition))


def of_column(subject: Subject, name: str):  # type: ignore[no-untyped-def]  # the two arguments of `column_of`
    index = subject.metadata.index(INDEX)
    assert index.definition is not None
    return subject, replace(index, definition=replace(index.definition, source_fields=(name,)))


def test_only_the_second_version_has_entries_for_nulls(folder: Path) -> None:
    subject = subject_at(folder)
    index = subject.metadata.index(INDEX)
    assert index.definition is not None
    first = replace(index, definition=replace(index.definition, version=IndexVersion.V1))

    assert (column_of(subject, index).has_nulls, column_of(subject, first).has_nulls) == (True, False)


def forget_values(folder: Path, key: str) -> None:
    """The column is null in the base file's row of this key."""
    for found in subject_at(folder).slices:
        assert found.base_file is not None
        path = folder / found.base_file.stat.path
        rows = pq.read_table(path)
        place = rows.schema.get_field_index("celsius")
        kept = pc.if_else(pc.equal(rows["_hoodie_record_key"], key), None, rows["celsius"])
        pq.write_table(rows.set_column(place, rows.schema.field(place), kept), path)


@each_table
def test_a_null_needs_an_entry_in_the_second_version_alone(folder: Path) -> None:
    forget_values(folder, "s-07")

    found = check(folder)

    if folder.name.startswith("v9"):
        assert [(each.fault, each.key, each.found) for each in found] == [(Fault.WRONG, "\0$s-07", f"an entry {KEY!r}")]
    else:
        assert in_short(found) == [(Fault.GHOST, KEY)]


@pytest.mark.parametrize("folder", ["v8_mor_indexed"], indirect=True)
def test_the_first_version_may_have_entries_for_nulls(folder: Path) -> None:
    forget_values(folder, "s-07")
    damaged.remove_entry(folder, INDEX, KEY)
    other = damaged.entries(folder, INDEX)[0]
    damaged.add_entry(folder, INDEX, {**other, "key": "\0$s-07"}, hashed=other["key"])

    assert not check(folder)


VALUES = [
    (pa.array(["a$b", None, ""]), ["a$b", None, ""]),
    (pa.array([-5, None], pa.int32()), ["-5", None]),
    (pa.array([2**62], pa.int64()), [str(2**62)]),
    (pa.array([True, False]), ["true", "false"]),
    (pa.array([-1, 19738], pa.int32()).cast(pa.date32()), ["-1", "19738"]),
    (pa.array([-1, 1_700_000_000_123_456]).cast(pa.timestamp("us", "UTC")), ["-1", "1700000000123456"]),
]


@pytest.mark.parametrize(("values", "texts"), VALUES, ids=lambda value: str(getattr(value, "type", "")))
def test_values_become_the_texts_of_what_spark_holds(values: pa.Array, texts: list[str | None]) -> None:
    column = Column(("c",), values.type, IndexVersion.V2)

    assert column.texts(values).to_pylist() == texts


def test_a_value_inside_of_a_struct_is_found_and_null_with_its_struct() -> None:
    inner = pa.struct([("b", pa.int32())])
    values = pa.array([{"a": {"b": 3}}, {"a": None}, None], pa.struct([("a", inner)]))

    assert Column(("top", "a", "b"), pa.int32(), IndexVersion.V2).texts(values).to_pylist() == ["3", None, None]


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()], ids=str)
def test_a_fraction_is_the_same_however_java_spells_it(kind: pa.DataType) -> None:
    spelled = ["1.0", "-0.0", "0.0", "NaN", "Infinity", "-Infinity", "1.0E10", "2.0E-3", "0.0020", "1.17549435E-38"]
    values = pa.array(
        [1.0, -0.0, 0.0, float("nan"), float("inf"), -float("inf"), 1e10, 2e-3, 2e-3, 1.17549435e-38], kind
    )
    column = Column(("c",), kind, IndexVersion.V2)

    assert column.agreed(pa.array(spelled)).to_pylist() == column.texts(values).to_pylist()


def test_what_is_no_fraction_of_java_stays_as_it_is() -> None:
    column = Column(("c",), pa.float64(), IndexVersion.V2)
    strange = ["x", "", None, "1", "1e5", "0x1p3", " 1.0", "inf", "1.0d"]

    assert column.agreed(pa.array(strange)).to_pylist() == strange


def test_a_date_of_the_first_version_is_the_same_in_days_and_in_digits() -> None:
    spelled = pa.array(["1969-12-31", "-1", "2024-02-29", "19782", "2024-13-01", "2024-2-9", None])

    assert Column(("c",), pa.date32(), IndexVersion.V1).agreed(spelled).to_pylist() == [
        "-1",
        "-1",
        "19782",
        "19782",
        "2024-13-01",
        "2024-2-9",
        None,
    ]
    assert Column(("c",), pa.date32(), IndexVersion.V2).agreed(spelled).equals(spelled)


JAVA = [1.0, -0.0, 0.1, 1e-3, 9.99e-4, 1e7, 9999999.0, 1.5e300, -2.5e-10, 6e21, 123456.789, float("nan"), -float("inf")]
SPELLED = ["1.0", "-0.0", "0.1", "0.001", "9.99E-4", "1.0E7", "9999999.0", "1.5E300", "-2.5E-10", "6.0E21"]
SPELLED += ["123456.789", "NaN", "-Infinity"]


def test_fractions_are_told_as_java_spells_them() -> None:
    column = Column(("c",), pa.float64(), IndexVersion.V2)

    assert [column.spelled(text) for text in column.texts(pa.array(JAVA)).to_pylist()] == SPELLED
    assert (column.spelled("x"), column.spelled(None)) == ("x", None)
