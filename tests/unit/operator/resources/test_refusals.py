"""What the API server refuses the operator refuses again, with the same words."""

from collections import Counter

import pytest

from hudi_operator.resources.parse import InvalidResource, parse
from hudi_operator.resources.refusals import refuse_if_changed
from hudi_operator.words import Kind
from tests.kit.admission.illegal import ILLEGAL, Illegal
from tests.kit.admission.legal import LEGAL, Legal
from tests.kit.admission.manifests import manifest


@pytest.mark.parametrize("case", ILLEGAL, ids=lambda case: case.why)
def test_what_is_illegal_is_refused_with_the_sentence_that_says_why(case: Illegal) -> None:
    with pytest.raises(InvalidResource) as refused:
        _take(case)

    assert case.message in refused.value.message
    assert refused.value.path.startswith(case.path)


@pytest.mark.parametrize("case", LEGAL, ids=lambda case: case.why)
def test_what_is_legal_is_taken(case: Legal) -> None:
    new = manifest(case.kind, case.edits)

    assert parse(new).meta.ref.kind is case.kind
    refuse_if_changed(manifest(case.kind, case.before or case.edits), new)


def test_columns_in_another_order_are_the_same_columns() -> None:
    before, after = (
        manifest(Kind.INDEX, {"spec.indexType": "ColumnStats", "spec.columns": columns})
        for columns in (["id", "price"], ["price", "id"])
    )

    refuse_if_changed(before, after)


def test_there_are_cases_of_each_kind_and_no_two_of_one_name() -> None:
    names = Counter([*(case.why for case in ILLEGAL), *(case.why for case in LEGAL)])

    assert max(names.values()) == 1
    assert {case.kind for case in ILLEGAL} == set(Kind)
    assert len(ILLEGAL) >= 60


@pytest.mark.parametrize(
    ("edits", "path", "message"),
    [
        ({"metadata.name": "../orders"}, "metadata.name", "must be a name of Kubernetes"),
        ({"metadata.name": None}, "metadata.name", "Required value"),
        ({"metadata.namespace": "a/b"}, "metadata.namespace", "must be a name of Kubernetes"),
        ({"metadata": None}, "metadata", "Required value"),
        ({"spec": ["x"]}, "spec", "must be of type object"),
        ({"apiVersion": "hudi-operator.dev/v1"}, "apiVersion", "expected hudi-operator.dev/v1alpha1"),
        ({"kind": "Pod"}, "kind", "expected one of HudiTable, MetadataIndex, TableService"),
    ],
)
def test_what_no_api_server_would_have_let_through_is_refused(
    edits: dict[str, object], path: str, message: str
) -> None:
    tree = manifest(Kind.SERVICE, {"spec.schedule": "0 2 * * *", **edits})

    with pytest.raises(InvalidResource) as refused:
        parse(tree)

    assert refused.value.path == path
    assert message in refused.value.message


@pytest.mark.parametrize(
    "edits", [{"spec.timeZone": "Europe/Atlantis"}, {"spec.schedule": "0 0 30 2 *"}, {"spec.schedule": "0 5-1 * * *"}]
)
def test_what_cel_cannot_tell_is_no_refusal_for_it_is_said_in_the_status(edits: dict[str, object]) -> None:
    assert parse(manifest(Kind.SERVICE, {"spec.schedule": "0 2 * * *", **edits}))


@pytest.mark.parametrize("conf", [{"fs.s3a.secret.key": "4711-canary"}, {"fs.s3a.secret.key": 4711}, "4711", ["4711"]])
def test_no_secret_stands_in_a_refusal(conf: object) -> None:
    tree = manifest(Kind.TABLE, {"spec.storage.hadoopConf": conf})

    with pytest.raises(InvalidResource) as refused:
        parse(tree)

    assert "4711" not in str(refused.value)


def _take(case: Illegal) -> None:
    new = manifest(case.kind, case.edits)
    parse(new)
    if case.before is not None:
        refuse_if_changed(manifest(case.kind, case.before), new)
