import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from hudi_engine.contract import JobReport, Outcome
from hudi_operator.decision import Defaults
from hudi_operator.launch.cluster import JOBS, Address, Cluster, Manifest
from hudi_operator.launch.job import JobLauncher
from hudi_operator.launch.protocol import NameConflict, NotStarted
from hudi_operator.retry import ending_of, hindrance_of
from hudi_operator.runs import RunPhase
from hudi_operator.words import Reason
from tests.unit.operator.kube.objects import Objects, client_of
from tests.unit.operator.launch.jobs import COMPLETE, DRIVER_ONLY, REPORT, ended, failed, job, pod

JOB = f"/apis/batch/v1/namespaces/shop/jobs/{DRIVER_ONLY.name}"
POD = "/api/v1/namespaces/shop/pods/pod-1"


@dataclass(frozen=True, slots=True)
class Scene:
    objects: Objects
    launcher: JobLauncher
    another: JobLauncher

    def change(self, launcher: JobLauncher, *conditions: dict[str, str]) -> None:
        """The Job as somebody changed it, of which the watch tells the launcher."""
        known = self.objects.there[JOB]
        tree = job(DRIVER_ONLY, *conditions)
        known = self.objects.put(JOB, **{**known, "status": tree["status"]})
        launcher.saw(known)


@dataclass(frozen=True, slots=True)
class Late:
    """A cluster whose lists are old when they come: something has happened since."""

    cluster: Cluster
    meanwhile: Callable[[], Coroutine[None, None, None]]

    async def listed(self, address: Address, labels: str) -> Sequence[Manifest]:
        found = await self.cluster.listed(address, labels)
        if address.sort == JOBS:
            await self.meanwhile()
        return found

    async def events_about(self, namespace: str, uid: str) -> Sequence[Manifest]:
        return await self.cluster.events_about(namespace, uid)

    async def create(self, address: Address, manifest: Manifest) -> Manifest:
        return await self.cluster.create(address, manifest)

    async def find(self, address: Address) -> Manifest | None:
        return await self.cluster.find(address)

    async def patch(self, address: Address, changes: Manifest) -> Manifest | None:
        return await self.cluster.patch(address, changes)

    async def delete(self, address: Address, uid: str) -> None:
        await self.cluster.delete(address, uid)


def play(scene: Callable[[Scene], Coroutine[None, None, None]]) -> None:
    async def played() -> None:
        objects = Objects()
        async with client_of(objects) as client:
            await scene(Scene(objects, *(JobLauncher(client, Defaults(), ("shop",)) for _ in range(2))))

    asyncio.run(played())


def with_time(objects: Objects) -> None:
    """What the API server sets and the one in memory does not."""
    objects.put(JOB, **_with(objects.there[JOB], creationTimestamp="2026-05-01T12:00:00Z"))


def _with(tree: dict[str, Any], **meta: object) -> dict[str, Any]:
    return {**tree, "metadata": {**tree["metadata"], **meta}}


def test_ordering_a_run_again_is_the_same_run() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        writes = there.objects.writes
        await there.launcher.start(DRIVER_ONLY)
        await there.another.start(DRIVER_ONLY)
        assert there.objects.writes == writes

    play(scene)


def test_two_launchers_that_order_a_run_at_the_same_time_order_one() -> None:
    async def scene(there: Scene) -> None:
        await asyncio.gather(there.launcher.start(DRIVER_ONLY), there.another.start(DRIVER_ONLY))
        assert [path for path in there.objects.there if "/jobs/" in path] == [JOB]

    play(scene)


def test_a_job_of_the_name_that_is_somebody_elses_is_left_alone() -> None:
    async def scene(there: Scene) -> None:
        there.objects.put(JOB, spec={"mine": True})
        with pytest.raises(NameConflict, match="somebody else"):
            await there.launcher.start(DRIVER_ONLY)
        await there.another.start(replace(DRIVER_ONLY, name="other", owner_uid="uid-8"))
        with pytest.raises(NameConflict, match="uid-8"):
            await there.another.start(replace(DRIVER_ONLY, name="other"))
        assert there.objects.there[JOB]["spec"] == {"mine": True}

    play(scene)


def test_a_job_that_the_cluster_refuses_is_not_started_and_its_words_are_passed_on() -> None:
    async def scene(there: Scene) -> None:
        there.objects.refusal = (403, "exceeded quota: jobs=0")
        with pytest.raises(NotStarted, match="exceeded quota"):
            await there.launcher.start(DRIVER_ONLY)

    play(scene)


def test_a_namespace_that_is_being_deleted_says_how_to_get_rid_of_the_resource() -> None:
    async def scene(there: Scene) -> None:
        there.objects.refusal = (403, "unable to create new content in namespace shop because it is being terminated")
        with pytest.raises(NotStarted, match="deletionPolicy: Retain"):
            await there.launcher.start(DRIVER_ONLY)

    play(scene)


def test_another_launcher_finds_the_runs_of_the_first() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        assert await there.another.runs() == []
        await there.another.list_jobs()
        (run,) = await there.another.runs()
        assert (run.name, run.phase, run.owner_uid) == (DRIVER_ONLY.name, RunPhase.WAITING, "uid-2")

    play(scene)


def test_the_end_of_a_run_is_told_with_its_report() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        there.objects.put(POD, **pod(ended(0, REPORT.to_json())))
        there.change(there.launcher, COMPLETE)
        (run,) = await there.launcher.runs()
        assert (run.phase, run.report) == (RunPhase.ENDED, REPORT)

    play(scene)


def test_a_run_that_is_stopped_keeps_its_record() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        await there.launcher.stop(DRIVER_ONLY.key)
        (run,) = await there.launcher.runs()
        assert (run.is_stopping, run.is_live) == (True, True)
        assert there.objects.there[JOB]["spec"]["activeDeadlineSeconds"] == 1

        there.change(there.launcher, failed("DeadlineExceeded"))
        (run,) = await there.launcher.runs()
        assert (run.phase, run.trouble_reason) == (RunPhase.LOST, "Stopped")

    play(scene)


def test_stopping_a_run_that_is_not_there_changes_nothing() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.stop(DRIVER_ONLY.key)
        assert there.objects.writes == 0

    play(scene)


def test_only_an_ended_run_is_forgotten() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        await there.launcher.forget(DRIVER_ONLY.key)
        assert JOB in there.objects.there

        there.change(there.launcher, COMPLETE)
        await there.launcher.forget(DRIVER_ONLY.key)
        assert JOB not in there.objects.there
        assert await there.launcher.runs() == []

    play(scene)


def test_a_listing_does_not_undo_what_happened_while_it_was_made() -> None:
    async def scene(there: Scene) -> None:
        async def meanwhile() -> None:
            launcher.lost(there.objects.there[JOB]["metadata"]["uid"])
            await launcher.start(replace(DRIVER_ONLY, name="later"))

        launcher = JobLauncher(Late(there.launcher.cluster, meanwhile), Defaults(), ("shop",))
        await launcher.start(DRIVER_ONLY)
        await launcher.list_jobs()
        assert [run.name for run in await launcher.runs()] == ["later"]

    play(scene)


def test_an_old_word_of_a_job_does_not_undo_a_newer_one() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        old = there.objects.there[JOB]
        there.change(there.launcher, COMPLETE)
        there.launcher.saw(old)
        (run,) = await there.launcher.runs()
        assert run.phase is RunPhase.ENDED

    play(scene)


def test_a_running_pod_is_not_asked_about_again_before_its_job_says_anything() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        there.objects.put(POD, **pod({"running": {"startedAt": "2026-05-01T12:00:05Z"}}))
        (first,) = await there.launcher.runs()
        del there.objects.there[POD]
        (second,) = await there.launcher.runs()
        assert first == second
        assert first.phase is RunPhase.RUNNING

    play(scene)


def test_last_words_of_a_pod_give_no_terminal_orders() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        there.objects.put(POD, **pod(ended(70, "cannot\x1b]0;owned\x07 go on")))
        there.change(there.launcher, failed())
        (run,) = await there.launcher.runs()
        assert run.trouble == "cannot?]0;owned? go on"

    play(scene)


def test_a_job_that_gets_no_pod_says_what_its_events_say() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        uid = there.objects.there[JOB]["metadata"]["uid"]
        message = 'pods "x" is forbidden: error looking up service account shop/run: serviceaccount "run" not found'
        for name, about in (("ours", uid), ("theirs", "another")):
            there.objects.put(
                f"/api/v1/namespaces/shop/events/{name}",
                involvedObject={"uid": about},
                reason="FailedCreate",
                message=message if about == uid else "exceeded quota",
            )
        (run,) = await there.launcher.runs()
        assert (run.phase, run.trouble_reason, run.trouble) == (RunPhase.WAITING, "ServiceAccountMissing", message)

    play(scene)


def test_an_operator_that_may_not_list_events_says_where_they_are() -> None:
    async def scene(there: Scene) -> None:
        there.objects.hidden = ("events",)
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        (run,) = await there.launcher.runs()
        assert run.trouble == "its pod is not there yet: the events of its Job say why"

    play(scene)


def test_a_job_that_a_proxy_keeps_alive_is_ended_once_with_its_report_kept() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        over = pod(ended(0, REPORT.to_json()))
        over["status"]["containerStatuses"].append({"name": "proxy", "state": {"running": {}}})
        there.objects.put(POD, **over)
        writes = there.objects.writes
        for _ in range(2):
            (run,) = await there.launcher.runs()
            assert (run.phase, run.report) == (RunPhase.ENDED, REPORT)
        assert there.objects.writes == writes + 1
        assert there.objects.there[JOB]["spec"]["activeDeadlineSeconds"] == 1

        del there.objects.there[POD]
        there.change(there.launcher, failed("DeadlineExceeded"))
        (run,) = await there.launcher.runs()
        assert (run.phase, run.report) == (RunPhase.ENDED, REPORT)

    play(scene)


def test_a_run_that_is_lost_with_its_node_can_be_forgotten_before_its_job_is_over() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        lost = pod({"running": {"startedAt": "2026-05-01T12:00:05Z"}})
        lost["metadata"]["deletionTimestamp"] = "2026-05-01T12:05:00Z"
        there.objects.put(POD, **lost)
        (run,) = await there.launcher.runs()
        assert (run.phase, run.trouble_reason) == (RunPhase.LOST, "NodeLost")
        await there.launcher.forget(DRIVER_ONLY.key)
        assert JOB not in there.objects.there

    play(scene)


def test_a_run_that_is_stopped_keeps_the_report_of_a_pod_that_is_gone() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        await there.launcher.stop(DRIVER_ONLY.key)
        interrupted = JobReport(Outcome.INTERRUPTED, 143, reason="stopped at the base")
        gone = pod(ended(143, interrupted.to_json(), "Error"))
        uid = there.objects.there[JOB]["metadata"]["uid"]
        gone["metadata"] |= {"labels": {"batch.kubernetes.io/controller-uid": uid}}
        assert not there.launcher.saw_pod(gone)
        gone["metadata"] |= {"deletionTimestamp": "2026-05-01T12:08:30Z"}
        assert there.launcher.saw_pod(gone)

        (run,) = await there.launcher.runs()
        there.change(there.launcher, failed("DeadlineExceeded"))
        await there.another.list_jobs()
        (later,) = await there.launcher.runs()
        (seen_by_another,) = await there.another.runs()
        assert {each.phase for each in (run, later, seen_by_another)} == {RunPhase.ENDED}
        assert [each.report for each in (run, later, seen_by_another)] == [interrupted] * 3
        assert ending_of(later) == (Reason.INFRASTRUCTURE, "stopped at the base")

    play(scene)


def test_a_pod_of_a_job_that_is_not_ours_is_passed_by() -> None:
    async def scene(there: Scene) -> None:
        foreign = pod(ended(0, REPORT.to_json()))
        foreign["metadata"] |= {"deletionTimestamp": "2026-05-01T12:08:30Z"}
        assert not there.launcher.saw_pod(foreign)

    play(scene)


def test_a_run_that_is_stopped_because_it_never_started_says_what_it_waited_for() -> None:
    async def scene(there: Scene) -> None:
        await there.launcher.start(DRIVER_ONLY)
        with_time(there.objects)
        await there.launcher.list_jobs()
        message = 'MountVolume.SetUp failed for volume "secret-0" : secret "lake-keys" not found'
        uid = "pod-uid"
        waiting = pod({"waiting": {"reason": "ContainerCreating"}})
        waiting["metadata"]["uid"] = uid
        there.objects.put(POD, **waiting)
        event = {"involvedObject": {"uid": uid}, "reason": "FailedMount", "message": message}
        there.objects.put("/api/v1/namespaces/shop/events/mount", **event)
        (run,) = await there.launcher.runs()
        assert hindrance_of(run) is Reason.SECRET_MISSING

        await there.launcher.stop(DRIVER_ONLY.key)
        del there.objects.there[POD]
        there.change(there.launcher, failed("DeadlineExceeded"))
        (run,) = await there.launcher.runs()
        assert (run.phase, ending_of(run)) == (RunPhase.LOST, (Reason.SECRET_MISSING, message))

    play(scene)
