"""Spark's settings of a run whose driver is in client mode in its own pod, and whose executors are pods of its own."""

import shlex
from collections.abc import Mapping
from math import ceil

from hudi_operator.decision import Defaults
from hudi_operator.launch.container import CONTAINER
from hudi_operator.launch.executor import TEMPLATE_PATH
from hudi_operator.names import Label
from hudi_operator.resources.execution import with_defaults
from hudi_operator.resources.model import Execution, Resources
from hudi_operator.resources.schema.values import amount_of
from hudi_operator.runs import RunOrder

# Fixed, so that policies of the network can name them.
PORTS = {"driver": 7078, "blocks": 7079}
_API = "k8s://https://kubernetes.default.svc"
SECRETS_PATH = "/etc/hudi-operator/secrets"
# As Spark has it for programs that are not the JVM's.
_OVERHEAD, _LEAST_OVERHEAD = 0.4, 384 << 20


def submit_arguments(order: RunOrder, defaults: Defaults) -> str:
    """What PySpark starts its JVM with. Of ours alone Kubernetes expands the pod's variables; later settings win.

    What users set comes before what says where the run is and as what. The engine adds the address of the driver.
    """
    users = sorted(order.execution.spark_conf.items())
    plain = (*_of_driver(order, defaults).items(), *users, *_settings(order, defaults).items())
    settings = [literal(shlex.quote(f"{key}={value}")) for key, value in plain]
    settings += [f"{key}={value}" for key, value in _of_pod().items()]
    return " ".join((f"--master {_API}", *(f"--conf {setting}" for setting in settings), "pyspark-shell"))


def literal(text: str) -> str:
    """The text, of which Kubernetes shall expand nothing: it takes `$(NAME)` in arguments and values for a variable."""
    return text.replace("$", "$$")


def _of_pod() -> Mapping[str, str]:
    return {"spark.kubernetes.driver.pod.name": "$(POD_NAME)"}


def _settings(order: RunOrder, defaults: Defaults) -> dict[str, str]:
    execution = order.execution
    return {
        "spark.submit.deployMode": "client",
        "spark.driver.port": str(PORTS["driver"]),
        "spark.driver.blockManager.port": str(PORTS["blocks"]),
        "spark.kubernetes.namespace": order.owner.namespace,
        "spark.kubernetes.container.image": execution.image or defaults.image,
        "spark.kubernetes.container.image.pullPolicy": execution.image_pull_policy or defaults.image_pull_policy,
        "spark.kubernetes.container.image.pullSecrets": ",".join(execution.image_pull_secrets),
        "spark.kubernetes.authenticate.driver.serviceAccountName": (
            execution.service_account_name or defaults.service_account_name
        ),
        "spark.kubernetes.authenticate.executor.serviceAccountName": (
            execution.executor_service_account_name or defaults.executor_service_account_name
        ),
        # Unique, and of at most 47 characters, as the name of a run is.
        "spark.kubernetes.executor.podNamePrefix": order.name,
        "spark.kubernetes.executor.label.app.kubernetes.io/managed-by": "hudi-operator",
        f"spark.kubernetes.executor.label.{Label.TABLE}": order.table,
        f"spark.kubernetes.executor.label.{Label.RUN}": order.name,
        "spark.kubernetes.executor.podTemplateFile": TEMPLATE_PATH,
        "spark.kubernetes.executor.podTemplateContainerName": CONTAINER,
        # Nobody is told of the page, and anybody on the network could read it.
        "spark.ui.enabled": "false",
        **_number_of_executors(execution),
        # Between the pods of one run goes nothing that others on the network could read or say.
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": "true",
        "spark.io.encryption.enabled": "true",
        **{f"spark.kubernetes.executor.secrets.{name}": f"{SECRETS_PATH}/{name}" for name in order.secrets},
        **_of_executor(with_defaults(execution.executor, defaults.executor)),
    }


def _number_of_executors(execution: Execution) -> dict[str, str]:
    """Kubernetes has no shuffle service: an executor goes once nobody needs what it holds."""
    dynamic, instances = execution.dynamic_allocation, execution.executor_instances
    if dynamic is None:
        return {"spark.executor.instances": str(instances or 1)}
    least = dynamic.min_instances or 0
    return {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.minExecutors": str(least),
        "spark.dynamicAllocation.maxExecutors": str(dynamic.max_instances),
        "spark.dynamicAllocation.initialExecutors": str(min(max(instances or 1, least), dynamic.max_instances)),
    }


def _of_driver(order: RunOrder, defaults: Defaults) -> dict[str, str]:
    """A quarter for the JVM, which hands out tasks; the rest is for Python, which holds the keys."""
    limits = with_defaults(order.execution.driver, defaults.driver).limits
    if "memory" not in limits:
        return {}
    return {"spark.driver.memory": _mebibytes(max(amount_of(limits["memory"]) / 4, _LEAST_OVERHEAD))}


def _of_executor(resources: Resources) -> dict[str, str]:
    """Memory is the whole pod's, as everywhere in Kubernetes; Spark wants its two parts."""
    settings = {}
    cores = resources.requests.get("cpu", resources.limits.get("cpu"))
    if cores is not None:
        settings["spark.kubernetes.executor.request.cores"] = cores
        settings["spark.executor.cores"] = str(max(1, ceil(amount_of(cores))))
    if "cpu" in resources.limits:
        settings["spark.kubernetes.executor.limit.cores"] = resources.limits["cpu"]
    memories = (resources.limits.get("memory"), resources.requests.get("memory"))
    memory = next((amount_of(given) for given in memories if given is not None), None)
    if memory is not None:
        overhead = max(memory * _OVERHEAD, _LEAST_OVERHEAD)
        settings["spark.executor.memoryOverhead"] = _mebibytes(overhead)
        settings["spark.executor.memory"] = _mebibytes(max(memory - overhead, _LEAST_OVERHEAD))
    return settings


def _mebibytes(amount: float) -> str:
    return f"{int(amount) >> 20}m"
