"""RFC-45, downgrade: a table without a metadata table, as a release wants it that knows no such thing."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from hudi_engine.action.deletion import delete_while
from hudi_engine.action.dropped import note_dropped
from hudi_engine.action.flags import unflag
from hudi_engine.action.site import Site
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.properties_file import BACKUP, MAIN

_LAST: Final = (f"{FOLDER}/{BACKUP}", f"{FOLDER}/{MAIN}")


def disable_metadata_table(site: Site) -> int:
    """No index is flagged any more, and the metadata table's files are gone; the answer is how many were deleted.

    Only files that were there when the flags were taken away are deleted, some at a time, each time under the lock
    and only while nobody has flagged a new metadata table, whose files may have the same names. Repeating it after a
    crash deletes what is left.
    """
    with site.locked():
        table = site.table()
        note_dropped(table, table.timeline(), (*table.config.readable_indexes, *table.config.inflight_indexes))
        site.lock.require_held()
        unflag(table, [IndexKind.FILES])
        doomed = metadata_paths(site.storage)
    deleted = delete_metadata_files(site, doomed)
    if deleted < len(doomed):
        site.watch.say("a writer made a new metadata table meanwhile: its files, and what it left, stay")
    return deleted


def delete_metadata_files(site: Site, paths: Sequence[str]) -> int:
    """Delete these, the properties after all others, as long as no metadata table is flagged; how many were deleted."""
    site.watch.begin("delete", len(paths))
    first, last = [path for path in paths if path not in _LAST], [path for path in paths if path in _LAST]
    return sum(delete_while(site, site.storage, some, partial(_is_nobodys, site)) for some in (first, last))


def _is_nobodys(site: Site) -> bool:
    return IndexKind.FILES not in site.table().config.readable_indexes


def metadata_paths(storage: Storage) -> tuple[str, ...]:
    """Every file of the metadata table, its properties last: without them nobody takes the rest for a table."""
    paths = list(_below(storage, FOLDER))
    return (*(path for path in paths if path not in _LAST), *(path for path in _LAST if path in paths))


def _below(storage: Storage, folder: str) -> Iterator[str]:
    for child in storage.list(folder):
        if child.is_folder:
            yield from _below(storage, child.path)
        else:
            yield child.path
