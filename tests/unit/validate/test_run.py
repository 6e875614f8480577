"""Which checks a table gets, and what becomes of each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.errors import NotFound, Unsupported
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.validate.report import Discrepancy
from hudi_engine.validate.run import Outcome, Status, plan_checks, run_check
from tests.golden.unpack import unpack
from tests.golden.with_index import tables_with
from tests.kit.subjects import Count, subject_at

# Real Hudi lost the bounds of columns that hold NaN there (`test_column_stats`, `test_partition_stats`).
WITH_NAN = {"v6_mor_statistics", "v8_cow_statistics", "v9_cow_statistics"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(tables_with("files")))
def test_every_index_of_every_golden_table_tells_the_truth(name: str, tmp_path: Path) -> None:
    found: list[Discrepancy] = []

    subject = subject_at(unpack(name, tmp_path))
    assert isinstance(subject.watch, Count)
    outcomes = []
    for planned in plan_checks(subject.metadata, ()):
        seen = subject.watch.seen
        outcomes.append(run_check(subject, planned, found.append))
        assert subject.watch.seen > seen or outcomes[-1].status is Status.SKIPPED, f"{planned.index} told no progress"

    bad = {outcome.planned.index for outcome in outcomes if outcome.status is not Status.OK}
    allowed = {o.planned.index for o in outcomes if o.planned.kind is IndexKind.EXPRESSION_INDEX}
    if name in WITH_NAN:
        allowed |= {"column_stats", "partition_stats"}
        assert all("NaN" in str(each) for each in found)
    if name == "v9_mor_index_in_flight":
        allowed |= {"record_index"}
    assert bad <= allowed, [*map(str, found), *(outcome.reason for outcome in outcomes)]


def test_a_table_whose_rows_are_beyond_us_is_skipped_and_not_called_damaged(tmp_path: Path) -> None:
    table = unpack("v9_mor_indexed", tmp_path)
    properties = table / ".hoodie/hoodie.properties"
    properties.write_text(properties.read_text() + "hoodie.populate.meta.fields=false\n")

    outcomes = {outcome.planned.index: outcome for outcome in _run(table, lambda _: None)}

    assert outcomes["record_index"].status is Status.SKIPPED
    assert "hoodie.populate.meta.fields=false" in outcomes["record_index"].reason
    assert outcomes["bloom_filters"].status is Status.SKIPPED
    assert outcomes["files"].status is Status.OK


def test_a_kind_without_a_check_is_never_called_ok(tmp_path: Path) -> None:
    subject = subject_at(unpack("v9_cow_expression_index", tmp_path), None)

    (planned, *_) = [one for one in plan_checks(subject.metadata, ()) if one.kind is IndexKind.EXPRESSION_INDEX]

    assert run_check(subject, planned, lambda _: None).status is Status.SKIPPED
    assert kind_of(planned.index) is IndexKind.EXPRESSION_INDEX
    with pytest.raises(Unsupported, match="Leave this index out"):
        plan_checks(subject.metadata, [planned.index])


def test_a_table_that_lists_no_index_is_not_called_ok(tmp_path: Path) -> None:
    table = unpack("v9_mor_indexed", tmp_path)
    properties = table / ".hoodie/hoodie.properties"
    properties.write_text(properties.read_text() + "hoodie.table.metadata.partitions=\n")

    with pytest.raises(NotFound, match="lists no index"):
        _run(table, lambda _: None)


def _run(table: Path, tell: Callable[[Discrepancy], None]) -> list[Outcome]:
    subject = subject_at(table, None)
    return [run_check(subject, planned, tell) for planned in plan_checks(subject.metadata, ())]
