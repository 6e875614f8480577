"""What is seen of a run from its Job and the Job's pod."""

from dataclasses import dataclass, field
from datetime import datetime

from hudi_engine.contract import Action, JobReport, Malformed
from hudi_operator.launch.cluster import Manifest
from hudi_operator.names import Annotation, Label, owner_label
from hudi_operator.resources.model import Ref
from hudi_operator.resources.tree import Tree
from hudi_operator.runs import RunKey, RunPhase, RunSeen
from hudi_operator.words import Kind

_LONGEST_WORDS = 500
# A container that is being made waits, too, and nothing is wrong with it.
_ON_ITS_WAY = ("ContainerCreating", "PodInitializing")


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


def sight_of(job: Manifest, pod: Manifest | None) -> RunSeen:
    """The run; `is_run` is asked before. `pod` is the Job's newest, None if there is none."""
    tree = Tree(job)
    meta = tree.within("metadata")
    labels = meta.texts("labels")
    is_stopping = meta.has("deletionTimestamp") or _is_stopped(tree)
    fate = _fate(tree, None if pod is None else Tree(pod))
    created_at = _time(meta, "creationTimestamp")
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


def _fate(job: Tree, pod: Tree | None) -> _Fate:
    end = _end(job)
    state = _Container.of(pod)
    if end is None:
        return _live(job, pod, state)
    if state.exit_code is None:
        return _ended_unseen(job, end, pod)
    return _Fate(
        phase=RunPhase.ENDED,
        started_at=state.started_at or _time(job.within("status"), "startTime"),
        ended_at=state.ended_at or end.at,
        exit_code=state.exit_code,
        report=state.report,
        trouble="" if state.report is not None else state.words or end.message,
        trouble_reason=_trouble_reason(end, state),
    )


def _trouble_reason(end: _End, state: "_Container") -> str:
    """`Completed` and `Error` say what the exit code says."""
    if state.reason not in ("", "Completed", "Error"):
        return state.reason
    return end.reason if end.reason == "DeadlineExceeded" else ""


def _ended_unseen(job: Tree, end: _End, pod: Tree | None) -> _Fate:
    """Over, and no pod says how: it was taken away, or never ran."""
    started_at = _time(job.within("status"), "startTime")
    if _is_stopped(job) and end.reason == "DeadlineExceeded":
        # The deadline is how it was stopped.
        return _Fate(RunPhase.LOST, started_at, end.at, trouble="it was told to stop", trouble_reason="Stopped")
    if not end.reason:
        return _Fate(RunPhase.ENDED, started_at, end.at, exit_code=0)
    pods_word = "" if pod is None else pod.within("status").text_or("reason", "")
    message = "" if pod is None else pod.within("status").text_or("message", "")
    return _Fate(
        RunPhase.LOST,
        started_at,
        end.at,
        trouble=_cut(message or f"its pod is gone; the Job says: {end.message or end.reason}"),
        trouble_reason=pods_word or end.reason,
    )


def _live(job: Tree, pod: Tree | None, state: "_Container") -> _Fate:
    if state.is_running or state.exit_code is not None:
        return _Fate(RunPhase.RUNNING, started_at=state.started_at)
    if pod is None:
        word = "Suspended" if job.within("spec").claim("suspend") else ""
        return _Fate(
            RunPhase.WAITING, trouble="its pod is not there yet: the events of its Job say why", trouble_reason=word
        )
    if state.reason and state.reason not in _ON_ITS_WAY:
        return _Fate(RunPhase.WAITING, trouble=_cut(state.words or state.reason), trouble_reason=state.reason)
    for condition in pod.within("status").trees("conditions"):
        is_refused = condition.text_or("status", "") == "False" and condition.text_or("reason", "") == "Unschedulable"
        if condition.text_or("type", "") == "PodScheduled" and is_refused:
            return _Fate(
                RunPhase.WAITING, trouble=_cut(condition.text_or("message", "")), trouble_reason="Unschedulable"
            )
    return _Fate(RunPhase.WAITING, trouble="its pod is being started")


@dataclass(frozen=True, slots=True)
class _Container:
    """The state of the pod's only container; all empty without a pod, or before it has one."""

    is_running: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    exit_code: int | None = None
    reason: str = ""
    words: str = ""
    report: JobReport | None = field(default=None)

    @staticmethod
    def of(pod: Tree | None) -> "_Container":
        statuses = [] if pod is None else pod.within("status").trees("containerStatuses")
        if not statuses:
            return _Container()
        state = statuses[0].within("state")
        waiting, running, ended = state.within("waiting"), state.within("running"), state.within("terminated")
        if state.has("terminated"):
            said = ended.text_or("message", "").strip()
            return _Container(
                started_at=_time(ended, "startedAt"),
                ended_at=_time(ended, "finishedAt"),
                exit_code=ended.whole("exitCode"),
                reason=ended.text_or("reason", ""),
                words=_cut(said.splitlines()[-1]) if said else "",
                report=_report(said),
            )
        return _Container(
            is_running=state.has("running"),
            started_at=_time(running, "startedAt"),
            reason=waiting.text_or("reason", ""),
            words=waiting.text_or("message", ""),
        )


def _end(job: Tree) -> _End | None:
    for condition in job.within("status").trees("conditions"):
        kind = condition.text_or("type", "")
        if condition.text_or("status", "") != "True" or kind not in ("Complete", "Failed"):
            continue
        at = _time(condition, "lastTransitionTime")
        if kind == "Complete":
            return _End(at)
        return _End(at, condition.text_or("reason", "") or "Failed", condition.text_or("message", ""))
    return None


def _report(said: str) -> JobReport | None:
    try:
        return JobReport.from_json(said)
    except Malformed:
        return None


def _time(tree: Tree, name: str) -> datetime | None:
    text = tree.text_or_none(name)
    return None if text is None else datetime.fromisoformat(text)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_WORDS else f"{text[:_LONGEST_WORDS]}…"
