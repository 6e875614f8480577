"""How runs are carried out: the same block on all kinds, without defaults, which would beat what the table says."""

from collections.abc import Mapping

from hudi_operator.resources.model import ExecutionMode
from hudi_operator.resources.schema.conf import hadoop_conf, hudi_conf, spark_conf
from hudi_operator.resources.schema.nodes import Rule, Schema, Type, choice, group, matching, text, whole
from hudi_operator.resources.schema.pod import pod_templates
from hudi_operator.resources.schema.values import dns_name, resources

_DAY = 86_400
_IMAGE = r"^[a-z0-9]([a-z0-9._:/-]*[a-z0-9])?(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@sha256:[0-9a-f]{64})?$"


def execution(description: str) -> Schema:
    return group(
        description,
        {
            "mode": choice(
                "Spark: a driver and executors. DriverOnly: the driver alone. If left out: Spark where executor is "
                "given, else as the table's execution has it, else DriverOnly.",
                list(ExecutionMode),
            ),
            "image": text("Image of driver and executors.", 512, matching(_IMAGE, "must be the name of an image")),
            "imagePullPolicy": choice("When the image is pulled.", ("Always", "IfNotPresent", "Never")),
            "imagePullSecrets": Schema(
                Type.LIST,
                "Secrets to pull the image with.",
                entry=group(
                    "", {"name": dns_name("Name of a Secret in the resource's namespace.")}, required=("name",)
                ),
                keys=("name",),
                most=8,
            ),
            "serviceAccountName": dns_name("Service account of the driver."),
            "sparkConf": spark_conf(),
            "hudiConf": hudi_conf(),
            "hadoopConf": hadoop_conf(),
            "driver": group("The pod that runs the engine.", {"resources": resources("driver")}),
            "executor": group(
                "Spark's executors; not with mode DriverOnly.",
                {
                    "instances": whole("How many; at the start, with dynamicAllocation.", 1, 1_000),
                    "dynamicAllocation": _dynamic_allocation(),
                    "serviceAccountName": dns_name("Service account of the executors, which needs no rights."),
                    "resources": resources("executors", is_terse=True),
                },
            ),
            "podTemplate": pod_templates(),
            "startTimeoutSeconds": whole("How long a run may wait for its pod to start.", 10, _DAY),
            "activeDeadlineSeconds": whole("How long a run may take.", 10, 30 * _DAY),
            "terminationGracePeriodSeconds": whole("How long a run may take to stop.", 10, 3_600),
            # Longer than an operator may be away: the Job is what tells it how the run ended.
            "ttlSecondsAfterFinished": whole("How long the Job of an ended run is kept.", 3_600, 30 * _DAY),
            "retry": group(
                "What is done about runs that fail by no fault of the configuration.",
                {
                    "limit": whole("How often a run is tried again before Stalled is said.", 0, 100),
                    "backoffSeconds": whole("The first pause; each following one is twice as long.", 1, 3_600),
                    "maxBackoffSeconds": whole("The longest pause.", 1, _DAY),
                },
                Rule(
                    "!has(self.backoffSeconds) || !has(self.maxBackoffSeconds) || "
                    "self.backoffSeconds <= self.maxBackoffSeconds",
                    "backoffSeconds must not be more than maxBackoffSeconds",
                    _is_first_not_longest,
                ),
            ),
        },
        Rule(
            "!has(self.mode) || self.mode != 'DriverOnly' || !has(self.executor)",
            "executor has no meaning with mode DriverOnly: leave one of them out",
            lambda given: given.get("mode") != ExecutionMode.DRIVER_ONLY or given.get("executor") is None,
        ),
    )


def _dynamic_allocation() -> Schema:
    return group(
        "Executors come and go with the work.",
        {
            "minInstances": whole("At least so many.", 0, 1_000),
            "maxInstances": whole("At most so many.", 1, 1_000),
        },
        Rule(
            "!has(self.minInstances) || self.minInstances <= self.maxInstances",
            "minInstances must not be more than maxInstances",
            lambda given: (given.get("minInstances") or 0) <= given["maxInstances"],
        ),
        required=("maxInstances",),
    )


def _is_first_not_longest(retry: Mapping[str, int | None]) -> bool:
    first, longest = retry.get("backoffSeconds"), retry.get("maxBackoffSeconds")
    return first is None or longest is None or first <= longest
