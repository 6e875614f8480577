"""A plan taken back: its flag, its instant, then its files. Nobody else's."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from hudi_engine.action.attempts import (
    attempts_of,
    forget_over,
    remove_pending_commits,
    require_newest,
    reserved_by,
)
from hudi_engine.action.definitions_file import remove_definition
from hudi_engine.action.deletion import delete_now, delete_unowned
from hudi_engine.action.dropped import note_built
from hudi_engine.action.execute import Run, await_silence
from hudi_engine.action.flags import unflag
from hudi_engine.action.plans import ADDS, IndexPlan, PlannedIndex, pending_plans, read_plan
from hudi_engine.action.published import published_base
from hudi_engine.action.site import Site, Transaction
from hudi_engine.action.strays import instant_of, known_instants
from hudi_engine.errors import NotFound, Superseded
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State, instant_file
from hudi_engine.format.names import PARTITION_METAFILE
from hudi_engine.index.metadata_table import FOLDER, MetadataTable
from hudi_engine.storage.in_folder import InFolder


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
    delete_unowned(run.site, undone.files)
    _delete_uncommitted(run.site, run.plan, {run.attempt.base_instant})
    return undone


def run_abort(site: Site, requested_at: str) -> Undone:
    """Undo a plan whose runner is dead, or that nobody has run yet; `Busy` if its runner lives.

    What an undo that died has left of a plan is undone as well.
    """
    await_silence(site, requested_at)
    with site.transaction() as transaction:
        plan = _plan_to_abort(transaction, requested_at)
        undone = take_back(transaction, plan)
    delete_unowned(site, undone.files)
    _delete_uncommitted(site, plan, reserved_by(site.storage, requested_at))
    with site.transaction() as transaction:
        forget_over(transaction)
    return undone


def _plan_to_abort(transaction: Transaction, requested_at: str) -> IndexPlan:
    instant = transaction.data_timeline.find(requested_at)
    if instant is not None and instant.action is Action.INDEXING and not instant.is_completed:
        return read_plan(transaction.table, transaction.data_timeline, instant)
    attempts = attempts_of(transaction.site.storage, requested_at)
    if instant is None and attempts:
        return IndexPlan(InstantTime(requested_at), tuple(PlannedIndex(name, "") for name in attempts[-1].indexes))
    raise NotFound(
        f"{transaction.table.storage.location}: {requested_at} is no pending index plan. `index status` shows those "
        "that are; `index drop` removes an index that is complete."
    )


def take_back(transaction: Transaction, plan: IndexPlan) -> Undone:
    """Under the lock: which files go is settled, then the index is nobody's, then the plan is no more.

    The files themselves are the caller's to delete by `delete_unowned`. Indexes that are complete, or that
    another plan builds, are left alone; of those that this plan has completed a note tells.
    """
    table = transaction.table
    others = [each for each in pending_plans(table, transaction.data_timeline).values() if each != plan]
    kept = {*table.config.readable_indexes, *(index.name for other in others for index in other.indexes)}
    names = [index.name for index in plan.indexes if index.name not in kept]
    files = tuple(path for name in names for path in files_of_index(transaction, name))
    transaction.require_held()
    _note_complete(transaction, plan)
    transaction.require_held()
    unflag(table, names)
    for name in names:
        remove_definition(table, name)
    remove_pending_commits(transaction, plan.requested_at)
    remove_instant(transaction, plan)
    return Undone(plan.requested_at, tuple(names), files)


def _note_complete(transaction: Transaction, plan: IndexPlan) -> None:
    listed = transaction.table.config.readable_indexes
    there = (index for index in plan.indexes if index.name in listed)
    if complete := tuple(index for index in there if _is_complete(transaction.metadata, plan, index)):
        uptos = {index.name: index.upto for index in complete}
        plan = IndexPlan(plan.requested_at, complete)
        note_built(transaction.table.storage, plan, transaction.next_time(), uptos)


def _is_complete(metadata: MetadataTable, plan: IndexPlan, index: PlannedIndex) -> bool:
    if not index.is_addition:
        return published_base(metadata, plan, index.name) is not None
    defined = metadata.definitions.get(index.name)
    return bool(index.options[ADDS]) and defined is not None and {*index.columns} <= {*defined.source_fields}


def delete_own_files(run: Run) -> None:
    """Remove what this attempt wrote if it was taken over before it published.

    The files carry its own instant, which no other attempt ever gets: nobody can make, or need, one of these names.
    """
    with run.site.transaction() as transaction, suppress(Superseded):
        require_newest(transaction, run.attempt)
        return  # they are for the next attempt to find
    _delete_uncommitted(run.site, run.plan, {run.attempt.base_instant})


def _delete_uncommitted(site: Site, plan: IndexPlan, own: Collection[str]) -> None:
    """What attempts at the plan wrote and did not publish, also beside an index that a writer has made there meanwhile:
    Hudi's readers take files of an instant before their timeline for committed, and would seek keys in our shards.
    """
    storage = InFolder(site.storage, FOLDER)
    found = [file for index in plan.indexes for file in storage.list(index.name) if instant_of(file) in own]
    known = known_instants(site) if found else frozenset()  # and nobody begins one of ours any more
    delete_now(storage, [file.path for file in found if instant_of(file) not in known])


def files_of_index(transaction: Transaction, name: str) -> tuple[str, ...]:
    """Every file of an index as it is now: what comes later is not ours to delete. The folder's own file goes last."""
    files = transaction.metadata.table.storage.list(name)
    return tuple(file.path for file in sorted(files, key=lambda file: file.name.startswith(PARTITION_METAFILE)))


def remove_instant(transaction: Transaction, plan: IndexPlan) -> None:
    """Its files from the last state to the first, so that a crash leaves a plan that is pending and not a torn one."""
    for state in (State.INFLIGHT, State.REQUESTED):
        instant = Instant(plan.requested_at, Action.INDEXING, state)
        if (file := transaction.data_timeline.files.get(instant_file(instant))) is not None:
            transaction.require_held()
            transaction.table.storage.delete(file.path)
