"""The fields of what the chart makes are those of Kubernetes' own models."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.chart.helm import VALUES, rendered

# Of the Prometheus operator.
_FOREIGN = "monitoring.coreos.com/v1"


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem.removesuffix("-values"))
def test_kubernetes_knows_every_field_of_every_manifest(values: Path) -> None:
    documents = [each for each in rendered(values) if each["apiVersion"] != _FOREIGN]

    unknown = [found for each in documents for found in _unknown(each, f"V1{each['kind']}", each["kind"])]

    assert len(documents) > 10
    assert unknown == []


def test_a_misspelt_field_is_found_wherever_it_stands() -> None:
    pod = {"spec": {"containers": [{"name": "a", "resource": {}}], "volumes": [{"emptyDir": {"size": "1"}}], "node": 1}}

    assert list(_unknown(pod, "V1Pod", "Pod")) == [
        "Pod.spec.containers[0].resource",
        "Pod.spec.volumes[0].emptyDir.size",
        "Pod.spec.node",
    ]


def _unknown(value: Any, type_name: str, where: str) -> Iterator[str]:
    """The paths within the value that its type does not have. Types are named as the models name them."""
    if inner := re.fullmatch(r"List\[(.+)\]", type_name):
        for number, each in enumerate(value):
            yield from _unknown(each, inner[1], f"{where}[{number}]")
    elif inner := re.fullmatch(r"Dict\[str, (.+)\]", type_name):
        for name, each in value.items():
            yield from _unknown(each, inner[1], f"{where}.{name}")
    elif isinstance(value, dict) and type_name != "object":
        model = getattr(client, type_name)
        attributes = {name: attribute for attribute, name in model.attribute_map.items()}
        for name, each in value.items():
            if name in attributes:
                yield from _unknown(each, model.openapi_types[attributes[name]], f"{where}.{name}")
            else:
                yield f"{where}.{name}"
