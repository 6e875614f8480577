"""Orders, and Jobs and pods as a cluster shows them."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from hudi_engine.contract import Action, ComputeKind, JobReport, JobRequest, KindReport, Outcome
from hudi_operator.decision import Defaults
from hudi_operator.launch.manifest import job_of
from hudi_operator.resources.model import Execution, ExecutionMode, Ref, Resources
from hudi_operator.runs import RunOrder
from hudi_operator.words import Kind

RECORDS = Ref(Kind.INDEX, "shop", "orders-records")
REPORT = JobReport(Outcome.READY, kinds=(KindReport("record_index", Outcome.READY),))

DRIVER_ONLY = RunOrder(
    name="orders-records-0123456789",
    owner=RECORDS,
    owner_uid="uid-2",
    table="orders",
    trigger="g1.1",
    attempt=2,
    request=JobRequest("s3://lake/orders", Action.BUILD, kinds=("record_index",), conf={"hoodie.a": "$(POD_IP) $$"}),
    execution=Execution(mode=ExecutionMode.DRIVER_ONLY),
    secrets=("lake-keys",),
)
SPARK = RunOrder(
    name="orders-records-9876543210",
    owner=RECORDS,
    owner_uid="uid-2",
    table="orders",
    trigger="g1.1",
    attempt=1,
    request=JobRequest("s3://lake/orders", Action.BUILD, kinds=("record_index",), compute=ComputeKind.SPARK),
    execution=Execution(
        mode=ExecutionMode.SPARK,
        image="lake/engine:3",
        image_pull_secrets=("registry",),
        service_account_name="indexer",
        spark_conf={"spark.sql.shuffle.partitions": "8", "spark.app.name": "it's $(POD_NAME) --master local"},
        driver=Resources({"cpu": "1", "memory": "2Gi"}, {"memory": "4Gi"}),
        executor_instances=3,
        executor=Resources({"cpu": "1500m"}, {"cpu": "2", "memory": "8Gi"}),
        active_deadline_seconds=600,
        termination_grace_period_seconds=90,
        ttl_seconds_after_finished=7200,
    ),
    secrets=("lake-keys", "zookeeper"),
)


def job(order: RunOrder = DRIVER_ONLY, *conditions: dict[str, str], **meta: object) -> dict[str, Any]:
    """The Job as the API server has it, with such conditions, each of which is true."""
    tree: dict[str, Any] = deepcopy(dict(job_of(order, Defaults())))
    tree["metadata"] |= {
        "uid": f"job-{order.name}",
        "resourceVersion": "5",
        "creationTimestamp": "2026-05-01T12:00:00Z",
        **meta,
    }
    tree["status"] = {
        "startTime": "2026-05-01T12:00:00Z",
        "conditions": [
            {"status": "True", "lastTransitionTime": "2026-05-01T12:09:00Z", **condition} for condition in conditions
        ],
    }
    return tree


def pod(state: Mapping[str, object] | None = None, **status: object) -> dict[str, Any]:
    """Of which the only container is in that state; None: it has none yet."""
    statuses = {} if state is None else {"containerStatuses": [{"name": "engine", "state": state}]}
    return {
        "metadata": {"name": "pod-1", "namespace": "shop", "creationTimestamp": "2026-05-01T12:00:01Z"},
        "status": {**statuses, **status},
    }


def ended(code: int, message: str = "", reason: str = "") -> dict[str, object]:
    times = {"startedAt": "2026-05-01T12:00:05Z", "finishedAt": "2026-05-01T12:08:00Z"}
    return {"terminated": {"exitCode": code, "message": message, "reason": reason, **times}}


COMPLETE = {"type": "Complete"}


def failed(reason: str = "BackoffLimitExceeded", message: str = "Job has reached the limit") -> dict[str, str]:
    return {"type": "Failed", "reason": reason, "message": message}
