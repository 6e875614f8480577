"""What is decided of a TableService. It is noon; unless said otherwise it was made at ten."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hudi_engine.contract import Action, UnseenReason
from hudi_operator.decision import World
from hudi_operator.names import Annotation, digest
from hudi_operator.resources.model import ConcurrencyPolicy, TableService
from hudi_operator.runs import RunPhase, RunSeen
from tests.unit.operator.decide.worlds import (
    INVALID,
    NOW,
    VALID,
    a_run,
    a_service,
    a_table,
    ago,
    an_index,
    failed,
    seen,
    unseen,
    world,
)

HOURLY = a_service(schedule="0 * * * *")
QUARTERS = a_service(schedule="*/15 * * * *", created_at=ago(minutes=5))
REPLACE = replace(HOURLY, concurrency_policy=ConcurrencyPolicy.REPLACE)
TOKEN = a_service(run_token="now")
TOKEN_TRIGGER = f"token-{digest('now')}"
NOON, ELEVEN, TEN = "at-20260504T1200Z", "at-20260504T1100Z", "at-20260504T1000Z"
BUILDER = an_index()


def run(trigger: str, attempt: int = 1, of: TableService = HOURLY, **fields: Any) -> RunSeen:
    return a_run(of, Action.VALIDATE, trigger, attempt, **fields)


def at(seconds: float, *runs: RunSeen, **fields: Any) -> World:
    """The world so long before noon, seen then."""
    moment = NOW - timedelta(seconds=seconds)
    return replace(world(*runs, **{"seen": seen(at=moment), **fields}), now=moment)


CASES = [
    ("Without schedule and token nothing is due.", a_service(), world(), "+Idle Idle: -"),
    (
        "The schedule is not due yet since the service was made.",
        a_service(schedule="0 * * * *", created_at=ago(60)),
        at(30),
        "+Idle Scheduled: -",
    ),
    ("It is due.", HOURLY, world(run(ELEVEN, ended=3000, report=VALID)), f"+~Pending Scheduled: validate {NOON} #1"),
    (
        "The run for its token has no record any more: it failed, just now.",
        TOKEN,
        world(
            previous={
                "activeRuns": [
                    {"name": "x", "action": "validate", "trigger": TOKEN_TRIGGER, "attempt": 1, "phase": "Running"}
                ]
            }
        ),
        "~Pending BackingOff: -",
    ),
    (
        "It was due three times since ten: only the newest is run.",
        HOURLY,
        world(),
        f"+~Pending Scheduled: validate {NOON} #1",
    ),
    (
        "It was due a minute ago, and has run.",
        QUARTERS,
        world(run(NOON, of=QUARTERS, ended=30, report=VALID)),
        "+Idle Scheduled: -",
    ),
    (
        "The status is enough to know that it has run.",
        HOURLY,
        world(previous={"lastScheduleTime": "2026-05-04T12:00:00Z"}),
        "+Idle Scheduled: -",
    ),
    ("It is due, and runs.", HOURLY, world(run(NOON)), "+~Running Running: -"),
    ("It is due while it still runs, Forbid: wait.", HOURLY, world(run(ELEVEN, begun=3500)), "+~Running Running: -"),
    (
        "It is due while it still runs, Replace: stop that.",
        REPLACE,
        world(run(ELEVEN, begun=3500)),
        "+~Running Running: stop",
    ),
    (
        "Replace, and that is being stopped: wait.",
        REPLACE,
        world(run(ELEVEN, begun=3500, is_stopping=True)),
        "+~Running Running: -",
    ),
    (
        "Replace, and that was stopped: the newer is run.",
        REPLACE,
        world(run(ELEVEN, ended=5, report=failed(143))),
        f"+~Pending Scheduled: validate {NOON} #1",
    ),
    ("Replace, and nothing newer is due: let it run.", REPLACE, world(run(NOON)), "+~Running Running: -"),
    (
        "Suspended, a running one is not replaced.",
        replace(REPLACE, suspend=True),
        world(run(ELEVEN, begun=3500)),
        "+~Running Running: -",
    ),
    (
        "It was due ten minutes ago and may begin within twenty.",
        a_service(schedule="50 * * * *", starting_deadline_seconds=1200),
        world(),
        "+~Pending Scheduled: validate at-20260504T1150Z #1",
    ),
    (
        "It was due ten minutes ago and could begin within five: missed.",
        a_service(schedule="50 * * * *", starting_deadline_seconds=300),
        world(),
        "+Idle Scheduled: -",
    ),
    ("Suspended, nothing is begun.", replace(HOURLY, suspend=True), world(), "Suspended Suspended: -"),
    (
        "With its table suspended nothing is begun.",
        HOURLY,
        world(table=a_table(suspend=True)),
        "Suspended Suspended: -",
    ),
    ("Suspended, a run goes on.", replace(HOURLY, suspend=True), world(run(NOON)), "+~Running Running: -"),
    ("A token asks for a run.", TOKEN, world(), f"+~Pending Scheduled: validate {TOKEN_TRIGGER} #1"),
    (
        "A token that was heeded asks for nothing.",
        TOKEN,
        world(previous={"lastHandledRunToken": "now"}),
        "+Idle Idle: -",
    ),
    (
        "A token whose run has ended well is heeded.",
        TOKEN,
        world(run(TOKEN_TRIGGER, of=TOKEN, ended=5, report=VALID)),
        "+Idle Idle: -",
    ),
    (
        "A token whose run failed is tried again.",
        TOKEN,
        world(run(TOKEN_TRIGGER, of=TOKEN, ended=15, report=failed(13))),
        f"+~Pending Scheduled: validate {TOKEN_TRIGGER} #2",
    ),
    (
        "A token whose run cannot succeed is heeded, and it is said.",
        TOKEN,
        world(run(TOKEN_TRIGGER, of=TOKEN, ended=15, report=failed(18))),
        "!Failed BadConfiguration: -",
    ),
    (
        "Another token is another run.",
        replace(TOKEN, run_token="again"),
        world(run(TOKEN_TRIGGER, of=TOKEN, ended=15, report=failed(18))),
        f"+~Pending Scheduled: validate token-{digest('again')} #1",
    ),
    (
        "Token and schedule: the token first.",
        replace(HOURLY, run_token="now"),
        world(),
        f"+~Pending Scheduled: validate {TOKEN_TRIGGER} #1",
    ),
    (
        "A token that cannot be heeded does not keep the schedule.",
        replace(HOURLY, run_token="now"),
        world(run(TOKEN_TRIGGER, ended=15, report=failed(18))),
        f"+~Pending Scheduled: validate {NOON} #1",
    ),
    (
        "An index found invalid is no failure: nothing is tried again.",
        QUARTERS,
        world(run(NOON, of=QUARTERS, ended=30, report=INVALID)),
        "+Degraded Scheduled: -",
    ),
    (
        "Found invalid, and valid the next time.",
        QUARTERS,
        world(
            run("at-20260504T1145Z", of=QUARTERS, ended=900, report=INVALID),
            run(NOON, of=QUARTERS, ended=30, report=VALID),
        ),
        "+Idle Scheduled: -",
    ),
    (
        "A fault of the store: tried again after a while.",
        HOURLY,
        world(run(NOON, ended=5, report=failed(13))),
        "~Pending BackingOff: -",
    ),
    (
        "The while is over.",
        HOURLY,
        world(run(NOON, ended=15, report=failed(13))),
        f"+~Pending Scheduled: validate {NOON} #2",
    ),
    (
        "A failed run makes way for the newer one.",
        HOURLY,
        world(run(ELEVEN, ended=3000, report=failed(13))),
        f"+~Pending Scheduled: validate {NOON} #1",
    ),
    (
        "A run that was refused is not tried again before the next is due.",
        HOURLY,
        world(run(NOON, ended=15, report=failed(18))),
        "!Failed BadConfiguration: -",
    ),
    (
        "Too many failures: given up before the next is due.",
        HOURLY,
        world(run(NOON, 6, ended=900, report=failed(13))),
        "!Failed RetriesExhausted: -",
    ),
    (
        "A validation without its report says nothing: tried again.",
        HOURLY,
        world(run(NOON, ended=15, exit_code=0)),
        f"+~Pending Scheduled: validate {NOON} #2",
    ),
    (
        "A run that was lost is tried again.",
        HOURLY,
        world(run(NOON, ended=15, phase=RunPhase.LOST)),
        f"+~Pending Scheduled: validate {NOON} #2",
    ),
    (
        "A new generation does not repeat a scheduled minute.",
        replace(QUARTERS, meta=replace(QUARTERS.meta, generation=2)),
        world(run(NOON, of=QUARTERS, ended=30, report=VALID)),
        "+Idle Scheduled: -",
    ),
    ("The table is missing: wait.", HOURLY, world(table=None, seen=None), "~Pending TableMissing: -"),
    (
        "The table is being deleted: wait.",
        HOURLY,
        world(table=a_table(deleting_since=ago(1))),
        "~Pending TableNotReady: -",
    ),
    (
        "The table is unseen: wait.",
        HOURLY,
        world(seen=unseen(UnseenReason.TIMED_OUT, retry=True)),
        "~Pending TableNotReady: -",
    ),
    (
        "The table's path is another's: nothing is run.",
        HOURLY,
        world(neighbours=(a_table("first", created_at=ago(99999)),)),
        "!Pending DuplicateBasePath: -",
    ),
    (
        "A build is at work on the table: wait.",
        HOURLY,
        world(others=(a_run(BUILDER, Action.BUILD, "g1.1"),)),
        "+~Pending TableBusy: -",
    ),
    (
        "A build is about to begin: it goes first.",
        HOURLY,
        world(neighbours=(BUILDER,), statuses={BUILDER.meta.ref: {}}),
        "+~Pending TableBusy: -",
    ),
    (
        "Two services are due: the older first.",
        HOURLY,
        world(
            neighbours=(a_service("first", schedule="0 * * * *", created_at=ago(9000)),),
            statuses={a_service("first").meta.ref: {}},
        ),
        "+~Pending TableBusy: -",
    ),
    (
        "Two services are due: the younger is not waited for.",
        HOURLY,
        world(
            neighbours=(a_service("second", schedule="0 * * * *", created_at=ago(4000)),),
            statuses={a_service("second").meta.ref: {}},
        ),
        f"+~Pending Scheduled: validate {NOON} #1",
    ),
    ("A zone that is none is said.", replace(HOURLY, time_zone="Europe/Atlantis"), world(), "!Failed InvalidSpec: -"),
    ("A schedule that is none is said.", replace(HOURLY, schedule="0 25 * * *"), world(), "!Failed InvalidSpec: -"),
    (
        "A schedule that is never due is said.",
        replace(HOURLY, schedule="0 0 31 2 *"),
        world(),
        "!Failed InvalidSpec: -",
    ),
    (
        "Of a service that does not say since when it is there the last minute counts.",
        a_service(schedule="0 * * * *", created_at=None),
        at(-30),
        f"+~Pending Scheduled: validate {NOON} #1",
    ),
    (
        "Of such a service nothing older counts.",
        a_service(schedule="0 * * * *", created_at=None),
        at(-90),
        "+Idle Scheduled: -",
    ),
    (
        "Deleted while it runs: stop it.",
        replace(HOURLY, meta=replace(HOURLY.meta, deleting_since=ago(1))),
        world(run(NOON)),
        "~Dropping Dropping: stop",
    ),
    (
        "Deleted: nothing is begun.",
        replace(HOURLY, meta=replace(HOURLY.meta, deleting_since=ago(1))),
        world(),
        "Dropping Dropping: -",
    ),
    (
        "Deleted, and being stopped: wait.",
        replace(HOURLY, meta=replace(HOURLY.meta, deleting_since=ago(1))),
        world(run(NOON, is_stopping=True)),
        "~Dropping Dropping: -",
    ),
    (
        "Asked to stop: stop it.",
        replace(HOURLY, meta=replace(HOURLY.meta, annotations={Annotation.STOP: run(NOON).name})),
        world(run(NOON)),
        "+~Running Running: stop",
    ),
    ("Far beyond its deadline: stop it.", HOURLY, world(run(NOON, begun=90_000)), "+~Running Running: stop"),
    (
        "Three good runs are kept.",
        QUARTERS,
        world(
            *(run(f"at-20260504T1{n}00Z", of=QUARTERS, ended=7500, report=VALID) for n in "0"),
            *(run(f"token-{n}", of=QUARTERS, ended=900 - 60 * n, report=VALID) for n in range(4)),
            run(NOON, of=QUARTERS, ended=30, report=VALID),
        ),
        "+Idle Scheduled: forget 3",
    ),
    (
        "One bad run is kept.",
        QUARTERS,
        world(
            *(run(f"token-{n}", of=QUARTERS, ended=900 - 60 * n, report=INVALID) for n in range(3)),
            run(NOON, of=QUARTERS, ended=30, report=VALID),
        ),
        "+Idle Scheduled: forget 2",
    ),
    (
        "The newest run is kept even if none is to be.",
        replace(QUARTERS, successful_runs_history_limit=0),
        world(run("token-1", of=QUARTERS, ended=90, report=VALID), run(NOON, of=QUARTERS, ended=30, report=VALID)),
        "+Idle Scheduled: forget 1",
    ),
]
