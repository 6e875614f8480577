"""Which indexes readers may use and writers must keep: two lists in `hoodie.properties` (`hudi-format` 1.6).

Call every `flag_…` under the table's lock, and read the table anew afterwards.
"""

from collections.abc import Collection, Mapping
from typing import Final

from hudi_engine.index.kinds import IndexKind
from hudi_engine.table.properties_file import PropertiesFile, read_properties, update_properties
from hudi_engine.table.table import Table

COMPLETE_KEY: Final = "hoodie.table.metadata.partitions"
IN_FLIGHT_KEY: Final = "hoodie.table.metadata.partitions.inflight"

_Lists = tuple[set[str], set[str]]


def flag_in_flight(table: Table, names: Collection[str]) -> PropertiesFile:
    """From here on writers log into these indexes, and nobody reads them."""
    return _run(table, plan_in_flight(_now(table), names))


def flag_complete(table: Table, names: Collection[str]) -> PropertiesFile:
    """From here on readers trust these indexes."""
    return _run(table, plan_complete(_now(table), names))


def unflag(table: Table, names: Collection[str]) -> PropertiesFile:
    """From here on these indexes are nobody's; without `files` all are, as Hudi takes the table to have none then."""
    return _run(table, plan_unflagged(_now(table), names))


def settle(table: Table) -> PropertiesFile:
    """Nothing changes but for what an update that died has left half done."""
    return _run(table, {})


def plan_in_flight(properties: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The two lists with these names in flight."""
    complete, in_flight = _lists(properties)
    return _changes(complete - {*names}, in_flight | {*names})


def plan_complete(properties: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The two lists with these names complete."""
    complete, in_flight = _lists(properties)
    return _changes(complete | {*names}, in_flight - {*names})


def plan_unflagged(properties: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The two lists without these names."""
    if IndexKind.FILES in names:
        return _changes(set(), set())
    complete, in_flight = _lists(properties)
    return _changes(complete - {*names}, in_flight - {*names})


def _now(table: Table) -> Mapping[str, str]:
    """Not those that the table was opened with: another writer may have flagged an index since."""
    return read_properties(table.storage, table.clock).properties


def _run(table: Table, changes: Mapping[str, str]) -> PropertiesFile:
    return update_properties(table.storage, changes, table.clock, table.known_zone)


def _lists(properties: Mapping[str, str]) -> _Lists:
    complete, in_flight = (_names(properties.get(key, "")) for key in (COMPLETE_KEY, IN_FLIGHT_KEY))
    return complete, in_flight - complete


def _names(text: str) -> set[str]:
    return {name.strip() for name in text.split(",") if name.strip()}


def _changes(complete: set[str], in_flight: set[str]) -> dict[str, str]:
    return {COMPLETE_KEY: ",".join(sorted(complete)), IN_FLIGHT_KEY: ",".join(sorted(in_flight))}
