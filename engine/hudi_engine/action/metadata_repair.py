"""A metadata table that is there and that the properties do not list: so releases before 0.11 left theirs."""

from collections.abc import Iterator
from typing import Final

from hudi_engine.action.flags import flag_complete
from hudi_engine.action.metadata_instants import INSTANT_DIGITS
from hudi_engine.action.site import Site
from hudi_engine.errors import Contradiction, NotFound
from hudi_engine.format.instant_names import Action, Instant, instant_file
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER, MetadataTable

_INDEX: Final = IndexKind.FILES.value
_WITHOUT_FILES: Final = frozenset({Action.SAVEPOINT, Action.INDEXING})


def repair_flags(site: Site) -> bool:
    """`files` listed as complete; False if it is already.

    Only where it is proven to hold every commit of the data: its own first commit, made of all files that there were,
    and one for each action completed since. `Contradiction` otherwise; then the metadata table is to be built anew.
    """
    try:
        with site.transaction() as transaction:
            if _INDEX in transaction.table.config.readable_indexes:
                return False
            _require_whole(transaction.metadata)
            transaction.require_held()
            flag_complete(transaction.table, [_INDEX])
            return True
    except NotFound as nothing:
        raise NotFound(f"{site.storage.location}: no metadata table in {FOLDER}; build one instead") from nothing


def _require_whole(metadata: MetadataTable) -> None:
    where = metadata.table.storage.location
    listing = metadata.table.storage.list(_INDEX)
    if not metadata.table.slices(metadata.view, {_INDEX: listing}, max(metadata.view.visible_instants, default="")):
        raise Contradiction(f"{where}: no committed shard of {_INDEX}. Build the metadata table anew.")
    lacking = [instant_file(instant) for instant in _unlogged(metadata)]
    if lacking:
        raise Contradiction(
            f"{where}: no commit for {lacking[0]}, one of {len(lacking)} actions that completed since the metadata "
            f"table was made: {_INDEX} lacks their files. Build the metadata table anew."
        )


def _unlogged(metadata: MetadataTable) -> Iterator[Instant]:
    """What completed in the data after the metadata table was made, and is not in it."""
    logged = {instant.requested_at for instant in metadata.timeline.completed()}
    first = None if metadata.table.history() else next(iter(_commits(metadata)), None)
    for instant in metadata.data_timeline.completed():
        is_older = first is not None and _was_listed(instant, first)
        if instant.action not in _WITHOUT_FILES and instant.requested_at not in logged and not is_older:
            yield instant


def _commits(metadata: MetadataTable) -> list[Instant]:
    """Completed commits of the metadata table, the first of which was made of the files that there were."""
    done = [instant for instant in metadata.timeline.of(Action.DELTA_COMMIT) if instant.is_completed]
    return sorted(done, key=lambda instant: instant.completed_at or instant.requested_at)


def _was_listed(instant: Instant, first: Instant) -> bool:
    """In layout 1 the first commit is named after the newest of the data, or, like ours, after none.

    There completion times are those of files, which change when a table is copied.
    """
    if first.completed_at is None or instant.completed_at is None:
        return instant.requested_at <= first.requested_at[:INSTANT_DIGITS]
    return instant.completed_at < first.completed_at
