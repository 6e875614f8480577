import pytest

from hudi_operator.kube.session import resource_of
from hudi_operator.launch.cluster import JOBS, PODS, Address
from hudi_operator.resources.model import Ref
from hudi_operator.words import Kind


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("/apis/hudi-operator.dev/v1alpha1/namespaces/shop/huditables/orders/status", "huditables/status"),
        ("/apis/hudi-operator.dev/v1alpha1/huditables", "huditables"),
        ("/api/v1/namespaces/shop/pods", "pods"),
        ("/api/v1/namespaces/shop/configmaps/orders-writer", "configmaps"),
        ("/api/v1/namespaces/shop", "namespaces"),
        ("/apis/batch/v1/namespaces/namespaces/jobs/jobs", "jobs"),
        ("/apis", "discovery"),
        ("/apis/batch/v1", "discovery"),
        ("/", "discovery"),
    ],
)
def test_a_request_is_counted_by_what_it_is_about_and_not_by_names(path: str, resource: str) -> None:
    assert resource_of(path) == resource


def test_addresses_are_those_of_the_api_whatever_a_name_has_in_it() -> None:
    assert Address(JOBS, "shop", "a").path == "/apis/batch/v1/namespaces/shop/jobs/a"
    assert Address(PODS).path == "/api/v1/pods"
    assert Address(PODS, "shop", "../secrets").path == "/api/v1/namespaces/shop/pods/..%2Fsecrets"


def test_every_kind_has_a_plural_of_its_own() -> None:
    assert len({kind.plural for kind in Kind}) == 3
    assert Ref(Kind.TABLE, "a", "b") < Ref(Kind.TABLE, "a", "c")
