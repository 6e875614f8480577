"""A plan taken back: its flag, its instant, then its files. Nobody else's."""

from dataclasses import dataclass

from hudi_engine.action.attempts import require_newest
from hudi_engine.action.definitions_file import remove_definition
from hudi_engine.action.execute import Run, await_silence
from hudi_engine.action.flags import unflag
from hudi_engine.action.plans import IndexPlan, read_plan, timeline_path
from hudi_engine.action.site import Site, Transaction
from hudi_engine.errors import NotFound
from hudi_engine.format.instant_names import Action, Instant, State, instant_file
from hudi_engine.format.names import PARTITION_METAFILE


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back. `files` are gone from the metadata table, `indexes` from the properties."""

    plan: str
    indexes: tuple[str, ...]
    files: tuple[str, ...]


def undo_run(run: Run) -> Undone:
    """Undo the plan that this attempt runs, unless another attempt has taken it over."""
    with run.site.transaction() as transaction:
        require_newest(transaction, run.attempt)
        undone = take_back(transaction, run.plan)
    return _deleted(run.site, undone)


def run_abort(site: Site, requested_at: str) -> Undone:
    """Undo a plan whose runner is dead, or that nobody has run yet; `Busy` if its runner lives."""
    await_silence(site, requested_at)
    with site.transaction() as transaction:
        instant = transaction.data_timeline.find(requested_at)
        if instant is None or instant.action is not Action.INDEXING or instant.is_completed:
            raise NotFound(
                f"{site.storage.location}: {requested_at} is no pending index plan. `index status` shows those that "
                "are; `index drop` removes an index that is complete."
            )
        undone = take_back(transaction, read_plan(transaction.table, instant))
    return _deleted(site, undone)


def take_back(transaction: Transaction, plan: IndexPlan) -> Undone:
    """Under the lock: which files go is settled, then the index is nobody's, then the plan is no more.

    The files themselves are the caller's to delete, once the lock is let go. Indexes that are complete are left alone.
    """
    table = transaction.table
    names = [index.name for index in plan.indexes if index.name not in table.config.readable_indexes]
    files = tuple(path for name in names for path in files_of_index(transaction, name))
    transaction.require_held()
    unflag(table, names)
    for name in names:
        remove_definition(table, name)
    remove_instant(transaction, plan)
    return Undone(plan.requested_at, tuple(names), files)


def files_of_index(transaction: Transaction, name: str) -> tuple[str, ...]:
    """Every file of an index as it is now: what comes later is not ours to delete. The folder's own file goes last."""
    files = transaction.metadata.table.storage.list(name)
    return tuple(file.path for file in sorted(files, key=lambda file: file.name.startswith(PARTITION_METAFILE)))


def delete_files(site: Site, files: tuple[str, ...]) -> None:
    """Delete what was settled under the lock; the lock is not held meanwhile."""
    storage = site.metadata().table.storage
    site.watch.begin("delete", len(files))
    for path in files:
        storage.delete(path)
        site.watch.advance(1)


def remove_instant(transaction: Transaction, plan: IndexPlan) -> None:
    """Its files from the last state to the first, so that a crash leaves a plan that is pending and not a torn one."""
    table = transaction.table
    for state in (State.INFLIGHT, State.REQUESTED):
        instant = Instant(plan.requested_at, Action.INDEXING, state)
        if instant_file(instant) in transaction.data_timeline.files:
            transaction.require_held()
            table.storage.delete(timeline_path(table, instant))


def _deleted(site: Site, undone: Undone) -> Undone:
    delete_files(site, undone.files)
    return undone
