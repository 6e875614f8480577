"""Resources as a cluster shows them, for tests of the plugin."""

from datetime import UTC, datetime
from typing import Any

from hudi_operator.plugin.documents import Document, document_of

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


def resource(kind: str, name: str, spec: dict[str, Any], status: dict[str, Any] | None) -> Document:
    meta = {"name": name, "namespace": "lake", "generation": 1}
    found = document_of({"kind": kind, "metadata": meta, "spec": spec, "status": status or {}})
    assert found is not None
    return found


def table(**status: Any) -> Document:
    told = {"observedGeneration": 1, "state": "Ready", "conditions": [condition("Ready", "True", "Observed")], **status}
    return resource("HudiTable", "orders", {"basePath": "s3a://lake/orders"}, told)


def index(spec: dict[str, Any] | None = None, **status: Any) -> Document:
    told = {"observedGeneration": 1, "state": "Ready", **status}
    return resource(
        "MetadataIndex",
        "orders-by-key",
        {"tableRef": {"name": "orders"}, "indexType": "RecordIndex", **(spec or {})},
        told,
    )


def service(**status: Any) -> Document:
    told = {"observedGeneration": 1, "state": "Idle", **status}
    return resource("TableService", "orders-check", {"tableRef": {"name": "orders"}, "type": "Validate"}, told)


def condition(kind: str, status: str, reason: str, message: str = "") -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-31T11:59:00Z",
    }


PLAN = {
    "hash": "3f9a1c0b2d",
    "keys": 5_000_000,
    "shards": 10,
    "readBytes": 535 << 20,
    "writeBytes": 93 << 20,
    "memoryBytes": 2 << 30,
    "expectedDurationSeconds": 75,
    "plannedTime": "2026-01-31T11:58:00Z",
}
AWAITING = [condition("Ready", "False", "AwaitingApproval"), condition("Approved", "False", "AwaitingApproval")]
