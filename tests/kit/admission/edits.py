"""Legal edits of each kind: each is legal whatever legal edits came before it."""

import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hudi_operator.resources.model import IndexType
from hudi_operator.resources.schema.nodes import Schema, Type
from hudi_operator.resources.schema.pod import ROLES
from hudi_operator.resources.schema.specs import SPECS
from hudi_operator.words import Kind
from tests.kit.admission.manifests import ZOOKEEPER, Edits, manifest

_AMOUNTS: Final = ({"cpu": "500m", "memory": "1Gi"}, {"cpu": 1, "memory": 1_073_741_824}, {"memory": "1.5Gi"})
_RESOURCES: Final = (
    *({"requests": amounts} for amounts in _AMOUNTS),
    *({"limits": amounts} for amounts in _AMOUNTS),
    {"requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"cpu": "500m", "memory": "1Gi"}},
)
_CONF: Final[Mapping[str, tuple[object, ...]]] = {
    "sparkConf": ({"spark.sql.shuffle.partitions": "8"}, {"spark.task.maxFailures": "2", "spark.speculation": "true"}),
    "hudiConf": ({"hoodie.write.lock.wait_time_ms": "9000"}, {"hudi.engine.timeline.timezone": "Asia/Tokyo"}),
    "hadoopConf": ({"fs.s3a.endpoint": "http://minio:9000"}, {"fs.s3a.endpoint.region": "eu-west-1"}),
}

_TEMPLATES: Final[tuple[dict[str, Any], ...]] = (
    {"metadata": {"labels": {"azure.workload.identity/use": "true"}}},
    {"metadata": {"annotations": {"sidecar.istio.io/inject": "false"}}},
    {"spec": {"nodeSelector": {"disk": "fast"}}},
    {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}}},
    {"spec": {"tolerations": [{"key": "spot", "operator": "Exists"}]}},
    {"spec": {"priorityClassName": "batch"}},
    {"spec": {"volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": "500Gi"}}]}},
    {
        "spec": {
            "containers": [
                {"name": "engine", "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}
            ]
        }
    },
    {"spec": {"containers": [{"name": "engine", "volumeMounts": [{"name": "tables", "mountPath": "/tables"}]}]}},
)
_SAMPLES: Final[Mapping[str, tuple[object, ...]]] = {
    "spec.basePath": ("/tables/a", "gs://lake/b"),
    "spec.tableName": ("orders", "orders of 2026"),
    "spec.tableRef.name": ("orders", "clicks.eu"),
    "spec.storage.credentialsSecretRef.name": ("lake", "lake.credentials"),
    "spec.storage.hadoopConf": _CONF["hadoopConf"],
    "spec.concurrency.lock.zookeeper.connectString": ("zk:2181", "a:1,b:2/chroot"),
    "spec.concurrency.lock.zookeeper.basePath": ("/hudi", "/a/b"),
    "spec.concurrency.lock.zookeeper.lockKey": ("orders", "clicks"),
    "spec.concurrency.lock.zookeeper.credentialsSecretRef.name": ("zk", "zk.sasl"),
    "spec.concurrency.lock.fileSystem.path": ("/locks", "file:/locks/b"),
    "spec.indexType": tuple(str(each) for each in IndexType if each is not IndexType.SECONDARY_INDEX),
    "spec.columns": (["id"], ["id", "address.city"]),
    "spec.indexName": ("by_customer", "By2"),
    "spec.rebuildToken": ("a", "2026-11-18.1"),
    "spec.runToken": ("a", "now_2"),
    "spec.schedule": ("30 2 * * *", "*/5 8-18 * * MON-FRI"),
    "spec.timeZone": ("UTC", "Europe/Berlin"),
    "spec.validate.indexes": (["Files"], ["RecordIndex", "ColumnStats"]),
    "spec.execution.image": ("engine:1", "localhost:5000/team/engine@sha256:" + "1" * 64),
    "spec.execution.imagePullSecrets": ([{"name": "a"}], [{"name": "b"}, {"name": "a"}]),
    "spec.execution.serviceAccountName": ("runs", "other-runs"),
    "spec.execution.executor.serviceAccountName": ("powerless", "other"),
    "spec.execution.podTemplate": tuple({role: template} for role in ROLES for template in _TEMPLATES),
    **{f"spec.execution.{field}": values for field, values in _CONF.items()},
}
"""Legal values of the fields of which bounds and choices do not tell them."""

_NEEDED: Final[Mapping[str, Edits]] = {
    "spec.columns": {"spec.indexType": "ColumnStats"},
    "spec.indexName": {"spec.indexType": "SecondaryIndex", "spec.columns": ["customer"]},
    "spec.timeZone": {"spec.schedule": "0 4 * * *"},
    "spec.startingDeadlineSeconds": {"spec.schedule": "0 4 * * *"},
    "spec.execution.executor.dynamicAllocation.minInstances": {
        "spec.execution.executor.dynamicAllocation": {"maxInstances": 1_000}
    },
    "spec.concurrency.lock.zookeeper.": {"spec.concurrency": {"mode": "Optimistic", "lock": {"zookeeper": ZOOKEEPER}}},
    "spec.concurrency.lock.fileSystem.": {"spec.concurrency": {"mode": "Optimistic", "lock": {"fileSystem": {}}}},
}
"""What a field, or those that begin so, need beside them."""

_LOCKS: Final = (
    {"mode": "SingleWriter"},
    {"mode": "Optimistic", "lock": {"zookeeper": ZOOKEEPER}},
    {"mode": "Optimistic", "lock": {"zookeeper": {**ZOOKEEPER, "lockKey": "b", "sessionTimeoutSeconds": 30}}},
    {"mode": "Optimistic", "lock": {"fileSystem": {}}, "heartbeat": {"intervalSeconds": 5, "tolerableMisses": 4}},
    {"mode": "Optimistic", "lock": {"fileSystem": {"path": "/locks/orders"}}},
)
_TOGETHER: Final[Mapping[Kind, tuple[Edits, ...]]] = {
    Kind.TABLE: tuple({"spec.suspend": True, "spec.concurrency": each} for each in _LOCKS),
    Kind.INDEX: (),
    Kind.SERVICE: (
        {"spec.schedule": "0 3 * * *", "spec.timeZone": "Asia/Tokyo", "spec.startingDeadlineSeconds": 600},
        {"spec.schedule": None, "spec.timeZone": None, "spec.startingDeadlineSeconds": None},
    ),
}
_EXECUTION: Final[tuple[Edits, ...]] = (
    {"spec.execution": None},
    {"spec.execution.mode": "DriverOnly", "spec.execution.executor": None},
    {"spec.execution.mode": "Spark", "spec.execution.executor": {"instances": 3}},
    {"spec.execution.mode": None},
    {"spec.execution.retry": {"limit": 1}},
    {"spec.execution.retry": {"backoffSeconds": 5, "maxBackoffSeconds": 50}},
    *({"spec.execution.driver": {"resources": resources}} for resources in _RESOURCES),
)
_APART: Final = ("spec.concurrency.", "spec.schedule", "spec.timeZone", "spec.startingDeadline", "spec.execution.mode")
_APART_TOO: Final = ("spec.execution.executor", "spec.execution.driver", "spec.execution.retry")
_FIXED: Final = ("spec.basePath", "spec.tableRef", "spec.index", "spec.columns", "spec.partitioned", "spec.type")


def leaves(kind: Kind) -> dict[str, Schema]:
    """The fields that hold no others, by their paths; maps and lists are fields."""
    return dict(_leaves(SPECS[kind], "spec"))


def ways_to_set(kind: Kind, path: str) -> tuple[Edits, ...]:
    """Of the small manifest: edits that set the field, each to something else, with what that needs."""
    if path == "spec.concurrency.mode":
        return tuple({"spec.concurrency": each} for each in _LOCKS[:2])
    needed: Edits = next((edits for name, edits in _NEEDED.items() if path.startswith(name)), {})
    return tuple({**needed, path: value} for value in _samples(path, leaves(kind)[path]))


def _samples(path: str, schema: Schema) -> tuple[object, ...]:
    """Two or more legal values, or the only one."""
    if path in _SAMPLES:
        return _SAMPLES[path]
    match schema.type:
        case Type.CLAIM:
            return (True, False)
        case Type.WHOLE:
            return (schema.least, schema.most)
        case Type.QUANTITY:
            return ("1", 2) if path.endswith("cpu") else ("1Gi", 4_096)
    assert schema.choices, f"{path} needs samples"
    return schema.choices


def edits_of(kind: Kind) -> tuple[Edits, ...]:
    """All there are: fields that depend on no other are set and taken away one by one."""
    single: list[Edits] = []
    for path, schema in leaves(kind).items():
        if not path.startswith((*_APART, *_APART_TOO, *_FIXED)):
            single += [{path: value} for value in (*_samples(path, schema), None)]
    # A reference without its name is none.
    whole = [{path.removesuffix(".name"): None} if None in edit.values() else edit for edit in single for path in edit]
    return (*whole, *_TOGETHER[kind], *_EXECUTION)


def random_edits(seed: int, count: int) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """So many times one of three manifests after another edit of it."""
    chance = random.Random(seed)
    standing: dict[Kind, dict[str, Any]] = {kind: {} for kind in Kind}
    for _ in range(count):
        kind = chance.choice(list(Kind))
        standing[kind] = manifest(kind, chance.choice(edits_of(kind)), of=standing[kind])
        yield kind, standing[kind]


def _leaves(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    for name, of in schema.fields.items():
        if of.type is Type.OBJECT:
            yield from _leaves(of, f"{path}.{name}")
        else:
            yield f"{path}.{name}", of


def filled(schema: Schema) -> Any:
    """A value with every field that there is."""
    match schema.type:
        case Type.OBJECT:
            return {name: filled(of) for name, of in schema.fields.items()}
        case Type.LIST:
            return [filled(schema.entry)] if schema.entry is not None else []
        case Type.CLAIM:
            return True
        case Type.WHOLE:
            return 7
    if schema.choices:
        return schema.choices[0]
    return "2026-11-18T21:54:07Z" if schema.format else "x"
