"""What the users of these tests apply."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

Manifest = dict[str, Any]

API: Final = "hudi-operator.dev/v1alpha1"
TABLE, INDEX, SERVICE = "orders", "orders-by-key", "orders-check"
"""One of each kind, by these names."""

# Two shards: one of them alone would hide what goes wrong between them.
_HUDI: Final = {
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
}


def table(folder: Path, **spec: Any) -> Manifest:
    """The table there, with the lock of the live writers, looked at as often as may be."""
    return _resource(
        *("HudiTable", TABLE),
        {
            "basePath": str(folder),
            "concurrency": {
                "mode": "Optimistic",
                "lock": {"fileSystem": {}},
            },
            "observe": {"intervalSeconds": 5},
            "execution": {"mode": "DriverOnly", "hudiConf": _HUDI, "retry": {"backoffSeconds": 1}},
            **spec,
        },
    )


def index(**spec: Any) -> Manifest:
    return _resource("MetadataIndex", INDEX, {"tableRef": {"name": TABLE}, "indexType": "RecordIndex", **spec})


def service(**spec: Any) -> Manifest:
    """Validates the table once, now."""
    return _resource(
        "TableService", SERVICE, {"tableRef": {"name": TABLE}, "type": "Validate", "runToken": "first", **spec}
    )


def text(*documents: Manifest) -> str:
    """As `kubectl apply` takes it."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})


def _resource(kind: str, name: str, spec: Mapping[str, Any]) -> Manifest:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}
