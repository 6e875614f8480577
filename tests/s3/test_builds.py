"""Indexes built on tables in a real S3 server, where nothing is renamed, appended to or locked."""

import json
from collections.abc import Callable

import pytest

from tests.s3.test_indexes import Placed

_ALONE = ("--conf", "hudi.engine.single.writer=true")
_KINDS = {
    "v9_mor_indexed": (
        ("column_stats", "partition_stats", "bloom_filters", "record_index", "secondary_index_by_celsius"),
        ("--column", "secondary_index_by_celsius=celsius"),
    ),
    "v6_cow_indexed": (("column_stats", "bloom_filters", "record_index"), ()),
}


@pytest.mark.parametrize("name", sorted(_KINDS))
def test_every_kind_is_dropped_and_built_again_in_one_plan_and_validates(
    name: str, put: Callable[[str], Placed]
) -> None:
    table = put(name)
    kinds, columns = _KINDS[name]
    types = [word for kind in kinds for word in ("--type", kind)]
    before = {kind: _entries(table, kind) for kind in kinds}

    dropped = table.run("index drop", *types, *_ALONE)
    built = table.run("index build", *types, *columns, *_ALONE, "--json")
    checked = table.run("validate")

    assert (dropped.code, built.code) == (0, 0), built.err
    assert {kind["kind"]: kind["state"] for kind in json.loads(built.out)["kinds"]} == dict.fromkeys(kinds, "ready")
    assert checked.code == 0, checked.out
    assert {kind: _entries(table, kind) for kind in kinds} == before


def _entries(table: Placed, kind: str) -> int:
    return sum(len(rows) for rows in table.open().metadata.index(kind).scan())
