"""All that is known of one resource of a table, made ready for being asked."""

from dataclasses import dataclass, replace
from datetime import timedelta

from hudi_engine.contract import Action, TableSeen
from hudi_operator.decision import World
from hudi_operator.resources.execution import effective
from hudi_operator.resources.model import Execution, HudiTable, MetadataIndex, TableService
from hudi_operator.retry import Limits, Past
from hudi_operator.runs import RunSeen
from hudi_operator.status.facts import live_of
from hudi_operator.status.past import of_run, order_of_past, past_of

# Times of runs are whole seconds, so a look within the second of an end may have been before it.
_MARGIN = timedelta(seconds=1)
_ON_PLANS = (Action.BUILD, Action.ABORT)


@dataclass(frozen=True, slots=True)
class Case:
    """`past` are its ended runs, `live` its others, both oldest first. `execution` is merged with the table's.

    `past_elsewhere` and `live_elsewhere` are runs of other indexes that were ordered for this one, too, or say that
    they did something about it.
    """

    resource: MetadataIndex | TableService
    world: World
    past: tuple[Past, ...]
    live: tuple[RunSeen, ...]
    past_elsewhere: tuple[Past, ...]
    live_elsewhere: tuple[RunSeen, ...]
    execution: Execution
    limits: Limits

    @staticmethod
    def of(resource: MetadataIndex | TableService, world: World) -> "Case":
        table = world.table
        execution = effective(resource.execution, Execution() if table is None else table.execution)
        own = _own(resource, world)
        elsewhere = [run for run in own.others if _is_for(resource, run)]
        return Case(
            resource=resource,
            world=own,
            past=past_of(own),
            live=tuple(live_of(own.runs)),
            past_elsewhere=tuple(of_run(run) for run in elsewhere if not run.is_live),
            live_elsewhere=tuple(run for run in live_of(elsewhere) if run.is_shared),
            execution=execution,
            limits=Limits.of(execution, world.defaults),
        )

    @property
    def ended(self) -> tuple[Past, ...]:
        """All that was done for it, oldest first, whoever began it."""
        return tuple(sorted((*self.past, *self.past_elsewhere), key=order_of_past))

    def tried(self, action: Action, trigger: str) -> tuple[Past, ...]:
        """Of its own runs, in the order of their attempts."""
        found = (past for past in self.past if past.action is action and past.trigger == trigger)
        return tuple(sorted(found, key=lambda past: past.attempt))

    def newest(self, *actions: Action) -> Past | None:
        return next((past for past in reversed(self.ended) if past.action in actions), None)

    def was_looked_at_since(self, past: Past) -> bool:
        """Whether the table was seen after the run had ended."""
        seen = self.world.seen
        return isinstance(seen, TableSeen) and seen.observed_ms > (past.ended_at + _MARGIN).timestamp() * 1000

    @property
    def deadline_seconds(self) -> int:
        given = self.execution.active_deadline_seconds
        return self.world.defaults.active_deadline_seconds if given is None else given

    @property
    def grace_seconds(self) -> int:
        given = self.execution.termination_grace_period_seconds
        return self.world.defaults.termination_grace_period_seconds if given is None else given

    @property
    def start_timeout_seconds(self) -> int:
        given = self.execution.start_timeout_seconds
        return self.world.defaults.start_timeout_seconds if given is None else given


def _own(resource: MetadataIndex | TableService, world: World) -> World:
    """Runs of an earlier resource of the same name are not its own: they count as somebody else's."""
    uid = resource.meta.uid
    return replace(
        world,
        runs=tuple(run for run in world.runs if run.owner_uid == uid),
        others=(*world.others, *(run for run in world.runs if run.owner_uid != uid)),
    )


def _is_for(resource: MetadataIndex | TableService, run: RunSeen) -> bool:
    """Whether another index's run is for this one, too, and not for one that had its name before.

    A plan is for all of its indexes, whichever of them somebody has it carried out or taken back for.
    """
    meta = resource.meta
    if not isinstance(resource, MetadataIndex) or run.action not in _ON_PLANS or run.owner_uid == meta.uid:
        return False
    is_of_table = (run.owner.namespace, run.table) == (meta.ref.namespace, resource.table)
    was_there = meta.created_at is None or meta.created_at <= run.created_at
    told = () if run.report is None else (kind.kind for kind in run.report.kinds)
    return is_of_table and was_there and resource.engine_name in (*run.kinds, *told)


def world_of(
    neighbour: MetadataIndex | TableService, resource: HudiTable | MetadataIndex | TableService, world: World
) -> World:
    """The world as it looks from a neighbour."""
    ref, uid = neighbour.meta.ref, neighbour.meta.uid
    runs = (*world.runs, *world.others)
    others = (other for other in (resource, *world.neighbours) if other.meta.ref != ref)
    return replace(
        world,
        runs=tuple(run for run in runs if run.owner_uid == uid),
        others=tuple(run for run in runs if run.owner_uid != uid),
        neighbours=tuple(others),
        previous=world.statuses.get(ref, {}),
    )


def epoch_of(resource: MetadataIndex, table: HudiTable | None) -> str:
    """With what every trigger begins: whatever failed begins anew when either spec changes."""
    return f"g{resource.meta.generation}.{0 if table is None else table.meta.generation}"
