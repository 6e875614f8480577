"""Files deleted under the lock, a few at a time, and only while they are still what they were when that was settled."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Final

from hudi_engine.action.plans import pending_plans
from hudi_engine.action.site import Site
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.index.ranges import in_order
from hudi_engine.storage.in_folder import InFolder
from hudi_engine.storage.protocol import Storage, is_remote

_AT_ONCE: Final = 100
"""Files deleted while the lock is held: a store that is far away takes a tenth of a second for them."""
_DELETERS: Final = 16


def delete_now(storage: Storage, paths: Sequence[str]) -> None:
    """These files, several at once where each takes its time on the way."""
    threads = _DELETERS if is_remote(storage) else 1
    for _ in in_order(storage.delete, paths, threads, _DELETERS):
        pass


def delete_while(site: Site, storage: Storage, paths: Sequence[str], is_still_so: Callable[[], bool]) -> int:
    """Delete them in order, some at a time, each time under the lock and if it is still so; how many were deleted."""
    for at in range(0, len(paths), _AT_ONCE):
        some = paths[at : at + _AT_ONCE]
        with site.locked():
            if not is_still_so():
                return at
            site.lock.require_held()
            delete_now(storage, some)
        site.watch.advance(len(some))
    return len(paths)


def delete_unowned(site: Site, paths: Sequence[str]) -> None:
    """Delete files of the metadata table whose indexes were nobody's when they were listed.

    Somebody may build one of these indexes since, and its files may have the same names: Hudi's writers count anew
    from zero. What is flagged or planned by now is left alone.
    """
    if paths:
        site.watch.begin("delete", len(paths))
    storage = InFolder(site.storage, FOLDER)
    for name, group in groupby(paths, key=lambda path: path.partition("/")[0]):
        files = tuple(group)
        if delete_while(site, storage, files, partial(_is_nobodys, site, name)) < len(files):
            site.watch.say(f"{name} is built anew by others: files that were left of it stay")


def _is_nobodys(site: Site, name: str) -> bool:
    table = site.table()
    if name in (*table.config.readable_indexes, *table.config.inflight_indexes):
        return False
    return all(plan.of(name) is None for plan in pending_plans(table, table.timeline()).values())
