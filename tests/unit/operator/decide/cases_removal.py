"""What is decided of a MetadataIndex that is deleted, and of its table."""

from dataclasses import replace

from hudi_engine.contract import Action, IndexState, Outcome, UnseenReason
from hudi_operator.decision import World
from hudi_operator.names import FINALIZER
from hudi_operator.resources.model import DeletionPolicy, IndexType, Resource
from hudi_operator.runs import RunPhase, RunSeen
from tests.unit.operator.decide.worlds import (
    COMPLETE,
    DELETED,
    DROPPED,
    ELSEWHERE,
    ORPHAN,
    PLAN,
    READY,
    STALE,
    a_run,
    a_service,
    a_table,
    ago,
    an_index,
    failed,
    report,
    seen,
    unseen,
    waits,
    world,
)

GOING = an_index(deletion_policy=DeletionPolicy.DROP, finalizers=(FINALIZER,), deleting_since=ago(60))
STAYING = an_index(deleting_since=ago(60))
DELETE = "g1.1-delete"
DROP = a_run(GOING, Action.DROP, DELETE)
BUILD = a_run(GOING, Action.BUILD, "g1.1")
LEAVING_TABLE = a_table(deleting_since=ago(30), finalizers=(FINALIZER,))
WANTED = an_index(deletion_policy=DeletionPolicy.DROP, finalizers=(FINALIZER,))


def dropped(attempt: int, ended: float, code: int) -> RunSeen:
    return a_run(GOING, Action.DROP, DELETE, attempt, ended=ended, report=failed(code))


INDEXES = [
    ("Retain: the resource goes, and the index stays.", STAYING, world(seen=seen(COMPLETE)), "~Dropping Dropping: -"),
    (
        "Retain since a moment ago: the note on the resource goes.",
        replace(STAYING, meta=GOING.meta),
        world(seen=seen(COMPLETE)),
        "~Dropping Dropping: no finalizer",
    ),
    ("Retain, and a build runs: it is stopped.", STAYING, world(BUILD, seen=seen(ORPHAN)), "~Dropping Dropping: stop"),
    ("Drop: the index is dropped.", GOING, world(seen=seen(COMPLETE)), f"~Dropping Dropping: drop {DELETE} #1"),
    (
        "Drop, and a build runs: it is stopped first.",
        GOING,
        world(BUILD, seen=seen(ORPHAN)),
        "~Dropping Dropping: stop",
    ),
    (
        "Drop, and a build is being stopped: wait.",
        GOING,
        world(replace(BUILD, is_stopping=True), seen=seen(ORPHAN)),
        "~Dropping Dropping: -",
    ),
    (
        "Drop, and a build waits to be started: it is stopped, too.",
        GOING,
        world(replace(BUILD, phase=RunPhase.WAITING)),
        "~Dropping Dropping: stop",
    ),
    (
        "Drop, and the build has just ended: look first.",
        GOING,
        world(replace(BUILD, phase=RunPhase.ENDED, ended_at=ago(1), report=READY), seen=seen(ORPHAN, at=ago(2))),
        "~Dropping Dropping: -",
    ),
    (
        "Drop, and the build was stopped in its midst: its plan is taken back.",
        GOING,
        world(seen=seen(ORPHAN, pending=(waits(),))),
        f"~Dropping Dropping: abort {DELETE} #1",
    ),
    (
        "Drop, and it is flagged without a plan: it is dropped.",
        GOING,
        world(seen=seen(replace(ORPHAN, plan=None))),
        f"~Dropping Dropping: drop {DELETE} #1",
    ),
    (
        "Drop, and the plan is taken back: nothing is left.",
        GOING,
        world(a_run(GOING, Action.ABORT, DELETE, ended=15, report=report(Outcome.UNDONE))),
        "~Dropping Dropping: no finalizer",
    ),
    (
        "Drop, and the plan was taken back of an index that is complete: it is dropped now.",
        GOING,
        world(a_run(GOING, Action.ABORT, DELETE, ended=15, report=report(Outcome.UNDONE)), seen=seen(COMPLETE)),
        f"~Dropping Dropping: drop {DELETE} #1",
    ),
    ("The drop of a deleted resource runs: wait.", GOING, world(DROP, seen=seen(COMPLETE)), "~Dropping Dropping: -"),
    (
        "The drop has ended: look first.",
        GOING,
        world(a_run(GOING, Action.DROP, DELETE, ended=1, report=DROPPED), seen=seen(COMPLETE, at=ago(3))),
        "~Dropping Dropping: -",
    ),
    (
        "The drop has ended, and the index is gone: let the resource go.",
        GOING,
        world(a_run(GOING, Action.DROP, DELETE, ended=9, report=DROPPED)),
        "~Dropping Dropping: no finalizer",
    ),
    (
        "The drop has failed, and the index is gone all the same.",
        GOING,
        world(dropped(1, 9, 13)),
        "~Dropping Dropping: no finalizer",
    ),
    ("There never was such an index: let the resource go.", GOING, world(), "~Dropping Dropping: no finalizer"),
    ("A writer was faster: let the resource go.", GOING, world(seen=seen(DELETED)), "~Dropping Dropping: no finalizer"),
    ("Stale or not, it is dropped.", GOING, world(seen=seen(STALE)), f"~Dropping Dropping: drop {DELETE} #1"),
    (
        "The drop has failed: tried again after a while.",
        GOING,
        world(dropped(1, 5, 13), seen=seen(COMPLETE)),
        "~Dropping BackingOff: -",
    ),
    (
        "The drop has failed, and the while is over.",
        GOING,
        world(dropped(1, 15, 13), seen=seen(COMPLETE)),
        f"~Dropping Dropping: drop {DELETE} #2",
    ),
    (
        "The drop cannot be done: somebody must mend it, or set Retain.",
        GOING,
        world(dropped(1, 15, 20), seen=seen(COMPLETE)),
        "!Dropping BadConfiguration: -",
    ),
    (
        "The drop cannot be done, and the resource now says Retain.",
        replace(GOING, deletion_policy=DeletionPolicy.RETAIN),
        world(dropped(1, 15, 20), seen=seen(COMPLETE)),
        "~Dropping Dropping: no finalizer",
    ),
    ("Somebody else builds it: wait for their end.", GOING, world(seen=seen(ELSEWHERE)), "~Dropping Dropping: -"),
    (
        "The table is busy: wait.",
        GOING,
        world(seen=seen(COMPLETE), others=(a_run(a_service(), Action.VALIDATE, "x"),)),
        "~Dropping TableBusy: -",
    ),
    ("The table is not looked at yet: wait.", GOING, world(seen=None), "~Dropping NotObserved: -"),
    (
        "The store does not answer: wait.",
        GOING,
        world(seen=unseen(UnseenReason.STORAGE_UNAVAILABLE, retry=True)),
        "~Dropping TableNotReady: -",
    ),
    (
        "The store refuses us: wait, and say that it takes somebody.",
        GOING,
        world(seen=unseen(UnseenReason.ACCESS_DENIED)),
        "!Dropping TableNotReady: -",
    ),
    (
        "The table's folder is gone: nothing is left to drop.",
        GOING,
        world(seen=unseen(UnseenReason.NOT_FOUND)),
        "~Dropping Dropping: no finalizer",
    ),
    (
        "There is a folder, and no table any more: nothing is left to drop.",
        GOING,
        world(seen=unseen(UnseenReason.NOT_A_TABLE)),
        "~Dropping Dropping: no finalizer",
    ),
    (
        "The HudiTable was removed by force: nobody knows where the index is.",
        GOING,
        world(table=None, seen=None),
        "~Dropping Dropping: no finalizer",
    ),
    (
        "The HudiTable is being deleted, too, and waits for this.",
        GOING,
        world(table=LEAVING_TABLE, seen=seen(COMPLETE)),
        f"~Dropping Dropping: drop {DELETE} #1",
    ),
    (
        "The path is an older HudiTable's: nothing is dropped there.",
        GOING,
        world(seen=seen(COMPLETE), neighbours=(a_table("first", created_at=ago(99999)),)),
        "!Dropping DuplicateBasePath: -",
    ),
    (
        "Another resource wants the same index: it stays.",
        GOING,
        world(seen=seen(COMPLETE), neighbours=(an_index("second"),)),
        "~Dropping Dropping: no finalizer",
    ),
    (
        "Another secondary index of the table keeps none.",
        replace(GOING, index_type=IndexType.SECONDARY_INDEX, columns=("customer",)),
        world(
            seen=seen(COMPLETE, replace(COMPLETE, name="secondary_index_by_key"), version=9),
            neighbours=(an_index("by-date", index_type=IndexType.SECONDARY_INDEX, columns=("date",)),),
        ),
        f"~Dropping Dropping: drop {DELETE} #1",
    ),
    (
        "What a secondary index stands on is gone: it is dropped all the same.",
        replace(GOING, index_type=IndexType.SECONDARY_INDEX, columns=("customer",)),
        world(seen=seen(replace(COMPLETE, name="secondary_index_by_key"), version=9)),
        f"~Dropping Dropping: drop {DELETE} #1",
    ),
    (
        "Another resource of that index is deleted, too: it is dropped.",
        GOING,
        world(
            seen=seen(COMPLETE),
            neighbours=(replace(GOING, meta=replace(GOING.meta, uid="other", ref=replace(GOING.meta.ref, name="z"))),),
        ),
        f"~Dropping Dropping: drop {DELETE} #1",
    ),
    (
        "Suspended, even a deletion waits, and says what to do.",
        replace(GOING, suspend=True),
        world(seen=seen(COMPLETE)),
        "!Dropping Suspended: -",
    ),
    (
        "With its table suspended a deletion waits, too.",
        GOING,
        world(table=a_table(suspend=True), seen=seen(COMPLETE)),
        "!Dropping Suspended: -",
    ),
    (
        "`files` stays when its resource goes.",
        replace(GOING, index_type=IndexType.FILES),
        world(seen=seen(replace(COMPLETE, name="files"))),
        "~Dropping Dropping: no finalizer",
    ),
    (
        "Nothing of ours holds it any more.",
        an_index(deletion_policy=DeletionPolicy.DROP, deleting_since=ago(60)),
        world(seen=seen(COMPLETE)),
        "~Dropping Dropping: -",
    ),
    (
        "What somebody has scheduled and not begun is taken back.",
        GOING,
        world(
            seen=seen(replace(ORPHAN, state=IndexState.SCHEDULED, heartbeat_age_seconds=None), pending=(waits(PLAN),))
        ),
        f"~Dropping Dropping: abort {DELETE} #1",
    ),
]

TABLES = [
    ("A table on its own goes at once.", a_table(deleting_since=ago(1)), world(), "Dropping Dropping: -"),
    (
        "An index to be dropped needs its table: that is noted.",
        a_table(),
        world(neighbours=(WANTED,)),
        "~Pending NotObserved: finalizer",
    ),
    ("It is noted already.", a_table(finalizers=(FINALIZER,)), world(neighbours=(WANTED,)), "+Ready Observed: -"),
    (
        "No index is to be dropped any more: the note goes.",
        a_table(finalizers=(FINALIZER,)),
        world(neighbours=(an_index(),)),
        "~Pending NotObserved: no finalizer",
    ),
    (
        "`files` is never dropped: no note.",
        a_table(),
        world(neighbours=(replace(WANTED, index_type=IndexType.FILES),)),
        "+Ready Observed: -",
    ),
    (
        "An index of another table is no reason.",
        a_table(),
        world(neighbours=(replace(WANTED, table="returns"),)),
        "+Ready Observed: -",
    ),
    (
        "Deleted first: it waits for the index to be dropped.",
        LEAVING_TABLE,
        world(neighbours=(GOING,)),
        "~Dropping Dropping: -",
    ),
    (
        "Deleted, and the index is not: it waits, and says what to do.",
        LEAVING_TABLE,
        world(neighbours=(WANTED,)),
        "~Dropping Dropping: -",
    ),
    (
        "Deleted, and the index may stay: it goes.",
        LEAVING_TABLE,
        world(neighbours=(an_index(),)),
        "~Dropping Dropping: no finalizer",
    ),
    ("Deleted, and the index is gone: it goes.", LEAVING_TABLE, world(), "~Dropping Dropping: no finalizer"),
]

CASES: list[tuple[str, Resource, World, str]] = [*INDEXES, *TABLES]
