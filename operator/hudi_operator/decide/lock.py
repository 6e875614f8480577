"""Whether the lock that the writers of a table share can be had, as the newest run that asked for it tells."""

from hudi_operator.decision import Said, World
from hudi_operator.resources.model import HudiTable
from hudi_operator.retry import ending_of
from hudi_operator.runs import RunSeen
from hudi_operator.words import Condition, Reason

# Exit codes of runs that the service of the lock answered, though they did not get the lock or lost it.
_ANSWERED = (22, 23)


def lock_available(table: HudiTable, world: World) -> Said:
    """Unknown until a run has asked: the operator itself speaks to no ZooKeeper."""
    if table.concurrency.lock is None:
        return Said(Condition.LOCK_AVAILABLE, "True", Reason.NOT_NEEDED, "the table has a single writer and no lock")
    asked = [run for run in (*world.runs, *world.others) if not run.is_live and _has_answer(run) is not None]
    newest = max(asked, key=lambda run: run.ended_at or run.created_at, default=None)
    if newest is None:
        return Said(Condition.LOCK_AVAILABLE, "Unknown", Reason.NOT_OBSERVED, "no run has asked for the lock yet")
    if _has_answer(newest):
        return Said(Condition.LOCK_AVAILABLE, "True", Reason.OBSERVED)
    why = f"run {newest.name}: {ending_of(newest)[1]}"
    return Said(Condition.LOCK_AVAILABLE, "False", Reason.LOCK_UNAVAILABLE, why)


def _has_answer(run: RunSeen) -> bool | None:
    """None for a run that ended before it asked for the lock."""
    if ending_of(run)[0] is Reason.LOCK_UNAVAILABLE:
        return False
    report = run.report
    return True if report is not None and (report.lock_holds.count or report.exit_code in _ANSWERED) else None
