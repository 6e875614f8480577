"""Which conditions are not as they should be, and what a person can do about each reason."""

from collections.abc import Iterator

from hudi_operator.plugin.documents import Claim, Document
from hudi_operator.words import Condition, Reason

# What each condition says of a resource that is well. The steps of a build are left out: Ready tells of them all.
_WELL = {
    Condition.READY: "True",
    Condition.STALLED: "False",
    Condition.REACHABLE: "True",
    Condition.LOCK_AVAILABLE: "True",
    Condition.METADATA_CONSISTENT: "True",
    Condition.TIMELINE_HEALTHY: "True",
    Condition.UNIQUE: "True",
    Condition.LAST_RUN_SUCCEEDED: "True",
}
# What stands there while all goes its way, though it is not yet as it should be.
_ON_THE_WAY = {
    Reason.NEVER_RAN,
    Reason.NOT_OBSERVED,
    Reason.NOT_BUILT,
    Reason.PLANNING,
    Reason.PLANNED,
    Reason.BUILDING,
    Reason.BUILT,
    Reason.CATCHING_UP,
    Reason.REBUILDING,
    Reason.RECOVERING,
    Reason.RUNNING,
    Reason.SCHEDULED,
    Reason.SUSPENDED,
    Reason.TABLE_BUSY,
    Reason.DROPPING,
    Reason.BUILDING_ELSEWHERE,
}
_WRITERS = "set the properties of the ConfigMap {table}-writer on every writer of the table"
_REMEDIES = {
    Reason.INVALID_SPEC: "correct the field that the message names, and apply again",
    Reason.ACCESS_DENIED: "look at the Secret of storage.credentialsSecretRef and at what its keys may do",
    Reason.NOT_ALLOWED: "the operator's policy does not allow it: change what the message names, or ask whoever runs "
    "the operator",
    Reason.DUPLICATE_INDEX: "two MetadataIndexes want this index: delete one of them",
    Reason.PAUSED: "take the annotation hudi-operator.dev/pause-reconciliation away",
    Reason.TABLE_CORRUPT: "the message names the file: restore it; nothing is done to such a table",
    Reason.TIMED_OUT: "nothing, if it passes: the store is slow; else raise observe.intervalSeconds",
    Reason.NOT_FOUND: "look at spec.basePath: nothing is there, or the store hides it",
    Reason.NOT_A_HUDI_TABLE: "spec.basePath must be the folder that holds .hoodie",
    Reason.TABLE_UNSUPPORTED: "the message says what is not supported; nothing is done to such a table",
    Reason.STORAGE_UNAVAILABLE: "nothing, if the store comes back; else look at fs. properties in storage.hadoopConf",
    Reason.TABLE_NAME_DIFFERS: "spec.tableName must be hoodie.table.name, or be left out",
    Reason.PARTITION_DROPPED: f"{_WRITERS}, then let the guard build it again (metadataGuard: Rebuild) or set "
    "rebuildToken",
    Reason.DROPPED_BY_WRITER: f"{_WRITERS}, then let the guard build it again (metadataGuard: Rebuild) or set "
    "rebuildToken",
    Reason.INDEX_STALE: "set rebuildToken on the index, or metadataGuard: Rebuild on the table",
    Reason.INDEX_INVALID: "see what hudi-engine validate lists, then set rebuildToken on the index",
    Reason.ORPHANED_PLAN: "an indexing instant has no living owner: an index resource of that type takes it over, "
    "hudi-engine index abort takes it back",
    Reason.HEARTBEAT_EXPIRED: "a writer died within a commit: one with hoodie.cleaner.policy.failed.writes=LAZY "
    "rolls it back",
    Reason.STALE_PENDING: "an instant is pending for long: see that its writer lives, or roll it back",
    Reason.DUPLICATE_BASE_PATH: "two HudiTables have this basePath: delete one of them",
    Reason.TABLE_MISSING: "apply the HudiTable that tableRef names",
    Reason.TABLE_NOT_READY: "look at the table's own conditions",
    Reason.DEPENDENCY_NOT_READY: "the index that the message names must be complete first: apply a MetadataIndex "
    "for it, if there is none",
    Reason.AWAITING_APPROVAL: "kubectl hudi plan {name}, then kubectl hudi approve {name}",
    Reason.PLAN_CHANGED: "kubectl hudi plan {name}, then kubectl hudi approve {name}",
    Reason.RETRIES_EXHAUSTED: "see the message of the last run; a change of the spec or a token begins anew",
    Reason.BAD_CONFIGURATION: "the run refused what it was given: correct the spec as the message says",
    Reason.CONTENTION: "others hold the table's lock or never pause: it is tried again; see the writers' lock settings",
    Reason.LOCK_UNAVAILABLE: "see that ZooKeeper runs and is reached from the runs' pods: no writer can commit "
    "without it",
    Reason.INFRASTRUCTURE: "nothing, if it passes; else see the run's pod or folder",
    Reason.OUT_OF_MEMORY: "raise execution.driver.resources.limits.memory",
    Reason.INTERNAL: "a fault of ours: report the message",
    Reason.INVALID: "an index and its data differ: hudi-engine validate lists how; rebuildToken builds it again",
    Reason.DEADLINE_EXCEEDED: "raise execution.activeDeadlineSeconds, or see what the run waited for",
    Reason.IMAGE_PULL_FAILED: "look at execution.image and imagePullSecrets",
    Reason.UNSCHEDULABLE: "no node has room for the run: see execution.driver.resources",
    Reason.OUT_OF_DISK: "name a volume `scratch` in execution.podTemplate that is large enough",
    Reason.EVICTED: "nothing, if the next attempt succeeds: a node was short of something or is being drained",
    Reason.PREEMPTED: "nothing, if the next attempt succeeds; else give the pods a higher priority class",
    Reason.NODE_LOST: "nothing, if the next attempt succeeds: a node went away with the run",
    Reason.POD_REFUSED: "the cluster refuses the run's pod: correct what the message names",
    Reason.QUOTA_EXCEEDED: "nothing, if other pods end soon; else raise the quota, or lower execution.driver.resources",
    Reason.SERVICE_ACCOUNT_MISSING: "make the ServiceAccount that the message names, in the resource's namespace",
    Reason.SECRET_MISSING: "make the Secret that the message names, in the resource's namespace",
    Reason.VOLUME_MISSING: "make what the message names, or correct the volumes of the pod template",
    Reason.BACKING_OFF: "nothing, if the next attempt succeeds; the message says why the last one did not",
    Reason.NAME_CONFLICT: "something that is not ours has the run's name: remove it",
}


def troubles(document: Document) -> Iterator[Claim]:
    """Conditions that are not as they should be, and will not become so by waiting."""
    seen: set[str] = set()
    for claim in document.claims():
        if not _is_trouble(claim) or claim.reason in seen:
            continue
        seen.add(claim.reason)  # Ready repeats what a more special condition says
        yield claim


def remedy(document: Document, reason: str) -> str:
    """What to do about it; empty where only the message can say."""
    told = _REMEDIES[Reason(reason)] if reason in _REMEDIES else ""
    return told.format(name=document.ref.name, table=document.table)


def is_on_the_way(reason: str) -> bool:
    """Whether waiting is all that is to be done."""
    return reason in _ON_THE_WAY


def _is_trouble(claim: Claim) -> bool:
    if claim.condition not in _WELL:
        return False
    return claim.status != _WELL[Condition(claim.condition)] and not is_on_the_way(claim.reason)
