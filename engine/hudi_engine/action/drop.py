"""An index removed: published under the lock, its files deleted afterwards, unless somebody builds it by then."""

from collections.abc import Sequence
from dataclasses import dataclass

from hudi_engine.action.definitions_file import remove_definition
from hudi_engine.action.deletion import delete_unowned
from hudi_engine.action.dropped import note_dropped
from hudi_engine.action.flags import unflag
from hudi_engine.action.keeping import STANDS_ON
from hudi_engine.action.plans import pending_plans
from hudi_engine.action.site import Site, Transaction
from hudi_engine.action.undo import files_of_index
from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.index.kinds import IndexKind, is_index_name


@dataclass(frozen=True, slots=True)
class Dropped:
    """The indexes that are gone, and the files that were theirs. `absent` were not there to begin with."""

    indexes: tuple[str, ...]
    absent: tuple[str, ...]
    files: tuple[str, ...]


def run_drop(site: Site, names: Sequence[str]) -> Dropped:
    """Remove these indexes. One that a plan is building is refused: abort the plan."""
    with site.transaction() as transaction:
        dropped = _plan_drop(transaction, names)
        note_dropped(transaction.table, transaction.data_timeline, dropped.indexes)
        transaction.require_held()
        unflag(transaction.table, dropped.indexes)
        for name in dropped.indexes:
            remove_definition(transaction.table, name)
    delete_unowned(site, dropped.files)
    return dropped


def _plan_drop(transaction: Transaction, names: Sequence[str]) -> Dropped:
    table = transaction.table
    if unknown := [name for name in names if not is_index_name(name)]:
        raise Unsupported(
            f"{table.storage.location}: {unknown[0]!r} is no name that an index of Hudi has, expected one of "
            f"{', '.join(IndexKind)}, the last two followed by a name without a slash. `hudi-engine index status` "
            "shows what there is; nothing was changed."
        )
    if IndexKind.FILES in names:
        raise Unsupported(
            f"{table.storage.location}: every other index needs `files`. To be rid of the whole metadata table use "
            "`hudi-engine metadata disable`."
        )
    flagged = {*table.config.readable_indexes, *table.config.inflight_indexes}
    for later, first in STANDS_ON.items():
        if first in names and later not in names and later in flagged:
            raise Contradiction(
                f"{table.storage.location}: {later} is kept by {first}, and every commit of Hudi's writers would fail "
                f"without that. Drop {later} with it."
            )
    for instant, plan in pending_plans(table, transaction.data_timeline).items():
        if found := [index.name for index in plan.indexes if index.name in names]:
            raise Contradiction(
                f"{table.storage.location}: {found[0]} is being built by the plan {instant.requested_at}. "
                f"End that with `hudi-engine index abort`, or let it finish."
            )
    files = {name: files_of_index(transaction, name) for name in names}
    present = tuple(name for name in names if name in flagged or files[name])
    absent = tuple(name for name in names if name not in present)
    return Dropped(present, absent, tuple(path for name in present for path in files[name]))
