"""Small legal manifests of each kind, and edits of them."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from hudi_operator.words import GROUP, VERSION, Kind

ZOOKEEPER: Final = {"connectString": "zk-0:2181,zk-1:2181", "basePath": "/hudi", "lockKey": "orders"}

_SPECS: Final[Mapping[Kind, dict[str, Any]]] = {
    Kind.TABLE: {"basePath": "s3a://lake/orders", "concurrency": {"mode": "SingleWriter"}},
    Kind.INDEX: {"tableRef": {"name": "orders"}, "indexType": "RecordIndex"},
    Kind.SERVICE: {"tableRef": {"name": "orders"}, "type": "Validate"},
}

Edits = Mapping[str, object]


def manifest(kind: Kind, edits: Edits | None = None, of: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The small one, or the one given, with some fields set, by their paths; None takes a field away."""
    made: dict[str, Any] = deepcopy(dict(of or {})) or {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": kind.value,
        "metadata": {"name": "orders"},
        "spec": deepcopy(_SPECS[kind]),
    }
    for path, value in (edits or {}).items():
        _set(made, path.split("."), value)
    return made


def _set(tree: dict[str, Any], path: list[str], value: object) -> None:
    *above, last = path
    for name in above:
        if value is None and name not in tree:
            return
        tree = tree.setdefault(name, {})
    if value is None:
        tree.pop(last, None)
    else:
        tree[last] = deepcopy(value)
