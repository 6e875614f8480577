"""RFC-45, run, steps 7 to 9: the index is caught up, and readers are told, in one critical section."""

from hudi_engine.action.attempts import require_newest
from hudi_engine.action.execute import Run
from hudi_engine.action.flags import flag_complete
from hudi_engine.action.plans import IndexPlan, outcome_bytes, timeline_path
from hudi_engine.action.site import Transaction
from hudi_engine.action.undo import remove_instant
from hudi_engine.format.instant_names import Action, Instant, State


def complete_plan(run: Run, transaction: Transaction, caught_up_to: str) -> None:
    """The flag moved (8.a), then the instant completed (8.b). A crash in between is finished by the next run."""
    require_newest(transaction, run.attempt)
    run.liveness.require_alive()
    transaction.require_held()
    flag_complete(transaction.table, [index.name for index in run.plan.indexes])
    transaction.require_held()
    complete_instant(transaction, run.plan, caught_up_to)


def complete_instant(transaction: Transaction, plan: IndexPlan, caught_up_to: str) -> None:
    """The completed file, once: a completed instant is never written again.

    If it would be the newest completed instant of the table, because others were rolled back meanwhile, the plan is
    removed instead: Java takes such a time for the next indexes that it makes, and they wipe each other.
    """
    table, timeline = transaction.table, transaction.data_timeline
    if all(plan.requested_at > instant.requested_at for instant in timeline.completed()):
        remove_instant(transaction, plan)
        return
    completed_at = None if table.config.layout == 1 else transaction.next_time()
    instant = Instant(plan.requested_at, Action.INDEXING, State.COMPLETED, completed_at)
    content = outcome_bytes(plan, caught_up_to, table.config.version)
    table.storage.create(timeline_path(table, instant), content)
