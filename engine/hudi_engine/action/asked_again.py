"""The same request again: an index that is there, or planned, has to be the one that the request asks for."""

from collections.abc import Iterable
from dataclasses import dataclass

from hudi_engine.action.plans import IS_PARTITIONED, IndexPlan, PlannedIndex
from hudi_engine.action.seen import look
from hudi_engine.action.status import KindState, status_of
from hudi_engine.concurrency.heartbeat import Heartbeats
from hudi_engine.errors import Contradiction
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.index.metadata_table import definitions_of
from hudi_engine.table.table import Table

_SHAPES = {False: "one for the whole table", True: "one for each partition"}
_ANOTHER_NAME = "Give the new index another name, or remove this one first with `hudi-engine index drop`."
_ANOTHER_SHAPE = (
    "Ask for what is there (`--partitioned`, or the property hoodie.metadata.record.level.index.enable, decides), or "
    "remove it first with `hudi-engine index drop`."
)


@dataclass(frozen=True, slots=True)
class _Difference:
    there: str
    asked: str
    advice: str


def refuse_other_definition(table: Table, asked: PlannedIndex) -> None:
    """Refuse to call an index complete that was built of something else than what is asked for.

    A record index without a definition is that of a table before version 9, and never one by partition.
    """
    defined = definitions_of(table).get(asked.name)
    columns = () if defined is None else defined.source_fields
    found = _difference(asked, columns, is_partitioned=defined is not None and defined.is_partitioned)
    if found is not None:
        raise Contradiction(
            f"{table.storage.location}: {asked.name} is complete and is {found.there}, and the request asks for "
            f"{found.asked}. Nothing was changed. {found.advice}"
        )


def refuse_other_plan(where: str, plan: IndexPlan, asked: Iterable[PlannedIndex]) -> None:
    """Refuse to go on with a plan that makes something else of an index than what is asked for."""
    for index in asked:
        planned = plan.of(index.name)
        if planned is None or planned.is_addition:
            continue
        found = _difference(index, planned.columns, is_partitioned=planned.options.get(IS_PARTITIONED) == "true")
        if found is not None:
            raise Contradiction(
                f"{where}: the pending plan {plan.requested_at} makes {index.name} as {found.there}, and the request "
                f"asks for {found.asked}. Nothing was changed. Ask for what is planned, or end the plan first with "
                "`hudi-engine index abort`."
            )


def refuse_stale(table: Table, heartbeats: Heartbeats, names: tuple[str, ...]) -> None:
    """Refuse to call an index complete that is listed, and was made of what a restore or rollback has undone since."""
    listed = tuple(name for name in names if name in table.config.readable_indexes)
    for seen in look(table, heartbeats, listed) if listed else ():
        status = status_of(seen, table.clock.now_ms(), table.zone)
        if status.state is KindState.STALE:
            raise Contradiction(
                f"{table.storage.location}: {status.name} is listed as complete and is stale: {status.reason} "
                "(`hudi-engine index drop`). Nothing was changed."
            )


def _difference(asked: PlannedIndex, columns: tuple[str, ...], *, is_partitioned: bool) -> _Difference | None:
    match kind_of(asked.name):
        case IndexKind.SECONDARY_INDEX if columns and columns != asked.columns:
            return _Difference(_of(columns), _of(asked.columns), _ANOTHER_NAME)
        case IndexKind.RECORD_INDEX if is_partitioned is not (asked.options.get(IS_PARTITIONED) == "true"):
            return _Difference(_SHAPES[is_partitioned], _SHAPES[not is_partitioned], _ANOTHER_SHAPE)
    return None


def _of(columns: tuple[str, ...]) -> str:
    return f"one of the column {', '.join(columns)}"
