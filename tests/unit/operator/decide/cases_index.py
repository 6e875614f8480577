"""What is decided of a MetadataIndex that is not deleted."""

from dataclasses import replace
from typing import Any

from hudi_engine.contract import Action, IndexSeen, IndexState, Outcome, TableSeen, UnseenReason
from hudi_operator.names import FINALIZER, Annotation, digest
from hudi_operator.resources.model import (
    Approval,
    DeletionPolicy,
    Execution,
    Guard,
    HudiTable,
    IndexType,
    MetadataIndex,
    Retry,
)
from hudi_operator.runs import RunPhase, RunSeen
from tests.unit.operator.decide.worlds import (
    CHANGED,
    COMPLETE,
    DELETED,
    DROPPED,
    ELSEWHERE,
    INVALID,
    ORPHAN,
    PLAN,
    PLANNED,
    READY,
    STALE,
    VALID,
    a_run,
    a_service,
    a_table,
    ago,
    an_index,
    built_before,
    failed,
    found,
    progress,
    report,
    seen,
    unseen,
    waits,
    world,
)

INDEX = an_index()
MANUAL = an_index(approval=Approval.MANUAL)
STATS = an_index(index_type=IndexType.COLUMN_STATS, columns=("id", "price"))
OF_ONE_COLUMN = replace(COMPLETE, name="column_stats", columns=("_hoodie_record_key", "id"))
OF_MORE_COLUMNS = replace(COMPLETE, name="column_stats", columns=("id", "price", "day"))
BY_CUSTOMER = an_index("by-customer", index_type=IndexType.SECONDARY_INDEX, columns=("customer",))
EPOCH = "g1.1"
LOST = f"{EPOCH}-{digest(f'deleted by a writer//{PLAN}')}"
STALE_TRIGGER = f"{EPOCH}-{digest('stale/20260504100000000/20260504100000000')}"
SUSPENDED = a_table(suspend=True)


def build(attempt: int = 1, trigger: str = EPOCH, of: MetadataIndex = INDEX, **fields: Any) -> RunSeen:
    return a_run(of, Action.BUILD, trigger, attempt, **fields)


def plan(attempt: int = 1, of: MetadataIndex = MANUAL, **fields: Any) -> RunSeen:
    return a_run(of, Action.PLAN, EPOCH, attempt, **{"ended": 100, "report": PLANNED, **fields})


def failures(code: int, count: int, ended: float = 5) -> tuple[RunSeen, ...]:
    """So many in a row, the newest so many seconds ago."""
    return tuple(build(n, ended=ended + 1000 * (count - n), report=failed(code)) for n in range(1, count + 1))


def annotated(index: MetadataIndex, name: str, value: str) -> MetadataIndex:
    return replace(index, meta=replace(index.meta, annotations={name: value}))


def stalled_by(reason: str) -> dict[str, object]:
    """A status that says so."""
    return {"conditions": [{"type": "Stalled", "status": "True", "reason": reason, "message": "it is in the way"}]}


def guarded(guard: Guard) -> HudiTable:
    return a_table(metadata_guard=guard)


REBUILD, IGNORE = guarded(Guard.REBUILD), guarded(Guard.IGNORE)
CATCHING_UP = replace(ELSEWHERE, phase="catch-up, 1 of 2 commits")
PLANNED_HASH = "abcdef0123"
APPROVED = annotated(MANUAL, Annotation.APPROVE, PLANNED_HASH)
APPROVED_TRIGGER = f"{EPOCH}-plan-{digest(PLANNED_HASH)}"
TOKEN = an_index(rebuild_token="again")
TOKEN_TRIGGER = f"{EPOCH}-token-{digest('again')}"
VALIDATOR = a_service()
FOUND_INVALID = a_run(VALIDATOR, Action.VALIDATE, "at-20260504T1100Z", ended=3000, report=INVALID)
SAID_INVALID = f"record_index differs from the data, as run {FOUND_INVALID.name} found at 2026-05-04T11:10:00Z"
FOUND_VALID = a_run(VALIDATOR, Action.VALIDATE, "at-20260504T1130Z", ended=1500, report=VALID)
READY_BEFORE = build(ended=6000, report=READY)

TABLES = [
    (
        "There is no HudiTable of that name yet: wait for it.",
        INDEX,
        world(table=None, seen=None),
        "~Pending TableMissing: -",
    ),
    (
        "The table was not looked at yet: nothing is known, nothing is begun.",
        INDEX,
        world(seen=None),
        "~Pending NotObserved: -",
    ),
    (
        "A store that does not answer passes: wait.",
        INDEX,
        world(seen=unseen(UnseenReason.STORAGE_UNAVAILABLE, retry=True)),
        "~Pending TableNotReady: -",
    ),
    (
        "A look that took too long passes, too.",
        INDEX,
        world(seen=unseen(UnseenReason.TIMED_OUT, retry=True)),
        "~Pending TableNotReady: -",
    ),
    (
        "Nothing at that path: somebody must mend it.",
        INDEX,
        world(seen=unseen(UnseenReason.NOT_FOUND)),
        "!Pending TableNotReady: -",
    ),
    (
        "No Hudi table at that path: somebody must mend it.",
        INDEX,
        world(seen=unseen(UnseenReason.NOT_A_TABLE)),
        "!Pending TableNotReady: -",
    ),
    (
        "The store refuses us: somebody must mend it.",
        INDEX,
        world(seen=unseen(UnseenReason.ACCESS_DENIED)),
        "!Pending TableNotReady: -",
    ),
    (
        "A version that is not supported stays so.",
        INDEX,
        world(seen=unseen(UnseenReason.UNSUPPORTED)),
        "!Pending TableNotReady: -",
    ),
    (
        "A table with damaged files is left alone.",
        INDEX,
        world(seen=unseen(UnseenReason.CORRUPT)),
        "!Pending TableNotReady: -",
    ),
    (
        "A table that contradicts itself is left alone.",
        INDEX,
        world(seen=unseen(UnseenReason.CONTRADICTION)),
        "!Pending TableNotReady: -",
    ),
    (
        "A fault of ours says nothing of the table.",
        INDEX,
        world(seen=unseen(UnseenReason.INTERNAL)),
        "!Pending TableNotReady: -",
    ),
    (
        "A table that is being deleted gets no new index.",
        INDEX,
        world(table=a_table(deleting_since=ago(1))),
        "~Pending TableNotReady: -",
    ),
    (
        "The path of an older HudiTable is not ours to work on.",
        INDEX,
        world(neighbours=(a_table("first", created_at=ago(9999)),)),
        "!Pending DuplicateBasePath: -",
    ),
    (
        "A younger HudiTable of that path takes nothing away.",
        INDEX,
        world(neighbours=(a_table("second", created_at=ago(10)),)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "file:/lake/orders/ is /lake/orders.",
        INDEX,
        world(neighbours=(a_table("first", created_at=ago(9999), base_path="file:///lake/orders/"),)),
        "!Pending DuplicateBasePath: -",
    ),
    (
        "A table of another name than expected is another table.",
        INDEX,
        world(table=a_table(table_name="returns")),
        "!Pending TableNameDiffers: -",
    ),
    (
        "What was seen five minutes ago is too old to begin by.",
        INDEX,
        world(seen=seen(at=ago(301))),
        "~Pending NotObserved: -",
    ),
    (
        "After an hour without a table the wait is called stalled.",
        INDEX,
        world(
            table=None,
            previous={
                "conditions": [{"type": "Reconciling", "status": "True", "lastTransitionTime": "2026-05-04T10:59:00Z"}]
            },
        ),
        "!Pending TableMissing: -",
    ),
]

BUILDS = [
    ("Nothing is there: build it.", INDEX, world(), "~Pending NotBuilt: build g1.1 #1"),
    (
        "An absent index that is told of is as absent as one that is not.",
        INDEX,
        world(seen=seen(found(IndexState.ABSENT))),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    ("A complete index is ready, whoever built it.", INDEX, world(seen=seen(COMPLETE)), "+Ready IndexInSync: -"),
    (
        "Statistics that lack a column get it, and are not built anew.",
        STATS,
        world(seen=seen(OF_ONE_COLUMN)),
        f"~Pending NotBuilt: build {EPOCH}-columns #1",
    ),
    (
        "A column that could not be added is not tried again.",
        STATS,
        world(build(of=STATS, trigger=f"{EPOCH}-columns", ended=5, report=READY), seen=seen(OF_ONE_COLUMN)),
        "+Ready IndexInSync: -",
    ),
    (
        "Statistics whose columns nobody recorded are left alone.",
        STATS,
        world(seen=seen(replace(OF_ONE_COLUMN, columns=()))),
        "+Ready IndexInSync: -",
    ),
    (
        "Statistics whose columns a writer has named are asked whether older files lack entries.",
        STATS,
        world(seen=seen(OF_MORE_COLUMNS)),
        f"~Pending NotBuilt: build {EPOCH}-columns-{digest('')} #1",
    ),
    (
        "Statistics of more columns than were asked for are ready once a run of ours asked for these.",
        STATS,
        world(build(of=STATS, ended=5, report=READY), seen=seen(OF_MORE_COLUMNS)),
        "+Ready IndexInSync: -",
    ),
    (
        "That stays so when the run and the spec it was for are long gone.",
        replace(STATS, meta=replace(STATS.meta, generation=2)),
        world(seen=seen(OF_MORE_COLUMNS), previous={"columns": {"run": "first", "names": ["id", "price"]}}),
        "+Ready IndexInSync: -",
    ),
    (
        "A column that was named, was not and is named again is asked about once more.",
        STATS,
        world(
            (last := build(of=STATS, ended=50, report=READY)),
            seen=seen(OF_MORE_COLUMNS),
            previous={"columns": {"run": last.name, "names": ["id"]}},
        ),
        f"~Pending NotBuilt: build {EPOCH}-columns-{digest(last.name)} #1",
    ),
    (
        "A secondary index that is there under this name, of another column, is not taken for it.",
        BY_CUSTOMER,
        world(seen=seen(COMPLETE, replace(COMPLETE, name="secondary_index_by_customer", columns=("city",)), version=9)),
        "!Failed InvalidSpec: -",
    ),
    (
        "Another kind being complete is no help.",
        INDEX,
        world(seen=seen(replace(COMPLETE, name="files"))),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "`files` is an index like any other.",
        an_index(index_type=IndexType.FILES),
        world(seen=seen(replace(COMPLETE, name="files"))),
        "+Ready IndexInSync: -",
    ),
    (
        "A build is ordered and nothing runs yet: wait.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None)),
        "~Building Building: -",
    ),
    ("A build runs: wait.", INDEX, world(build(progress=progress("base"))), "~Building Building: -"),
    (
        "A build that catches up says so.",
        INDEX,
        world(build(progress=progress("catch-up"))),
        "~CatchingUp CatchingUp: -",
    ),
    (
        "Of a build that cannot say how far it is the table tells.",
        INDEX,
        world(build(), seen=seen(CATCHING_UP)),
        "~CatchingUp CatchingUp: -",
    ),
    (
        "A build goes on though its resource is suspended meanwhile.",
        an_index(suspend=True),
        world(build()),
        "~Building Building: -",
    ),
    (
        "A build goes on though its table is unseen meanwhile.",
        INDEX,
        world(build(), seen=unseen(UnseenReason.TIMED_OUT, retry=True)),
        "~Building Building: -",
    ),
    (
        "A build has ended; nothing is concluded from what was seen before.",
        INDEX,
        world(build(ended=5, report=READY), seen=seen(ORPHAN, at=ago(6))),
        "~Building Building: -",
    ),
    (
        "A look within the second of the end may have been before it.",
        INDEX,
        world(build(ended=5, report=READY), seen=seen(ORPHAN, at=ago(4.5))),
        "~Building Building: -",
    ),
    (
        "A build has ended well, and the table says so.",
        INDEX,
        world(build(ended=5, report=READY), seen=seen(COMPLETE)),
        "+Ready IndexInSync: -",
    ),
    (
        "A build whose index was there already has done its work.",
        INDEX,
        world(build(ended=5, report=report(Outcome.UNCHANGED, 0)), seen=seen(COMPLETE)),
        "+Ready IndexInSync: -",
    ),
    (
        "The table wins: a failed build whose index is complete has succeeded.",
        INDEX,
        world(build(ended=5, report=failed(13)), seen=seen(COMPLETE)),
        "+Ready IndexInSync: -",
    ),
    (
        "A lost build whose index is complete has succeeded.",
        INDEX,
        world(build(ended=5, phase=RunPhase.LOST), seen=seen(COMPLETE)),
        "+Ready IndexInSync: -",
    ),
    (
        "A build has ended well, and the index is gone again: once more at once.",
        INDEX,
        world(build(ended=50, report=READY)),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "Gone again and again within the hour: more slowly.",
        INDEX,
        world(build(1, ended=500, report=READY), build(2, ended=5, report=READY)),
        "~Pending BackingOff: -",
    ),
    (
        "The same, once the time is over.",
        INDEX,
        world(build(1, ended=500, report=READY), build(2, ended=50, report=READY)),
        "~Pending NotBuilt: build g1.1 #3",
    ),
    (
        "A new generation of the spec begins anew.",
        an_index(generation=2),
        world(*failures(20, 1)),
        "~Pending NotBuilt: build g2.1 #1",
    ),
    (
        "A new generation of the table's spec begins anew, too.",
        INDEX,
        world(*failures(20, 1), table=a_table(generation=3)),
        "~Pending NotBuilt: build g1.3 #1",
    ),
    (
        "Runs of an earlier resource of that name are somebody else's.",
        INDEX,
        world(build(7, ended=5, report=failed(20), owner_uid="before")),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A live run of an earlier resource of that name keeps the table busy.",
        INDEX,
        world(build(7, owner_uid="before")),
        "~Pending TableBusy: -",
    ),
]


def under_way(phase: str, message: str = "") -> dict[str, object]:
    """A status that tells of the first attempt as it was then."""
    run = {"name": "x", "action": "build", "trigger": EPOCH, "attempt": 1, "startTime": "2026-05-04T11:59:00Z"}
    return {"activeRuns": [{**run, "phase": phase, "message": message}]}


RETRIES = [
    (
        "A run that was under way has no record any more: it failed, just now.",
        INDEX,
        world(previous=under_way("Running"), seen=seen(at=ago(-5))),
        "~Pending BackingOff: -",
    ),
    (
        "So did one that waited for its pod.",
        INDEX,
        world(previous=under_way("Waiting", "its pod is being started"), seen=seen(at=ago(-5))),
        "~Pending BackingOff: -",
    ),
    (
        "A run that was announced, and perhaps never ordered, is ordered by the same name.",
        INDEX,
        world(previous=under_way("Waiting")),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    ("A fault of the store: tried again after a while.", INDEX, world(*failures(13, 1)), "~Pending BackingOff: -"),
    (
        "The while is over: the second attempt.",
        INDEX,
        world(*failures(13, 1, ended=15)),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    ("The while doubles.", INDEX, world(*failures(13, 3, ended=15)), "~Pending BackingOff: -"),
    ("Doubled, and over.", INDEX, world(*failures(13, 3, ended=45)), "~Pending NotBuilt: build g1.1 #4"),
    ("Five retries are the limit.", INDEX, world(*failures(13, 5, ended=700)), "~Pending NotBuilt: build g1.1 #6"),
    ("The sixth failure was the last.", INDEX, world(*failures(13, 6, ended=700)), "!Failed RetriesExhausted: -"),
    ("The disk is full: as any fault of the store.", INDEX, world(*failures(14, 1)), "~Pending BackingOff: -"),
    ("An answer that was lost: looked at, and tried again.", INDEX, world(*failures(16, 1)), "~Pending BackingOff: -"),
    ("A contradiction is not tried again.", INDEX, world(*failures(20, 1, ended=9000)), "!Failed BadConfiguration: -"),
    (
        "What is not supported is not tried again.",
        INDEX,
        world(*failures(18, 1, ended=9000)),
        "!Failed BadConfiguration: -",
    ),
    (
        "No table for the run: not tried again.",
        INDEX,
        world(*failures(11, 1, ended=9000)),
        "!Failed BadConfiguration: -",
    ),
    (
        "No access for the run: not tried again.",
        INDEX,
        world(*failures(12, 1, ended=9000)),
        "!Failed BadConfiguration: -",
    ),
    (
        "A request that makes no sense is not tried again.",
        INDEX,
        world(*failures(2, 1, ended=9000)),
        "!Failed BadConfiguration: -",
    ),
    ("Others were at it: tried again.", INDEX, world(*failures(21, 1)), "~Pending BackingOff: -"),
    ("No lock in time: tried again.", INDEX, world(*failures(22, 1, ended=15)), "~Pending NotBuilt: build g1.1 #2"),
    ("The lock was lost: tried again.", INDEX, world(*failures(23, 1, ended=15)), "~Pending NotBuilt: build g1.1 #2"),
    (
        "Taken over by another attempt: tried again.",
        INDEX,
        world(*failures(24, 1, ended=15)),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "Others did not finish in time: tried again.",
        INDEX,
        world(*failures(25, 1, ended=15)),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "Contention is tried again for ever, and called stalled.",
        INDEX,
        world(*failures(22, 7)),
        "!Pending Contention: -",
    ),
    (
        "Contention is called stalled while it is tried again, too.",
        INDEX,
        world(*failures(22, 7, ended=700)),
        "!Pending Contention: build g1.1 #8",
    ),
    (
        "And while the next attempt runs.",
        INDEX,
        world(*failures(22, 7, ended=70), build(8, begun=10)),
        "!Building Contention: -",
    ),
    (
        "Contention shows that the rest works: faults count from it.",
        INDEX,
        world(
            *failures(13, 5, ended=900), build(6, ended=800, report=failed(22)), build(7, ended=700, report=failed(13))
        ),
        "~Pending NotBuilt: build g1.1 #8",
    ),
    (
        "Out of memory: once more.",
        INDEX,
        world(build(1, ended=15, exit_code=137, trouble_reason="OOMKilled")),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "Killed twice, and nothing says that memory ran out: tried again.",
        INDEX,
        world(*failures(137, 2, ended=9000)),
        "~Pending NotBuilt: build g1.1 #3",
    ),
    (
        "Out of memory twice: somebody must give it more.",
        INDEX,
        world(
            build(1, ended=900, exit_code=1, trouble_reason="OOMKilled"),
            build(2, ended=500, exit_code=1, trouble_reason="OOMKilled"),
        ),
        "!Failed OutOfMemory: -",
    ),
    (
        "Preempted six times in a row: tried again, and somebody should know.",
        INDEX,
        world(*(build(n, ended=9000 - 1000 * n, exit_code=143, trouble_reason="Preempted") for n in range(1, 7))),
        "!Pending Preempted: build g1.1 #7",
    ),
    ("An error of ours: tried again.", INDEX, world(*failures(70, 1, ended=15)), "~Pending NotBuilt: build g1.1 #2"),
    (
        "An error of ours, six times: given up.",
        INDEX,
        world(*failures(70, 6, ended=9000)),
        "!Failed RetriesExhausted: -",
    ),
    (
        "Evicted: tried again.",
        INDEX,
        world(build(ended=15, phase=RunPhase.LOST, trouble_reason="Evicted")),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "Asked to end by a node that goes down: tried again.",
        INDEX,
        world(build(ended=15, report=report(Outcome.INTERRUPTED, 143))),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "The limit is the resource's own.",
        an_index(execution=Execution(retry=Retry(limit=0))),
        world(*failures(13, 1, ended=9000)),
        "!Failed RetriesExhausted: -",
    ),
    (
        "The limit is the table's where the resource has none.",
        INDEX,
        world(*failures(13, 2, ended=9000), table=a_table(execution=Execution(retry=Retry(limit=1)))),
        "!Failed RetriesExhausted: -",
    ),
    (
        "A record that is gone still counts, by the number of the next.",
        INDEX,
        world(build(6, ended=900, report=failed(13))),
        "!Failed RetriesExhausted: -",
    ),
    (
        "A record that is gone still counts, as the status has it.",
        INDEX,
        world(
            previous={
                "history": [
                    {
                        "name": "x",
                        "action": "build",
                        "trigger": EPOCH,
                        "attempt": 1,
                        "reason": "BadConfiguration",
                        "completionTime": "2026-05-04T11:00:00Z",
                    }
                ]
            }
        ),
        "!Failed BadConfiguration: -",
    ),
    (
        "A success in between begins anew.",
        INDEX,
        world(build(5, ended=900, report=READY), build(6, ended=15, report=failed(13))),
        "~Pending NotBuilt: build g1.1 #7",
    ),
]

LIMITS = [
    (
        "An image that cannot be pulled: not before its time is over.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=500, trouble_reason="ImagePullBackOff")),
        "~Building ImagePullFailed: -",
    ),
    (
        "An image that cannot be pulled: stopped.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=600, trouble_reason="ImagePullBackOff")),
        "~Building ImagePullFailed: stop",
    ),
    (
        "No node has room: stopped as well.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=600, trouble_reason="Unschedulable")),
        "~Building Unschedulable: stop",
    ),
    (
        "A quota is used up: it may pass.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=5, trouble_reason="QuotaExceeded")),
        "~Building QuotaExceeded: -",
    ),
    (
        "A Secret is missing: somebody must make it.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=5, trouble_reason="SecretMissing")),
        "!Building SecretMissing: -",
    ),
    (
        "So it is with a service account.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=5, trouble_reason="ServiceAccountMissing")),
        "!Building ServiceAccountMissing: -",
    ),
    (
        "The cluster refuses the pod.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=5, trouble_reason="FailedCreate")),
        "!Building PodRefused: -",
    ),
    (
        "Nobody is asked to stop twice.",
        INDEX,
        world(build(phase=RunPhase.WAITING, started_at=None, begun=900, is_stopping=True)),
        "~Building Building: -",
    ),
    (
        "The time to start is the resource's own.",
        an_index(execution=Execution(start_timeout_seconds=30)),
        world(build(phase=RunPhase.WAITING, started_at=None, begun=31)),
        "~Building Building: stop",
    ),
    (
        "A run that never started is tried again.",
        INDEX,
        world(build(ended=15, phase=RunPhase.LOST, started_at=None, trouble_reason="ImagePullBackOff")),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "A run beyond its deadline is ended by whoever runs it.",
        an_index(execution=Execution(active_deadline_seconds=100)),
        world(build(begun=130)),
        "~Building Building: -",
    ),
    (
        "A run far beyond its deadline is stopped.",
        an_index(execution=Execution(active_deadline_seconds=100)),
        world(build(begun=221)),
        "~Building Building: stop",
    ),
    (
        "The annotation stop ends the run that it names.",
        annotated(INDEX, Annotation.STOP, build().name),
        world(build()),
        "~Building Building: stop",
    ),
    (
        "The annotation stop ends no other run.",
        annotated(INDEX, Annotation.STOP, "another"),
        world(build()),
        "~Building Building: remove stop",
    ),
    (
        "The annotation stop goes when its run has ended.",
        annotated(INDEX, Annotation.STOP, build().name),
        world(build(ended=5, report=failed(143))),
        "~Pending BackingOff: remove stop",
    ),
    ("Paused, nothing is begun.", annotated(INDEX, Annotation.PAUSE, "true"), world(), "Pending NotBuilt: -"),
    (
        "Paused, nothing is stopped.",
        annotated(INDEX, Annotation.PAUSE, "true"),
        world(build(begun=999_999)),
        "Building Building: -",
    ),
    (
        "Paused by any other word, it is not.",
        annotated(INDEX, Annotation.PAUSE, "no"),
        world(),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    ("Suspended, nothing is begun.", an_index(suspend=True), world(), "Suspended Suspended: -"),
    ("With its table suspended, nothing is begun.", INDEX, world(table=SUSPENDED), "Suspended Suspended: -"),
    (
        "Suspended, a complete index is ready all the same.",
        an_index(suspend=True),
        world(seen=seen(COMPLETE)),
        "+Ready IndexInSync: -",
    ),
    (
        "Suspended, a failure is not tried again.",
        an_index(suspend=True),
        world(*failures(13, 1, ended=90)),
        "Suspended Suspended: -",
    ),
]

PLANS = [
    ("Somebody wants to see the plan first: make one.", MANUAL, world(), "~Planning Planning: plan g1.1 #1"),
    ("The plan is being made: wait.", MANUAL, world(plan(ended=None, report=None)), "~Planning Planning: -"),
    ("The plan is there: wait for approval.", MANUAL, world(plan()), "AwaitingApproval AwaitingApproval: -"),
    (
        "A plan that needs no more than the status tells of it waits on.",
        MANUAL,
        world(
            previous={
                "plan": {"hash": PLANNED_HASH, "plannedTime": "2026-05-04T11:00:00Z"},
                "history": [
                    {
                        "name": "x",
                        "action": "plan",
                        "trigger": EPOCH,
                        "attempt": 1,
                        "reason": "Succeeded",
                        "completionTime": "2026-05-04T11:00:00Z",
                    }
                ],
            }
        ),
        "AwaitingApproval AwaitingApproval: -",
    ),
    (
        "A plan of which nothing tells any more is made again.",
        MANUAL,
        world(
            previous={
                "history": [
                    {
                        "name": "x",
                        "action": "plan",
                        "trigger": EPOCH,
                        "attempt": 1,
                        "reason": "Succeeded",
                        "completionTime": "2026-05-04T11:00:00Z",
                    }
                ]
            }
        ),
        "~Planning Planning: plan g1.1 #2",
    ),
    (
        "The plan is approved: carry it out.",
        APPROVED,
        world(plan(of=APPROVED)),
        f"~Pending NotBuilt: build {APPROVED_TRIGGER} #1",
    ),
    (
        "Another plan was approved: that word is taken back.",
        annotated(MANUAL, Annotation.APPROVE, "other"),
        world(plan()),
        "AwaitingApproval AwaitingApproval: remove approve",
    ),
    (
        "An empty approval is taken back.",
        annotated(MANUAL, Annotation.APPROVE, " "),
        world(plan()),
        "AwaitingApproval AwaitingApproval: remove approve",
    ),
    ("A word of approval before there is a plan waits for it.", APPROVED, world(), "~Planning Planning: plan g1.1 #1"),
    (
        "A failed build of an approved plan needs no second word.",
        APPROVED,
        world(plan(of=APPROVED), build(of=APPROVED, trigger=APPROVED_TRIGGER, ended=15, report=failed(13))),
        f"~Pending NotBuilt: build {APPROVED_TRIGGER} #2",
    ),
    (
        "The plan has changed: it is made again.",
        APPROVED,
        world(plan(of=APPROVED), build(of=APPROVED, trigger=APPROVED_TRIGGER, ended=15, report=CHANGED)),
        "~Planning Planning: plan g1.1 #2",
    ),
    (
        "The plan has changed: the new one needs a word of its own.",
        APPROVED,
        world(
            plan(of=APPROVED),
            build(of=APPROVED, trigger=APPROVED_TRIGGER, ended=90, report=CHANGED),
            plan(2, of=APPROVED, ended=15, report=replace(PLANNED, plan_hash="0123456789")),
        ),
        "AwaitingApproval AwaitingApproval: remove approve",
    ),
    (
        "Once it is ready the word of approval goes.",
        APPROVED,
        world(
            plan(of=APPROVED), build(of=APPROVED, trigger=APPROVED_TRIGGER, ended=15, report=READY), seen=seen(COMPLETE)
        ),
        "+Ready IndexInSync: remove approve",
    ),
    (
        "What was approved and has begun is finished without asking.",
        MANUAL,
        world(plan(), build(of=MANUAL, trigger=APPROVED_TRIGGER, ended=50, report=failed(13)), seen=seen(ORPHAN)),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "Somebody else's orphan is not taken over without a word.",
        MANUAL,
        world(seen=seen(ORPHAN)),
        "~Planning Planning: plan g1.1 #1",
    ),
    (
        "A plan that fails is tried again as any run.",
        MANUAL,
        world(plan(ended=5, report=failed(13))),
        "~Planning BackingOff: -",
    ),
    ("A plan that is refused is not.", MANUAL, world(plan(ended=5, report=failed(18))), "!Failed BadConfiguration: -"),
    (
        "A plan without its report is no plan.",
        MANUAL,
        world(plan(ended=15, report=None, exit_code=0)),
        "~Planning Planning: plan g1.1 #2",
    ),
    ("Suspended, no plan is made.", replace(MANUAL, suspend=True), world(), "Suspended Suspended: -"),
    ("Suspended, no approval is waited for.", replace(MANUAL, suspend=True), world(plan()), "Suspended Suspended: -"),
    ("A complete index needs no plan.", MANUAL, world(seen=seen(COMPLETE)), "+Ready IndexInSync: -"),
]

GUARD = [
    (
        "A writer has deleted it, Warn: say so, and do nothing.",
        INDEX,
        world(READY_BEFORE, seen=seen(DELETED)),
        "!Degraded DroppedByWriter: -",
    ),
    (
        "A writer has deleted it, Warn: the status is enough to know that it was there.",
        INDEX,
        world(seen=seen(DELETED), previous=built_before()),
        "!Degraded DroppedByWriter: -",
    ),
    (
        "A writer has deleted it, Warn: it is said again the next time.",
        INDEX,
        world(seen=seen(DELETED), previous=built_before("DroppedByWriter")),
        "!Degraded DroppedByWriter: -",
    ),
    (
        "A writer deleted it before there was this resource: build it.",
        INDEX,
        world(seen=seen(DELETED)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A writer has deleted it, Rebuild: build it.",
        INDEX,
        world(READY_BEFORE, table=REBUILD, seen=seen(DELETED)),
        f"~Recovering DroppedByWriter: build {LOST} #1",
    ),
    (
        "A rebuild that has failed goes on as any build.",
        INDEX,
        world(READY_BEFORE, build(trigger=LOST, ended=5, report=failed(13)), table=REBUILD, seen=seen(DELETED)),
        "~Recovering BackingOff: -",
    ),
    (
        "The same damage after a rebuild is another attempt, more slowly.",
        INDEX,
        world(
            build(ended=1000, report=READY),
            build(trigger=LOST, ended=5, report=READY),
            table=REBUILD,
            seen=seen(DELETED),
        ),
        "~Recovering BackingOff: -",
    ),
    (
        "Rebuilds that do not help end.",
        INDEX,
        world(READY_BEFORE, build(6, trigger=LOST, ended=4000, report=READY), table=REBUILD, seen=seen(DELETED)),
        "!Failed RetriesExhausted: -",
    ),
    (
        "Deleted anew by another plan's end: another rebuild.",
        INDEX,
        world(
            READY_BEFORE,
            build(6, trigger=LOST, ended=4000, report=READY),
            table=REBUILD,
            seen=seen(replace(DELETED, reason="built by the plan 20260504113000000 and not listed")),
        ),
        f"~Recovering DroppedByWriter: build {EPOCH}-{digest('deleted by a writer//20260504113000000')} #1",
    ),
    (
        "A writer has deleted it, Ignore: say so.",
        INDEX,
        world(READY_BEFORE, table=IGNORE, seen=seen(DELETED)),
        "Degraded DroppedByWriter: -",
    ),
    ("Stale after a restore, Warn: say so.", INDEX, world(seen=seen(STALE)), "!Degraded IndexStale: -"),
    (
        "Stale after a restore, Rebuild: drop it first.",
        INDEX,
        world(table=REBUILD, seen=seen(STALE)),
        f"~Recovering IndexStale: drop {STALE_TRIGGER} #1",
    ),
    (
        "Stale with a plan under way: that is taken back first.",
        INDEX,
        world(table=REBUILD, seen=seen(replace(STALE, plan=PLAN), pending=(waits(),))),
        f"~Recovering IndexStale: abort {STALE_TRIGGER} #1",
    ),
    (
        "The drop runs: wait.",
        INDEX,
        world(a_run(INDEX, Action.DROP, LOST), table=REBUILD, seen=seen(STALE)),
        "~Recovering Rebuilding: -",
    ),
    (
        "The drop is done; the table is looked at first.",
        INDEX,
        world(a_run(INDEX, Action.DROP, LOST, ended=5, report=DROPPED), table=REBUILD, seen=seen(STALE, at=ago(9))),
        "~Recovering Building: -",
    ),
    (
        "The drop is done: build it.",
        INDEX,
        world(READY_BEFORE, a_run(INDEX, Action.DROP, LOST, ended=5, report=DROPPED), table=REBUILD),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    ("Stale, Ignore: say so.", INDEX, world(table=IGNORE, seen=seen(STALE)), "Degraded IndexStale: -"),
    (
        "`files` cannot be dropped alone: even Rebuild only says so.",
        an_index(index_type=IndexType.FILES),
        world(table=REBUILD, seen=seen(replace(STALE, name="files"))),
        "!Degraded IndexStale: -",
    ),
    (
        "Found invalid, Warn: say so.",
        INDEX,
        world(seen=seen(COMPLETE), others=(FOUND_INVALID,)),
        "!Degraded IndexInvalid: -",
    ),
    (
        "Found invalid, and valid since: ready.",
        INDEX,
        world(seen=seen(COMPLETE), others=(FOUND_INVALID, FOUND_VALID)),
        "+Ready IndexInSync: -",
    ),
    (
        "Found invalid, and built since: ready.",
        INDEX,
        world(build(2, ended=100, report=READY), seen=seen(COMPLETE), others=(FOUND_INVALID,)),
        "+Ready IndexInSync: -",
    ),
    (
        "Built, and found invalid since: say so.",
        INDEX,
        world(READY_BEFORE, seen=seen(COMPLETE), others=(FOUND_INVALID,)),
        "!Degraded IndexInvalid: -",
    ),
    (
        "Found invalid, Rebuild: drop it first.",
        INDEX,
        world(READY_BEFORE, table=REBUILD, seen=seen(COMPLETE), others=(FOUND_INVALID,)),
        f"~Recovering IndexInvalid: drop {EPOCH}-{digest(SAID_INVALID)} #1",
    ),
    (
        "Found invalid, Ignore: ready by what the table says.",
        INDEX,
        world(table=IGNORE, seen=seen(COMPLETE), others=(FOUND_INVALID,)),
        "+Ready IndexInSync: -",
    ),
    (
        "Found invalid, and the record is gone: the status still says so.",
        INDEX,
        world(
            seen=seen(COMPLETE),
            previous=built_before("IndexInvalid", message="it differs", instants={"base": COMPLETE.base}),
        ),
        "!Degraded IndexInvalid: -",
    ),
    (
        "Found invalid, the record is gone, and the index is another: ready.",
        INDEX,
        world(seen=seen(COMPLETE), previous=built_before("IndexInvalid", instants={"base": "20260504090000000"})),
        "+Ready IndexInSync: -",
    ),
    (
        "Suspended, nothing is rebuilt.",
        an_index(suspend=True),
        world(READY_BEFORE, table=REBUILD, seen=seen(DELETED)),
        "Suspended Suspended: -",
    ),
]

OTHERS = [
    ("Somebody else builds it: wait.", INDEX, world(seen=seen(ELSEWHERE)), "~Building BuildingElsewhere: -"),
    (
        "Somebody else catches up: wait.",
        INDEX,
        world(seen=seen(replace(ELSEWHERE, phase="catch-up, 1 of 2 commits"))),
        "~CatchingUp BuildingElsewhere: -",
    ),
    (
        "Our own run was killed a moment ago, and its heart seems to beat: wait.",
        INDEX,
        world(build(ended=5, phase=RunPhase.LOST), seen=seen(ELSEWHERE)),
        "~Building BuildingElsewhere: -",
    ),
    (
        "Our own run was killed, and its heart is silent: take it over.",
        INDEX,
        world(build(ended=15, phase=RunPhase.LOST), seen=seen(ORPHAN)),
        "~Recovering OrphanedPlan: build g1.1 #2",
    ),
    (
        "Our own run was killed before its first beat: take it over at once.",
        INDEX,
        world(
            build(ended=15, phase=RunPhase.LOST),
            seen=seen(found(IndexState.SCHEDULED, plan=PLAN), pending=(waits(age=15),)),
        ),
        "~Recovering OrphanedPlan: build g1.1 #2",
    ),
    (
        "A dead Java indexer left its plan: take it over.",
        INDEX,
        world(seen=seen(ORPHAN, pending=(waits(age=999),))),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "Somebody began and ended in order, and took the heartbeat along: take it over at once.",
        INDEX,
        world(seen=seen(found(IndexState.IN_FLIGHT, plan=PLAN, owner="another"), pending=(waits(age=15),))),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "Somebody has just scheduled a plan: give them time to begin.",
        INDEX,
        world(seen=seen(found(IndexState.SCHEDULED, plan=PLAN), pending=(waits(age=60),))),
        "~Building BuildingElsewhere: -",
    ),
    (
        "Somebody scheduled a plan two minutes ago and never began.",
        INDEX,
        world(seen=seen(found(IndexState.SCHEDULED, plan=PLAN), pending=(waits(age=121),))),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "An index is flagged and no plan says by whom: take it over.",
        INDEX,
        world(seen=seen(found(IndexState.IN_FLIGHT))),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "Somebody else's orphan under Ignore stays.",
        INDEX,
        world(table=IGNORE, seen=seen(ORPHAN)),
        "Degraded OrphanedPlan: -",
    ),
    (
        "Our own orphan is finished under Ignore, too.",
        INDEX,
        world(build(ended=15, phase=RunPhase.LOST), table=IGNORE, seen=seen(ORPHAN)),
        "~Recovering OrphanedPlan: build g1.1 #2",
    ),
    (
        "Another resource's run is at work on the table: wait.",
        INDEX,
        world(others=(a_run(VALIDATOR, Action.VALIDATE, "x"),)),
        "~Pending TableBusy: -",
    ),
    (
        "An ended run of another resource is no hindrance.",
        INDEX,
        world(others=(FOUND_VALID,)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Two resources of one index: the younger one stands back.",
        INDEX,
        world(neighbours=(an_index("first", created_at=ago(9000)),)),
        "!Failed DuplicateIndex: -",
    ),
    (
        "Two resources of one index: the older one has it.",
        INDEX,
        world(neighbours=(an_index("second", created_at=ago(10)),)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Two of the same age: the first by name has it.",
        INDEX,
        world(neighbours=(an_index("a-first"),)),
        "!Failed DuplicateIndex: -",
    ),
    (
        "An index of another table is no rival.",
        INDEX,
        world(neighbours=(an_index("first", created_at=ago(9000), table="returns"),)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "`files` goes first where both are to be built.",
        INDEX,
        world(
            neighbours=(FILES := an_index("listing", index_type=IndexType.FILES, created_at=ago(5)),),
            statuses={FILES.meta.ref: {}},
        ),
        "~Pending TableBusy: -",
    ),
    (
        "`files` waits for nobody.",
        FILES,
        world(neighbours=(INDEX,), statuses={INDEX.meta.ref: {}}),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A neighbour that is suspended is not waited for.",
        INDEX,
        world(neighbours=(replace(FILES, suspend=True),), statuses={FILES.meta.ref: {}}),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A neighbour of which nothing is known is not waited for.",
        INDEX,
        world(neighbours=(FILES,)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A neighbour that is paused is not waited for.",
        INDEX,
        world(
            neighbours=(PAUSED := annotated(FILES, Annotation.PAUSE, "true"),),
            statuses={PAUSED.meta.ref: {}},
        ),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A neighbour whose run has somebody else's name is not waited for.",
        INDEX,
        world(neighbours=(FILES,), statuses={FILES.meta.ref: stalled_by("NameConflict")}),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A neighbour whose run the cluster does not take is not waited for.",
        INDEX,
        world(neighbours=(FILES,), statuses={FILES.meta.ref: stalled_by("Infrastructure")}),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A neighbour that is stalled for another reason, and begins again by a new spec, is waited for.",
        INDEX,
        world(neighbours=(FILES,), statuses={FILES.meta.ref: stalled_by("BadConfiguration")}),
        "~Pending TableBusy: -",
    ),
    (
        "A neighbour that has given up is not waited for.",
        INDEX,
        world(
            neighbours=(FILES,),
            statuses={
                FILES.meta.ref: {
                    "history": [
                        {
                            "name": "x",
                            "action": "build",
                            "trigger": EPOCH,
                            "attempt": 1,
                            "reason": "BadConfiguration",
                            "completionTime": "2026-05-04T11:00:00Z",
                        }
                    ]
                }
            },
        ),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "No index waits for a validation that is due, too.",
        INDEX,
        world(neighbours=(replace(VALIDATOR, run_token="now"),), statuses={VALIDATOR.meta.ref: {}}),
        "~Pending NotBuilt: build g1.1 #1",
    ),
]

TOKENS = [
    (
        "A token on an index that is stale when it is first seen is heeded.",
        TOKEN,
        world(seen=seen(STALE)),
        f"~Recovering Rebuilding: drop {TOKEN_TRIGGER} #1",
    ),
    (
        "A token on an index that is invalid when it is first seen is heeded.",
        TOKEN,
        world(seen=seen(COMPLETE), others=(FOUND_INVALID,)),
        f"~Recovering Rebuilding: drop {TOKEN_TRIGGER} #1",
    ),
    (
        "A token that was there from the beginning asks for nothing.",
        TOKEN,
        world(seen=seen(COMPLETE)),
        "+Ready IndexInSync: -",
    ),
    (
        "A token that was heeded asks for nothing.",
        TOKEN,
        world(seen=seen(COMPLETE), previous={"lastHandledRebuildToken": "again"}),
        "+Ready IndexInSync: -",
    ),
    (
        "A new token: drop it.",
        TOKEN,
        world(seen=seen(COMPLETE), previous={"lastHandledRebuildToken": ""}),
        f"~Recovering Rebuilding: drop {TOKEN_TRIGGER} #1",
    ),
    (
        "A new token: drop what is stale, whatever the guard.",
        TOKEN,
        world(seen=seen(STALE), previous={"lastHandledRebuildToken": ""}),
        f"~Recovering Rebuilding: drop {TOKEN_TRIGGER} #1",
    ),
    (
        "A new token: build what a writer has deleted, whatever the guard.",
        TOKEN,
        world(READY_BEFORE, seen=seen(DELETED), previous={"lastHandledRebuildToken": ""}),
        f"~Pending Rebuilding: build {TOKEN_TRIGGER} #1",
    ),
    (
        "The token's drop has failed, and the status is lost: go on.",
        TOKEN,
        world(a_run(TOKEN, Action.DROP, TOKEN_TRIGGER, ended=15, report=failed(13)), seen=seen(COMPLETE)),
        f"~Recovering Rebuilding: drop {TOKEN_TRIGGER} #2",
    ),
    (
        "The token's drop is done: build it as any other.",
        TOKEN,
        world(
            a_run(TOKEN, Action.DROP, TOKEN_TRIGGER, ended=15, report=DROPPED), previous={"lastHandledRebuildToken": ""}
        ),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Dropped and built: the token is heeded, though the status is lost.",
        TOKEN,
        world(
            a_run(TOKEN, Action.DROP, TOKEN_TRIGGER, ended=95, report=DROPPED),
            build(of=TOKEN, ended=15, report=READY),
            seen=seen(COMPLETE),
            previous={"lastHandledRebuildToken": ""},
        ),
        "+Ready IndexInSync: -",
    ),
    (
        "A new token while somebody builds it: wait for that first.",
        TOKEN,
        world(seen=seen(ELSEWHERE), previous={"lastHandledRebuildToken": ""}),
        "~Building BuildingElsewhere: -",
    ),
    (
        "A new token, suspended: nothing is dropped.",
        replace(TOKEN, suspend=True),
        world(seen=seen(COMPLETE), previous={"lastHandledRebuildToken": ""}),
        "Suspended Suspended: -",
    ),
    (
        "`files` is not dropped by a token.",
        an_index(index_type=IndexType.FILES, rebuild_token="again"),
        world(seen=seen(replace(COMPLETE, name="files")), previous={"lastHandledRebuildToken": ""}),
        "+Ready IndexInSync: -",
    ),
]

FINALIZERS = [
    (
        "Policy Drop is noted on the resource before anything else.",
        an_index(deletion_policy=DeletionPolicy.DROP),
        world(),
        "~Pending NotObserved: finalizer",
    ),
    (
        "Policy Drop is noted: go on.",
        an_index(deletion_policy=DeletionPolicy.DROP, finalizers=(FINALIZER,)),
        world(),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Policy Retain again: the note is taken away.",
        an_index(finalizers=(FINALIZER,)),
        world(),
        "~Pending NotObserved: no finalizer",
    ),
    (
        "Policy Drop of `files` means nothing.",
        an_index(deletion_policy=DeletionPolicy.DROP, index_type=IndexType.FILES),
        world(),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Somebody else's finalizer is none of ours.",
        an_index(finalizers=("other.dev/keep",)),
        world(),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Ended runs beyond what is kept are forgotten.",
        INDEX,
        world(*(build(n, ended=9000 - n, report=failed(22)) for n in range(1, 13)), seen=seen(COMPLETE)),
        "+Ready IndexInSync: forget 2",
    ),
]

BY_DATE = an_index("by-date", index_type=IndexType.SECONDARY_INDEX, columns=("date",))
COLUMN_STATS = an_index("stats", index_type=IndexType.COLUMN_STATS, columns=("price",))
PARTITION_STATS = an_index("partitions", index_type=IndexType.PARTITION_STATS)
BLOOM_FILTERS = an_index("filters", index_type=IndexType.BLOOM_FILTERS)
WAITS_LONG = {"conditions": [{"type": "Reconciling", "status": "True", "lastTransitionTime": "2026-05-04T10:59:00Z"}]}
GIVEN_UP = {
    "conditions": [
        {"type": "Reconciling", "status": "False", "lastTransitionTime": "2026-05-04T10:59:00Z"},
        {"type": "Stalled", "status": "True", "lastTransitionTime": "2026-05-04T10:59:00Z"},
    ]
}


def at_8(*indexes: IndexSeen, **fields: Any) -> TableSeen:
    return seen(*indexes, **{"version": 8, **fields})


def complete(name: str) -> IndexSeen:
    return replace(COMPLETE, name=name)


KINDS = [
    ("Column stats are built without anything else.", COLUMN_STATS, world(), "~Pending NotBuilt: build g1.1 #1"),
    ("Bloom filters are built without anything else.", BLOOM_FILTERS, world(), "~Pending NotBuilt: build g1.1 #1"),
    (
        "A secondary index is ready by its own name.",
        BY_CUSTOMER,
        world(seen=at_8(complete("secondary_index_by_customer"))),
        "+Ready IndexInSync: -",
    ),
    (
        "Another secondary index being complete is no help.",
        BY_CUSTOMER,
        world(seen=at_8(COMPLETE, complete("secondary_index_by_date"))),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A writer has deleted a secondary index, Rebuild: build that one.",
        BY_CUSTOMER,
        world(
            table=REBUILD,
            seen=at_8(COMPLETE, replace(DELETED, name="secondary_index_by_customer")),
            previous=built_before(),
        ),
        f"~Recovering DroppedByWriter: build {LOST} #1",
    ),
    (
        "Two secondary indexes of two names live beside each other.",
        BY_CUSTOMER,
        world(seen=at_8(COMPLETE), neighbours=(replace(BY_DATE, meta=replace(BY_DATE.meta, created_at=ago(9000))),)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Two resources of one secondary index: the name on the table decides.",
        BY_CUSTOMER,
        world(
            seen=at_8(COMPLETE),
            neighbours=(
                an_index(
                    "other",
                    index_type=IndexType.SECONDARY_INDEX,
                    columns=("date",),
                    index_name="by_customer",
                    created_at=ago(9000),
                ),
            ),
        ),
        "!Failed DuplicateIndex: -",
    ),
    (
        "Column stats of other columns are the same index.",
        COLUMN_STATS,
        world(neighbours=(an_index("first", index_type=IndexType.COLUMN_STATS, created_at=ago(9000)),)),
        "!Failed DuplicateIndex: -",
    ),
    (
        "Another token on column stats of other columns drops it, to build it anew.",
        replace(COLUMN_STATS, columns=("price", "date"), rebuild_token="again"),
        world(seen=seen(complete("column_stats")), previous={"lastHandledRebuildToken": ""}),
        f"~Recovering Rebuilding: drop {TOKEN_TRIGGER} #1",
    ),
    (
        "One build at a time: the older resource goes first.",
        COLUMN_STATS,
        world(
            neighbours=(FIRST := replace(BLOOM_FILTERS, meta=replace(BLOOM_FILTERS.meta, created_at=ago(9000))),),
            statuses={FIRST.meta.ref: {}},
        ),
        "~Pending TableBusy: -",
    ),
]

GROUNDS = [
    (
        "No record index, and nobody makes one: a secondary index waits, and says what to apply.",
        BY_CUSTOMER,
        world(seen=at_8()),
        "~Pending DependencyNotReady: -",
    ),
    (
        "The record index is made first.",
        BY_CUSTOMER,
        world(seen=at_8(), neighbours=(INDEX,), statuses={INDEX.meta.ref: {}}),
        "~Pending DependencyNotReady: -",
    ),
    (
        "A record index in flight is not one yet.",
        BY_CUSTOMER,
        world(seen=at_8(ELSEWHERE)),
        "~Pending DependencyNotReady: -",
    ),
    (
        "A stale record index is none to stand on.",
        BY_CUSTOMER,
        world(seen=at_8(STALE)),
        "~Pending DependencyNotReady: -",
    ),
    (
        "The record index is there: a secondary index is built, whoever made that.",
        BY_CUSTOMER,
        world(seen=at_8(COMPLETE)),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Partition statistics wait for column stats.",
        PARTITION_STATS,
        world(seen=at_8(COMPLETE)),
        "~Pending DependencyNotReady: -",
    ),
    (
        "Column stats are there: partition statistics are built.",
        PARTITION_STATS,
        world(seen=at_8(complete("column_stats"))),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "Nobody makes the record index for an hour: somebody should know.",
        BY_CUSTOMER,
        world(seen=at_8(), previous=WAITS_LONG),
        "!Pending DependencyNotReady: -",
    ),
    (
        "The record index is under way for an hour: that is how long it takes.",
        BY_CUSTOMER,
        world(seen=at_8(), neighbours=(INDEX,), statuses={INDEX.meta.ref: WAITS_LONG}, previous=WAITS_LONG),
        "~Pending DependencyNotReady: -",
    ),
    (
        "The record index was given up: after an hour so is what waits for it.",
        BY_CUSTOMER,
        world(seen=at_8(), neighbours=(INDEX,), statuses={INDEX.meta.ref: GIVEN_UP}, previous=WAITS_LONG),
        "!Pending DependencyNotReady: -",
    ),
    (
        "The record index is gone, and what was made on it is whole: ready.",
        BY_CUSTOMER,
        world(seen=at_8(replace(DELETED), complete("secondary_index_by_customer"))),
        "+Ready IndexInSync: -",
    ),
    (
        "A stale secondary index is dropped though it cannot be built yet.",
        BY_CUSTOMER,
        world(table=REBUILD, seen=at_8(replace(STALE, name="secondary_index_by_customer"))),
        f"~Recovering IndexStale: drop {STALE_TRIGGER} #1",
    ),
    (
        "Manual: no plan is made of what cannot be built yet.",
        replace(BY_CUSTOMER, approval=Approval.MANUAL),
        world(seen=at_8()),
        "~Pending DependencyNotReady: -",
    ),
    (
        "Suspended, nothing is waited for.",
        replace(BY_CUSTOMER, suspend=True),
        world(seen=at_8()),
        "Suspended Suspended: -",
    ),
    (
        "What cannot be built yet keeps no other from being built.",
        INDEX,
        world(seen=at_8(), neighbours=(BY_CUSTOMER,), statuses={BY_CUSTOMER.meta.ref: {}}),
        "~Pending NotBuilt: build g1.1 #1",
    ),
    (
        "A record index of another table is none to wait for.",
        BY_CUSTOMER,
        world(
            seen=at_8(),
            neighbours=(replace(INDEX, table="returns"),),
            statuses={INDEX.meta.ref: WAITS_LONG},
            previous=WAITS_LONG,
        ),
        "!Pending DependencyNotReady: -",
    ),
    (
        "Version 6 has no secondary index, whatever else there is.",
        BY_CUSTOMER,
        world(seen=seen(COMPLETE)),
        "!Failed TableUnsupported: -",
    ),
    (
        "Version 6 has no partition statistics.",
        PARTITION_STATS,
        world(seen=seen(complete("column_stats"))),
        "!Failed TableUnsupported: -",
    ),
    (
        "The table was upgraded since: go on.",
        PARTITION_STATS,
        world(
            seen=at_8(complete("column_stats"), version=9),
            previous={"conditions": [{"type": "Stalled", "status": "True", "reason": "TableUnsupported"}]},
        ),
        "~Pending NotBuilt: build g1.1 #1",
    ),
]

CASES = [*TABLES, *BUILDS, *RETRIES, *LIMITS, *PLANS, *GUARD, *OTHERS, *TOKENS, *FINALIZERS, *KINDS, *GROUNDS]
