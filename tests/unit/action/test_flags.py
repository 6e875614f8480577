"""The two lists of indexes in a table's properties."""

from collections.abc import Callable

import pytest

from hudi_engine.action.flags import (
    COMPLETE_KEY,
    IN_FLIGHT_KEY,
    flag_complete,
    flag_in_flight,
    plan_complete,
    plan_in_flight,
    plan_unflagged,
    unflag,
)
from hudi_engine.storage.memory import Crash, Fault, Way
from hudi_engine.table.properties_file import PropertiesFile
from hudi_engine.table.table import Table
from tests.golden.in_memory import golden_in_memory
from tests.unit.action.metadata_tables import opened

Lists = tuple[str, str]
Plan = Callable[[dict[str, str], list[str]], dict[str, str]]


@pytest.mark.parametrize(
    ("before", "plan", "names", "after"),
    [
        (("files", ""), plan_in_flight, ["record_index"], ("files", "record_index")),
        (("files", "b,c"), plan_in_flight, ["a"], ("files", "a,b,c")),
        (("files,record_index", ""), plan_in_flight, ["record_index"], ("files", "record_index")),
        (("files", "record_index"), plan_complete, ["record_index"], ("files,record_index", "")),
        (("files", "b,record_index"), plan_complete, ["record_index"], ("files,record_index", "b")),
        (("", ""), plan_complete, ["files"], ("files", "")),
        (("files,record_index", "b"), plan_unflagged, ["record_index"], ("files", "b")),
        (("files", "record_index"), plan_unflagged, ["record_index"], ("files", "")),
        (("column_stats,files,record_index", "b"), plan_unflagged, ["files"], ("", "")),
        (("files", " b , a "), plan_unflagged, ["c"], ("files", "a,b")),
        (("files,record_index", "record_index"), plan_unflagged, ["c"], ("files,record_index", "")),
    ],
)
def test_the_lists_are_sorted_and_no_name_is_in_both(before: Lists, plan: Plan, names: list[str], after: Lists) -> None:
    changes = plan({COMPLETE_KEY: before[0], IN_FLIGHT_KEY: before[1]}, names)

    assert (changes[COMPLETE_KEY], changes[IN_FLIGHT_KEY]) == after


def test_a_table_without_the_lists_gets_them() -> None:
    assert plan_in_flight({}, ["record_index"]) == {COMPLETE_KEY: "", IN_FLIGHT_KEY: "record_index"}


def test_flags_that_others_set_since_the_table_was_opened_are_kept() -> None:
    storage = golden_in_memory("v9_cow_orders")
    early = opened(storage).data
    flag_in_flight(opened(storage).data, ["bloom_filters"])

    flag_complete(early, ["record_index"])

    config = opened(storage).data.config
    assert "record_index" in config.readable_indexes
    assert config.inflight_indexes == ("bloom_filters",)


@pytest.mark.parametrize("flag", [flag_in_flight, flag_complete, unflag])
def test_a_flag_whose_writer_died_anywhere_is_set_by_setting_it_again(
    flag: Callable[[Table, list[str]], PropertiesFile],
) -> None:
    for at_write in range(1, 4):
        for way in (Way.BEFORE, Way.AFTER):
            storage = golden_in_memory("v9_mor_index_in_flight")
            opened_before = opened(storage.restarted(Fault(at_write, way, Crash()))).data
            with pytest.raises(Crash):
                flag(opened_before, ["record_index", "bloom_filters"])

            properties = flag(opened(storage).data, ["record_index", "bloom_filters"]).properties

            assert opened(storage).data.config.properties == properties
            assert not {file.name for file in storage.list(".hoodie")} & {"hoodie.properties.backup"}
