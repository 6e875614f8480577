"""A table whose keys are there as `field:value` and as `value` is refused, and no other one is."""

import io
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.clock import HandClock
from hudi_engine.compute.key_texts import refuse_mixed_keys
from hudi_engine.errors import Contradiction
from hudi_engine.format import properties
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.properties_file import MAIN
from hudi_engine.table.table import Table, open_table
from tests.golden.in_memory import UNPACKED_AT_MS, golden_in_memory

NAMED = "v9_cow_partitioned_record_index"  # by 1.2.0, complex key generator, the field `id`
_TYPE, _CLASS = "hoodie.table.keygenerator.type", "hoodie.table.keygenerator.class"
_FOOTER = ("hoodie_min_record_key", "hoodie_max_record_key")


class Keys:
    """A copy of that table whose keys a test changes: `change` makes of a row's field its key."""

    def __init__(self) -> None:
        self.storage = golden_in_memory(NAMED)
        self.files = [found.base_file.stat.path for found in self.table().snapshot().slices if found.base_file]

    def table(self) -> Table:
        return open_table(self.storage, HandClock(UNPACKED_AT_MS), {})

    def change(self, path: str, change: Callable[[int, str], str], *, has_footer: bool = True) -> None:
        rows = pq.read_table(io.BytesIO(self.storage.read(path)))
        keys = [change(number, text) for number, text in enumerate(rows["id"].to_pylist())]
        self._write(path, rows, {RECORD_KEY: keys}, keys if has_footer else None)

    def change_values(self, path: str, values: Callable[[str], str]) -> None:
        """Another field, of which the key is a copy."""
        rows = pq.read_table(io.BytesIO(self.storage.read(path)))
        texts = [values(text) for text in rows["id"].to_pylist()]
        self._write(path, rows, {RECORD_KEY: texts, "id": texts}, texts)

    def _write(self, path: str, rows: pa.Table, columns: Mapping[str, list[str]], keys: list[str] | None) -> None:
        for name, texts in columns.items():
            rows = rows.set_column(rows.schema.get_field_index(name), name, pa.array(texts))
        bounds = dict(zip(_FOOTER, (min(keys), max(keys)), strict=True)) if keys else None
        out = io.BytesIO()
        pq.write_table(rows.replace_schema_metadata(bounds), out, store_schema=False)
        self.storage.replace(path, out.getvalue())

    def set(self, **changed: str | None) -> None:
        known = {**properties.parse(self.storage.read(MAIN)), **{_NAMES[name]: text for name, text in changed.items()}}
        self.storage.replace(MAIN, properties.render({name: text for name, text in known.items() if text is not None}))


_NAMES = {"type": _TYPE, "class_": _CLASS, "fields": "hoodie.table.recordkey.fields"}


@pytest.fixture
def keys() -> Keys:
    return Keys()


def bare(_: int, text: str) -> str:
    return text


def test_a_table_of_two_texts_is_refused_with_an_example_of_each(keys: Keys) -> None:
    keys.change(keys.files[0], bare)

    with pytest.raises(Contradiction) as refused:
        refuse_mixed_keys(keys.table())

    said = str(refused.value)
    assert f"' in {keys.files[0]}" in said
    assert "'id:id-" in said
    assert "and 'id-" in said
    assert "bulk_insert" in said


def test_one_file_of_two_texts_is_refused_though_its_lowest_and_highest_keys_are_of_the_same(keys: Keys) -> None:
    for path in keys.files:
        keys.change(path, lambda number, text: f"id:{text}" if number == 1 else f"{'az'[number % 2]}{text}")

    with pytest.raises(Contradiction, match="in two texts"):
        refuse_mixed_keys(keys.table())


def test_files_whose_footers_have_no_keys_are_looked_into(keys: Keys) -> None:
    keys.change(keys.files[0], bare, has_footer=False)
    keys.change(keys.files[1], lambda _, text: f"id:{text}", has_footer=False)

    with pytest.raises(Contradiction, match="in two texts"):
        refuse_mixed_keys(keys.table())


def test_tables_of_one_text_are_not_refused(keys: Keys) -> None:
    refuse_mixed_keys(keys.table())

    for path in keys.files:
        keys.change(path, bare)

    refuse_mixed_keys(keys.table())


def test_values_that_begin_as_a_named_key_does_are_taken_for_what_they_are(keys: Keys) -> None:
    first, *others = keys.files
    keys.change_values(first, str)
    for path in others:
        keys.change_values(path, "id:{}".format)

    refuse_mixed_keys(keys.table())


@pytest.mark.parametrize(
    "changed",
    [
        {"type": "SIMPLE"},
        {"type": "CUSTOM", "class_": "org.apache.hudi.keygen.ComplexKeyGenerator"},
        {"type": None},
        {"fields": "id,country"},
        {"fields": None},
    ],
)
def test_tables_of_other_keys_are_not_looked_into(changed: dict[str, str | None], keys: Keys) -> None:
    keys.change(keys.files[0], bare)
    keys.set(**changed)

    refuse_mixed_keys(keys.table())


def test_version_6_names_the_generator_by_its_class(keys: Keys) -> None:
    keys.change(keys.files[0], bare)
    keys.set(type=None, class_="org.apache.hudi.keygen.ComplexKeyGenerator")

    with pytest.raises(Contradiction, match="in two texts"):
        refuse_mixed_keys(keys.table())


@pytest.mark.parametrize("name", ["v6_mor_journeys", "v9_mor_journeys", "v9_cow_orders"])
def test_tables_that_one_release_wrote_are_not_refused(name: str) -> None:
    refuse_mixed_keys(open_table(golden_in_memory(name), HandClock(UNPACKED_AT_MS), {}))


def test_a_table_without_files_is_not_refused() -> None:
    whole = golden_in_memory(NAMED)
    storage = MemoryStorage(HandClock(UNPACKED_AT_MS))
    storage.create(MAIN, whole.read(MAIN))

    refuse_mixed_keys(open_table(storage, HandClock(UNPACKED_AT_MS), {}))
