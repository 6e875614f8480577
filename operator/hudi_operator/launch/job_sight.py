"""What is seen of a run from its Job and the Job's pod."""

import json
from dataclasses import dataclass
from datetime import datetime

from hudi_engine.contract import Action, JobReport
from hudi_operator.launch.cluster import Manifest
from hudi_operator.launch.events import missing_in
from hudi_operator.launch.pod_sight import Container, Trouble, cut, disruption_of, end_of, is_lost, time_in, waiting_of
from hudi_operator.names import Annotation, Label, owner_label
from hudi_operator.resources.model import Ref
from hudi_operator.resources.tree import Tree
from hudi_operator.runs import RunKey, RunPhase, RunSeen
from hudi_operator.words import Kind

_ENDING = ("FailureTarget", "SuccessCriteriaMet")
_FAILING = ("FailureTarget", "Failed")
AT_ONCE_SECONDS = 1
"""The deadline of a Job that is to be ended: it is over when it is set."""
_ENDED_BY_SIGNAL = (128 + 9, 128 + 15)


@dataclass(frozen=True, slots=True)
class _Fate:
    phase: RunPhase
    started_at: datetime | None = None
    ended_at: datetime | None = None
    exit_code: int | None = None
    report: JobReport | None = None
    trouble: str = ""
    trouble_reason: str = ""


@dataclass(frozen=True, slots=True)
class _End:
    """The condition by which a Job is over; `reason` is empty of one that went well."""

    at: datetime | None
    reason: str = ""
    message: str = ""


def is_run(job: Manifest) -> bool:
    """Whether it has all that makes it a run of ours."""
    labels = Tree(job).within("metadata").texts("labels")
    actions = set(Action)
    return Label.OWNER in labels and labels.get(Label.ACTION) in actions and labels.get(Label.ATTEMPT, "").isdecimal()


def uid_of(manifest: Manifest) -> str:
    return Tree(manifest).within("metadata").text_or("uid", "")


def key_of(job: Manifest) -> RunKey:
    """The run that the Job is; `is_run` is asked before."""
    meta = Tree(job).within("metadata")
    return RunKey(meta.text("namespace"), meta.text("name"), meta.texts("labels")[Label.OWNER])


def is_over(job: Manifest) -> bool:
    return _end(Tree(job)) is not None


def keeping_end(job: Manifest, pod: Manifest | None) -> Manifest | None:
    """The changes that keep how the engine ended in the Job, where its pod goes away or would not; else None.

    A pod that is deleted, at the deadline or because somebody stops the run, takes the engine's report along. A pod
    with an injected container that does not end keeps the Job alive, and so the Job is ended by a deadline.
    """
    tree = None if pod is None else Tree(pod)
    ended = end_of(tree)
    if tree is None or not ended or _kept(Tree(job)) is not None:
        return None
    keeping = {"metadata": {"annotations": {Label.ENDED: json.dumps(dict(ended))}}}
    if not is_over(job) and Container.of(tree).others_run:
        return {**keeping, "spec": {"activeDeadlineSeconds": AT_ONCE_SECONDS}}
    return keeping if tree.within("metadata").has("deletionTimestamp") else None


def is_ending(job: Manifest) -> bool:
    """Whether the Job says no more until its pod is gone, which on a lost node is never."""
    status = Tree(job).within("status")
    kinds = {each.text_or("type", "") for each in status.trees("conditions") if each.text_or("status", "") == "True"}
    return bool(status.whole("terminating")) or any(kind in kinds for kind in _ENDING)


def sight_of(job: Manifest, pod: Manifest | None, now: datetime, told: Trouble | None = None) -> RunSeen:
    """The run; `is_run` is asked before. `pod` is the Job's newest pod, `told` what events say."""
    tree = Tree(job)
    meta = tree.within("metadata")
    labels = meta.texts("labels")
    is_stopping = meta.has("deletionTimestamp") or _is_stopped(tree)
    fate = _fate(tree, None if pod is None else Tree(pod), now, told)
    created_at = time_in(meta, "creationTimestamp")
    assert created_at is not None, "the API server sets it"
    return RunSeen(
        name=meta.text("name"),
        owner=_owner(meta.text("namespace"), labels),
        owner_uid=labels[Label.OWNER],
        table=labels.get(Label.TABLE, ""),
        action=Action(labels[Label.ACTION]),
        trigger=meta.texts("annotations").get(Label.TRIGGER, ""),
        attempt=int(labels[Label.ATTEMPT]),
        phase=fate.phase,
        created_at=created_at,
        base_path=meta.texts("annotations").get(Label.BASE_PATH, ""),
        started_at=fate.started_at,
        ended_at=fate.ended_at,
        exit_code=fate.exit_code,
        report=fate.report,
        trouble=fate.trouble,
        trouble_reason=fate.trouble_reason,
        is_stopping=is_stopping and fate.phase in (RunPhase.WAITING, RunPhase.RUNNING),
        labels=labels,
        kinds=tuple(filter(None, meta.texts("annotations").get(Label.KINDS, "").split(","))),
    )


def _is_stopped(job: Tree) -> bool:
    return Annotation.STOP in job.within("metadata").texts("annotations")


def _owner(namespace: str, labels: dict[str, str]) -> Ref:
    kind = next((kind for kind in (Kind.INDEX, Kind.SERVICE) if owner_label(kind) in labels), Kind.TABLE)
    return Ref(kind, namespace, labels.get(owner_label(kind), ""))


def _fate(job: Tree, pod: Tree | None, now: datetime, told: Trouble | None) -> _Fate:
    end = _end(job)
    kept = _kept(job)
    state = kept or Container.of(pod)
    if kept is not None or (end is None and state.others_run):
        # The engine's end is the end of the run, whatever becomes of the pod.
        end = _End(state.ended_at, _why_ended(job, state))
    if end is None:
        return _lost(job, pod) if state.exit_code is None and is_lost(pod, now) else _live(job, pod, state, told)
    if state.exit_code is None:
        return _ended_unseen(job, end, pod)
    why = _why(end, state, pod)
    return _Fate(
        phase=RunPhase.ENDED,
        started_at=state.started_at or time_in(job.within("status"), "startTime"),
        ended_at=state.ended_at or end.at,
        exit_code=state.exit_code,
        report=state.report,
        trouble=why.message if why.reason or state.report is None else "",
        trouble_reason=why.reason,
    )


def _why_ended(job: Tree, state: Container) -> str:
    """The deadline of the run, unless somebody shortened it in order to end the Job."""
    is_own = job.within("spec").whole("activeDeadlineSeconds") != AT_ONCE_SECONDS
    for condition in job.within("status").trees("conditions"):
        is_so = condition.text_or("status", "") == "True" and condition.text_or("type", "") in _FAILING
        if is_own and is_so and condition.text_or("reason", "") == "DeadlineExceeded":
            return "DeadlineExceeded"
    return "" if state.exit_code == 0 else "Failed"


def _kept(job: Tree) -> Container | None:
    """How the engine ended, where the Job keeps it. Anybody who may edit Jobs may have written something else there."""
    text = job.within("metadata").texts("annotations").get(Label.ENDED, "")
    try:
        kept = json.loads(text)
        state = Container.ended(Tree(kept if isinstance(kept, dict) else {}), others_run=False)
    except (ValueError, RecursionError):
        return None
    return state if state.exit_code is not None else None


def _why(end: _End, state: Container, pod: Tree | None) -> Trouble:
    """`Completed` and `Error` say what the exit code says. Only a signal can be the work of the cluster."""
    said = state.words or end.message
    if state.reason == "OOMKilled":
        return Trouble(state.reason, said)
    disrupted = disruption_of(pod) if state.exit_code in _ENDED_BY_SIGNAL else None
    if disrupted is not None:
        return disrupted
    if state.reason not in ("", "Completed", "Error"):
        return Trouble(state.reason, said)
    return Trouble(end.reason if end.reason == "DeadlineExceeded" else "", said)


def _lost(job: Tree, pod: Tree | None) -> _Fate:
    """Told to end and never heard of again: the node is gone, and the Job would wait for it until its deadline."""
    disrupted = disruption_of(pod)
    why = "" if disrupted is None else f": {disrupted.message}"
    due = None if pod is None else time_in(pod.within("metadata"), "deletionTimestamp")
    message = cut(f"its pod should have ended, and its node does not answer{why}")
    return _Fate(RunPhase.LOST, time_in(job.within("status"), "startTime"), due, None, None, message, "NodeLost")


def _ended_unseen(job: Tree, end: _End, pod: Tree | None) -> _Fate:
    """Over, and no pod says how: it was taken away, or never ran."""
    started_at = time_in(job.within("status"), "startTime")
    if _is_stopped(job) and end.reason == "DeadlineExceeded":
        # The deadline is how it was stopped.
        told = job.within("metadata").texts("annotations").get(Label.HINDERED, "Stopped it was told to stop")
        reason, _, said = told.partition(" ")
        return _Fate(RunPhase.LOST, started_at, end.at, trouble=said, trouble_reason=reason)
    if not end.reason:
        return _Fate(RunPhase.ENDED, started_at, end.at, exit_code=0)
    gone = Trouble(end.reason, f"its pod is gone; the Job says: {end.message or end.reason}")
    why = disruption_of(pod) or _refused(pod) or gone
    return _Fate(RunPhase.LOST, started_at, end.at, trouble=cut(why.message), trouble_reason=why.reason)


def _refused(pod: Tree | None) -> Trouble | None:
    """A kubelet refuses a pod that its node has no room for, with such words as OutOfcpu."""
    reason = "" if pod is None else pod.within("status").text_or("reason", "")
    return (
        Trouble(reason, reason if pod is None else pod.within("status").text_or("message", reason)) if reason else None
    )


def _live(job: Tree, pod: Tree | None, state: Container, told: Trouble | None) -> _Fate:
    if state.is_running or state.exit_code is not None:
        return _Fate(RunPhase.RUNNING, started_at=state.started_at)
    if pod is None:
        word = "Suspended" if job.within("spec").claim("suspend") else ""
        trouble = told or Trouble(word, "its pod is not there yet: the events of its Job say why")
    else:
        trouble = waiting_of(pod, state) or told or Trouble("", "its pod is being started")
    reason = missing_in(trouble.message) or trouble.reason
    return _Fate(RunPhase.WAITING, trouble=trouble.message, trouble_reason=reason)


def _end(job: Tree) -> _End | None:
    for condition in job.within("status").trees("conditions"):
        kind = condition.text_or("type", "")
        if condition.text_or("status", "") != "True" or kind not in ("Complete", "Failed"):
            continue
        at = time_in(condition, "lastTransitionTime")
        if kind == "Complete":
            return _End(at)
        return _End(at, condition.text_or("reason", "") or "Failed", condition.text_or("message", ""))
    return None
