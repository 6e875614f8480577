"""Tables whose rows do not say their record keys: what can be done with them, and what is refused before any write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.table.conform import META_COLUMNS
from tests.cli.test_bad_input import require_refusal
from tests.cli.test_index_commands import ALONE, files
from tests.kit.commands import Ran

Golden = Callable[[str], Path]
Run = Callable[..., Ran]
VIRTUAL = "hoodie.populate.meta.fields=false"
COW, MOR = ("v6_cow_orders", "v9_cow_orders"), ("v6_mor_orders", "v9_mor_orders")


@pytest.fixture
def virtual(golden: Golden) -> Golden:
    """A golden table that says so of itself; its files have the columns all the same, as those of Java have."""

    def declared(name: str) -> Path:
        table = golden(name)
        with (table / ".hoodie/hoodie.properties").open("a") as properties:
            properties.write(f"{VIRTUAL}\n")
        return table

    return declared


@pytest.mark.parametrize("name", COW)
def test_rows_of_a_copy_on_write_table_are_shown_without_meta_columns(
    name: str, golden: Golden, virtual: Golden, run: Run
) -> None:
    whole = run("read", golden(name), "--json").out.splitlines()

    ran = run("read", virtual(f"{name}"), "--json")

    assert ran.code == 0
    assert len(ran.out.splitlines()) == len(whole) > 0
    assert any(column in whole[0] for column in META_COLUMNS)
    assert not any(column in ran.out for column in META_COLUMNS)


@pytest.mark.parametrize("name", COW)
def test_statistics_of_a_copy_on_write_table_are_built_and_valid(name: str, virtual: Golden, run: Run) -> None:
    table = virtual(name)
    kinds = ["column_stats"] if name.startswith("v6") else ["column_stats", "partition_stats"]
    asked = [word for kind in kinds for word in ("--type", kind)]
    run("index", "drop", table, *asked, ALONE)

    built = run("index", "build", table, *asked, ALONE, "--json")
    validated = run("validate", table, "--json")

    assert (built.code, {kind["kind"]: kind["state"] for kind in built.document["kinds"]}) == (
        0,
        dict.fromkeys(kinds, "ready"),
    )
    statuses = {check["index"]: check["status"] for check in validated.document["checks"]}
    assert (validated.code, {statuses[name] for name in ("files", *kinds)}) == (0, {"ok"})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[(name, kind) for name in (*COW, *MOR) for kind in (("record_index",), ("bloom_filters",))],
        *[("v9_cow_orders", ("secondary_index_by_note", "--column", "note"))],
        *[(name, ("column_stats",)) for name in MOR],
    ],
)
def test_an_index_that_needs_record_keys_is_refused_before_the_first_write(
    name: str, kind: tuple[str, ...], virtual: Golden, run: Run
) -> None:
    table = virtual(name)
    before = files(table)

    ran = run("index", "build", table, "--type", *kind, ALONE)

    require_refusal(ran, 18, VIRTUAL)
    assert files(table) == before


@pytest.mark.parametrize("name", MOR)
def test_rows_of_a_merge_on_read_table_are_refused(name: str, virtual: Golden, run: Run) -> None:
    require_refusal(run("read", virtual(name)), 18, VIRTUAL)
