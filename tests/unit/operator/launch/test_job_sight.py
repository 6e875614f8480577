from datetime import UTC, datetime

from hudi_engine.contract import Action
from hudi_operator.launch.job_sight import is_run, sight_of
from hudi_operator.names import Annotation, Label
from hudi_operator.runs import RunPhase
from tests.unit.operator.launch.jobs import COMPLETE, DRIVER_ONLY, RECORDS, REPORT, ended, failed, job, pod


def test_a_job_tells_whose_run_it_is() -> None:
    run = sight_of(job(), None)

    assert (run.name, run.owner, run.owner_uid, run.table) == (DRIVER_ONLY.name, RECORDS, "uid-2", "orders")
    assert (run.action, run.trigger, run.attempt) == (Action.BUILD, "g1.1", 2)
    assert run.base_path == "s3://lake/orders"
    assert run.kinds == ("record_index",)


def test_a_job_for_several_indexes_tells_which_and_one_of_an_earlier_release_tells_none() -> None:
    several, earlier = job(), job()
    several["metadata"]["annotations"][Label.KINDS] = "record_index,column_stats"
    del earlier["metadata"]["annotations"][Label.KINDS]

    runs = [sight_of(each, None) for each in (several, earlier)]

    assert [run.kinds for run in runs] == [("record_index", "column_stats"), ()]
    assert [run.is_shared for run in runs] == [True, False]


def test_a_job_of_somebody_else_with_our_label_is_no_run() -> None:
    foreign = job()
    foreign["metadata"]["labels"]["hudi-operator.dev/attempt"] = "first"

    assert is_run(job())
    assert not is_run(foreign)


def test_a_job_without_a_pod_waits() -> None:
    assert sight_of(job(), None).phase is RunPhase.WAITING


def test_a_pod_that_cannot_get_its_image_waits_and_says_why() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image lake/engine"}}

    run = sight_of(job(), pod(waiting))

    assert (run.phase, run.trouble_reason) == (RunPhase.WAITING, "ImagePullBackOff")
    assert run.trouble == "Back-off pulling image lake/engine"


def test_a_container_that_is_being_created_is_in_no_trouble() -> None:
    run = sight_of(job(), pod({"waiting": {"reason": "ContainerCreating"}}))

    assert (run.phase, run.trouble_reason) == (RunPhase.WAITING, "")


def test_a_pod_that_fits_on_no_node_is_unschedulable() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes: memory"}

    run = sight_of(job(), pod(conditions=[condition]))

    assert (run.trouble_reason, run.trouble) == ("Unschedulable", "0/3 nodes: memory")


def test_a_running_container_is_a_running_run() -> None:
    run = sight_of(job(), pod({"running": {"startedAt": "2026-05-01T12:00:05Z"}}))

    assert (run.phase, run.started_at) == (RunPhase.RUNNING, datetime(2026, 5, 1, 12, 0, 5, tzinfo=UTC))


def test_a_run_is_live_until_its_job_is_over() -> None:
    run = sight_of(job(DRIVER_ONLY, {"type": "SuccessCriteriaMet"}), pod(ended(0, REPORT.to_json())))

    assert run.phase is RunPhase.RUNNING


def test_the_report_is_the_pods_termination_message() -> None:
    run = sight_of(job(DRIVER_ONLY, COMPLETE), pod(ended(0, REPORT.to_json(), "Completed")))

    assert (run.phase, run.exit_code, run.report) == (RunPhase.ENDED, 0, REPORT)
    assert run.ended_at == datetime(2026, 5, 1, 12, 8, tzinfo=UTC)
    assert (run.trouble, run.trouble_reason) == ("", "")


def test_a_run_that_fails_without_a_report_says_its_last_words() -> None:
    run = sight_of(job(DRIVER_ONLY, failed()), pod(ended(1, "Traceback…\nValueError: no such thing", "Error")))

    assert (run.phase, run.exit_code, run.report) == (RunPhase.ENDED, 1, None)
    assert (run.trouble, run.trouble_reason) == ("ValueError: no such thing", "")


def test_a_container_that_was_killed_for_its_memory_says_so() -> None:
    run = sight_of(job(DRIVER_ONLY, failed()), pod(ended(137, "", "OOMKilled")))

    assert (run.exit_code, run.trouble_reason) == (137, "OOMKilled")


def test_a_pod_that_was_evicted_is_a_lost_run() -> None:
    evicted = pod(None, reason="Evicted", message="The node was low on resource: memory")

    run = sight_of(job(DRIVER_ONLY, failed()), evicted)

    assert (run.phase, run.trouble_reason) == (RunPhase.LOST, "Evicted")
    assert run.trouble == "The node was low on resource: memory"


def test_a_job_whose_time_was_over_and_whose_pod_is_gone_is_lost_by_its_deadline() -> None:
    run = sight_of(job(DRIVER_ONLY, failed("DeadlineExceeded", "Job was active longer than specified deadline")), None)

    assert (run.phase, run.trouble_reason) == (RunPhase.LOST, "DeadlineExceeded")


def test_a_run_that_was_told_to_stop_and_missed_no_deadline_of_its_own_is_stopped() -> None:
    told = job(DRIVER_ONLY, failed("DeadlineExceeded", "Job was active longer than specified deadline"))
    told["metadata"]["annotations"][Annotation.STOP] = DRIVER_ONLY.name

    run = sight_of(told, None)

    assert (run.phase, run.trouble_reason, run.is_stopping) == (RunPhase.LOST, "Stopped", False)


def test_a_live_run_that_was_told_to_stop_is_stopping() -> None:
    told = job()
    told["metadata"]["annotations"][Annotation.STOP] = DRIVER_ONLY.name

    assert sight_of(told, None).is_stopping
    assert sight_of(job(deletionTimestamp="2026-05-01T12:01:00Z"), None).is_stopping


def test_a_complete_job_whose_pod_is_gone_ended_well() -> None:
    run = sight_of(job(DRIVER_ONLY, COMPLETE), None)

    assert (run.phase, run.exit_code, run.report) == (RunPhase.ENDED, 0, None)
