"""One attempt, ready to be launched."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hudi_engine.contract import Action, ComputeKind, DuplicateKeys, JobRequest
from hudi_operator.decision import Defaults
from hudi_operator.names import run_name
from hudi_operator.orders.conf import conf_of, secrets_of
from hudi_operator.resources.execution import effective
from hudi_operator.resources.model import (
    Duplicates,
    Execution,
    ExecutionMode,
    HudiTable,
    IndexType,
    MetadataIndex,
    TableService,
)
from hudi_operator.resources.schema.values import amount_of
from hudi_operator.runs import RunOrder

PARTITIONED = "hoodie.metadata.record.level.index.enable"
CATCH_UP_TIMEOUT = "hoodie.metadata.index.check.timeout.seconds"

_LEAST_MEMORY = 64 << 20
_WITH_COLUMNS = (IndexType.COLUMN_STATS, IndexType.SECONDARY_INDEX)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wished for: an action, what asked for it, and which attempt this is."""

    action: Action
    trigger: str
    attempt: int
    plan_hash: str | None = None


def order_of(resource: MetadataIndex | TableService, table: HudiTable, wanted: Wanted, defaults: Defaults) -> RunOrder:
    """The order of this attempt: the same for the same wish. Paths in its request are the launcher's to fill in."""
    execution = effective(resource.execution, table.execution)
    request = JobRequest(
        table=table.base_path,
        action=wanted.action,
        kinds=_kinds(resource),
        conf={**conf_of(table, execution), **_own_conf(resource)},
        compute=ComputeKind.SPARK if execution.mode is ExecutionMode.SPARK else ComputeKind.LOCAL,
        memory_bytes=_memory_bytes(execution, defaults),
        plan_hash=wanted.plan_hash if wanted.action is Action.BUILD else None,
        sample=resource.validate.sample if isinstance(resource, TableService) else None,
        columns=_columns(resource, wanted.action),
        duplicates=_duplicates(resource, wanted.action),
    )
    return RunOrder(
        name=run_name(resource.meta, wanted.action, wanted.trigger, wanted.attempt),
        owner=resource.meta.ref,
        owner_uid=resource.meta.uid,
        table=table.meta.ref.name,
        trigger=wanted.trigger,
        attempt=wanted.attempt,
        request=request,
        execution=execution,
        secrets=secrets_of(table),
    )


def are_alike(one: RunOrder, other: RunOrder) -> bool:
    """Whether one run could do what both are for, exactly as each of them says."""
    mine = one.request
    theirs = replace(other.request, kinds=mine.kinds, columns=mine.columns)
    return (mine, one.execution, one.secrets, one.table) == (theirs, other.execution, other.secrets, other.table)


def with_others(order: RunOrder, others: Sequence[RunOrder]) -> RunOrder:
    """The order, for what the others are for as well. It is the same attempt at the same need, and so has its name."""
    requests = [order.request, *(other.request for other in others)]
    kinds = tuple(kind for request in requests for kind in request.kinds)
    columns = {name: columns for request in requests for name, columns in request.columns.items()}
    return replace(order, request=replace(order.request, kinds=kinds, columns=columns))


def _kinds(resource: MetadataIndex | TableService) -> tuple[str, ...]:
    if isinstance(resource, MetadataIndex):
        return (resource.engine_name,)
    return resource.validate.indexes


def _columns(resource: MetadataIndex | TableService, action: Action) -> dict[str, tuple[str, ...]]:
    """Only what makes an index needs them, and only of types that have columns of their own."""
    is_made = action in (Action.PLAN, Action.BUILD)
    if not isinstance(resource, MetadataIndex) or not resource.columns or not is_made:
        return {}
    return {resource.engine_name: resource.columns} if resource.index_type in _WITH_COLUMNS else {}


def _duplicates(resource: MetadataIndex | TableService, action: Action) -> DuplicateKeys:
    is_made = action in (Action.PLAN, Action.BUILD)
    if is_made and isinstance(resource, MetadataIndex) and resource.duplicates is Duplicates.NEWEST:
        return DuplicateKeys.NEWEST
    return DuplicateKeys.REFUSE


def _own_conf(resource: MetadataIndex | TableService) -> dict[str, str]:
    if not isinstance(resource, MetadataIndex):
        return {}
    partitioned = {PARTITIONED: "true"} if resource.is_partitioned else {}
    timeout = resource.catch_up_timeout_seconds
    return partitioned | ({} if timeout is None else {CATCH_UP_TIMEOUT: str(timeout)})


def _memory_bytes(execution: Execution, defaults: Defaults) -> int:
    """Half of what the driver may have: beside the keys it holds files' columns, and Python itself."""
    limits = execution.driver.limits if execution.driver is not None else {}
    if "memory" not in limits:
        return defaults.memory_bytes
    return max(int(amount_of(limits["memory"]) // 2), _LEAST_MEMORY)
