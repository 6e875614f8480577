"""What is decided of several MetadataIndexes of one table."""

from dataclasses import replace
from typing import Any

from hudi_engine.contract import Action, IndexSeen, IndexState, JobReport, KindReport, Outcome
from hudi_operator.decision import World
from hudi_operator.names import Annotation, digest
from hudi_operator.resources.model import (
    DeletionPolicy,
    Execution,
    ExecutionMode,
    IndexType,
    MetadataIndex,
    Resource,
    Retry,
)
from hudi_operator.runs import RunPhase, RunSeen
from tests.unit.operator.decide.cases_index import (
    APPROVED,
    EPOCH,
    IGNORE,
    INDEX,
    LOST,
    REBUILD,
    TOKEN_TRIGGER,
    annotated,
    plan,
    stalled_by,
)
from tests.unit.operator.decide.worlds import (
    COMPLETE,
    DELETED,
    ELSEWHERE,
    PLAN,
    READY,
    a_run,
    a_table,
    ago,
    an_index,
    built_before,
    dropping,
    failed,
    found,
    progress,
    report,
    seen,
    waits,
    world,
)

LATER = ago(3600)
BLOOMS = an_index("blooms", index_type=IndexType.BLOOM_FILTERS, created_at=LATER)
STATS = an_index("stats", index_type=IndexType.COLUMN_STATS, columns=("price",), created_at=LATER)
BY_CUSTOMER = an_index("customers", index_type=IndexType.SECONDARY_INDEX, columns=("customer",), created_at=LATER)
PARTITION_STATS = an_index("partitions", index_type=IndexType.PARTITION_STATS, created_at=LATER)
APPROVED_LATER = replace(
    APPROVED,
    meta=replace(APPROVED.meta, ref=replace(STATS.meta.ref, name="approved"), created_at=LATER, uid="uid-approved"),
    index_type=IndexType.COLUMN_STATS,
)
ALL = ("record_index", "bloom_filters", "column_stats")
UNDONE, DONE = (
    report(outcome, kinds=tuple(KindReport(name, outcome) for name in ALL))
    for outcome in (Outcome.UNDONE, Outcome.READY)
)
TOGETHER = "~Pending NotBuilt: build g1.1 #1 of record_index bloom_filters column_stats"
WITH_BLOOMS = "~Pending NotBuilt: build g1.1 #1 of record_index bloom_filters"
ALONE = "~Pending NotBuilt: build g1.1 #1"


def beside(*neighbours: Resource, others: tuple[RunSeen, ...] = (), **fields: Any) -> World:
    """A world with these resources, of each of which the status is known."""
    given: dict[str, Any] = {"statuses": {each.meta.ref: {} for each in neighbours}, **fields}
    return world(*given.pop("runs", ()), others=others, neighbours=neighbours, **given)


def shared(attempt: int = 1, of: MetadataIndex = INDEX, **fields: Any) -> RunSeen:
    """A run for all three."""
    return a_run(of, Action.BUILD, EPOCH, attempt, **{"kinds": ALL, **fields})


OUT_OF_MEMORY: dict[str, Any] = {"trouble_reason": "OOMKilled"}


def failing(code: int, ended: float = 30, **fields: Any) -> RunSeen:
    return shared(ended=ended, report=failed(code), **fields)


def own(of: MetadataIndex, told: JobReport, ended: float = 20, attempt: int = 1) -> RunSeen:
    return a_run(of, Action.BUILD, EPOCH, attempt, ended=ended, report=told)


def left(*names: str) -> tuple[IndexSeen, ...]:
    """These are in one plan on which nobody works."""
    return tuple(found(IndexState.IN_FLIGHT, name, plan=PLAN, owner="a run that is dead") for name in names)


def damaged(name: str) -> IndexSeen:
    return replace(DELETED, name=name)


BEGINNING = [
    ("Three are not built: one run for all of them.", INDEX, beside(BLOOMS, STATS), TOGETHER),
    ("Those that come later wait for the first to begin.", STATS, beside(INDEX, BLOOMS), "~Pending TableBusy: -"),
    ("Alone, an index has a run of its own.", INDEX, beside(), ALONE),
    (
        "Another that is built is left out.",
        INDEX,
        beside(BLOOMS, STATS, seen=seen(replace(COMPLETE, name="column_stats"))),
        WITH_BLOOMS,
    ),
    ("Another that is suspended is left out.", INDEX, beside(BLOOMS, replace(STATS, suspend=True)), WITH_BLOOMS),
    (
        "Another that is paused is left out.",
        INDEX,
        beside(BLOOMS, annotated(STATS, Annotation.PAUSE, "true")),
        WITH_BLOOMS,
    ),
    (
        "Another that is being deleted is left out.",
        INDEX,
        beside(BLOOMS, replace(STATS, meta=replace(STATS.meta, deleting_since=ago(1)))),
        WITH_BLOOMS,
    ),
    (
        "Another of which nothing is known yet is left out.",
        INDEX,
        beside(BLOOMS, STATS, statuses={BLOOMS.meta.ref: {}}),
        WITH_BLOOMS,
    ),
    (
        "Another whose run could not be started is left out.",
        INDEX,
        beside(BLOOMS, STATS, statuses={BLOOMS.meta.ref: {}, STATS.meta.ref: stalled_by("NameConflict")}),
        WITH_BLOOMS,
    ),
    (
        "A second resource of the same index adds nothing.",
        INDEX,
        beside(BLOOMS, an_index("again", index_type=IndexType.BLOOM_FILTERS, created_at=ago(60))),
        WITH_BLOOMS,
    ),
    ("`files` is made by itself.", an_index("files", index_type=IndexType.FILES), beside(BLOOMS, STATS), ALONE),
    (
        "What was approved and comes later is built by its own plan.",
        INDEX,
        beside(APPROVED_LATER, BLOOMS, others=(plan(of=APPROVED_LATER),)),
        WITH_BLOOMS,
    ),
    (
        "What is approved is built as it was approved, and with nothing else.",
        APPROVED,
        beside(BLOOMS, STATS, runs=(plan(of=APPROVED),)),
        f"~Pending NotBuilt: build {EPOCH}-plan-{digest('abcdef0123')} #1",
    ),
    (
        "A build that a token asks for is begun by itself.",
        an_index(rebuild_token="again"),
        beside(BLOOMS, previous=built_before()),
        f"~Pending Rebuilding: build {TOKEN_TRIGGER} #1",
    ),
]
ALIKE = [
    (
        "A run has one memory, mode and image: who wants another has another run.",
        INDEX,
        beside(BLOOMS, replace(STATS, execution=Execution(mode=ExecutionMode.DRIVER_ONLY))),
        WITH_BLOOMS,
    ),
    (
        "Of settings that come to the same it does not matter whose they are.",
        INDEX,
        beside(
            BLOOMS,
            replace(STATS, execution=Execution(mode=ExecutionMode.DRIVER_ONLY)),
            table=a_table(execution=Execution(mode=ExecutionMode.DRIVER_ONLY)),
        ),
        TOGETHER,
    ),
    (
        "Other limits of retries are another's.",
        INDEX,
        beside(BLOOMS, replace(STATS, execution=Execution(retry=Retry(limit=0)))),
        WITH_BLOOMS,
    ),
    (
        "Another time for catching up is another's.",
        INDEX,
        beside(BLOOMS, replace(STATS, catch_up_timeout_seconds=60)),
        WITH_BLOOMS,
    ),
    (
        "A record index by partition has properties of its own.",
        an_index(is_partitioned=True),
        beside(BLOOMS, STATS),
        ALONE,
    ),
    (
        "What stands on another waits for it still.",
        INDEX,
        beside(BY_CUSTOMER, PARTITION_STATS, STATS, seen=seen(version=8)),
        "~Pending NotBuilt: build g1.1 #1 of record_index column_stats",
    ),
    (
        "Once that is there it is built with others.",
        BY_CUSTOMER,
        beside(INDEX, PARTITION_STATS, STATS, seen=seen(COMPLETE, replace(COMPLETE, name="column_stats"), version=8)),
        "~Pending NotBuilt: build g1.1 #1 of secondary_index_customers partition_stats",
    ),
    (
        "What a writer dropped is built again together.",
        INDEX,
        beside(
            BLOOMS,
            table=REBUILD,
            seen=seen(DELETED, damaged("bloom_filters")),
            previous=built_before(),
            statuses={BLOOMS.meta.ref: built_before()},
        ),
        f"~Recovering DroppedByWriter: build {LOST} #1 of record_index bloom_filters",
    ),
]

MEANWHILE = [
    (
        "Another's run is for this one, too: it is being built.",
        STATS,
        beside(others=(shared(),)),
        "~Building Building: -",
    ),
    (
        "So it is while that waits to be started.",
        STATS,
        beside(others=(shared(phase=RunPhase.WAITING, started_at=None),)),
        "~Building Building: -",
    ),
    (
        "And while the table is not seen.",
        STATS,
        beside(others=(shared(),), seen=None),
        "~Building Building: -",
    ),
    (
        "It catches up as that does.",
        STATS,
        beside(others=(shared(progress=progress("catch-up")),)),
        "~CatchingUp CatchingUp: -",
    ),
    (
        "A plan without a heartbeat is nobody's only once the run has ended.",
        STATS,
        beside(others=(shared(),), seen=seen(*left(*ALL))),
        "~Building Building: -",
    ),
    (
        "One that is complete is ready before the others are.",
        STATS,
        beside(others=(shared(),), seen=seen(replace(COMPLETE, name="column_stats"))),
        "+Ready IndexInSync: -",
    ),
    (
        "It stays so while the table is looked at after the run.",
        STATS,
        beside(others=(shared(ended=5, report=READY),), seen=seen(replace(COMPLETE, name="column_stats"), at=ago(6))),
        "+Ready IndexInSync: -",
    ),
    (
        "Nothing is begun by what was seen before the run had ended.",
        STATS,
        beside(others=(shared(ended=5, report=READY),), seen=seen(at=ago(6))),
        "~Building Building: -",
    ),
    (
        "A run for others keeps the table busy.",
        BY_CUSTOMER,
        beside(others=(shared(),), seen=seen(COMPLETE, version=8)),
        "~Pending TableBusy: -",
    ),
    (
        "A run that was begun before the resource was there is not for it.",
        replace(STATS, meta=replace(STATS.meta, created_at=ago(10))),
        beside(others=(shared(begun=30),)),
        "~Pending TableBusy: -",
    ),
    (
        "Suspended meanwhile, it is built all the same.",
        replace(STATS, suspend=True),
        beside(others=(shared(),)),
        "~Building Building: -",
    ),
    (
        "With its own resource deleted the run ends, and says so to the others.",
        STATS,
        beside(others=(shared(is_stopping=True),)),
        "~Building Building: -",
    ),
    (
        "To be dropped with its resource, it waits for the run of the other.",
        an_index(
            "stats",
            index_type=IndexType.COLUMN_STATS,
            **dropping(deletion_policy=DeletionPolicy.DROP, created_at=LATER),
        ),
        beside(others=(shared(),)),
        "~Dropping Dropping: -",
    ),
    (
        "And is dropped after it.",
        an_index(
            "stats",
            index_type=IndexType.COLUMN_STATS,
            **dropping(deletion_policy=DeletionPolicy.DROP, created_at=LATER),
        ),
        beside(others=(shared(ended=5, report=READY),), seen=seen(replace(COMPLETE, name="column_stats"))),
        "~Dropping Dropping: drop g1.1-delete #1",
    ),
    (
        "The columns change meanwhile: it is dropped once it is there, and not before the run has ended.",
        replace(STATS, rebuild_token="2", meta=replace(STATS.meta, generation=2)),
        beside(
            others=(shared(),),
            seen=seen(replace(COMPLETE, name="column_stats")),
            previous=built_before(lastHandledRebuildToken="1"),
        ),
        "~Pending TableBusy: -",
    ),
]

AFTER_A_FAILURE = [
    (
        "It failed, and nobody knows by which: the first waits, as after any failure.",
        INDEX,
        beside(BLOOMS, STATS, runs=(failing(20, ended=5),)),
        "~Pending BackingOff: -",
    ),
    (
        "Then it tries alone, whatever the failure was.",
        INDEX,
        beside(runs=(failing(20),)),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "So it does if it has no retries.",
        replace(INDEX, execution=Execution(retry=Retry(limit=0))),
        beside(runs=(failing(13),)),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "Out of memory with others, and once alone: once more.",
        INDEX,
        beside(
            runs=(
                failing(137, ended=900, **OUT_OF_MEMORY),
                replace(own(INDEX, failed(137), attempt=2), **OUT_OF_MEMORY),
            )
        ),
        "~Pending NotBuilt: build g1.1 #3",
    ),
    (
        "Alone, it gives up as ever.",
        INDEX,
        beside(runs=(failing(20, ended=900), own(INDEX, failed(20), attempt=2))),
        "!Failed BadConfiguration: -",
    ),
    (
        "The failure is remembered as that of several when its record is gone.",
        INDEX,
        beside(
            previous={
                "history": [
                    {
                        "name": "x",
                        "action": "build",
                        "trigger": EPOCH,
                        "attempt": 1,
                        "reason": "BadConfiguration",
                        "completionTime": "2026-05-04T11:00:00Z",
                        "indexes": [{"name": name} for name in ALL],
                    }
                ]
            }
        ),
        "~Pending NotBuilt: build g1.1 #2",
    ),
    (
        "The next one tries alone, at once.",
        BLOOMS,
        beside(INDEX, STATS, others=(failing(20, ended=5),)),
        ALONE,
    ),
    (
        "It failed after this one was complete.",
        STATS,
        beside(others=(failing(20),), seen=seen(replace(COMPLETE, name="column_stats"))),
        "+Ready IndexInSync: -",
    ),
    (
        "One that has failed is not taken along.",
        INDEX,
        beside(BLOOMS, STATS, others=(own(STATS, failed(13)),)),
        WITH_BLOOMS,
    ),
    (
        "One whose run is waited for is not taken along.",
        INDEX,
        beside(BLOOMS, STATS, others=(own(STATS, failed(13), ended=5),)),
        WITH_BLOOMS,
    ),
    (
        "Built alone since, it is taken along again.",
        INDEX,
        beside(BLOOMS, others=(failing(20, of=STATS, ended=900), own(BLOOMS, READY)), runs=(own(INDEX, READY),)),
        "~Pending NotBuilt: build g1.1 #2 of record_index bloom_filters",
    ),
    (
        "A damage that a failed run for several did not mend is worth a run of its own.",
        replace(INDEX, execution=Execution(retry=Retry(limit=0))),
        beside(
            table=REBUILD,
            seen=seen(DELETED),
            previous=built_before(),
            runs=(a_run(INDEX, Action.BUILD, LOST, 1, ended=30, report=failed(20), kinds=ALL),),
        ),
        f"~Recovering DroppedByWriter: build {LOST} #2",
    ),
]

LEFT = [
    (
        "A fault of ours left the plan of several: it is taken back.",
        BLOOMS,
        beside(others=(failing(70),), seen=seen(*left(*ALL), pending=(waits(),))),
        "~Recovering OrphanedPlan: abort g1.1 #1",
    ),
    (
        "So it is by the one whose run it was.",
        INDEX,
        beside(BLOOMS, STATS, runs=(failing(137, **OUT_OF_MEMORY),), seen=seen(*left(*ALL), pending=(waits(),))),
        "~Recovering OrphanedPlan: abort g1.1 #1",
    ),
    (
        "Under every policy of the guard.",
        BLOOMS,
        beside(others=(failing(70),), seen=seen(*left(*ALL), pending=(waits(),)), table=IGNORE),
        "~Recovering OrphanedPlan: abort g1.1 #1",
    ),
    (
        "Stopped from outside, the plan is gone on with.",
        BLOOMS,
        beside(others=(failing(143),), seen=seen(*left(*ALL), pending=(waits(),))),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "Gone on with in vain, it is taken back.",
        BLOOMS,
        beside(
            runs=(own(BLOOMS, failed(143)),),
            others=(failing(143, ended=900),),
            seen=seen(*left(*ALL), pending=(waits(),)),
        ),
        "~Recovering OrphanedPlan: abort g1.1 #1",
    ),
    (
        "What others have completed of the plan does not count.",
        BLOOMS,
        beside(
            others=(failing(70),),
            seen=seen(
                replace(COMPLETE, plan=PLAN),
                *left("bloom_filters"),
                replace(COMPLETE, name="column_stats", plan=PLAN),
                pending=(waits(),),
            ),
        ),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "A plan of several that nobody here has failed with is taken over.",
        BLOOMS,
        beside(seen=seen(*left(*ALL), pending=(waits(),))),
        "~Recovering OrphanedPlan: build g1.1 #1",
    ),
    (
        "Another has taken the plan back: it is looked at what is left of it.",
        BLOOMS,
        beside(
            others=(failing(70, ended=100), a_run(INDEX, Action.ABORT, EPOCH, ended=5, report=UNDONE)),
            seen=seen(*left(*ALL), at=ago(6), pending=(waits(),)),
        ),
        "~Recovering Building: -",
    ),
    (
        "Looked at since, there is nothing left: it is built by itself.",
        BLOOMS,
        beside(others=(failing(70, ended=100), a_run(INDEX, Action.ABORT, EPOCH, ended=5, report=UNDONE))),
        ALONE,
    ),
    (
        "Another has gone on with the plan: it is looked at what came of it.",
        BLOOMS,
        beside(
            others=(failing(143, ended=100), own(INDEX, DONE, ended=5, attempt=2)),
            seen=seen(*left(*ALL), at=ago(6), pending=(waits(),)),
        ),
        "~Building Building: -",
    ),
    (
        "Its heart still beats: wait.",
        BLOOMS,
        beside(others=(failing(70),), seen=seen(replace(ELSEWHERE, name="bloom_filters"), *left("column_stats"))),
        "~Building BuildingElsewhere: -",
    ),
]

LOOKED_AT = [
    (
        "A run for several has just added a column, and the table was not looked at since: wait.",
        STATS,
        beside(
            others=(shared(ended=5, report=DONE),),
            seen=seen(replace(COMPLETE, name="column_stats", columns=("day",)), at=ago(6)),
        ),
        "~Building Building: -",
    ),
]

CASES = [*LOOKED_AT, *BEGINNING, *ALIKE, *MEANWHILE, *AFTER_A_FAILURE, *LEFT]
