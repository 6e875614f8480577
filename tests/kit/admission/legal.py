"""Manifests that are taken, near the border of what is not."""

from dataclasses import dataclass
from typing import Final

from hudi_operator.words import Kind
from tests.kit.admission.manifests import ZOOKEEPER, Edits

_TABLE, _INDEX, _SERVICE = Kind.TABLE, Kind.INDEX, Kind.SERVICE

_STATS: Final = {"spec.indexType": "ColumnStats"}


@dataclass(frozen=True, slots=True)
class Legal:
    """`before` is what stood there, if that matters."""

    why: str
    kind: Kind
    edits: Edits
    before: Edits | None = None


def _lock(**changed: str) -> Edits:
    return {"spec.concurrency": {"mode": "Optimistic", "lock": {"zookeeper": {**ZOOKEEPER, **changed}}}}


def _schedule(schedule: str, zone: str = "UTC") -> Legal:
    return Legal(f"the schedule {schedule!r}", _SERVICE, {"spec.schedule": schedule, "spec.timeZone": zone})


LEGAL: Final = (
    *(Legal(f"the least of a {kind}", kind, {}) for kind in Kind),
    Legal("the longest name", _TABLE, {"metadata.name": "x" * 36}),
    *(
        Legal(f"the base path {path!r}", _TABLE, {"spec.basePath": path})
        for path in (
            "/tables/orders",
            "file:/tables/orders",
            "file:///tables/orders/",
            "/tables/.hidden/a..b/...",
            "/tables/with space/größe",
            "s3://lake",
            "s3n://lake/a=b/c%20d",
            "gs://lake/orders",
            "abfss://container@account.dfs.core.windows.net/orders",
            "az://container/orders",
        )
    ),
    Legal("a lock in ZooKeeper", _TABLE, _lock(connectString="zk-0.zk:2181,zk-1.zk:2181/chroot", basePath="/a/b-c")),
    Legal("a lock without a mode", _TABLE, {"spec.concurrency": {"lock": {"fileSystem": {}}}}),
    Legal(
        "a lock file in its usual place",
        _TABLE,
        {"spec.concurrency": {"mode": "Optimistic", "lock": {"fileSystem": {}}}},
    ),
    Legal(
        "a lock file elsewhere",
        _TABLE,
        {"spec.concurrency": {"mode": "Optimistic", "lock": {"fileSystem": {"path": "/locks/orders"}}}},
    ),
    Legal(
        "a lock that moves while suspended", _TABLE, {**_lock(lockKey="other"), "spec.suspend": True}, before=_lock()
    ),
    Legal("a lock that stays", _TABLE, {**_lock(), "spec.metadataGuard": "Rebuild"}, before=_lock()),
    Legal(
        "properties of Spark",
        _TABLE,
        {
            "spec.execution.sparkConf": {
                "spark.sql.shuffle.partitions": "200",
                "spark.executor.memoryOverhead": "1g",
                "spark.task.maxFailures": "8",
                "spark.sql.session.timeZone": "Europe/Berlin",
                "spark.dynamicAllocation.enabled": "true",
                "spark.sql.parquet.compression.codec": "zstd",
            }
        },
    ),
    Legal(
        "properties of Hudi",
        _INDEX,
        {
            "spec.execution.hudiConf": {
                "hoodie.write.lock.wait_time_ms": "120000",
                "hoodie.metadata.record.index.growth.factor": "2.0",
                "hoodie.fs.atomic_creation.support": "s3a,gs",
                "hoodie.write.lock.filesystem.expire": "10",
                "hudi.engine.timeline.timezone": "America/New_York",
                "hoodie.empty": "",
            }
        },
    ),
    Legal(
        "properties of Hadoop",
        _TABLE,
        {
            "spec.storage.hadoopConf": {
                "fs.s3a.endpoint": "http://minio.storage.svc:9000",
                "fs.s3a.path.style.access": "true",
                "fs.s3a.endpoint.region": "eu-central-1",
                "fs.gs.implicit.dir.repair.enable": "false",
            },
            "spec.storage.credentialsSecretRef": {"name": "lake.credentials"},
        },
    ),
    Legal(
        "all of an execution",
        _SERVICE,
        {
            "spec.execution": {
                "mode": "Spark",
                "image": "localhost:5000/team/engine_1:V1.0@sha256:" + "0" * 64,
                "imagePullPolicy": "Never",
                "imagePullSecrets": [{"name": "a"}, {"name": "b"}],
                "serviceAccountName": "runs",
                "driver": {
                    "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"cpu": 1, "memory": "2.5Gi"}}
                },
                "executor": {
                    "instances": 2,
                    "dynamicAllocation": {"minInstances": 1, "maxInstances": 9},
                    "serviceAccountName": "executors",
                    "resources": {"limits": {"memory": 2147483648, "cpu": "1.5"}},
                },
                "podTemplate": {
                    "driver": {
                        "metadata": {"labels": {"team": "lake"}, "annotations": {"example.com/role": "r"}},
                        "spec": {
                            "nodeSelector": {"disk": "fast"},
                            "tolerations": [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}],
                            "priorityClassName": "batch",
                            "volumes": [
                                {"name": "tables", "persistentVolumeClaim": {"claimName": "tables"}},
                                {"name": "scratch", "emptyDir": {"sizeLimit": "500Gi", "medium": "Memory"}},
                            ],
                            "containers": [
                                {
                                    "name": "engine",
                                    "env": [
                                        {"name": "AWS_REGION", "value": "eu-west-1"},
                                        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}},
                                    ],
                                    "volumeMounts": [{"name": "tables", "mountPath": "/tables", "readOnly": True}],
                                }
                            ],
                        },
                    },
                    "executor": {
                        "spec": {
                            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
                        }
                    },
                },
                "startTimeoutSeconds": 60,
                "activeDeadlineSeconds": 3_600,
                "terminationGracePeriodSeconds": 30,
                "ttlSecondsAfterFinished": 3_600,
                "retry": {"limit": 0, "backoffSeconds": 5, "maxBackoffSeconds": 5},
            }
        },
    ),
    Legal(
        "memory asked for in another unit",
        _INDEX,
        {"spec.execution.driver.resources": {"requests": {"memory": "1024Mi"}, "limits": {"memory": "1Gi"}}},
    ),
    Legal("a driver alone", _INDEX, {"spec.execution.mode": "DriverOnly"}),
    Legal("a partitioned record index", _INDEX, {"spec.partitioned": True, "spec.deletionPolicy": "Drop"}),
    Legal("an index not partitioned in so many words", _INDEX, {"spec.partitioned": False}, before={}),
    Legal(
        "the listing",
        _INDEX,
        {"spec.indexType": "Files", "spec.approval": "Manual", "spec.rebuildToken": "2026-11-18.2"},
    ),
    *(Legal(f"an index {name}", _INDEX, {"spec.indexType": name}) for name in ("BloomFilters", "PartitionStats")),
    Legal("column stats of what columns the writers choose", _INDEX, _STATS),
    Legal(
        "column stats of some columns, nested ones among them",
        _INDEX,
        {**_STATS, "spec.columns": ["_hoodie_record_key", "address.city", "items.list.element.price", "B2"]},
    ),
    Legal("column stats of the most columns", _INDEX, {**_STATS, "spec.columns": [f"c{n}" * 9 for n in range(128)]}),
    Legal(
        "column stats of one more column",
        _INDEX,
        {**_STATS, "spec.columns": ["price", "id"]},
        before={**_STATS, "spec.columns": ["id"]},
    ),
    Legal(
        "column stats of other columns with another token",
        _INDEX,
        {**_STATS, "spec.columns": ["id", "price"], "spec.rebuildToken": "b"},
        before={**_STATS, "spec.columns": ["id"], "spec.rebuildToken": "a"},
    ),
    Legal(
        "column stats of columns with a first token",
        _INDEX,
        {**_STATS, "spec.columns": ["id"], "spec.rebuildToken": "a"},
        before=_STATS,
    ),
    Legal(
        "a secondary index by the name of its resource",
        _INDEX,
        {"spec.indexType": "SecondaryIndex", "spec.columns": ["customer"], "spec.deletionPolicy": "Drop"},
    ),
    Legal(
        "a secondary index of a nested column by a name of its own",
        _INDEX,
        {"spec.indexType": "SecondaryIndex", "spec.columns": ["customer.id"], "spec.indexName": "By_customer_2"},
    ),
    Legal(
        "a sample of some indexes",
        _SERVICE,
        {"spec.validate": {"indexes": ["RecordIndex", "ColumnStats"], "sample": 10}},
    ),
    _schedule("30 2 * * *"),
    _schedule("*/15 0-6,22,23 1-7 JAN-mar Mon", "America/Argentina/Buenos_Aires"),
    _schedule("0  4   29 2 7", "Europe/Berlin"),
    _schedule("5/10 * * * sun,WED-fri", "Etc/GMT+5"),
)
