"""What `kubectl hudi doctor` finds."""

from typing import Any

from hudi_operator.plugin.doctor import Finding, findings
from hudi_operator.plugin.documents import Document, Tree, grouped
from hudi_operator.plugin.place import Surroundings
from tests.unit.operator.plugin.documents_of_tests import NOW, condition, index, service, table

_WRITER_MAPS = frozenset({("lake", "orders-writer")})
_NO_TROUBLE = Surroundings(leases=(), writer_maps=_WRITER_MAPS)


def _found(*documents: Document, around: Surroundings = _NO_TROUBLE) -> list[Finding]:
    return findings(grouped(documents), around, NOW)


def _lease(renewed: str, holder: str = "operator-1") -> Tree:
    spec = {"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": 15}
    return Tree({"metadata": {"namespace": "hudi-operator", "name": "hudi-operator"}, "spec": spec})


def test_nothing_is_found_where_all_is_well() -> None:
    ready = condition("Ready", "True", "IndexInSync")

    assert _found(table(), index(conditions=[ready]), service()) == []


def test_a_build_under_way_is_no_finding() -> None:
    building = [condition("Ready", "False", "Building"), condition("Reconciling", "True", "Building")]

    assert _found(table(), index(state="Building", conditions=building)) == []


def test_each_reason_that_waiting_does_not_mend_is_a_finding_with_what_to_do() -> None:
    (found,) = _found(table(), index(conditions=[condition("Ready", "False", "IndexStale", "a restore")]))

    assert found.about == "MetadataIndex lake/orders-by-key"
    assert found.what == "Ready=False, IndexStale: a restore"
    assert "rebuildToken" in found.to_do


def test_resources_that_no_operator_has_looked_at_are_one_finding() -> None:
    (found,) = _found(table(observedGeneration=0), index(observedGeneration=None))

    assert found.about == "operator"
    assert found.what.startswith("2 resources as they stand now were not looked at")


def test_a_lease_that_was_not_renewed_for_long_is_a_finding() -> None:
    around = Surroundings((_lease("2026-01-31T11:58:00.000000Z"),), _WRITER_MAPS)

    (found,) = _found(table(), around=around)

    assert found.about == "lease hudi-operator/hudi-operator"
    assert "operator-1, who renewed it 2 min ago" in found.what


def test_leases_that_are_renewed_or_were_given_back_are_none() -> None:
    leases = (_lease("2026-01-31T11:59:55.000000Z"), _lease("2026-01-31T11:00:00.000000Z", holder=""))

    assert _found(table(), around=Surroundings(leases, _WRITER_MAPS)) == []


def test_what_may_not_be_looked_at_is_no_finding() -> None:
    assert _found(table(), index(), around=Surroundings(None, None)) == []


def _pending(action: str, state: str, *, is_live: bool) -> dict[str, Any]:
    return {"pending": [{"instant": "20260131115900000", "action": action, "state": state, "live": is_live}]}


def test_an_indexing_instant_without_a_living_owner_is_an_orphaned_plan() -> None:
    (found,) = _found(table(timeline=_pending("indexing", "requested", is_live=False)))

    assert "20260131115900000 (indexing, requested) has no living owner" in found.what
    assert "orphaned plan" in found.to_do


def test_a_commit_of_a_dead_writer_is_a_finding_and_one_of_a_living_is_not() -> None:
    assert len(_found(table(timeline=_pending("deltacommit", "inflight", is_live=False)))) == 1
    assert _found(table(timeline=_pending("deltacommit", "inflight", is_live=True))) == []


def test_a_compaction_that_waits_for_somebody_to_run_it_is_no_finding() -> None:
    assert _found(table(timeline=_pending("compaction", "requested", is_live=False))) == []


def test_a_table_with_an_index_needs_its_writers_settings() -> None:
    (found,) = _found(table(), index(), around=Surroundings((), frozenset()))

    assert "there is no ConfigMap orders-writer" in found.what


def test_what_refers_to_no_table_is_a_finding() -> None:
    found = _found(service())

    assert [each.about for each in found] == ["HudiTable lake/orders"]
    assert "TableService orders-check" in found[0].what
