"""Golden manifests stand beside this file; `python -m tests.unit.operator.launch.test_manifest` writes them anew."""

import json
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
from hudi_operator.resources.model import Resources
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


if __name__ == "__main__":
    for title, ordered in GOLDEN.items():
        (HERE / f"{title}.yaml").write_text(text_of(job_of(ordered, Defaults())))
