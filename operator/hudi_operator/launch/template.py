"""What users add to a pod. What the operator sets itself comes last and wins."""

from collections.abc import Mapping, Sequence

from hudi_operator.launch.cluster import Manifest
from hudi_operator.resources.model import PodTemplate


def placing(template: PodTemplate) -> dict[str, object]:
    """Which nodes the pod may have."""
    given = {
        "nodeSelector": dict(template.node_selector),
        "affinity": dict(template.affinity),
        "tolerations": list(template.tolerations),
        "priorityClassName": template.priority_class_name,
    }
    return {name: value for name, value in given.items() if value}


def volumes(template: PodTemplate, own: Sequence[Manifest], names: Mapping[str, str] | None = None) -> list[Manifest]:
    """Users' volumes stand in for the operator's of the same name; `names` are what the operator calls some of them."""
    called = names or {}
    users = [{**volume, "name": called.get(str(volume["name"]), volume["name"])} for volume in template.volumes]
    taken = {volume["name"] for volume in users}
    return [*(volume for volume in own if volume["name"] not in taken), *users]


def variables(template: PodTemplate, own: Sequence[Manifest]) -> list[Manifest]:
    return [*template.env, *own]


def mounts(template: PodTemplate, own: Sequence[Manifest]) -> list[Manifest]:
    return [*own, *template.volume_mounts]
