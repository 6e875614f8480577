"""What the status of a run's pod says: of the engine's container, and of what was done to the pod."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hudi_engine.contract import JobReport, Malformed
from hudi_operator.launch.container import CONTAINER
from hudi_operator.resources.tree import Tree

_LONGEST_WORDS = 500
# A container that is being made waits, too, and nothing is wrong with it.
_ON_ITS_WAY = ("ContainerCreating", "PodInitializing")
# The kubelet confirms that a pod is gone within the grace period, unless the kubelet itself is gone.
_CONFIRMED_WITHIN = timedelta(seconds=60)

# Reasons of the condition DisruptionTarget:
# https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
_BY_CONDITION = {
    "PreemptionByScheduler": "Preempted",
    "DeletionByTaintManager": "NodeLost",
    "DeletionByPodGC": "NodeLost",
    "EvictionByEvictionAPI": "Evicted",
    "TerminationByKubelet": "Evicted",
}
# Reasons of a pod that the kubelet or the node controller wrote. Evicted:
# https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/; Terminated:
# https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/; Preempting: the kubelet's preemption.go.
_BY_STATUS = {
    "Evicted": "Evicted",
    "Preempting": "Preempted",
    "NodeLost": "NodeLost",
    "NodeShutdown": "NodeLost",
    "Shutdown": "NodeLost",
    "Terminated": "NodeLost",
}
# An eviction because of the pod's own limits, in the words of the kubelet's eviction/helpers.go.
_OVER_ITS_LIMIT = re.compile(
    r"^(Usage of EmptyDir volume|Pod ephemeral local storage|Container \S+ exceeded its local)"
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong, in one word and in a sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Container:
    """The state of the engine's container; all empty before the pod has one.

    A pod may have other containers, which somebody else put into it: `others_run` as long as one of those is running.
    """

    is_running: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    exit_code: int | None = None
    reason: str = ""
    words: str = ""
    report: JobReport | None = None
    others_run: bool = False

    @staticmethod
    def of(pod: Tree | None) -> "Container":
        states = _states(pod)
        state = states.pop(CONTAINER, Tree({}))
        if state.has("terminated"):
            others_run = any(other.has("running") for other in states.values())
            return Container.ended(state.within("terminated"), others_run=others_run)
        waiting, running = state.within("waiting"), state.within("running")
        return Container(
            is_running=state.has("running"),
            started_at=time_in(running, "startedAt"),
            reason=waiting.text_or("reason", ""),
            words=waiting.text_or("message", ""),
        )

    @staticmethod
    def ended(state: Tree, *, others_run: bool) -> "Container":
        said = state.text_or("message", "").strip()
        report = report_in(said)
        return Container(
            started_at=time_in(state, "startedAt"),
            ended_at=time_in(state, "finishedAt"),
            exit_code=state.whole("exitCode"),
            reason=state.text_or("reason", ""),
            words=cut(said.splitlines()[-1]) if said and report is None else "",
            report=report,
            others_run=others_run,
        )


def end_of(pod: Tree | None) -> Mapping[str, object]:
    """How the engine's container ended, as the pod's status has it; empty before."""
    return _states(pod).get(CONTAINER, Tree({})).within("terminated").tree


def _states(pod: Tree | None) -> dict[str, Tree]:
    statuses = [] if pod is None else pod.within("status").trees("containerStatuses")
    return {each.text_or("name", ""): each.within("state") for each in statuses}


def disruption_of(pod: Tree | None) -> Trouble | None:
    """Why the cluster ended the pod, whatever the container was doing; None if the cluster did not."""
    if pod is None:
        return None
    status = pod.within("status")
    reason, message = status.text_or("reason", ""), status.text_or("message", "")
    if reason in _BY_STATUS:
        word = "OutOfDisk" if _OVER_ITS_LIMIT.search(message) else _BY_STATUS[reason]
        return Trouble(word, cut(message or f"the pod was ended: {reason}"))
    for condition in status.trees("conditions"):
        is_so = condition.text_or("type", "") == "DisruptionTarget" and condition.text_or("status", "") == "True"
        word = _BY_CONDITION.get(condition.text_or("reason", ""), "Evicted")
        if is_so:
            said = condition.text_or("message", "")
            return Trouble(word, cut(said or f"the pod was ended: {condition.text_or('reason', '')}"))
    return None


def is_lost(pod: Tree | None, now: datetime) -> bool:
    """Whether the pod should be gone and no kubelet says so: its node does not answer.

    The deletion timestamp is the moment at which the grace period is over. The container may still be running where
    nobody can look. The engine's own lock and heartbeat protect the table from that container.
    """
    due = None if pod is None else time_in(pod.within("metadata"), "deletionTimestamp")
    return due is not None and now > due + _CONFIRMED_WITHIN


def waiting_of(pod: Tree, container: Container) -> Trouble | None:
    """What keeps the pod from starting, as far as its own status says."""
    if container.reason and container.reason not in _ON_ITS_WAY:
        return Trouble(container.reason, cut(container.words or container.reason))
    for init in pod.within("status").trees("initContainerStatuses"):
        waiting = init.within("state").within("waiting")
        reason = waiting.text_or("reason", "")
        if reason and reason not in _ON_ITS_WAY:
            said = waiting.text_or("message", "") or reason
            return Trouble(reason, cut(f"init container {init.text_or('name', '')}: {said}"))
    for condition in pod.within("status").trees("conditions"):
        is_refused = condition.text_or("status", "") == "False" and condition.text_or("reason", "") == "Unschedulable"
        if condition.text_or("type", "") == "PodScheduled" and is_refused:
            return Trouble("Unschedulable", cut(condition.text_or("message", "")))
    return None


def report_in(said: str) -> JobReport | None:
    try:
        return JobReport.from_json(said)
    except Malformed:
        return None


def time_in(tree: Tree, name: str) -> datetime | None:
    text = tree.text_or_none(name)
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def cut(text: str) -> str:
    return text if len(text) <= _LONGEST_WORDS else f"{text[:_LONGEST_WORDS]}…"
