"""What an API server would do to a resource when its manifest changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hudi_operator.local.kept import Kept, applied, deleted, faults_of_change, fulfilled
from tests.unit.operator.local.manifests import INDEX, TABLE, manifest

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
APPROVED = INDEX.replace("{name: orders-keys}", "{name: orders-keys, annotations: {hudi-operator.dev/approve: abc}}")


def test_a_new_resource_has_an_identity_of_its_own() -> None:
    first, second = (applied(manifest(TABLE), None, NOW) for _ in range(2))

    assert first.uid != second.uid
    assert (first.resource.meta.generation, first.resource.meta.created_at) == (1, NOW)


def test_the_generation_grows_with_another_wish_and_with_nothing_else() -> None:
    first = applied(manifest(INDEX), None, NOW)
    same = applied(manifest(INDEX), first, LATER)
    labelled = applied(manifest(INDEX.replace("orders-keys}", "orders-keys, labels: {a: b}}")), same, LATER)
    suspended = applied(manifest(INDEX + "  suspend: true\n"), labelled, LATER)

    assert [kept.generation for kept in (first, same, labelled, suspended)] == [1, 1, 1, 2]
    assert {kept.uid for kept in (first, same, labelled, suspended)} == {first.uid}


def test_every_field_that_may_not_change_and_does_is_a_fault() -> None:
    first = applied(manifest(INDEX), None, NOW)
    other = INDEX.replace("RecordIndex", "BloomFilters").replace("tableRef: {name: orders}", "tableRef: {name: other}")

    faults = faults_of_change(manifest(other), first)

    assert [fault.path for fault in faults] == ["spec.tableRef", "spec.indexType"]
    assert faults_of_change(manifest(INDEX), first) == []
    assert faults_of_change(manifest(other), None) == []


def test_a_resource_without_finalizer_is_gone_with_its_manifest() -> None:
    assert deleted(applied(manifest(INDEX), None, NOW), LATER) is None


def test_a_finalizer_holds_a_resource_back_with_the_time_of_its_deletion() -> None:
    held = replace(applied(manifest(INDEX), None, NOW), finalizers=("hudi-operator.dev/drop",))
    going = deleted(held, LATER)

    assert going is not None
    assert going.resource.meta.deleting_since == LATER
    assert deleted(going, LATER + timedelta(hours=1)) == going
    assert applied(manifest(INDEX + "  suspend: true\n"), going, LATER) == going


def test_an_annotation_that_was_fulfilled_is_not_there_until_it_says_something_else() -> None:
    first = applied(manifest(APPROVED), None, NOW)
    done = fulfilled(first, "hudi-operator.dev/approve")
    again = applied(manifest(APPROVED), done, LATER)
    other = applied(manifest(APPROVED.replace("abc", "def")), again, LATER)
    without = applied(manifest(INDEX), again, LATER)
    back = applied(manifest(APPROVED), without, LATER)

    shown = [
        kept.resource.meta.annotations.get("hudi-operator.dev/approve") for kept in (first, done, again, other, back)
    ]
    assert shown == ["abc", None, None, "def", "abc"]
    assert fulfilled(done, "hudi-operator.dev/approve") == done
    assert fulfilled(done, "never-given") == done


def test_what_is_written_is_what_is_read() -> None:
    kept = replace(
        fulfilled(applied(manifest(APPROVED), None, NOW), "hudi-operator.dev/approve"),
        finalizers=("hudi-operator.dev/drop",),
        deleting_since=LATER,
        status={"state": "Ready"},
    )

    assert Kept.from_text(kept.file_text()) == kept
