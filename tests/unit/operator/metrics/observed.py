"""Everything that a page of metrics may be made of: a table, an index that is being built, a service, their runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hudi_engine.contract import (
    Action,
    IndexSeen,
    IndexState,
    JobReport,
    LockHolds,
    Outcome,
    PendingSeen,
    RunProgress,
    TableSeen,
    TableUnseen,
    TimelineSeen,
)
from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    HudiTable,
    IndexType,
    Meta,
    MetadataIndex,
    Ref,
    Resource,
    ServiceType,
    TableService,
)
from hudi_operator.runs import RunKey, RunPhase, RunSeen
from hudi_operator.words import Kind

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
ORDERS = Ref(Kind.TABLE, "shop", "orders")
RECORDS = Ref(Kind.INDEX, "shop", "orders-records")
NIGHTLY = Ref(Kind.SERVICE, "shop", "orders-nightly")

TABLE = HudiTable(Meta(ORDERS, "uid-1"), "s3://lake/orders", None, Concurrency(ConcurrencyMode.SINGLE_WRITER))
INDEX = MetadataIndex(Meta(RECORDS, "uid-2"), "orders", IndexType.RECORD_INDEX)
SERVICE = TableService(Meta(NIGHTLY, "uid-3"), "orders", ServiceType.VALIDATE)


@dataclass(frozen=True, slots=True)
class Held:
    resource: Resource
    status: Mapping[str, object]


@dataclass(slots=True)
class Store:
    resources: dict[Ref, Held] = field(default_factory=dict)
    runs: dict[RunKey, RunSeen] = field(default_factory=dict)
    seen: dict[Ref, TableSeen | TableUnseen] = field(default_factory=dict)

    def put(self, resource: Resource, state: str, ready: str, **status: object) -> None:
        conditions = [{"type": "Ready", "status": ready, "reason": "Any"}]
        self.resources[resource.meta.ref] = Held(resource, {"state": state, "conditions": conditions, **status})


def keyed(*runs: RunSeen) -> dict[RunKey, RunSeen]:
    return {run.key: run for run in runs}


def everything() -> Store:
    store = Store(seen={ORDERS: orders()})
    store.put(TABLE, "Ready", "True")
    store.put(INDEX, "Building", "False")
    store.put(
        SERVICE,
        "Idle",
        "True",
        lastSuccessfulTime="2026-05-01T03:00:00Z",
        nextScheduleTime="2026-05-02T03:00:00Z",
    )
    store.runs = keyed(building(), validated())
    return store


def orders(record_index: IndexState = IndexState.IN_FLIGHT) -> TableSeen:
    return TableSeen(
        fingerprint="f-1",
        observed_ms=int(NOW.timestamp() * 1000),
        name="orders",
        type="MERGE_ON_READ",
        version=9,
        layout=2,
        record_key_fields=("id",),
        partition_fields=(),
        indexes=(
            IndexSeen("files", IndexState.COMPLETE, caught_up_to="20260501115900000"),
            IndexSeen(
                "record_index",
                record_index,
                base="20260501110000000",
                caught_up_to="20260501113000000",
                lag_instants=3,
                lag_seconds=1740.5,
            ),
        ),
        timeline=TimelineSeen(
            latest_completed="20260501115900000",
            latest_completed_ms=1_777_636_740_000,
            latest_by_action={"deltacommit": 1_777_636_740_000, "clean": 1_777_630_000_000},
            active_instants=12,
            counts={"deltacommit/completed": 9, "clean/completed": 1, "indexing/inflight": 1, "commit/requested": 1},
            pending=(
                PendingSeen("20260501090000000", "commit", "requested", 1_777_626_000_000),
                PendingSeen("20260501100000000", "indexing", "inflight", 1_777_629_600_000),
                PendingSeen("20260501101000000", "commit", "requested", 1_777_630_200_000),
            ),
            oldest_heartbeat_ms=1_777_636_790_000,
        ),
    )


def run(name: str, owner: Ref, action: Action, **of_run: object) -> RunSeen:
    given: dict[str, object] = {"phase": RunPhase.ENDED, "created_at": NOW, "attempt": 1, "trigger": "build-1"}
    return RunSeen(name=name, owner=owner, owner_uid="uid", table="orders", action=action, **(given | of_run))  # type: ignore[arg-type]  # any field of a run by its name


def building() -> RunSeen:
    progress = RunProgress("base", 3, 12, 40_000, "reads", int(NOW.timestamp() * 1000), 25.0)
    return run("b-1", RECORDS, Action.BUILD, phase=RunPhase.RUNNING, progress=progress)


def built(name: str = "b-1", ended_at: datetime | None = NOW) -> RunSeen:
    report = JobReport(
        Outcome.READY,
        rows=100_000,
        seconds={"base": 40.0, "catch-up": 2.0},
        lock_holds=LockHolds(count=4, p99_ms=80, max_ms=90, waits_total_ms=1_500, waits_max_ms=900),
    )
    return run(name, RECORDS, Action.BUILD, ended_at=ended_at, exit_code=0, report=report)


def validated(name: str = "v-1") -> RunSeen:
    return run(
        name,
        NIGHTLY,
        Action.VALIDATE,
        trigger="at-20260501T1200Z",
        started_at=NOW + timedelta(seconds=2),
        ended_at=NOW + timedelta(seconds=32),
        exit_code=0,
        report=JobReport(Outcome.VALID),
        attempt=2,
    )
