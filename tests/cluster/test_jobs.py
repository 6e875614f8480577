"""Runs as Jobs of a real cluster; there is no node, so the test says what a kubelet would."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hudi_engine.contract import JobReport, KindReport, Outcome
from tests.cluster.kubernetes import Cluster
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
# The operator stops a run that began longer ago than its deadline allows, so no date that is written here stays good.
STARTED = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_run_is_a_job_and_its_pods_last_words_are_its_report(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    in_it = f"--namespace={namespace}"
    cluster.kubectl("create", "serviceaccount", "hudi-operator-run", in_it)
    report = JobReport(Outcome.VALID, kinds=(KindReport("record_index", Outcome.VALID),))

    with cluster.operator("--launcher", "job", in_it) as operator:
        cluster.apply(SERVICE.replace("PATH", str(unpack("v9_mor_indexed", tmp_path))), in_it)
        pod = eventually(lambda: cluster.get("pods", in_it)["items"])[0]["metadata"]["name"]
        _say(cluster, pod, in_it, "Running", {"running": {"startedAt": STARTED}})
        eventually(lambda: _status(cluster, in_it).get("state") == "Running")
        end = {"exitCode": 0, "reason": "Completed", "startedAt": STARTED, "finishedAt": STARTED}
        _say(cluster, pod, in_it, "Succeeded", {"terminated": {**end, "message": report.to_json()}})

        cluster.kubectl("wait", "tableservice/nightly", in_it, "--for=condition=LastRunSucceeded", "--timeout=30s")
        job = cluster.get("jobs", in_it)["items"][0]
        assert job["status"]["succeeded"] == 1
        assert operator.stop() == 0

    owner = cluster.get("tableservice", "nightly", in_it)["metadata"]["uid"]
    assert job["metadata"]["ownerReferences"][0]["uid"] == owner


def test_a_run_that_is_stopped_keeps_its_job(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    in_it = f"--namespace={namespace}"
    cluster.kubectl("create", "serviceaccount", "hudi-operator-run", in_it)

    with cluster.operator("--launcher", "job", in_it):
        cluster.apply(SERVICE.replace("PATH", str(unpack("v9_mor_indexed", tmp_path))), in_it)
        run = eventually(lambda: cluster.get("jobs", in_it)["items"])[0]["metadata"]["name"]
        eventually(lambda: cluster.get("pods", in_it)["items"])
        cluster.kubectl("annotate", "tableservice", "nightly", in_it, f"hudi-operator.dev/stop={run}")

        ended = eventually(lambda: cluster.get("job", run, in_it)["status"].get("conditions"))
        history = eventually(lambda: _status(cluster, in_it).get("history"))

    assert "DeadlineExceeded" in {condition["reason"] for condition in ended}
    assert history[0]["name"] == run
    assert "hudi-operator.dev/stop" not in cluster.get("tableservice", "nightly", in_it)["metadata"]["annotations"]


def eventually(look: Callable[[], Any], seconds: float = 40.0) -> Any:
    """What is found, once there is anything."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds:g} s")


def _status(cluster: Cluster, in_it: str) -> dict[str, Any]:
    status: dict[str, Any] = cluster.get("tableservice", "nightly", in_it).get("status", {})
    return status


def _say(cluster: Cluster, pod: str, in_it: str, phase: str, state: dict[str, Any]) -> None:
    container = {"name": "engine", "image": "x", "imageID": "", "ready": "running" in state, "restartCount": 0}
    status = {"phase": phase, "containerStatuses": [{**container, "state": state}]}
    patch = json.dumps({"status": status})
    cluster.kubectl("patch", "pod", pod, in_it, "--subresource=status", "--type=merge", "-p", patch)
