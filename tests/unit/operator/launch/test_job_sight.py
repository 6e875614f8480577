from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hudi_engine.contract import Action, Outcome
from hudi_operator.launch.cluster import Manifest
from hudi_operator.launch.events import trouble_in
from hudi_operator.launch.job_sight import is_run, keeping_end, sight_of
from hudi_operator.launch.pod_sight import Trouble
from hudi_operator.names import Annotation, Label
from hudi_operator.retry import ending_of, hindrance_of
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Reason
from tests.unit.operator.launch.jobs import COMPLETE, DRIVER_ONLY, RECORDS, REPORT, ended, failed, job, pod

NOW = datetime(2026, 5, 1, 12, 10, tzinfo=UTC)


def sight(job: Manifest, pod: Manifest | None, told: Trouble | None = None, now: datetime = NOW) -> RunSeen:
    return sight_of(job, pod, now, told)


def test_a_job_tells_whose_run_it_is() -> None:
    run = sight(job(), None)

    assert (run.name, run.owner, run.owner_uid, run.table) == (DRIVER_ONLY.name, RECORDS, "uid-2", "orders")
    assert (run.action, run.trigger, run.attempt) == (Action.BUILD, "g1.1", 2)
    assert run.base_path == "s3://lake/orders"
    assert run.kinds == ("record_index",)


def test_a_job_for_several_indexes_tells_which_and_one_of_an_earlier_release_tells_none() -> None:
    several, earlier = job(), job()
    several["metadata"]["annotations"][Label.KINDS] = "record_index,column_stats"
    del earlier["metadata"]["annotations"][Label.KINDS]

    runs = [sight(each, None) for each in (several, earlier)]

    assert [run.kinds for run in runs] == [("record_index", "column_stats"), ()]
    assert [run.is_shared for run in runs] == [True, False]


def test_a_job_of_somebody_else_with_our_label_is_no_run() -> None:
    foreign = job()
    foreign["metadata"]["labels"]["hudi-operator.dev/attempt"] = "first"

    assert is_run(job())
    assert not is_run(foreign)


def test_a_job_without_a_pod_waits() -> None:
    assert sight(job(), None).phase is RunPhase.WAITING


def test_a_pod_that_cannot_get_its_image_waits_and_says_why() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image lake/engine"}}

    run = sight(job(), pod(waiting))

    assert (run.phase, run.trouble_reason) == (RunPhase.WAITING, "ImagePullBackOff")
    assert run.trouble == "Back-off pulling image lake/engine"


def test_a_container_that_is_being_created_is_in_no_trouble() -> None:
    run = sight(job(), pod({"waiting": {"reason": "ContainerCreating"}}))

    assert (run.phase, run.trouble_reason) == (RunPhase.WAITING, "")


def test_a_pod_that_fits_on_no_node_is_unschedulable() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes: memory"}

    run = sight(job(), pod(conditions=[condition]))

    assert (run.trouble_reason, run.trouble) == ("Unschedulable", "0/3 nodes: memory")


def test_a_running_container_is_a_running_run() -> None:
    run = sight(job(), pod({"running": {"startedAt": "2026-05-01T12:00:05Z"}}))

    assert (run.phase, run.started_at) == (RunPhase.RUNNING, datetime(2026, 5, 1, 12, 0, 5, tzinfo=UTC))


def test_a_run_is_live_until_its_job_is_over() -> None:
    run = sight(job(DRIVER_ONLY, {"type": "SuccessCriteriaMet"}), pod(ended(0, REPORT.to_json())))

    assert run.phase is RunPhase.RUNNING


def test_the_report_is_the_pods_termination_message() -> None:
    run = sight(job(DRIVER_ONLY, COMPLETE), pod(ended(0, REPORT.to_json(), "Completed")))

    assert (run.phase, run.exit_code, run.report) == (RunPhase.ENDED, 0, REPORT)
    assert run.ended_at == datetime(2026, 5, 1, 12, 8, tzinfo=UTC)
    assert (run.trouble, run.trouble_reason) == ("", "")


def test_a_run_that_fails_without_a_report_says_its_last_words() -> None:
    run = sight(job(DRIVER_ONLY, failed()), pod(ended(1, "Traceback…\nValueError: no such thing", "Error")))

    assert (run.phase, run.exit_code, run.report) == (RunPhase.ENDED, 1, None)
    assert (run.trouble, run.trouble_reason) == ("ValueError: no such thing", "")


def test_a_container_that_was_killed_for_its_memory_says_so() -> None:
    run = sight(job(DRIVER_ONLY, failed()), pod(ended(137, "", "OOMKilled")))

    assert (run.exit_code, run.trouble_reason) == (137, "OOMKilled")


def test_a_pod_that_was_evicted_is_a_lost_run() -> None:
    evicted = pod(None, reason="Evicted", message="The node was low on resource: memory")

    run = sight(job(DRIVER_ONLY, failed()), evicted)

    assert (run.phase, run.trouble_reason) == (RunPhase.LOST, "Evicted")
    assert run.trouble == "The node was low on resource: memory"


def test_a_job_whose_time_was_over_and_whose_pod_is_gone_is_lost_by_its_deadline() -> None:
    run = sight(job(DRIVER_ONLY, failed("DeadlineExceeded", "Job was active longer than specified deadline")), None)

    assert (run.phase, run.trouble_reason) == (RunPhase.LOST, "DeadlineExceeded")


def test_a_run_that_was_told_to_stop_and_missed_no_deadline_of_its_own_is_stopped() -> None:
    told = job(DRIVER_ONLY, failed("DeadlineExceeded", "Job was active longer than specified deadline"))
    told["metadata"]["annotations"][Annotation.STOP] = DRIVER_ONLY.name

    run = sight(told, None)

    assert (run.phase, run.trouble_reason, run.is_stopping) == (RunPhase.LOST, "Stopped", False)


def test_a_live_run_that_was_told_to_stop_is_stopping() -> None:
    told = job()
    told["metadata"]["annotations"][Annotation.STOP] = DRIVER_ONLY.name

    assert sight(told, None).is_stopping
    assert sight(job(deletionTimestamp="2026-05-01T12:01:00Z"), None).is_stopping


def test_a_complete_job_whose_pod_is_gone_ended_well() -> None:
    run = sight(job(DRIVER_ONLY, COMPLETE), None)

    assert (run.phase, run.exit_code, run.report) == (RunPhase.ENDED, 0, None)


def disrupted(reason: str, message: str = "") -> dict[str, str]:
    """As https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions has it."""
    return {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}


KILLED, TERMINATED = ended(137, "", "Error"), ended(143, "", "Error")
NO_WORD = {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "message": "could not be located"}}


@pytest.mark.parametrize(
    ("state", "status", "reason"),
    [
        # https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/
        (KILLED, {"reason": "Evicted", "message": "The node was low on resource: memory."}, Reason.EVICTED),
        (NO_WORD, {"reason": "Evicted", "message": "The node was low on resource: memory."}, Reason.EVICTED),
        (KILLED, {"conditions": [disrupted("TerminationByKubelet")], "reason": "Evicted"}, Reason.EVICTED),
        # The kubelet's eviction/helpers.go has these words.
        (
            KILLED,
            {"reason": "Evicted", "message": 'Usage of EmptyDir volume "scratch" exceeds the limit "50Gi". '},
            Reason.OUT_OF_DISK,
        ),
        (
            KILLED,
            {"reason": "Evicted", "message": "Pod ephemeral local storage usage exceeds the total limit of 1Gi. "},
            Reason.OUT_OF_DISK,
        ),
        (
            KILLED,
            {"reason": "Evicted", "message": 'Container engine exceeded its local ephemeral storage limit "1Gi". '},
            Reason.OUT_OF_DISK,
        ),
        (TERMINATED, {"conditions": [disrupted("PreemptionByScheduler")]}, Reason.PREEMPTED),
        (KILLED, {"conditions": [disrupted("PreemptionByScheduler")]}, Reason.PREEMPTED),
        (TERMINATED, {"conditions": [disrupted("EvictionByEvictionAPI")]}, Reason.EVICTED),
        (TERMINATED, {"conditions": [disrupted("DeletionByTaintManager")]}, Reason.NODE_LOST),
        (NO_WORD, {"conditions": [disrupted("DeletionByPodGC")]}, Reason.NODE_LOST),
        # https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/
        (
            TERMINATED,
            {"reason": "Terminated", "message": "Pod was terminated in response to imminent node shutdown."},
            Reason.NODE_LOST,
        ),
        (ended(137, "", "OOMKilled"), {}, Reason.OUT_OF_MEMORY),
        (KILLED, {}, Reason.INFRASTRUCTURE),
        # The engine ended by itself before the cluster could end it.
        (ended(10, "", "Error"), {"conditions": [disrupted("PreemptionByScheduler")]}, Reason.BAD_CONFIGURATION),
    ],
    ids=str,
)
def test_what_the_cluster_did_to_a_pod_is_told_from_memory_that_ran_out(
    state: dict[str, Any], status: dict[str, Any], reason: Reason
) -> None:
    assert ending_of(sight(job(DRIVER_ONLY, failed()), pod(state, **status)))[0] is reason


def test_an_engine_that_was_done_when_its_pod_was_preempted_has_succeeded() -> None:
    preempted = pod(ended(0, REPORT.to_json(), "Completed"), conditions=[disrupted("PreemptionByScheduler")])

    assert ending_of(sight(job(DRIVER_ONLY, COMPLETE), preempted))[0] is Reason.SUCCEEDED


def of_deleted(pod: dict[str, Any]) -> dict[str, Any]:
    """Whose grace period was over at 12:05."""
    return {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "2026-05-01T12:05:00Z"}}


RUNNING = {"running": {"startedAt": "2026-05-01T12:00:05Z"}}


@pytest.mark.parametrize("conditions", [(), ({"type": "FailureTarget", "reason": "DeadlineExceeded"},)])
def test_a_run_whose_node_does_not_answer_is_lost_though_its_job_is_not_over(conditions: Any) -> None:
    """A node controller deletes the pods of a node that does not answer, and only its kubelet can confirm that."""
    there = of_deleted(pod(RUNNING, conditions=[disrupted("DeletionByTaintManager", "Taint manager: deleting")]))

    run = sight(job(DRIVER_ONLY, *conditions), there)

    assert (run.phase, ending_of(run)[0]) == (RunPhase.LOST, Reason.NODE_LOST)
    assert run.ended_at == datetime(2026, 5, 1, 12, 5, tzinfo=UTC)
    assert run.trouble == "its pod should have ended, and its node does not answer: Taint manager: deleting"


def test_a_pod_that_is_being_ended_within_its_grace_period_still_runs() -> None:
    run = sight(job(), of_deleted(pod(RUNNING)), now=datetime(2026, 5, 1, 12, 4, tzinfo=UTC))

    assert run.phase is RunPhase.RUNNING


def with_proxy(pod: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """Another container comes first, as an injected one may."""
    status = pod["status"]
    proxy = {"name": "istio-proxy", "state": state}
    return {**pod, "status": {**status, "containerStatuses": [proxy, *status.get("containerStatuses", [])]}}


def test_the_engines_container_is_found_by_its_name() -> None:
    starting = sight(job(), with_proxy(pod({"waiting": {"reason": "ContainerCreating"}}), RUNNING))
    over = sight(job(DRIVER_ONLY, COMPLETE), with_proxy(pod(ended(0, REPORT.to_json())), ended(2)))

    assert starting.phase is RunPhase.WAITING
    assert (over.exit_code, over.report) == (0, REPORT)


def test_a_proxy_that_goes_on_does_not_keep_a_run_alive() -> None:
    run = sight(job(), with_proxy(pod(ended(0, REPORT.to_json())), RUNNING))

    assert (run.phase, run.exit_code, run.report) == (RunPhase.ENDED, 0, REPORT)
    assert run.ended_at == datetime(2026, 5, 1, 12, 8, tzinfo=UTC)


def test_the_end_of_an_engine_outlives_its_pod_where_a_proxy_kept_the_job_alive() -> None:
    alive, there = job(), with_proxy(pod(ended(0, REPORT.to_json())), RUNNING)
    changes: Any = keeping_end(alive, there)
    over = job(DRIVER_ONLY, failed("DeadlineExceeded"), annotations=alive["metadata"]["annotations"])
    over["metadata"]["annotations"] |= changes["metadata"]["annotations"]

    run = sight(over, None)

    assert changes["spec"] == {"activeDeadlineSeconds": 1}
    assert (run.phase, run.report, ending_of(run)[0]) == (RunPhase.ENDED, REPORT, Reason.SUCCEEDED)
    assert keeping_end(over, there) is None


def test_a_job_whose_only_container_has_ended_is_left_to_end_by_itself() -> None:
    assert keeping_end(job(), pod(ended(0, REPORT.to_json()))) is None
    assert keeping_end(job(), with_proxy(pod(RUNNING), RUNNING)) is None
    assert keeping_end(job(), None) is None


def test_the_report_of_a_run_that_passed_its_deadline_is_kept_and_so_is_why_it_ended() -> None:
    late = job(DRIVER_ONLY, {"type": "FailureTarget", "reason": "DeadlineExceeded"})
    interrupted = replace(REPORT, outcome=Outcome.INTERRUPTED, exit_code=143, reason="stopped at the base")
    changes: Any = keeping_end(late, of_deleted(pod(ended(143, interrupted.to_json(), "Error"))))
    late["metadata"]["annotations"] |= changes["metadata"]["annotations"]

    run = sight(late, None)

    assert "spec" not in changes
    assert (run.phase, run.report, ending_of(run)) == (
        RunPhase.ENDED,
        interrupted,
        (Reason.DEADLINE_EXCEEDED, "stopped at the base"),
    )


def test_a_pod_that_stays_keeps_its_report_itself() -> None:
    assert keeping_end(job(DRIVER_ONLY, failed()), pod(ended(143, REPORT.to_json(), "Error"))) is None


def event(reason: str, message: str, at: str = "2026-05-01T12:00:02Z") -> dict[str, Any]:
    return {"reason": reason, "message": message, "lastTimestamp": at}


@pytest.mark.parametrize(
    ("reason", "message", "expected"),
    [
        (
            "FailedCreate",
            'Error creating: pods "orders-" is forbidden: error looking up service account shop/indexer: '
            'serviceaccount "indexer" not found',
            Reason.SERVICE_ACCOUNT_MISSING,
        ),
        (
            "FailedCreate",
            'Error creating: pods "orders-" is forbidden: exceeded quota: compute, requested: limits.memory=4Gi, '
            "used: limits.memory=8Gi, limited: limits.memory=10Gi",
            Reason.QUOTA_EXCEEDED,
        ),
        (
            "FailedCreate",
            'Error creating: pods "orders-" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot',
            Reason.POD_REFUSED,
        ),
        (
            "FailedMount",
            'MountVolume.SetUp failed for volume "secret-0" : secret "lake-keys" not found',
            Reason.SECRET_MISSING,
        ),
        (
            "FailedMount",
            'MountVolume.SetUp failed for volume "rules" : configmap "rules" not found',
            Reason.VOLUME_MISSING,
        ),
        ("FailedAttachVolume", "AttachVolume.Attach failed for volume pvc-1", Reason.VOLUME_MISSING),
    ],
)
def test_a_run_that_waits_names_what_its_events_say_is_missing(reason: str, message: str, expected: Reason) -> None:
    told = trouble_in([event("Scheduled", "assigned"), event(reason, message)])

    runs = [sight(job(), None, told), sight(job(), pod({"waiting": {"reason": "ContainerCreating"}}), told)]

    assert [hindrance_of(run) for run in runs] == [expected, expected]
    assert {run.trouble for run in runs} == {message}


def test_the_newest_event_counts() -> None:
    old = event("FailedCreate", 'serviceaccount "indexer" not found', "2026-05-01T12:00:02Z")
    new = event("FailedCreate", "exceeded quota: compute", "2026-05-01T12:01:02Z")

    assert trouble_in([new, old]) == Trouble("QuotaExceeded", "exceeded quota: compute")
    assert trouble_in([event("Scheduled", "assigned")]) is None


def test_a_secret_of_a_variable_that_is_missing_is_named() -> None:
    waiting = {"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "tokens" not found'}}

    run = sight(job(), pod(waiting))

    assert (hindrance_of(run), run.trouble) == (Reason.SECRET_MISSING, 'secret "tokens" not found')


def test_an_init_container_that_cannot_start_says_why() -> None:
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image proxy"}}}
    there = pod({"waiting": {"reason": "PodInitializing"}}, initContainerStatuses=[{"name": "istio-init", **waiting}])

    run = sight(job(), there)

    assert hindrance_of(run) is Reason.IMAGE_PULL_FAILED
    assert run.trouble == "init container istio-init: Back-off pulling image proxy"


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "7", "{}", '{"exitCode": "0"}', '{"exitCode": 0, "finishedAt": "yesterday"}', "[" * 100_000],
    ids=lambda text: text[:20],
)
def test_an_annotation_that_is_no_end_of_an_engine_is_passed_by(text: str) -> None:
    """Whoever may edit Jobs in some namespace must not be able to stop the operator."""
    edited = job(DRIVER_ONLY, COMPLETE)
    edited["metadata"]["annotations"][Label.ENDED] = text

    run = sight(edited, pod(ended(0, REPORT.to_json(), "Completed")))

    assert (run.phase, run.report) == (RunPhase.ENDED, REPORT)


def test_a_time_without_a_zone_is_one_of_utc() -> None:
    edited = job(DRIVER_ONLY, COMPLETE)
    edited["metadata"]["annotations"][Label.ENDED] = '{"exitCode": 0, "finishedAt": "2026-05-01T12:08:00"}'

    assert sight(edited, None).ended_at == datetime(2026, 5, 1, 12, 8, tzinfo=UTC)
