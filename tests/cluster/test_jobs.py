"""Runs as Jobs of a real cluster; there is no node, so the test says what a kubelet would."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hudi_engine.contract import JobReport, KindReport, Outcome
from tests.cluster.kubernetes import Cluster
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.user import User
from tests.golden.unpack import unpack

SERVICE = """
apiVersion: hudi-operator.dev/v1alpha1
kind: HudiTable
metadata: {name: orders}
spec: {basePath: PATH, concurrency: {mode: SingleWriter}}
---
apiVersion: hudi-operator.dev/v1alpha1
kind: TableService
metadata: {name: nightly}
spec: {tableRef: {name: orders}, type: Validate, runToken: once}
"""


_NIGHTLY = "tableservice/nightly"


@pytest.fixture
def jobs(cluster: Cluster, user: User, tmp_path: Path) -> Iterator[OperatorProcess]:
    """An operator that runs Jobs; one run is due."""
    user.create("serviceaccount", "hudi-operator-run")
    with cluster.operator("--launcher", "job", f"--namespace={user.namespace}") as operator:
        user.kubectl("apply", "-f", "-", given=SERVICE.replace("PATH", str(unpack("v9_mor_indexed", tmp_path))))
        yield operator


def test_a_run_is_a_job_and_its_pods_last_words_are_its_report(user: User, jobs: OperatorProcess) -> None:
    report = JobReport(Outcome.VALID, kinds=(KindReport("record_index", Outcome.VALID),))
    # The operator stops a run that began longer ago than its deadline allows: no date that is written here stays good.
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    pod = f"pod/{user.wait_for_first('pod')}"
    _say(user, pod, "Running", {"running": {"startedAt": now}})
    user.wait_until("the state Running", _NIGHTLY, lambda seen: seen["status"].get("state") == "Running")
    end = {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}
    _say(user, pod, "Succeeded", {"terminated": {**end, "message": report.to_json()}})
    user.wait(_NIGHTLY, "LastRunSucceeded")

    (job,) = user.listed("job")
    assert job["status"]["succeeded"] == 1
    assert job["metadata"]["ownerReferences"][0]["uid"] == user.get(_NIGHTLY)["metadata"]["uid"]
    assert jobs.stop() == 0


@pytest.mark.usefixtures("jobs")
def test_a_run_that_is_stopped_keeps_its_job(user: User) -> None:
    run = user.wait_for_first("job")
    user.wait_for_first("pod")

    user.annotate(_NIGHTLY, stop=run)

    ended = user.wait_until("the Job to be over", f"job/{run}", lambda seen: seen["status"].get("conditions"))
    seen = user.wait_until("the run in the history", _NIGHTLY, lambda seen: seen["status"].get("history"))
    assert "DeadlineExceeded" in {condition["reason"] for condition in ended["status"]["conditions"]}
    assert seen["status"]["history"][0]["name"] == run
    # What was asked for is struck out after the status is written.
    asks = "hudi-operator.dev/stop"
    user.wait_until("the annotation gone", _NIGHTLY, lambda seen: asks not in seen["metadata"]["annotations"])


def _say(user: User, pod: str, phase: str, state: dict[str, Any]) -> None:
    container = {"name": "engine", "image": "x", "imageID": "", "ready": "running" in state, "restartCount": 0}
    user.say(pod, phase=phase, containerStatuses=[{**container, "state": state}])
