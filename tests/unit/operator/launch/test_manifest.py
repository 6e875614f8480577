"""Golden manifests stand beside this file; `python -m tests.unit.operator.launch.test_manifest` writes them anew."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hudi_engine.contract import Action, JobRequest
from hudi_operator.decision import Defaults
from hudi_operator.launch.cluster import Manifest
from hudi_operator.launch.manifest import job_of
from hudi_operator.names import Label
from hudi_operator.resources.model import DynamicAllocation, PodTemplate, Resources
from hudi_operator.resources.schema.values import amount_of
from hudi_operator.runs import RunOrder
from tests.unit.operator.launch.jobs import DRIVER_ONLY, SPARK

HERE = Path(__file__).parent
GOLDEN = {"driver_only": DRIVER_ONLY, "spark": SPARK}


def text_of(manifest: Manifest) -> str:
    return yaml.safe_dump(json.loads(json.dumps(manifest)), sort_keys=False, width=110)


def plain(manifest: Manifest) -> Any:
    return manifest


def container(order: RunOrder) -> Any:
    return plain(job_of(order, Defaults()))["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_the_job_of_an_order_is_the_golden_one(name: str) -> None:
    assert text_of(job_of(GOLDEN[name], Defaults())) == (HERE / f"{name}.yaml").read_text()


def test_kubernetes_expands_nothing_that_a_user_wrote() -> None:
    request = JobRequest.from_json(container(DRIVER_ONLY)["args"][1].replace("$$", "$"))
    assert request.conf == DRIVER_ONLY.request.conf

    submitted = next(one["value"] for one in container(SPARK)["env"] if one["name"] == "PYSPARK_SUBMIT_ARGS")
    assert "$$(POD_NAME) --master local" in submitted
    assert submitted.replace("$$(", "").count("$(") == 1


def test_no_secret_is_anywhere_but_mounted() -> None:
    text = text_of(job_of(SPARK, Defaults()))

    assert "secretKeyRef" not in text
    assert "envFrom" not in text


def test_the_job_that_drops_an_index_is_not_owned_by_the_resource_whose_deletion_it_serves() -> None:
    drop = replace(DRIVER_ONLY, request=replace(DRIVER_ONLY.request, action=Action.DROP))

    assert plain(job_of(drop, Defaults()))["metadata"]["ownerReferences"] == []
    assert len(plain(job_of(DRIVER_ONLY, Defaults()))["metadata"]["ownerReferences"]) == 1


def test_the_users_settings_of_spark_come_before_ours_which_win() -> None:
    submitted = next(one["value"] for one in container(SPARK)["env"] if one["name"] == "PYSPARK_SUBMIT_ARGS")

    assert submitted.index("spark.sql.shuffle.partitions") < submitted.index("spark.submit.deployMode=client")


def pod(order: RunOrder) -> Any:
    return plain(job_of(order, Defaults()))["spec"]["template"]


def executor_template(order: RunOrder) -> Any:
    return json.loads(pod(order)["metadata"]["annotations"][Label.EXECUTOR_TEMPLATE])


@pytest.mark.parametrize("spec", [pod(DRIVER_ONLY)["spec"], pod(SPARK)["spec"], executor_template(SPARK)["spec"]])
def test_a_namespace_that_enforces_the_profile_restricted_takes_the_pods_of_drivers_and_executors(spec: Any) -> None:
    """The fields of https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted."""
    volumes = {kind for volume in spec["volumes"] for kind in volume if kind != "name"}

    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in spec["containers"]:
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert volumes <= {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "secret"}


@pytest.mark.parametrize("spec", [pod(DRIVER_ONLY)["spec"], pod(SPARK)["spec"], executor_template(SPARK)["spec"]])
def test_what_a_pod_writes_to_has_a_size_limit_and_its_root_is_read_only(spec: Any) -> None:
    (container,) = spec["containers"]
    limits = {one["name"]: one["emptyDir"].get("sizeLimit") for one in spec["volumes"] if "emptyDir" in one}
    paths = {one["mountPath"] for one in container["volumeMounts"] if one["name"] in limits}

    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["resources"]["requests"]["ephemeral-storage"] == "1Gi"
    assert paths == {"/tmp", "/var/lib/hudi-operator/scratch"}
    assert all(limits.values())


def test_a_driver_without_resources_gets_twice_the_memory_that_the_engine_is_told_to_fill() -> None:
    limits = container(DRIVER_ONLY)["resources"]["limits"]

    assert amount_of(limits["memory"]) == 2 * Defaults().memory_bytes
    assert set(limits) == {"cpu", "memory"}


def test_a_memory_limit_below_the_default_request_replaces_both() -> None:
    small = replace(DRIVER_ONLY, execution=replace(DRIVER_ONLY.execution, driver=Resources({}, {"memory": "1Gi"})))

    assert container(small)["resources"] == {
        "requests": {"cpu": "1", "ephemeral-storage": "1Gi"},
        "limits": {"cpu": "2", "memory": "1Gi"},
    }


def test_executors_hold_no_token_of_the_api() -> None:
    assert executor_template(SPARK)["spec"]["automountServiceAccountToken"] is False


TEMPLATE = PodTemplate(
    labels={"team": "lake", Label.RUN: "another"},
    annotations={"sidecar.istio.io/inject": "false"},
    node_selector={"disk": "fast"},
    affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
    tolerations=({"key": "spot", "operator": "Exists"},),
    priority_class_name="batch",
    volumes=({"name": "scratch", "emptyDir": {"sizeLimit": "500Gi"}}, {"name": "rules", "configMap": {"name": "r"}}),
    env=({"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}, {"name": "TZ", "value": "x"}),
    volume_mounts=({"name": "rules", "mountPath": "/rules"},),
)


def with_template(**templates: PodTemplate) -> RunOrder:
    return replace(SPARK, execution=replace(SPARK.execution, **templates))  # type: ignore[arg-type]  # templates only


def templated(role: str) -> Any:
    order = with_template(**{f"{role}_template": TEMPLATE})
    return pod(order) if role == "driver" else executor_template(order)


@pytest.mark.parametrize("role", ["driver", "executor"])
def test_a_pod_template_is_added_to_the_pods_of_its_role(role: str) -> None:
    made = templated(role)
    spec, (container,) = made["spec"], made["spec"]["containers"]

    assert made["metadata"]["labels"]["team"] == "lake"
    assert made["metadata"]["annotations"]["sidecar.istio.io/inject"] == "false"
    assert (spec["nodeSelector"], spec["affinity"]) == (TEMPLATE.node_selector, TEMPLATE.affinity)
    assert (spec["tolerations"], spec["priorityClassName"]) == ([TEMPLATE.tolerations[0]], "batch")
    assert {"name": "rules", "configMap": {"name": "r"}} in spec["volumes"]
    assert {"name": "rules", "mountPath": "/rules"} in container["volumeMounts"]
    assert TEMPLATE.env[0] in container["env"]
    # Of two variables of one name Kubernetes takes the last.
    assert [one["value"] for one in container["env"] if one["name"] == "TZ"][-1] == "UTC"


@pytest.mark.parametrize(("role", "name"), [("driver", "scratch"), ("executor", "spark-local-dir-1")])
def test_a_volume_named_scratch_replaces_the_operators_own(role: str, name: str) -> None:
    spec = templated(role)["spec"]

    found = [volume for volume in spec["volumes"] if volume["name"] in ("scratch", name)]
    assert found == [{"name": name, "emptyDir": {"sizeLimit": "500Gi"}}]
    assert {"name": name, "mountPath": "/var/lib/hudi-operator/scratch"} in spec["containers"][0]["volumeMounts"]


def test_a_pod_template_changes_nothing_of_the_other_role_and_nothing_of_the_rights() -> None:
    for_driver = with_template(driver_template=TEMPLATE)
    assert executor_template(for_driver) == executor_template(SPARK)
    assert pod(for_driver)["metadata"]["labels"][Label.RUN] == SPARK.name

    for made, before in ((templated("driver"), pod(SPARK)), (templated("executor"), executor_template(SPARK))):
        spec, other = made["spec"], before["spec"]
        assert spec["securityContext"] == other["securityContext"]
        assert spec["automountServiceAccountToken"] is other["automountServiceAccountToken"]
        assert spec["containers"][0]["securityContext"] == other["containers"][0]["securityContext"]


def settings(order: RunOrder) -> dict[str, str]:
    submitted = next(one["value"] for one in container(order)["env"] if one["name"] == "PYSPARK_SUBMIT_ARGS")
    pairs = [word.partition("=") for word in shlex.split(submitted) if "=" in word]
    return {key: value for key, _, value in pairs}


def test_executors_run_under_an_account_of_their_own() -> None:
    named = replace(SPARK, execution=replace(SPARK.execution, executor_service_account_name="reader"))
    account = "spark.kubernetes.authenticate.executor.serviceAccountName"

    assert settings(SPARK)[account] == "hudi-operator-executor"
    assert settings(named)[account] == "reader"


@pytest.mark.parametrize(
    ("instances", "allocation", "initial"),
    [
        (None, DynamicAllocation(9), "1"),
        (None, DynamicAllocation(9, 2), "2"),
        (4, DynamicAllocation(9), "4"),
        (20, DynamicAllocation(9), "9"),
    ],
)
def test_dynamic_allocation_starts_with_as_many_executors_as_are_given_within_its_bounds(
    instances: int | None, allocation: DynamicAllocation, initial: str
) -> None:
    execution = replace(SPARK.execution, executor_instances=instances, dynamic_allocation=allocation)

    found = settings(replace(SPARK, execution=execution))

    assert found["spark.dynamicAllocation.enabled"] == "true"
    assert found["spark.dynamicAllocation.shuffleTracking.enabled"] == "true"
    assert found["spark.dynamicAllocation.maxExecutors"] == "9"
    assert found["spark.dynamicAllocation.initialExecutors"] == initial
    assert "spark.executor.instances" not in found


if __name__ == "__main__":
    for title, ordered in GOLDEN.items():
        (HERE / f"{title}.yaml").write_text(text_of(job_of(ordered, Defaults())))
