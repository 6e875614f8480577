"""A home and a launcher that write down what they are asked, in order; and a table as it may be seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hudi_engine.contract import IndexSeen, IndexState, TableSeen, TimelineSeen
from hudi_operator.decision import Defaults
from hudi_operator.policy import Policy
from hudi_operator.reconcile import Event, Reconciler, Store, Surroundings
from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    HudiTable,
    IndexType,
    Meta,
    MetadataIndex,
    Ref,
    Resource,
)
from hudi_operator.resources.unreadable import Stored
from hudi_operator.runs import RunKey, RunOrder, RunSeen
from hudi_operator.words import Kind

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
ORDERS, RECORDS = Ref(Kind.TABLE, "shop", "orders"), Ref(Kind.INDEX, "shop", "orders-records")
TABLE = HudiTable(
    Meta(ORDERS, "uid-1", created_at=NOW), "s3://lake/orders", None, Concurrency(ConcurrencyMode.SINGLE_WRITER)
)
INDEX = MetadataIndex(Meta(RECORDS, "uid-2", created_at=NOW), "orders", IndexType.RECORD_INDEX)


@dataclass(slots=True)
class Around:
    """`said` is all that was asked for; what is set to an error is raised at the next such request, and after it."""

    said: list[str] = field(default_factory=list)
    statuses: dict[Ref, Mapping[str, Any]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    status_fails: Exception | None = None
    start_fails: Exception | None = None
    meanwhile: Callable[[], object] | None = None
    has_foreign_config: bool = False
    now: datetime = NOW
    listed: list[RunSeen] = field(default_factory=list)
    ordered: list[RunOrder] = field(default_factory=list)

    async def write_status(self, resource: Stored, status: Mapping[str, object]) -> None:
        self.said.append(f"status of {resource.meta.ref.name}")
        if self.meanwhile is not None:
            self.meanwhile()
        if self.status_fails is not None:
            raise self.status_fails
        self.statuses[resource.meta.ref] = status

    async def set_finalizer(self, resource: Stored, is_wanted: bool) -> None:
        self.said.append(f"finalizer of {resource.meta.ref.name}: {is_wanted}")

    async def remove_annotation(self, resource: Stored, name: str) -> None:
        self.said.append(f"annotation of {resource.meta.ref.name} removed: {name}")

    async def tell(self, resource: Stored, event: Event) -> None:
        self.events.append(event)

    async def write_writer_config(self, table: HudiTable, data: Mapping[str, str]) -> bool:
        self.said.append("writers are advised")
        return not self.has_foreign_config

    async def secret_folder(self, namespace: str, names: Sequence[str]) -> tuple[Path, ...]:
        return ()

    async def start(self, order: RunOrder) -> None:
        self.said.append(f"start {order.request.action}")
        if self.start_fails is not None:
            raise self.start_fails
        self.ordered.append(order)

    async def runs(self) -> Sequence[RunSeen]:
        return self.listed

    async def stop(self, run: RunKey) -> None:
        self.said.append(f"stop {run.name}")

    async def forget(self, run: RunKey) -> None:
        self.said.append(f"forget {run.name}")


@dataclass(frozen=True, slots=True)
class Scene:
    """Resources that were looked at once, so that what is due is the next step."""

    around: Around
    store: Store
    reconciler: Reconciler

    @staticmethod
    def of(*resources: Resource, index: IndexState = IndexState.ABSENT, policy: Policy | None = None) -> "Scene":
        around, store = Around(), Store()
        for resource in resources:
            store.put(resource, {})
        if TABLE in resources:
            store.note_seen(ORDERS, seen(index))
        surroundings = Surroundings(around, around, lambda: around.now, Defaults(policy=policy))
        return Scene(around, store, Reconciler(store, surroundings))

    def conditions(self, ref: Ref) -> dict[str, tuple[str, str]]:
        listed = self.around.statuses[ref]["conditions"]
        return {entry["type"]: (entry["status"], entry["reason"]) for entry in listed}


def seen(index: IndexState, at: datetime = NOW) -> TableSeen:
    instant = "20260501110000000"
    files = IndexSeen("files", IndexState.COMPLETE, caught_up_to=instant, head=instant)
    records = IndexSeen("record_index", index, base=instant, caught_up_to=instant, head=instant)
    return TableSeen(
        fingerprint=str(index),
        observed_ms=int(at.timestamp() * 1000),
        name="orders",
        type="COPY_ON_WRITE",
        version=9,
        layout=2,
        record_key_fields=("id",),
        partition_fields=(),
        indexes=(files,) if index is IndexState.ABSENT else (files, records),
        timeline=TimelineSeen(instant, 1, {"commit": 1}, 1, {"commit/completed": 1}),
    )


def deleting(resource: MetadataIndex) -> MetadataIndex:
    return replace(resource, meta=replace(resource.meta, deleting_since=NOW))
