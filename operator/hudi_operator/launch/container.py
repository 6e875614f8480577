"""What the containers of driver and executors have in common: their rights, their folders and their environment."""

from collections.abc import Mapping

from hudi_operator.decision import Defaults
from hudi_operator.launch.cluster import Manifest
from hudi_operator.resources.model import Resources

CONTAINER = "engine"
SCRATCH_PATH = "/var/lib/hudi-operator/scratch"
# The image's user; Spark's own images have the same.
_USER = 185

POD_SECURITY: Manifest = {
    "runAsNonRoot": True,
    "runAsUser": _USER,
    "runAsGroup": _USER,
    "fsGroup": _USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""Together with `CONTAINER_SECURITY`: Kubernetes' profile `restricted`, and a root file system that is read only."""
CONTAINER_SECURITY: Manifest = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
ENVIRONMENT: tuple[Manifest, ...] = (
    {"name": "TZ", "value": "UTC"},
    {"name": "HOME", "value": SCRATCH_PATH},
    {"name": "TMPDIR", "value": SCRATCH_PATH},
)


def folders(scratch: str, defaults: Defaults) -> list[Manifest]:
    """Volumes for what is written; `scratch` is the name of the large one.

    A JVM takes `/tmp` for its temporary files, whatever TMPDIR is. Sizes are limited so that a run which fills its
    volume is evicted, and not its neighbours.
    """
    return [
        {"name": scratch, "emptyDir": {"sizeLimit": defaults.scratch_size}},
        {"name": "tmp", "emptyDir": {"sizeLimit": defaults.tmp_size}},
    ]


def own_mounts(scratch: str) -> list[Manifest]:
    return [{"name": scratch, "mountPath": SCRATCH_PATH}, {"name": "tmp", "mountPath": "/tmp"}]


def amounts_of(resources: Resources) -> Mapping[str, Mapping[str, str]]:
    given = {"requests": dict(resources.requests), "limits": dict(resources.limits)}
    return {name: amounts for name, amounts in given.items() if amounts}
