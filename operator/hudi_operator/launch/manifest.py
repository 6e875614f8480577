"""The Job of a run: its only pod is the driver, in Spark's client mode where there are executors."""

from dataclasses import replace

from hudi_engine.contract import Action, ComputeKind
from hudi_operator.decision import Defaults
from hudi_operator.launch import executor
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
from hudi_operator.launch.spark import PORTS, SECRETS_PATH, literal, submit_arguments
from hudi_operator.launch.template import mounts, placing, variables, volumes
from hudi_operator.names import Label, owner_label
from hudi_operator.resources.execution import with_defaults
from hudi_operator.runs import RunOrder
from hudi_operator.words import GROUP, VERSION

REPORT_PATH = "/dev/termination-log"
MANAGED_BY = {"app.kubernetes.io/managed-by": "hudi-operator"}
# A Job that takes an index or its plan away outlives the resource whose deletion it serves: nothing else removes it.
_OF_DELETIONS = (Action.DROP, Action.ABORT)
_DELETIONS_TTL_SECONDS = 600
_MAX_LABEL = 63


def job_of(order: RunOrder, defaults: Defaults) -> Manifest:
    """As it is given to the API: the same for the same order."""
    execution = order.execution
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": order.name,
            "namespace": order.owner.namespace,
            "labels": labels_of(order),
            "annotations": _annotations(order),
            "ownerReferences": _owners(order),
        },
        "spec": {
            "completions": 1,
            "parallelism": 1,
            # One pod, ever: another attempt is another Job, so that never two drivers of one run are alive.
            "backoffLimit": 0,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": _given(execution.active_deadline_seconds, defaults.active_deadline_seconds),
            "ttlSecondsAfterFinished": _ttl(order, defaults),
            "template": {
                "metadata": {
                    "labels": {**execution.driver_template.labels, **labels_of(order)},
                    "annotations": {
                        **execution.driver_template.annotations,
                        **_annotations(order),
                        **_of_executors(order, defaults),
                    },
                },
                "spec": _pod(order, defaults),
            },
        },
    }


def labels_of(order: RunOrder) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "hudi-engine",
        "app.kubernetes.io/component": order.request.action,
        "app.kubernetes.io/part-of": "hudi-operator",
        **MANAGED_BY,
        Label.TABLE: order.table[:_MAX_LABEL],
        owner_label(order.owner.kind): order.owner.name[:_MAX_LABEL],
        Label.OWNER: order.owner_uid,
        Label.RUN: order.name,
        Label.ACTION: order.request.action,
        Label.ATTEMPT: str(order.attempt),
    }


def _annotations(order: RunOrder) -> dict[str, str]:
    """What a label has no room for."""
    return {
        Label.TRIGGER: order.trigger,
        Label.BASE_PATH: order.request.table,
        Label.KINDS: ",".join(order.request.kinds),
    }


def _of_executors(order: RunOrder, defaults: Defaults) -> dict[str, str]:
    return {Label.EXECUTOR_TEMPLATE: executor.annotation_of(order, defaults)} if _has_executors(order) else {}


def _owners(order: RunOrder) -> list[Manifest]:
    """The resource, with which the Job goes; but a deletion that waits for all that is owned would end its own drop."""
    if order.request.action in _OF_DELETIONS:
        return []
    return [
        {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": order.owner.kind.value,
            "name": order.owner.name,
            "uid": order.owner_uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def _ttl(order: RunOrder, defaults: Defaults) -> int:
    if order.request.action in _OF_DELETIONS:
        return _DELETIONS_TTL_SECONDS
    return _given(order.execution.ttl_seconds_after_finished, defaults.ttl_seconds_after_finished)


def _pod(order: RunOrder, defaults: Defaults) -> Manifest:
    execution = order.execution
    return {
        "restartPolicy": "Never",
        "serviceAccountName": execution.service_account_name or defaults.service_account_name,
        # Without executors nothing in the pod speaks to the API.
        "automountServiceAccountToken": _has_executors(order),
        "imagePullSecrets": [{"name": name} for name in execution.image_pull_secrets],
        "terminationGracePeriodSeconds": _given(
            execution.termination_grace_period_seconds, defaults.termination_grace_period_seconds
        ),
        "securityContext": POD_SECURITY,
        **placing(execution.driver_template),
        "containers": [_container(order, defaults)],
        "volumes": [
            *volumes(execution.driver_template, folders("scratch", defaults)),
            *([executor.VOLUME] if _has_executors(order) else []),
            *(
                {"name": f"secret-{number}", "secret": {"secretName": name, "defaultMode": 0o440}}
                for number, name in enumerate(order.secrets)
            ),
        ],
    }


def _container(order: RunOrder, defaults: Defaults) -> Manifest:
    execution = order.execution
    return {
        "name": CONTAINER,
        "image": execution.image or defaults.image,
        "imagePullPolicy": execution.image_pull_policy or defaults.image_pull_policy,
        "command": ["hudi-engine"],
        "args": ["run", literal(_request(order))],
        "env": variables(execution.driver_template, _environment(order, defaults)),
        "ports": [{"name": name, "containerPort": port} for name, port in PORTS.items()]
        if _has_executors(order)
        else [],
        "resources": amounts_of(with_defaults(execution.driver, defaults.driver)),
        "terminationMessagePath": REPORT_PATH,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": CONTAINER_SECURITY,
        "volumeMounts": [
            *mounts(execution.driver_template, own_mounts("scratch")),
            *([executor.MOUNT] if _has_executors(order) else []),
            *(
                {"name": f"secret-{number}", "mountPath": f"{SECRETS_PATH}/{name}", "readOnly": True}
                for number, name in enumerate(order.secrets)
            ),
        ],
    }


def _request(order: RunOrder) -> str:
    """With the paths that it has in its pod."""
    mounted = tuple(f"{SECRETS_PATH}/{name}" for name in order.secrets)
    return replace(order.request, conf_from=mounted, report_path=REPORT_PATH).to_json()


def _environment(order: RunOrder, defaults: Defaults) -> list[Manifest]:
    pod = [
        {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
        for name, path in (("POD_NAME", "metadata.name"), ("POD_IP", "status.podIP"))
    ]
    if not _has_executors(order):
        return [*pod, *ENVIRONMENT]
    spark = [
        {"name": "SPARK_LOCAL_DIRS", "value": SCRATCH_PATH},
        {"name": "PYSPARK_SUBMIT_ARGS", "value": submit_arguments(order, defaults)},
    ]
    return [*pod, *ENVIRONMENT, *spark]


def _has_executors(order: RunOrder) -> bool:
    return order.request.compute is ComputeKind.SPARK


def _given(own: int | None, default: int) -> int:
    return default if own is None else own
