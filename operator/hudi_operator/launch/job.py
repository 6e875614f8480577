"""Runs as Jobs of Kubernetes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hudi_operator.decision import Defaults
from hudi_operator.launch.cluster import JOBS, PODS, Address, AlreadyThere, Cluster, Forbidden, Manifest
from hudi_operator.launch.events import trouble_in
from hudi_operator.launch.job_sight import (
    AT_ONCE_SECONDS,
    is_ending,
    is_over,
    is_run,
    keeping_end,
    key_of,
    sight_of,
    uid_of,
)
from hudi_operator.launch.manifest import MANAGED_BY, job_of
from hudi_operator.launch.pod_sight import end_of
from hudi_operator.launch.protocol import NameConflict, NotStarted
from hudi_operator.names import Annotation, Label
from hudi_operator.resources.tree import Tree
from hudi_operator.runs import RunKey, RunOrder, RunPhase, RunSeen

_OURS = ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
OURS = f"{_OURS},{Label.RUN}"
"""Selects the Jobs that are runs."""
PODS_OF_OURS = f"{_OURS},{Label.ACTION}"
"""Selects their pods, and not those of Spark's executors."""
_OF_JOB = "batch.kubernetes.io/controller-uid"
_WAITING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Look:
    """What was seen of a run when its Job was of that version, and when that was."""

    job_version: int
    at: float
    run: RunSeen

    def is_good(self, job: Manifest, now: float) -> bool:
        """A Job tells when its pod starts and ends, but not why a pod waits or whether a node is lost."""
        is_changing = self.run.phase is RunPhase.WAITING or (self.run.is_live and is_ending(job))
        return self.job_version == _version(job) and not (is_changing and now - self.at > _WAITING_SECONDS)


@dataclass(slots=True)
class JobLauncher:
    """A run is a Job of its name, which is also its record.

    A run that is stopped is given a deadline that is over: its Job stays and says that it failed, with how many
    attempts there were, where a Job that is deleted says nothing. The Jobs are listed once and then told of by the
    watch (`saw`, `lost`); pods are read when something is to be learnt of them, but for those that are being deleted
    (`saw_pod`).
    """

    cluster: Cluster
    defaults: Defaults
    namespaces: tuple[str | None, ...] = (None,)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _jobs: dict[str, Manifest] = field(default_factory=dict)
    _looks: dict[str, _Look] = field(default_factory=dict)
    _last_pods: dict[str, Manifest] = field(default_factory=dict)

    async def start(self, order: RunOrder) -> None:
        address = Address(JOBS, order.owner.namespace, order.name)
        job = await self.cluster.find(address)
        if job is None:
            try:
                job = await self.cluster.create(address, job_of(order, self.defaults))
            except AlreadyThere:
                job = await self.cluster.find(address)
            except Forbidden as refused:
                raise NotStarted(f"the cluster takes no Job {order.name}: {refused}{_way_out(refused)}") from refused
        if job is None:
            raise NotStarted(f"the Job {order.name} was there and is gone: it is ordered again")
        labels = Tree(job).within("metadata").texts("labels")
        if labels.get(Label.OWNER) != order.owner_uid:
            raise NameConflict(
                f"a Job {order.name} exists and is not of uid {order.owner_uid} but of "
                f"{labels.get(Label.OWNER, 'somebody else')}: delete it if it is not needed"
            )
        self.saw(job)

    async def runs(self) -> Sequence[RunSeen]:
        return [await self._seen(uid, job) for uid, job in tuple(self._jobs.items())]

    async def stop(self, run: RunKey) -> None:
        if not any(key_of(job) == run for job in self._jobs.values()):
            return
        annotations = {Annotation.STOP: run.name, **self._hindrance(run)}
        changes = {"metadata": {"annotations": annotations}, "spec": {"activeDeadlineSeconds": AT_ONCE_SECONDS}}
        job = await self.cluster.patch(Address(JOBS, run.namespace, run.name), changes)
        if job is not None:
            self.saw(job)

    async def forget(self, run: RunKey) -> None:
        for uid, job in tuple(self._jobs.items()):
            look = self._looks.get(uid)
            has_ended = is_over(job) or (look is not None and not look.run.is_live)
            if key_of(job) == run and has_ended:
                await self.cluster.delete(Address(JOBS, run.namespace, run.name), uid)
                self.lost(uid)

    async def list_jobs(self) -> None:
        """All that there are, as at the start and whenever a watch may have missed something."""
        before = set(self._jobs)
        jobs = [job for space in self.namespaces for job in await self.cluster.listed(Address(JOBS, space), OURS)]
        listed = {uid_of(job): job for job in jobs}
        # What came, changed and went while it was made is newer than the listing.
        gone = before - self._jobs.keys()
        self._jobs = {uid: job for uid, job in self._jobs.items() if uid in listed or uid not in before}
        for uid, job in listed.items():
            if uid not in gone:
                self.saw(job)
        self._looks = {uid: look for uid, look in self._looks.items() if uid in self._jobs}

    def saw(self, job: Manifest) -> None:
        """The Job as it is now; one that is not of ours is passed by."""
        uid = uid_of(job)
        known = self._jobs.get(uid)
        if is_run(job) and (known is None or _version(known) <= _version(job)):
            self._jobs[uid] = job

    def lost(self, uid: str) -> None:
        """The Job is not there any more."""
        self._jobs.pop(uid, None)
        self._looks.pop(uid, None)
        self._last_pods.pop(uid, None)

    def saw_pod(self, pod: Manifest) -> bool:
        """Whether the pod tells of an end that nobody can read from it later, for it is being deleted."""
        meta = Tree(pod).within("metadata")
        uid = meta.texts("labels").get(_OF_JOB, "")
        look = self._looks.get(uid)
        is_known = look is not None and look.run.exit_code is not None
        if uid not in self._jobs or is_known or not meta.has("deletionTimestamp") or not end_of(Tree(pod)):
            return False
        self._last_pods[uid] = pod
        self._looks.pop(uid, None)
        return True

    async def _seen(self, uid: str, job: Manifest) -> RunSeen:
        now = asyncio.get_running_loop().time()
        look = self._looks.get(uid)
        if look is None or not look.is_good(job, now):
            look = self._looks[uid] = _Look(_version(job), now, (await self._looked(job)).in_printable_words)
        return look.run

    async def _looked(self, job: Manifest) -> RunSeen:
        pod = await self._pod(job)
        changes = keeping_end(job, pod)
        if changes is not None:
            meta = Tree(job).within("metadata")
            job = await self.cluster.patch(Address(JOBS, meta.text("namespace"), meta.text("name")), changes) or job
            self.saw(job)
        run = sight_of(job, pod, self.now())
        if run.phase is not RunPhase.WAITING or run.trouble_reason:
            return run
        # Neither the Job nor a container that is being created says what is missing. Their events do.
        meta = Tree(job if pod is None else pod).within("metadata")
        told = trouble_in(await self.cluster.events_about(run.owner.namespace, meta.text_or("uid", "")))
        return run if told is None else sight_of(job, pod, self.now(), told)

    async def _pod(self, job: Manifest) -> Manifest | None:
        """The Job's newest; there is one, but for a short time while one is replaced."""
        meta = Tree(job).within("metadata")
        uid = meta.text("uid")
        if uid in self._last_pods:
            return self._last_pods[uid]
        pods = await self.cluster.listed(Address(PODS, meta.text("namespace")), f"{_OF_JOB}={uid}")
        return max(pods, key=lambda pod: Tree(pod).within("metadata").text_or("creationTimestamp", ""), default=None)

    def _hindrance(self, key: RunKey) -> dict[str, str]:
        """What a run that is stopped before it started waited for: its pod takes that along."""
        runs = (look.run for look in self._looks.values())
        run = next((run for run in runs if run.key == key and run.phase is RunPhase.WAITING), None)
        return {Label.HINDERED: f"{run.trouble_reason} {run.trouble}"} if run is not None and run.trouble_reason else {}


def _way_out(refused: Forbidden) -> str:
    """A namespace that is being deleted takes no new objects, and so waits for a finalizer that waits for a Job."""
    return "; set deletionPolicy: Retain to let it go without" if "being terminated" in str(refused) else ""


def _version(job: Manifest) -> int:
    """Of two states of one object the later has the higher number."""
    text = Tree(job).within("metadata").text_or("resourceVersion", "0")
    return int(text) if text.isdecimal() else 0
