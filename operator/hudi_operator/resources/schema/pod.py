"""What users may add to the pods of a run: the fields of a Kubernetes pod template that do not touch the pod's rights.

A field that is not here is refused. What is within an object that Kubernetes reads alone, as an affinity, is checked by
Kubernetes when the pod is made.
"""

from collections.abc import Mapping

from hudi_operator.resources.schema.nodes import Rule, Schema, Type, group, keys_matching, keys_without, text, without

VOLUME_KINDS: Mapping[str, str] = {
    "configMap": "A ConfigMap of the namespace.",
    "csi": "A volume of a storage driver that lives as long as the pod, as secrets of a vault.",
    "emptyDir": "A folder of the node, or of its memory, that lives as long as the pod.",
    "ephemeral": "A claim that lives as long as the pod.",
    "persistentVolumeClaim": "A claim of the namespace.",
    "secret": "A Secret of the namespace.",
}
ROLES = ("driver", "executor")
_MOST = 16
_NOT_OURS = keys_without(
    r"^(hudi-operator\.|app\.kubernetes\.io|batch\.|job-name|spark-)", "is set by the operator or by Spark"
)


def pod_templates() -> Schema:
    """By role, so that the schema of both stands once."""
    template = group(
        "",
        {
            "metadata": group(
                "Labels and annotations, as workload identity, meshes and cost reports need them.",
                {
                    "labels": _names("Labels.", 63, _NOT_OURS),
                    "annotations": _names("Annotations.", 4_096),
                },
            ),
            "spec": group("What the pod needs of its node, and its volumes.", _spec()),
        },
    )
    return Schema(
        Type.MAP,
        "What is added to the pods of the driver and of the executors, each under its own key; fields as Kubernetes "
        "has them.",
        entry=template,
        most=len(ROLES),
        rules=(keys_matching(f"^({'|'.join(ROLES)})$", f"expected the keys {' and '.join(ROLES)}"),),
        is_terse=True,
    )


def _names(description: str, most: int, *rules: Rule) -> Schema:
    return Schema(Type.MAP, description, entry=text("", most, least=0), most=_MOST, rules=rules)


def _spec() -> dict[str, Schema]:
    return {
        "nodeSelector": Schema(Type.MAP, "Labels of the nodes.", entry=text("", 63, least=0), most=_MOST),
        "affinity": _free("Which nodes and neighbours the pod wants."),
        "tolerations": _list("Taints that the pod tolerates.", _free("")),
        "priorityClassName": text("How important the pod is.", 253),
        "volumes": _list(
            "Volumes. A volume of the name scratch or tmp replaces the operator's own of that name.",
            group(
                "",
                {"name": text("Its name.", 63), **{name: _free(said) for name, said in VOLUME_KINDS.items()}},
                required=("name",),
            ),
            "name",
        ),
        "containers": _list(
            "The container engine; no other can be added.",
            group(
                "",
                {
                    "name": Schema(Type.TEXT, "Only engine.", choices=("engine",)),
                    "env": _list("Variables.", _variable(), "name"),
                    "volumeMounts": _list("Where volumes are.", _free("")),
                },
                required=("name",),
            ),
            most=1,
        ),
    }


def _variable() -> Schema:
    return group(
        "",
        {
            "name": text(
                "Its name.",
                128,
                without(
                    r"(?i)^(LD_|_?JAVA|JDK_|PYTHON|PYSPARK_|SPARK_|POD_|HADOOP_|AWS_ENDPOINT|(HOME|PATH|TMPDIR|TZ)$)|_PROXY$",
                    "is set by the operator, loads code or leads elsewhere",
                ),
            ),
            "value": text("Its value; secrets belong into a Secret.", 1_024, least=0),
            "valueFrom": group(
                "Where its value is.", {"secretKeyRef": _free("A key of a Secret: name, key and optional.")}
            ),
        },
        required=("name",),
    )


def _free(description: str) -> Schema:
    return Schema(Type.FREE, description)


def _list(description: str, entry: Schema, *keys: str, most: int = _MOST) -> Schema:
    return Schema(Type.LIST, description, entry=entry, most=most, keys=keys)
