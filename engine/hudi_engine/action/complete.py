"""RFC-45, run, steps 7 to 9: the index is caught up, and readers are told, in one critical section."""

from hudi_engine.action.attempts import require_newest
from hudi_engine.action.dropped import note_built
from hudi_engine.action.execute import Run
from hudi_engine.action.flags import flag_complete
from hudi_engine.action.plans import IndexPlan, outcome_bytes
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

    Where it would do harm the plan is removed instead, and a note says that it was carried out.
    """
    table = transaction.table
    if _would_harm(transaction, plan):
        note_built(table.storage, plan, transaction.next_time())
        remove_instant(transaction, plan)
        return
    completed_at = None if table.config.layout == 1 else transaction.next_time()
    instant = Instant(plan.requested_at, Action.INDEXING, State.COMPLETED, completed_at)
    content = outcome_bytes(plan, caught_up_to, table.config.version)
    table.storage.create(table.path_of(instant), content)


def _would_harm(transaction: Transaction, plan: IndexPlan) -> bool:
    """Whether Hudi's own readers or writers go wrong by a completed indexing instant.

    Its archiver never takes one. Once it has taken all that is older, Hudi 1.x has the timeline of a merge-on-read
    table begin there, and puts logs of archived commits into the wrong slices. And if one is the newest completed
    instant, because others were rolled back, Java takes its time for the next indexes that it makes, which wipe each
    other.
    """
    config, completed = transaction.table.config, transaction.data_timeline.completed()
    is_newest = all(plan.requested_at > instant.requested_at for instant in completed)
    return is_newest or (config.layout == 2 and config.is_merge_on_read)
