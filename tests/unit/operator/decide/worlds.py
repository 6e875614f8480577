"""Small words for worlds: a table, an index and a service of it, runs and looks."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hudi_engine.contract import (
    Action,
    IndexSeen,
    IndexState,
    JobReport,
    KindReport,
    Outcome,
    PendingSeen,
    RunProgress,
    TableSeen,
    TableUnseen,
    TimelineSeen,
    UnseenReason,
)
from hudi_operator.decision import World
from hudi_operator.names import FINALIZER, run_name
from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    FileSystemLock,
    HudiTable,
    IndexType,
    Meta,
    MetadataIndex,
    Ref,
    Resource,
    ServiceType,
    TableService,
)
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Kind

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
CREATED = NOW - timedelta(hours=2)
NAME = "record_index"
PLAN = "20260504115000000"


def ago(seconds: float = 0, **more: float) -> datetime:
    return NOW - timedelta(seconds=seconds, **more)


def meta(kind: Kind, name: str, **fields: Any) -> Meta:
    given: dict[str, Any] = {"uid": f"uid-{name}", "created_at": CREATED, **fields}
    return Meta(Ref(kind, "lake", name), **given)


def a_table(name: str = "orders", **fields: Any) -> HudiTable:
    about = {key: fields.pop(key) for key in list(fields) if key in Meta.__dataclass_fields__}
    concurrency = Concurrency(ConcurrencyMode.OPTIMISTIC, FileSystemLock())
    given = {"base_path": "/lake/orders", "table_name": None, "concurrency": concurrency, **fields}
    return HudiTable(meta(Kind.TABLE, name, **about), **given)


def an_index(name: str = "by-key", **fields: Any) -> MetadataIndex:
    about = {key: fields.pop(key) for key in list(fields) if key in Meta.__dataclass_fields__}
    given = {"table": "orders", "index_type": IndexType.RECORD_INDEX, **fields}
    return MetadataIndex(meta(Kind.INDEX, name, **about), **given)


def a_service(name: str = "nightly", **fields: Any) -> TableService:
    about = {key: fields.pop(key) for key in list(fields) if key in Meta.__dataclass_fields__}
    given = {"table": "orders", "type": ServiceType.VALIDATE, **fields}
    return TableService(meta(Kind.SERVICE, name, **about), **given)


def dropping(**fields: Any) -> dict[str, Any]:
    """Fields of a deleted index whose policy is Drop."""
    return {"deletion_policy": "Drop", "finalizers": (FINALIZER,), "deleting_since": ago(60), **fields}


def seen(*indexes: IndexSeen, at: datetime = NOW, pending: tuple[PendingSeen, ...] = (), **fields: Any) -> TableSeen:
    timeline = TimelineSeen(
        latest_completed="20260504115500000",
        latest_completed_ms=_ms(ago(300)),
        latest_by_action={"commit": _ms(ago(300))},
        active_instants=7 + len(pending),
        counts={"commit/completed": 7} | ({"commit/inflight": len(pending)} if pending else {}),
        pending=pending,
    )
    given: dict[str, Any] = {
        "name": "orders",
        "type": "COPY_ON_WRITE",
        "version": 6,
        "layout": 1,
        "record_key_fields": ("id",),
        "partition_fields": (),
        **fields,
    }
    return TableSeen(fingerprint="f", observed_ms=_ms(at), indexes=indexes, timeline=timeline, **given)


def unseen(reason: UnseenReason, *, retry: bool = False) -> TableUnseen:
    return TableUnseen(reason, "said by the store", retry, _ms(NOW))


def found(state: IndexState, name: str = NAME, **fields: Any) -> IndexSeen:
    return IndexSeen(name, state, **fields)


COMPLETE = found(IndexState.COMPLETE, base="20260504110000000", caught_up_to="20260504115500000")
STALE = found(IndexState.STALE, reason="made of 20260504100000000, undone since", base="20260504100000000")
DELETED = found(IndexState.DELETED, reason=f"built by the plan {PLAN} and not listed any more")
ORPHAN = found(IndexState.IN_FLIGHT, plan=PLAN, heartbeat_age_seconds=90.0, phase="base")
ELSEWHERE = found(IndexState.IN_FLIGHT, plan=PLAN, heartbeat_age_seconds=1.0, is_live=True, owner="another")


def waits(instant: str = PLAN, action: str = "indexing", age: float = 60, **fields: Any) -> PendingSeen:
    return PendingSeen(instant, action, fields.pop("state", "inflight"), _ms(ago(age)), **fields)


def a_run(
    owner: Resource, action: Action, trigger: str, attempt: int = 1, *, ended: float | None = None, **fields: Any
) -> RunSeen:
    """`ended` so many seconds ago; live without."""
    begun = fields.pop("begun", (ended or 0) + 60)
    phase = RunPhase.RUNNING if ended is None else RunPhase.ENDED
    given: dict[str, Any] = {
        "phase": phase,
        "created_at": ago(begun),
        "started_at": ago(begun),
        "ended_at": None if ended is None else ago(ended),
        "table": "orders",
        "owner_uid": owner.meta.uid,
        **fields,
    }
    return RunSeen(
        name=run_name(owner.meta, action, trigger, attempt),
        owner=owner.meta.ref,
        action=action,
        trigger=trigger,
        attempt=attempt,
        **given,
    )


def report(outcome: Outcome, exit_code: int = 0, reason: str = "", **fields: Any) -> JobReport:
    return JobReport(outcome, exit_code, reason=reason, **fields)


READY = report(Outcome.READY, kinds=(KindReport(NAME, Outcome.READY),))
DROPPED = report(Outcome.DROPPED)
VALID = report(Outcome.VALID, kinds=(KindReport(NAME, Outcome.VALID),))
INVALID = report(Outcome.INVALID, 1, "3 discrepancies", kinds=(KindReport(NAME, Outcome.INVALID),))
PLANNED = report(
    Outcome.PLANNED,
    plan_hash="abcdef0123",
    kinds=(KindReport(NAME, Outcome.PLANNED, keys=1000, shards=2),),
    read_bytes=9,
)
CHANGED = report(Outcome.PLAN_CHANGED, 26, "other file groups")


def failed(exit_code: int, reason: str = "it failed") -> JobReport:
    return report(Outcome.FAILED, exit_code, reason)


def progress(phase: str) -> RunProgress:
    return RunProgress(phase, 3, 10, 300, f"{phase}: 3 of 10", _ms(NOW), 30.0)


def world(*runs: RunSeen, **fields: Any) -> World:
    given: dict[str, Any] = {"table": a_table(), "seen": seen(), **fields}
    return World(NOW, runs=runs, **given)


def built_before(reason: str = "Built", **more: Any) -> Mapping[str, object]:
    """A status that tells that the index was there."""
    condition = {
        "type": "Built",
        "status": "True" if reason == "Built" else "False",
        "reason": reason,
        "message": more.pop("message", ""),
        "lastTransitionTime": "2026-05-04T11:00:00Z",
    }
    return {"conditions": [condition], "lastHandledRebuildToken": "", **more}


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
