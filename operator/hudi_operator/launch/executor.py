"""The pod template of Spark's executors, which Spark reads from a file of the driver's pod.

The file is an annotation of that pod: it is created with the Job and goes with it, as an object of its own would not.
"""

import json
from collections.abc import Mapping

from hudi_operator.decision import Defaults
from hudi_operator.launch.cluster import Manifest
from hudi_operator.launch.container import (
    CONTAINER,
    CONTAINER_SECURITY,
    ENVIRONMENT,
    POD_SECURITY,
    SCRATCH_PATH,
    amounts_of,
    folders,
    own_mounts,
)
from hudi_operator.launch.template import mounts, placing, variables, volumes
from hudi_operator.names import Label
from hudi_operator.resources.execution import with_defaults
from hudi_operator.resources.model import Resources
from hudi_operator.runs import RunOrder

TEMPLATE_FOLDER = "/etc/hudi-operator/template"
TEMPLATE_PATH = f"{TEMPLATE_FOLDER}/executor.json"
# Spark writes to the volumes whose names begin so, and makes one without a size limit if there is none.
_SCRATCH = "spark-local-dir-1"
_SET_BY_SPARK = ("cpu", "memory")

VOLUME: Manifest = {
    "name": "executor-template",
    "downwardAPI": {
        "items": [
            {
                "path": "executor.json",
                "fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{Label.EXECUTOR_TEMPLATE}']"},
            }
        ]
    },
}
MOUNT: Manifest = {"name": "executor-template", "mountPath": TEMPLATE_FOLDER, "readOnly": True}


def annotation_of(order: RunOrder, defaults: Defaults) -> str:
    return json.dumps(_template(order, defaults), separators=(",", ":"))


def _template(order: RunOrder, defaults: Defaults) -> Manifest:
    template = order.execution.executor_template
    resources = with_defaults(order.execution.executor, defaults.executor)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": dict(template.labels), "annotations": dict(template.annotations)},
        "spec": {
            **placing(template),
            # Executors ask nothing of the API: their account needs no rights, and they hold no token of it.
            "automountServiceAccountToken": False,
            "securityContext": POD_SECURITY,
            "containers": [
                {
                    "name": CONTAINER,
                    # Spark's executors write to the folder that they are started in.
                    "workingDir": SCRATCH_PATH,
                    "env": variables(template, ENVIRONMENT),
                    "resources": amounts_of(Resources(*map(_left_to_template, (resources.requests, resources.limits)))),
                    "securityContext": CONTAINER_SECURITY,
                    "volumeMounts": mounts(template, own_mounts(_SCRATCH)),
                }
            ],
            "volumes": volumes(template, folders(_SCRATCH, defaults), {"scratch": _SCRATCH}),
        },
    }


def _left_to_template(amounts: Mapping[str, str]) -> dict[str, str]:
    return {name: amount for name, amount in amounts.items() if name not in _SET_BY_SPARK}
