"""RFC-45, run, steps 7 to 9: an index is caught up, and readers are told, in one critical section."""

from collections.abc import Mapping

from hudi_engine.action.attempts import require_newest
from hudi_engine.action.definitions_file import write_definition
from hudi_engine.action.dropped import note_built
from hudi_engine.action.execute import Run
from hudi_engine.action.flags import flag_complete, settle
from hudi_engine.action.keepings import keeping_of
from hudi_engine.action.plans import IndexPlan, PlannedIndex, outcome_bytes
from hudi_engine.action.site import Transaction
from hudi_engine.action.undo import remove_instant
from hudi_engine.format.instant_names import Action, Instant, State


def complete_index(run: Run, transaction: Transaction, index: PlannedIndex, caught_up_to: str) -> None:
    """The flag of one index moved (8.a), or its new columns defined: readers use it from here on, or them.

    An addition is noted now: should the rest of its plan fail, nothing else would tell when its entries were written.
    """
    require_newest(transaction, run.attempt)
    run.liveness.require_alive()
    keeping = keeping_of(index, run.site.conf)
    # What it stands on may have been dropped by a writer since it was asked for.
    keeping.refuse(transaction.table, transaction.table.config.readable_indexes)
    definition = keeping.definition(transaction.metadata)
    if definition is not None and (index.is_addition or not keeping.traits.is_logged_in_flight):
        transaction.require_held()
        write_definition(transaction.table, definition)
    transaction.require_held()
    if index.is_addition:
        plan = IndexPlan(run.plan.requested_at, (index,))
        note_built(transaction.table.storage, plan, transaction.next_time(), {index.name: caught_up_to})
    else:
        flag_complete(transaction.table, [index.name])


def complete_instant(run: Run, transaction: Transaction, caught_up_to: Mapping[str, str]) -> None:
    """The plan's instant completed (8.b), when all of its indexes are; by name what each is caught up to.

    A crash between 8.a and this is finished by the next run.
    """
    require_newest(transaction, run.attempt)
    run.liveness.require_alive()
    transaction.require_held()
    settle(transaction.table)
    transaction.require_held()
    _complete_once(transaction, run.plan, caught_up_to)


def _complete_once(transaction: Transaction, plan: IndexPlan, caught_up_to: Mapping[str, str]) -> None:
    """The completed file, once: a completed instant is never written again.

    Where it would do harm the plan is removed instead, and a note says what it would have said.
    """
    table = transaction.table
    if _would_harm(transaction, plan):
        note_built(table.storage, plan, transaction.next_time(), caught_up_to)
        remove_instant(transaction, plan)
        return
    completed_at = None if table.config.layout == 1 else transaction.next_time()
    instant = Instant(plan.requested_at, Action.INDEXING, State.COMPLETED, completed_at)
    content = outcome_bytes(plan, caught_up_to, table.config.version)
    table.storage.create(table.path_of(instant), content)


def _would_harm(transaction: Transaction, plan: IndexPlan) -> bool:
    """Whether Hudi's own readers or writers go wrong by a completed indexing instant.

    In layout 2 it would outlive its neighbours (`TableConfig.plan_folder`). In layout 1 it must not be the newest
    completed instant, because others were rolled back: Java then takes its time for the next indexes that it makes,
    which wipe each other.
    """
    completed = transaction.data_timeline.completed()
    is_newest = all(plan.requested_at > instant.requested_at for instant in completed)
    return is_newest or transaction.table.config.layout == 2
